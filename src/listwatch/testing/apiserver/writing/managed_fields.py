"""`metadata.managedFields`: which program last set which field (K9).

Each program has an entry for its updates, and another for those of the status. What a program
changes becomes its own and is no longer anybody else's; what is gone belongs to nobody. As in the
real server, an object that came without any owner (nothing but a name) never gets one by updates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .field_sets import FieldSet, Schema, difference, union

__all__ = ["Manager", "after_create", "after_update"]

_BUILTIN = Schema(custom=False)
_CUSTOM = Schema(custom=True)


class Manager:
    """Who writes: the identity of an entry."""

    __slots__ = ("api_version", "custom", "name", "subresource")

    def __init__(self, name: str, api_version: str, subresource: str, *, custom: bool) -> None:
        self.name = name
        self.api_version = api_version
        self.subresource = subresource
        self.custom = custom

    @property
    def schema(self) -> Schema:
        return _CUSTOM if self.custom else _BUILTIN

    def owns(self, entry: Mapping[str, Any]) -> bool:
        return (
            entry.get("manager", "") == self.name
            and entry.get("operation") == "Update"
            and entry.get("apiVersion") == self.api_version
            and entry.get("subresource", "") == self.subresource
        )

    def entry(self, fields: FieldSet, time: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "manager": self.name,
            "operation": "Update",
            "apiVersion": self.api_version,
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        if self.subresource:
            entry["subresource"] = self.subresource
        return entry


def after_create(
    manager: Manager,
    empty: Mapping[str, Any],
    new: Mapping[str, Any],
    time: str,
    sent: Sequence[Mapping[str, Any]] = (),
) -> Sequence[Mapping[str, Any]]:
    """The entries of a new object. `empty` is one of its type that says nothing; `sent` are the
    entries that the client thinks it has.
    """
    changed, _ = manager.schema.compare(empty, new)
    entries = sent if all(map(_makes_sense, sent)) else ()
    return _taken_over(entries, manager, changed, {}, time)


def after_update(
    manager: Manager,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    time: str,
) -> Sequence[Mapping[str, Any]]:
    """The entries of `new`, which is to take the place of `old`.

    The entries in `new` itself count, if they make sense: a client may send them back changed, and
    `[{}]` does away with them all. `time` is now.
    """
    entries = _base(old, new)
    if not entries:
        return entries
    changed, removed = manager.schema.compare(old, new)
    return _taken_over(entries, manager, changed, removed, time)


def _taken_over(
    entries: Sequence[Mapping[str, Any]],
    manager: Manager,
    changed: FieldSet,
    removed: FieldSet,
    time: str,
) -> Sequence[Mapping[str, Any]]:
    """The entries after `manager` has changed some paths, and others are gone."""
    if not changed and not removed:
        return entries
    found = False
    kept: list[Mapping[str, Any]] = []
    for entry in entries:
        before: FieldSet = entry["fieldsV1"]
        fields: FieldSet | None = before
        mine = bool(changed) and not found and manager.owns(entry)
        if mine:
            found = True
            fields = union(before, changed)
        elif changed:
            fields = _less(fields, changed)
        if removed:
            fields = _less(fields, removed)
        if not fields:
            continue
        if mine or fields is not before:
            taken = {**entry, "fieldsV1": fields}
            if mine:
                taken["time"] = time
            kept.append(taken)
        else:
            kept.append(entry)
    if changed and not found:
        kept.append(manager.entry(changed, time))
    return kept if len(kept) < 2 else sorted(kept, key=_order)


def _base(old: Mapping[str, Any], new: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """The entries that the update starts from."""
    live: Sequence[Mapping[str, Any]] = old["metadata"].get("managedFields") or ()
    sent: Sequence[Mapping[str, Any]] = new["metadata"].get("managedFields") or ()
    if sent is live or sent == live or not sent:
        return live
    if len(sent) == 1 and not sent[0]:
        return ()
    return sent if all(map(_makes_sense, sent)) else live


def _makes_sense(entry: Mapping[str, Any]) -> bool:
    return (
        entry.get("operation") in ("Update", "Apply")
        and isinstance(entry.get("apiVersion"), str)
        and entry.get("fieldsType") == "FieldsV1"
        and isinstance(entry.get("manager", ""), str)
        and isinstance(entry.get("time") or "", str)
        and isinstance(entry.get("subresource", ""), str)
        and isinstance(entry.get("fieldsV1"), dict)
        and _is_set(entry["fieldsV1"])
    )


def _is_set(fields: Mapping[str, Any]) -> bool:
    return all(isinstance(below, dict) and _is_set(below) for below in fields.values())


def _less(fields: FieldSet | None, other: FieldSet) -> FieldSet | None:
    """`fields` is an object's: it has no path of its own, and being empty is having none."""
    if not fields:
        return None
    return difference(fields, other) or None


def _order(entry: Mapping[str, Any]) -> tuple[str, str, str, str, str]:
    return (
        entry.get("operation") or "",
        entry.get("time") or "",
        entry.get("manager") or "",
        entry.get("apiVersion") or "",
        entry.get("subresource") or "",
    )
