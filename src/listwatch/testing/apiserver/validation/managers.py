"""The names of those who own fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .problems import Problem, invalid_field, too_long

__all__ = ["MANAGER_BYTES", "entry_problems", "manager_problems"]

MANAGER_BYTES = 128


def manager_problems(field: str, manager: str) -> Iterator[Problem]:
    if len(manager) * 4 > MANAGER_BYTES and len(manager.encode()) > MANAGER_BYTES:
        yield too_long(field, MANAGER_BYTES)
    if not manager.isprintable():
        bad = next(at for at, char in enumerate(manager) if not char.isprintable())
        text = f"invalid character U+{ord(manager[bad]):04X} (at position {bad})"
        yield invalid_field(field, manager, text)


def entry_problems(entries: Iterable[Mapping[str, Any]]) -> Iterator[Problem]:
    """Of managedFields whose form is that of entries."""
    for at, entry in enumerate(entries):
        yield from manager_problems(
            f"metadata.managedFields[{at}].manager", entry.get("manager") or ""
        )
