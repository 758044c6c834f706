"""Whether an object has the JSON types that every type has, as Go's decoder would find.

Only metadata and the first level are looked at: there are no schemas here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..types.served import ResourceType
from .go_syntax import go_kind

__all__ = ["ShapeError", "check_shape", "duplicate_fields", "unknown_fields"]

_STRINGS = frozenset({"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"})
_TIMES = frozenset({"creationTimestamp", "deletionTimestamp"})
_NUMBERS = frozenset({"generation", "deletionGracePeriodSeconds"})
_MAPS = frozenset({"labels", "annotations"})
_LISTS = {
    "ownerReferences": "v1.OwnerReference",
    "managedFields": "v1.ManagedFieldsEntry",
    "finalizers": "string",
}
_METADATA = _STRINGS | _TIMES | _NUMBERS | _MAPS | frozenset(_LISTS)
_MEMBER_MAPS = frozenset({"data", "stringData", "binaryData"})
_is_time = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.A).fullmatch
_is_base64 = re.compile(r"[A-Za-z0-9+/\r\n]*={0,2}").fullmatch
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/\r\n]")
_OWNER_STRINGS = ("apiVersion", "kind", "name", "uid")


class ShapeError(Exception):
    """A member has the wrong JSON type: the text is Go's."""


def check_shape(of: ResourceType, value: dict[str, Any]) -> None:
    """Raise `ShapeError` for the first wrong one. What Go would not read is taken out of `value`:
    nulls (in maps of strings they become empty), empty maps of strings, unknown members.
    """
    metadata = value.get("metadata")
    if metadata is None:
        value["metadata"] = {}
    elif not isinstance(metadata, dict):
        where = "value" if of.custom else f"struct field {of.kind}.metadata"
        raise ShapeError(_text(metadata, where, "v1.ObjectMeta"))
    else:
        where = "ObjectMeta" if of.custom else "ObjectMeta.metadata"
        value["metadata"] = _checked_metadata(metadata, where)
    if not of.custom:
        for name, member in tuple(value.items()):
            if name in ("kind", "apiVersion", "metadata"):
                continue
            if member is None or name not in of.members:
                del value[name]
            elif name in ("spec", "status"):
                if not isinstance(member, dict):
                    go_type = f"{of.version}.{of.kind}{name.capitalize()}"
                    raise ShapeError(_text(member, f"struct field {of.kind}.{name}", go_type))
            elif name in _MEMBER_MAPS and of.kind != "ControllerRevision":
                value[name] = _string_map(member, f"{of.kind}.{name}")
                if not member:
                    del value[name]
                elif name == "binaryData" or (name == "data" and of.kind == "Secret"):
                    _check_base64(value[name])


def _checked_metadata(metadata: dict[str, Any], where: str) -> dict[str, Any]:
    for name, found in metadata.items():
        if found is None or name not in _METADATA:
            kept = {
                name: value
                for name, value in metadata.items()
                if value is not None and name in _METADATA
            }
            return _checked_metadata(kept, where)
        if name in _STRINGS or name in _TIMES:
            if not isinstance(found, str):
                raise ShapeError(_text(found, f"struct field {where}.{name}", "string"))
            if name in _TIMES and not _is_time(found):
                layout = "2006-01-02T15:04:05Z07:00"
                raise ShapeError(
                    f'parsing time "{found}" as "{layout}": cannot parse "{found}" as "2006"'
                )
        elif name in _MAPS:
            changed = _string_map(found, f"{where}.{name}")
            if changed is not found:
                return _checked_metadata({**metadata, name: changed}, where)
        elif name in _NUMBERS:
            if isinstance(found, bool) or not isinstance(found, int):
                raise ShapeError(_text(found, f"struct field {where}.{name}", "int64"))
        elif name in _LISTS:
            _check_list(name, found, where)
    return metadata


def _check_list(name: str, found: Any, where: str) -> None:
    go_type = _LISTS[name]
    field = f"struct field {where}.{name}"
    if not isinstance(found, list):
        raise ShapeError(_text(found, field, f"[]{go_type}"))
    for item in found:
        if not isinstance(item, str if name == "finalizers" else dict):
            raise ShapeError(_text(item, field, go_type))
        if name == "ownerReferences" and isinstance(item, dict):
            _check_owner(item, where)


def _check_owner(owner: dict[str, Any], where: str) -> None:
    _, dot, above = where.partition(".")
    for name in _OWNER_STRINGS:
        found = owner.get(name)
        if found is not None and not isinstance(found, str):
            path = f"OwnerReference.{above}{dot}ownerReferences.{name}"
            raise ShapeError(_text(found, f"struct field {path}", "string"))


def _string_map(found: Any, where: str) -> Any:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise ShapeError(_text(found, f"struct field {where}", "map[string]string"))
    for value in found.values():
        if value is None:
            return _string_map({key: item or "" for key, item in found.items()}, where)
        if not isinstance(value, str):
            raise ShapeError(_text(value, f"struct field {where}", "string"))
    return found


def _check_base64(values: Mapping[str, str]) -> None:
    for text in values.values():
        if len(text) % 4 == 0 and _is_base64(text):
            continue
        padding = next(iter(_NOT_BASE64.finditer(text)), None)
        at = padding.start() if padding else len(text) - len(text) % 4
        raise ShapeError(f"illegal base64 data at input byte {at}")


def _text(value: Any, where: str, go_type: str) -> str:
    return f"json: cannot unmarshal {go_kind(value)} into Go {where} of type {go_type}"


def unknown_fields(of: ResourceType, value: Mapping[str, Any]) -> list[str]:
    """Paths of members that the type does not have, in the order in which they came."""
    metadata = value.get("metadata")
    found = []
    if isinstance(metadata, dict):
        found = [f"metadata.{name}" for name in metadata if name not in _METADATA]
    if not of.custom:
        known = ("kind", "apiVersion", "metadata")
        found += [name for name in value if name not in of.members and name not in known]
    return found


def duplicate_fields(body: bytes) -> list[str]:
    """Paths of members that are in the body more than once. Costs a second reading."""
    try:
        pairs = json.loads(body, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return []  # YAML, or what only Go reads
    return list(dict.fromkeys(_duplicates(pairs, "")))


class _Pairs(list[tuple[str, Any]]):
    """An object, with its members as they came."""


def _duplicates(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, _Pairs):
        seen = set()
        for name, member in value:
            here = f"{path}.{name}" if path else name
            if name in seen:
                yield here
            seen.add(name)
            yield from _duplicates(member, here)
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _duplicates(item, f"{path}[{at}]")
