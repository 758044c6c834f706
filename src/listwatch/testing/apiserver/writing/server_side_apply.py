"""Server-side apply (K31): a configuration, what it makes of an object, and who owns what then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ..reading.encoding import go_json
from .field_sets import (
    LEAF,
    FieldSet,
    difference,
    intersection,
    is_member,
    paths,
    union,
    without,
)
from .managed_fields import Entries, Manager, after_create, identity, sorted_entries
from .typed_checks import type_problems
from .typed_compare import compare
from .typed_items import TypedError, path_text
from .typed_merge import merged
from .typed_sets import named_members, paths_of, remaining
from .typed_types import Type

__all__ = ["Applied", "ApplyConflict", "ApplyFailed", "apply"]

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_BEFORE = "before-first-apply"
_UNOWNED: FieldSet = {
    "f:apiVersion": LEAF,
    "f:kind": LEAF,
    "f:metadata": {
        ".": LEAF,
        **{
            f"f:{name}": LEAF
            for name in (
                "clusterName",
                "creationTimestamp",
                "generation",
                "managedFields",
                "name",
                "namespace",
                "resourceVersion",
                "selfLink",
                "uid",
            )
        },
    },
}
"""What nobody owns."""


class ApplyFailed(Exception):
    """A configuration does not fit the type: the text is for the client."""


class ApplyConflict(Exception):
    """Others own what the configuration changes."""

    def __init__(self, conflicts: list[tuple[str, tuple[str, ...]]]) -> None:
        self.conflicts = conflicts
        """Each owner, as messages name it, with a path."""
        super().__init__(self.message)

    @property
    def message(self) -> str:
        if len(self.conflicts) == 1:
            ((owner, path),) = self.conflicts
            return f"Apply failed with 1 conflict: conflict with {owner}: {path_text(path)}"
        by_owner: dict[str, list[str]] = {}
        for owner, path in self.conflicts:
            by_owner.setdefault(owner, []).append(f"- {path_text(path)}")
        lines = [
            line for owner in by_owner for line in (f"conflicts with {owner}:", *by_owner[owner])
        ]
        return f"Apply failed with {len(self.conflicts)} conflicts: " + "\n".join(lines)

    @property
    def causes(self) -> list[dict[str, str]]:
        return [
            {
                "reason": "FieldManagerConflict",
                "message": f"conflict with {owner}",
                "field": path_text(path),
            }
            for owner, path in self.conflicts
        ]


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply has led to."""

    value: dict[str, Any]
    """The whole object, without managedFields."""
    entries: Entries


@dataclass(frozen=True, slots=True)
class _Owner:
    """An entry while it is worked on."""

    entry: Mapping[str, Any]
    fields: FieldSet


def apply(
    of: Type,
    live: Mapping[str, Any],
    config: Mapping[str, Any],
    manager: Manager,
    *,
    force: bool,
    time: str,
    reset: FieldSet,
    empty: Mapping[str, Any],
) -> Applied:
    """`config` applied to `live`, which has only its kind where it is to be created.

    `reset` are the members that this path cannot change, and so gives to nobody. Raises
    `ApplyConflict` unless `force`, and `ApplyFailed`.
    """
    problems = list(type_problems(of, config))
    if problems:
        raise ApplyFailed(
            problems[0] if len(problems) == 1 else "\n  ".join(("errors:", *problems))
        )
    entries: Entries = live["metadata"].get("managedFields") or ()
    if not entries and live["metadata"].get("uid"):
        before = Manager(_BEFORE, manager.api_version, manager.subresource, custom=manager.custom)
        before.type = of
        entries = [
            {**entry, "fieldsV1": fields}
            for entry in after_create(before, empty, live, time)
            if (fields := without(entry["fieldsV1"], reset))
        ]
    bare = {**live, "metadata": _without(live["metadata"], "managedFields")}
    work = _Apply(of, bare, config, manager, time, reset)
    try:
        try:
            done = work.run(entries, force=force)
        except ApplyConflict as conflict:
            if manager.name != "kubectl" or not _may_force(of, bare, conflict, manager):
                raise
            done = work.run(entries, force=True)
    except TypedError as error:
        raise ApplyFailed(f"failed to merge config: {error}") from None
    if manager.name == "kubectl" and (done.value["metadata"].get("annotations") or {}).get(
        LAST_APPLIED
    ):
        return Applied(_with_last_applied(done.value, config), done.entries)
    return done


