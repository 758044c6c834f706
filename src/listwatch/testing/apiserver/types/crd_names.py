"""Which of its names a definition may have: those that no other of its group has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Accepted", "accepted_names"]

_RESOURCE_NAMES = {"plural": "PluralConflict", "singular": "SingularConflict"}
_KIND_NAMES = {"kind": "KindConflict", "listKind": "ListKindConflict"}


@dataclass(frozen=True, slots=True)
class Accepted:
    """The names that are free, as the status has them."""

    names: Mapping[str, Any]
    reason: str = ""
    """Of the last name that is not; empty where all are."""
    message: str = ""


def accepted_names(wanted: Mapping[str, Any], others: Iterable[Mapping[str, Any]]) -> Accepted:
    """Look at each of the names that are wanted; `others` are those that are accepted already."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for names in others:
        resources |= {names.get(name, "") for name in _RESOURCE_NAMES}
        resources |= set(names.get("shortNames") or ())
        kinds |= {names.get(name, "") for name in _KIND_NAMES}
    refused: dict[str, tuple[str, str]] = {}
    for name, reason in _RESOURCE_NAMES.items():
        if wanted[name] in resources:
            refused[name] = (reason, wanted[name])
    for short in wanted.get("shortNames") or ():
        if short in resources:
            refused["shortNames"] = ("ShortNamesConflict", short)
    for name, reason in _KIND_NAMES.items():
        if wanted[name] in kinds:
            refused[name] = (reason, wanted[name])
    if not refused:
        return Accepted(wanted)
    free = {name: value for name, value in wanted.items() if name not in refused}
    reason, taken = list(refused.values())[-1]
    return Accepted(_with_empty(free), reason, f'"{taken}" is already in use')


def _with_empty(free: Mapping[str, Any]) -> dict[str, Any]:
    """In order; plural and kind are written even where there is none."""
    order = ("plural", "singular", "shortNames", "kind", "listKind", "categories")
    written = {"plural": "", "kind": "", **free}
    return {name: written[name] for name in order if name in written}
