"""Sets of field paths as `fieldsV1` writes them, and the difference between two objects as such.

A set is a tree: `{"f:data": {".": {}, "f:a": {}}}` holds the paths `data` and `data.a`. An empty
node is a path without others below it; `.` says that a path is in the set besides those below it.
Sets are shared and never changed; each function gives back an argument that it would only copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..reading.encoding import go_json

__all__ = ["FieldSet", "Schema", "difference", "union"]

FieldSet = Mapping[str, Any]

_ATOMIC = frozenset(
    {
        "selector",
        "nodeSelector",
        "podSelector",
        "namespaceSelector",
        "labelSelector",
        "fieldRef",
        "resourceFieldRef",
        "secretKeyRef",
        "configMapKeyRef",
        "roleRef",
        "involvedObject",
        "regarding",
        "related",
        "claimRef",
        "targetRef",
        "port",
    }
)
"""Objects that are owned as a whole."""
_KEYS: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "volumes": ("name",),
    "env": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "secrets": ("name",),
    "hostAliases": ("ip",),
    "schedulingGates": ("name",),
    "resourceClaims": ("name",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "conditions": ("type",),
    "addresses": ("type",),
    "podIPs": ("ip",),
    "webhooks": ("name",),
}
"""What tells the items of a list apart. Other lists are owned as a whole."""
_LEAF: dict[str, Any] = {}
"""A path without others below it; one for all, since sets are never changed."""
_METADATA = frozenset({"labels", "annotations", "ownerReferences", "finalizers", "generateName"})
"""What of metadata is owned by anybody."""


def union(one: FieldSet, other: FieldSet) -> FieldSet:
    """The paths of both."""
    if not other:
        # Nothing below: the path itself must be in.
        return one if not one or "." in one else {".": {}, **one}
    if not one:
        return other if "." in other else {".": {}, **other}
    changed: dict[str, Any] | None = None
    for name, below in other.items():
        mine = one.get(name)
        joined = below if mine is None else union(mine, below) if name != "." else mine
        if joined is not mine:
            if changed is None:
                changed = dict(one)
            changed[name] = joined
    if changed is None:
        return one
    return dict(sorted(changed.items())) if len(changed) > len(one) else changed


def difference(one: FieldSet, other: FieldSet) -> FieldSet | None:
    """The paths of `one` that are not in `other`; None where there are none."""
    if not one:
        return None if not other or "." in other else one
    takes_self = not other or "." in other
    changed: dict[str, Any] | None = None
    if takes_self and "." in one:
        changed = dict(one)
        del changed["."]
    for name, below in other.items():
        mine = one.get(name)
        if mine is None or name == ".":
            continue
        left = difference(mine, below)
        if left is not mine:
            if changed is None:
                changed = dict(one)
            if left is None:
                del changed[name]
            else:
                changed[name] = left
    if changed is None:
        return one
    if len(changed) == 1 and "." in changed:
        return {}
    return changed or None


class Schema:
    """What of an object is owned together, known by names alone: there are no schemas here."""

    def __init__(self, *, custom: bool) -> None:
        self._custom = custom
        """Lists of custom objects are owned as a whole, and all else by its members."""

    def compare(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The paths in which `new` differs from `old` or adds to it, and those it no longer has."""
        changed: dict[str, Any] = {}
        removed: dict[str, Any] = {}
        for name, value in new.items():
            if name in ("kind", "apiVersion"):
                continue
            before = old.get(name)
            if name == "metadata":
                self._compare_metadata(before or {}, value, changed, removed)
            elif before != value:
                self._compare_member(name, before, value, name in old, changed, removed, 1)
        for name, value in old.items():
            if name not in new and name not in ("kind", "apiVersion", "metadata"):
                removed[f"f:{name}"] = self._all_of(name, value, 1)
        return _sorted(changed), _sorted(removed)

    def _compare_metadata(
        self,
        old: Mapping[str, Any],
        new: Mapping[str, Any],
        changed: dict[str, Any],
        removed: dict[str, Any],
    ) -> None:
        below: dict[str, Any] = {}
        gone: dict[str, Any] = {}
        for name in _METADATA:
            before, after = old.get(name), new.get(name)
            if before == after or not (before or after):
                continue
            if not after:
                gone[f"f:{name}"] = self._metadata_member(name, before)
            elif not before:
                below[f"f:{name}"] = self._metadata_member(name, after)
            elif name in ("labels", "annotations"):
                self._compare_member(name, before, after, True, below, gone, 2)
            elif name == "generateName":
                below[f"f:{name}"] = {}
            else:
                mine = self._metadata_member(name, before)
                now = self._metadata_member(name, after)
                added: dict[str, Any] = {item: {} for item in now if item not in mine}
                lost: dict[str, Any] = {item: {} for item in mine if item not in now}
                if name == "ownerReferences":
                    owners = {_uid_item(owner): owner for owner in before}
                    for owner in after:
                        item = _uid_item(owner)
                        if item in owners and owners[item] != owner:
                            added[item] = {}
                if added:
                    below[f"f:{name}"] = _sorted(added)
                if lost:
                    gone[f"f:{name}"] = _sorted(lost)
        if below:
            changed["f:metadata"] = _sorted(below)
        if gone:
            removed["f:metadata"] = _sorted(gone)

    def _metadata_member(self, name: str, value: Any) -> dict[str, Any]:
        items: dict[str, Any]
        if name == "finalizers":
            items = {f"v:{go_json(item).decode()}": {} for item in value}
        elif name == "ownerReferences":
            items = {_uid_item(owner): {} for owner in value}
        elif name == "generateName":
            return {}
        else:
            items = {f"f:{key}": {} for key in value}
        return {".": {}, **_sorted(items)}

    def _compare_member(
        self,
        name: str,
        old: Any,
        new: Any,
        was_there: bool,
        changed: dict[str, Any],
        removed: dict[str, Any],
        depth: int,
    ) -> None:
        """Compare two values that differ, and put what is found below `f:name`."""
        path = f"f:{name}"
        if not was_there:
            changed[path] = self._all_of(name, new, depth)
            return
        below: dict[str, Any] = {}
        gone: dict[str, Any] = {}
        if isinstance(old, dict) and isinstance(new, dict) and self._is_granular(name):
            for key, value in new.items():
                before = old.get(key)
                if before != value or (value is None and key not in old):
                    self._compare_member(key, before, value, key in old, below, gone, depth + 1)
            for key, value in old.items():
                if key not in new:
                    gone[f"f:{key}"] = self._all_of(key, value, depth + 1)
        else:
            mine, now = self._items(name, old or [], depth), self._items(name, new or [], depth)
            if mine is None or now is None or not (mine or now):
                changed[path] = {}
                return
            for item, value in now.items():
                before = mine.get(item)
                if before is None:
                    below[item] = self._all_members(value, depth)
                elif before != value:
                    self._compare_member(item, before, value, True, below, gone, depth + 1)
            for item, value in mine.items():
                if item not in now:
                    gone[item] = self._all_members(value, depth)
            below = {_unprefixed(item): found for item, found in below.items()}
            gone = {_unprefixed(item): found for item, found in gone.items()}
        if below:
            changed[path] = _sorted(below)
        if gone:
            removed[path] = _sorted(gone)

    def _is_granular(self, name: str) -> bool:
        return self._custom or name not in _ATOMIC

    def _items(self, name: str, value: Any, depth: int) -> dict[str, Any] | None:
        """The items of a list by their `k:` path; None where it is owned as a whole."""
        if self._custom or not isinstance(value, list):
            return None
        keys = _KEYS.get(name)
        if name == "ports" and depth > 1:
            keys = (
                ("containerPort", "protocol") if _are_of_container(value) else ("port", "protocol")
            )
        if keys is None:
            return None
        items = {}
        for item in value:
            if not isinstance(item, dict) or any(key not in item for key in keys):
                return None
            items[f"k:{go_json({key: item[key] for key in keys}).decode()}"] = item
        return items

    def _all_of(self, name: str, value: Any, depth: int) -> dict[str, Any]:
        """Every path of a value, itself included."""
        if isinstance(value, dict):
            return self._all_members(value, depth) if value and self._is_granular(name) else _LEAF
        if not isinstance(value, list):
            return _LEAF
        items = self._items(name, value, depth)
        if not items:
            return _LEAF
        below = {item: self._all_members(members, depth) for item, members in items.items()}
        return {".": {}, **_sorted(below)}

    def _all_members(self, value: Mapping[str, Any], depth: int) -> dict[str, Any]:
        below = {
            f"f:{name}": self._all_of(name, member, depth + 1) for name, member in value.items()
        }
        return {".": {}, **_sorted(below)}


def _unprefixed(path: str) -> str:
    """Items are compared under their `k:` path, which then needs no `f:`."""
    return path[2:] if path.startswith("f:k:") else path


def _are_of_container(ports: list[Any]) -> bool:
    return bool(ports) and isinstance(ports[0], dict) and "containerPort" in ports[0]


def _uid_item(owner: Mapping[str, Any]) -> str:
    return f"k:{go_json({'uid': owner.get('uid', '')}).decode()}"


def _sorted(paths: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(paths.items())) if len(paths) > 1 else paths