@dataclass(frozen=True, slots=True)
class _Apply:
    of: Type
    live: Mapping[str, Any]
    config: Mapping[str, Any]
    manager: Manager
    time: str
    reset: FieldSet

    def run(self, entries: Entries, *, force: bool) -> Applied:
        own = without(paths_of(self.of, self.config), self.reset) or {}
        last: FieldSet = {}
        last_entry: Mapping[str, Any] | None = None
        others = []
        for entry in entries:
            if identity(entry) == self.manager.identity:
                last, last_entry = entry["fieldsV1"], entry
            else:
                others.append(_Owner(entry, entry["fieldsV1"]))
        value = merged(self.of, self.live, self.config)
        if last:
            value = self._pruned(value, last, own, others)
        changed, removed = compare(self.of, self.live, value)
        changed = dict(without(changed, self.reset) or {})
        removed = dict(without(removed, self.reset) or {})
        conflicts = {
            at: found
            for at, other in enumerate(others)
            if (found := intersection(other.fields, changed))
        }
        if conflicts and not force:
            raise ApplyConflict(list(_told([(others[at], conflicts[at]) for at in conflicts])))
        kept = self._left(others, conflicts, removed)
        owned = difference(own, _UNOWNED) if own else None
        if owned:
            time = self.time
            if value == self.live:
                time = "" if last_entry is None else last_entry.get("time") or ""
            kept.append(self.manager.entry(owned, time))
        return Applied(value, sorted_entries(kept))

    def _left(
        self, others: list[_Owner], conflicts: Mapping[int, FieldSet], removed: FieldSet
    ) -> list[Mapping[str, Any]]:
        """The entries of the others, without what was taken from them or is gone."""
        kept: list[Mapping[str, Any]] = []
        for at, other in enumerate(others):
            fields: FieldSet | None = other.fields
            if fields and at in conflicts:
                fields = difference(fields, conflicts[at])
            if fields and removed:
                fields = difference(fields, removed)
            if fields:
                same = fields is other.fields
                kept.append(other.entry if same else {**other.entry, "fieldsV1": fields})
        return kept

    def _pruned(
        self, value: dict[str, Any], last: FieldSet, own: FieldSet, others: list[_Owner]
    ) -> dict[str, Any]:
        """`value` without what only the last configuration had."""
        of = self.of
        before = named_members(of, last)
        managed = own
        for other in others:
            managed = union(managed, other.fields) if managed else other.fields
        everything = named_members(of, paths_of(of, value))
        left = named_members(of, paths_of(of, remaining(of, value, before) or {}))
        stays = named_members(of, managed)
        gone = _difference(everything, union(left, stays) if left and stays else left or stays)
        pruned = remaining(of, value, gone) or {} if gone else value
        left = named_members(of, paths_of(of, pruned))
        gone = _difference(everything, left)
        gone = (intersection(gone, before) or {}) if gone else {}
        return (remaining(of, value, gone) or {}) if gone else value


def _difference(one: FieldSet, other: FieldSet) -> FieldSet:
    """Of two whole sets, in which `{}` is an empty one."""
    if not one or not other:
        return one
    return difference(one, other) or {}


def _told(conflicts: list[tuple[_Owner, FieldSet]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for owner, fields in sorted(conflicts, key=lambda found: _identifier(found[0].entry)):
        for path in paths(fields):
            yield _told_as(owner.entry), path


def _identifier(entry: Mapping[str, Any]) -> bytes:
    """By this the real server sorts owners: their identity, written as an entry is."""
    names = ("manager", "operation", "apiVersion", "subresource")
    found = dict(zip(names, identity(entry), strict=True))
    return go_json({name: text for name, text in found.items() if text})


def _told_as(entry: Mapping[str, Any]) -> str:
    text = go_json(entry.get("manager") or "").decode()
    if entry.get("subresource"):
        text += f' with subresource "{entry["subresource"]}"'
    if entry.get("operation") == "Update":
        text += f" using {entry.get('apiVersion')}"
    return text


def _may_force(
    of: Type, live: Mapping[str, Any], conflict: ApplyConflict, manager: Manager
) -> bool:
    """Whether kubectl's own annotation says that the conflicts are with itself: it used to apply on
    the client's side. What it does not cover is left as the conflicts.
    """
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        last = msgspec.json.decode(text) if text else None
    except msgspec.DecodeError:
        last = None
    if not isinstance(last, dict) or last.get("apiVersion") != manager.api_version:
        return False
    if next(type_problems(of, last), None) is not None:
        return False
    allowed: FieldSet = paths_of(of, last)
    changed, removed = compare(of, last, live)
    for differing in (changed, removed):
        allowed = _difference(allowed, differing)
    conflict.conflicts = [found for found in conflict.conflicts if not _has(allowed, found[1])]
    return not conflict.conflicts


def _has(fields: FieldSet, path: tuple[str, ...]) -> bool:
    for name in path:
        if name not in fields:
            return False
        fields = fields[name]
    return is_member(fields)


def _with_last_applied(value: dict[str, Any], config: Mapping[str, Any]) -> dict[str, Any]:
    """With kubectl's annotation brought up to date."""
    metadata = value["metadata"]
    said = dict(config)
    if "metadata" in said and isinstance(said["metadata"].get("annotations"), dict):
        left = _without(said["metadata"]["annotations"], LAST_APPLIED)
        said["metadata"] = {**said["metadata"], "annotations": left}
        if not left:
            del said["metadata"]["annotations"]
    text = go_json(_alphabetical(said)).decode() + "\n"
    return {
        **value,
        "metadata": {**metadata, "annotations": {**metadata["annotations"], LAST_APPLIED: text}},
    }


def _alphabetical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _alphabetical(value[name]) for name in sorted(value)}
    return [_alphabetical(item) for item in value] if isinstance(value, list) else value


def _without(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: found for key, found in value.items() if key != name}
