"""`metadata.managedFields`: which program last set which field (K9).

Each program has an entry for its updates, another for those of the status, and one for what it
applied. What a program changes becomes its own and is no longer anybody else's; what is gone
belongs to nobody. As in the real server, an object that came without any owner (nothing but a name)
never gets one by updates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from .field_sets import FieldSet, difference, ordered, union
from .typed_compare import compare
from .typed_items import TypedError
from .typed_types import Type, builtin_type, custom_type

__all__ = ["Entries", "Manager", "after_create", "after_update", "identity", "sorted_entries"]

Entries = Sequence[Mapping[str, Any]]

_CUSTOM = custom_type(None)
_MOST_UPDATERS = 10
_ANCIENT = "ancient-changes"
_MEMBERS = (
    "manager",
    "operation",
    "apiVersion",
    "time",
    "fieldsType",
    "fieldsV1",
    "subresource",
)
_OWNED_METADATA = ("labels", "annotations", "ownerReferences", "finalizers", "generateName")
"""What of metadata is owned by anybody."""


class Manager:
    """Who writes: the identity of an entry."""

    __slots__ = ("api_version", "custom", "name", "operation", "subresource", "type")

    def __init__(
        self,
        name: str,
        api_version: str,
        subresource: str,
        *,
        custom: bool,
        type: Type | None = None,
        operation: str = "Update",
    ) -> None:
        self.name = name
        self.api_version = api_version
        self.subresource = subresource
        self.custom = custom
        self.type = type
        """Of the objects; None: it is found by their kind, or nothing is known of them."""
        self.operation = operation

    def type_of(self, value: Mapping[str, Any]) -> Type:
        """The type of an object."""
        if self.type is not None:
            return self.type
        found = None if self.custom else builtin_type(self.api_version, value.get("kind") or "")
        return found or _CUSTOM

    def compare(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The paths in which `new` differs from `old` or adds to it, and those it no longer has;
        of metadata only what can be owned. Raises `TypedError`.
        """
        of = self.type_of(new)
        return compare(of, _owned(old), _owned(new))

    @property
    def identity(self) -> tuple[str, str, str, str]:
        return (self.name, self.operation, self._version, self.subresource)

    @property
    def _version(self) -> str:
        return "" if self.operation == "Apply" else self.api_version

    def knows(self, entry: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
        """Whether the version of an entry is one of the kind of `value`."""
        kind = value.get("kind") or ""
        return self.custom or builtin_type(entry["apiVersion"], kind) is not None

    def owns(self, entry: Mapping[str, Any]) -> bool:
        return identity(entry) == self.identity

    def entry(self, fields: FieldSet, time: str) -> dict[str, Any]:
        entry: dict[str, Any] = {
            "manager": self.name,
            "operation": self.operation,
            "apiVersion": self.api_version,
            "time": time,
            "fieldsType": "FieldsV1",
            "fieldsV1": fields,
        }
        if not time:
            del entry["time"]
        if self.subresource:
            entry["subresource"] = self.subresource
        return entry


def identity(entry: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Whose entry it is: manager, operation, version (of updates), subresource."""
    operation = entry.get("operation") or ""
    version = "" if operation == "Apply" else entry.get("apiVersion") or ""
    return (entry.get("manager") or "", operation, version, entry.get("subresource") or "")


def after_create(
    manager: Manager,
    empty: Mapping[str, Any],
    new: Mapping[str, Any],
    time: str,
    sent: Entries = (),
) -> Entries:
    """The entries of a new object. `empty` is one of its type that says nothing; `sent` are the
    entries that the client thinks it has.
    """
    try:
        changed, _ = manager.compare(empty, new)
    except TypedError:
        return ()
    entries = sent if all(map(_makes_sense, sent)) else ()
    return _taken_over(_normal(entries), manager, changed, {}, time)


def after_update(
    manager: Manager,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    time: str,
) -> Entries:
    """The entries of `new`, which is to take the place of `old`.

    The entries in `new` itself count, if they make sense: a client may send them back changed, and
    `[{}]` does away with them all, as `[]` does for built-in objects. `time` is now.
    """
    entries = _base(old, new, manager)
    if not entries:
        return entries
    try:
        changed, removed = manager.compare(old, new)
    except TypedError:
        return ()
    return _taken_over(entries, manager, changed, removed, time)


def sorted_entries(entries: list[Mapping[str, Any]]) -> Entries:
    """As they are written: what was applied first, then by time."""
    return entries if len(entries) < 2 else sorted(entries, key=_order)


def _owned(value: Mapping[str, Any]) -> dict[str, Any]:
    """An object without what nobody owns."""
    metadata = value.get("metadata") or {}
    owned = {name: value for name, value in value.items() if name not in ("kind", "apiVersion")}
    owned["metadata"] = {name: metadata[name] for name in _OWNED_METADATA if metadata.get(name)}
    return owned


def _taken_over(
    entries: Entries,
    manager: Manager,
    changed: FieldSet,
    removed: FieldSet,
    time: str,
) -> Entries:
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
    return sorted_entries(_capped(kept))


def _capped(entries: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of more than ten updaters, the oldest of a version are put together."""
    updaters = [entry for entry in entries if entry.get("operation") == "Update"]
    over = len(updaters) - _MOST_UPDATERS
    if over <= 0:
        return entries
    oldest = sorted(updaters, key=lambda entry: (entry.get("time") or "", identity(entry)))
    firsts: dict[str, Mapping[str, Any]] = {}
    gone: list[Mapping[str, Any]] = []
    buckets: dict[str, dict[str, Any]] = {}
    for entry in oldest:
        if over <= 0:
            break
        version = entry["apiVersion"]
        first = firsts.setdefault(version, entry)
        if first is entry:
            continue
        bucket = buckets.get(version)
        if bucket is None:
            bucket = {**first, "manager": _ANCIENT}
            bucket.pop("subresource", None)
            buckets[version] = bucket
            gone.append(first)
        bucket["fieldsV1"] = union(bucket["fieldsV1"], entry["fieldsV1"])
        bucket["time"] = entry.get("time")
        gone.append(entry)
        over -= 1
    return [entry for entry in entries if entry not in gone] + list(buckets.values())


def _base(old: Mapping[str, Any], new: Mapping[str, Any], manager: Manager) -> Entries:
    """The entries that the update starts from. Through a subresource they cannot be changed; an
    empty list does away with those of built-in objects only.
    """
    live: Entries = old["metadata"].get("managedFields") or ()
    sent: Entries | None = new["metadata"].get("managedFields")
    if manager.subresource or sent is None or sent is live or sent == live:
        return live
    if not sent:
        return live if manager.custom else ()
    if len(sent) == 1 and not sent[0]:
        return ()
    if not all(map(_makes_sense, sent)):
        return live
    return _normal([entry for entry in sent if manager.knows(entry, new)])


def _normal(entries: Entries) -> Entries:
    """Entries of a client as the server writes them: each owner once, all in order."""
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for entry in entries:
        members = {name: entry[name] for name in _MEMBERS if entry.get(name)}
        fields = _sorted(entry.get("fieldsV1") or {})
        found[identity(entry)] = {**members, "fieldsV1": fields}
    return sorted_entries([entry for entry in found.values() if entry["fieldsV1"]])


def _sorted(fields: FieldSet) -> dict[str, Any]:
    return ordered({name: _sorted(below) for name, below in fields.items()})


def _makes_sense(entry: Mapping[str, Any]) -> bool:
    return (
        entry.get("operation") in ("Update", "Apply")
        and isinstance(entry.get("apiVersion"), str)
        and entry.get("fieldsType") == "FieldsV1"
        and isinstance(entry.get("manager", ""), str)
        and isinstance(entry.get("time") or "", str)
        and isinstance(entry.get("subresource", ""), str)
        and ((fields := entry.get("fieldsV1")) is None or isinstance(fields, dict))
        and _is_set(fields or {})
    )


def _is_set(fields: Mapping[str, Any]) -> bool:
    return all(
        isinstance(below, dict) and _is_path(name) and _is_set(below)
        for name, below in fields.items()
    )


def _is_path(name: str) -> bool:
    """Whether a name is one of a member, an index, a value, or of the keys of an item."""
    kind, text = name[:2], name[2:]
    if kind in (".", "f:"):
        return True
    if kind == "i:":
        return text.lstrip("-").isdecimal()
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return False
    return kind == "v:" or (kind == "k:" and isinstance(value, dict))


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
