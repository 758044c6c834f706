"""The JSON types of an entry of managedFields, as Go's decoder would find them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["is_time", "known_entries", "unknown_members", "wrong_member", "wrong_time"]

_STRINGS = {
    "manager": "string",
    "operation": "v1.ManagedFieldsOperationType",
    "apiVersion": "string",
    "time": "string",
    "fieldsType": "string",
    "subresource": "string",
}
_MEMBERS = frozenset({*_STRINGS, "fieldsV1"})
is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.A).fullmatch


def wrong_member(entry: Mapping[str, Any]) -> tuple[str, str] | None:
    """The first that is of another type, and Go's name of the right one. A set of fields may be
    anything here: what is none is taken for no entry later.
    """
    for name, value in entry.items():
        if name in _STRINGS and value is not None and not isinstance(value, str):
            return name, _STRINGS[name]
    return None


def wrong_time(entry: Mapping[str, Any]) -> str | None:
    """Its time, where that is none."""
    time = entry.get("time")
    return time if isinstance(time, str) and not is_time(time) else None


def known_entries(entries: list[Any]) -> list[Any]:
    """`entries` without what Go would not read: nulls, and members that an entry has not."""
    if all(entry is not None and entry.keys() <= _MEMBERS for entry in entries):
        return entries
    return [
        {name: value for name, value in (entry or {}).items() if name in _MEMBERS}
        for entry in entries
    ]


def unknown_members(entries: Iterable[Any]) -> Iterator[str]:
    """Their paths, below the metadata."""
    for at, entry in enumerate(entries):
        if isinstance(entry, dict) and not entry.keys() <= _MEMBERS:
            yield from (f"managedFields[{at}].{name}" for name in entry if name not in _MEMBERS)
