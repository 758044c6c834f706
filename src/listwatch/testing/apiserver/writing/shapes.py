"""Whether an object has the JSON types that every type has, as Go's decoder would find.

Of a built-in object all levels are looked at, of a custom one metadata: the rest has a schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ..reading.encoding import go_json
from ..types.go_structs import Decoding, WrongType, struct_of
from ..types.served import ResourceType
from ..types.structural import Structural
from ..validation.problems import invalid_field
from .entry_shapes import is_time, known_entries, unknown_members, wrong_member, wrong_time
from .go_syntax import go_kind

__all__ = [
    "ShapeError",
    "check_shape",
    "conversion",
    "duplicate_fields",
    "is_plain_json",
    "unknown_fields",
]

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
_MAP_TYPES = frozenset({"v1.ResourceList"})
"""Those of Go's types for maps that have names."""
_TEXT_MAPS = frozenset({("ConfigMap", "data"), ("Secret", "stringData")})

_UNUSUAL = re.compile(rb'"[ \t\r\n]+:|\\u').search
"""Spaces before a colon, and escapes that may hide a quotation mark."""
_NOTHING: Any = object()
_decode = msgspec.json.Decoder().decode
_OWNER: dict[str, type] = {
    **dict.fromkeys(("apiVersion", "kind", "name", "uid"), str),
    **dict.fromkeys(("controller", "blockOwnerDeletion"), bool),
}


class ShapeError(Exception):
    """A member has the wrong JSON type: the text is Go's."""

    conversion = ""
    """What the reader of strategic merge patches says, where that is known."""


def check_shape(
    of: ResourceType,
    value: dict[str, Any],
    old: Mapping[str, Any] | None = None,
    *,
    applied: bool = False,
) -> list[str]:
    """Raise `ShapeError` for the first wrong one. What Go would not read is taken out of `value`:
    nulls (in maps of strings they become empty), what is empty and not written then, unknown
    members. Their paths are returned, in the order in which they came. What is the same object as
    in `old`, which is stored, is not looked into. What an apply has made of a custom object, which
    no decoder reads, keeps its nulls: `applied`.
    """
    unknown = unknown_fields(of, value)
    metadata = value.get("metadata")
    if metadata is None:
        value["metadata"] = {}
    elif not isinstance(metadata, dict):
        where = "value" if of.custom else f"struct field {of.kind}.metadata"
        raise _wrong_type(metadata, where, "v1.ObjectMeta")
    else:
        where = "ObjectMeta" if of.custom else "ObjectMeta.metadata"
        value["metadata"] = _checked_metadata(metadata, where)
    if of.custom:
        if of.schema is not None:
            read = of.schema.filled(value) if applied else of.schema.read(value)
            check_embedded(read, of.schema.root)
            if read is not value:
                value.clear()
                value.update(read)
    else:
        nested = _read_members(of, value, old or {})
        if nested:
            places = {name: at for at, name in enumerate(value)}
            unknown = sorted(
                unknown + nested, key=lambda path: places.get(_first(path), len(places))
            )
    return unknown


def check_embedded(value: Any, node: Structural, path: str = "") -> None:
    """Raise `ShapeError` for an object inside of a custom one whose names are of wrong types."""
    if not node.has_embedded:
        return
    if isinstance(value, dict):
        if node.embedded:
            _check_names(value, path)
        for name, member in value.items():
            below = node.child(name)
            if below is not None:
                named = f"{path}.{name}" if path else name
                here = named if name in node.properties else f"{path}[{name}]"
                check_embedded(member, below, here)
    elif isinstance(value, list) and node.items is not None:
        for at, item in enumerate(value):
            check_embedded(item, node.items, f"{path}[{at}]")


def _check_names(value: Mapping[str, Any], path: str) -> None:
    for name in ("apiVersion", "kind"):
        if name in value and not isinstance(value[name], str):
            text = "must be a string"
            raise ShapeError(str(invalid_field(f"{path}.{name}", value[name], text)))
    metadata = value.get("metadata")
    if metadata is None:
        return
    try:
        if not isinstance(metadata, dict):
            raise _wrong_type(metadata, "value", "v1.ObjectMeta")
        _checked_metadata(metadata, "ObjectMeta")
    except ShapeError as error:
        problem = invalid_field(f"{path}.metadata", metadata, str(error))
        raise ShapeError(str(problem)) from None


def _read_members(of: ResourceType, value: dict[str, Any], old: Mapping[str, Any]) -> list[str]:
    """The members of a built-in object as Go holds them, and the paths of what it does not know
    inside them.
    """
    struct = struct_of(of.api_version, of.kind)
    reading = Decoding()
    for name, member in tuple(value.items()):
        if name in ("kind", "apiVersion", "metadata"):
            continue
        field = None if struct is None else struct.fields.get(name)
        if name not in of.members or member is old.get(name, _NOTHING):
            continue
        if member is None:
            value[name] = None
        elif (of.kind, name) in _TEXT_MAPS:
            value[name] = _string_map(member, f"{of.kind}.{name}") or None
        elif field is not None:
            reading.struct = of.kind
            try:
                held = field[0].decode(member, name, name, reading)
            except WrongType as wrong:
                raise _shape_error(wrong) from None
            kind, may_miss = field
            may_miss = may_miss and not (kind.is_pointer or kind.is_struct)
            value[name] = None if may_miss and kind.is_empty(held) else held
    for name in tuple(value):
        if name not in ("kind", "apiVersion", "metadata") and (
            value[name] is None or name not in of.members
        ):
            del value[name]
    return reading.unknown


def _first(path: str) -> str:
    return path.partition(".")[0].partition("[")[0]


def _shape_error(wrong: WrongType) -> ShapeError:
    if wrong.text:
        error = ShapeError(wrong.text)
        error.conversion = wrong.conversion
        return error
    value, go_type = wrong.value, wrong.go_type
    where = f"struct field {wrong.struct}.{wrong.path}" if wrong.path else "value"
    cannot = _cannot(value, go_type)
    error = ShapeError(f"{cannot} {where} of type {go_type}")
    if wrong.has_decoder:
        error.conversion = f"{cannot} value of type {go_type}"
    else:
        error.conversion = conversion(value, go_type, is_struct=wrong.is_struct)
    return error


def _cannot(value: Any, go_type: str) -> str:
    kind = go_kind(value)
    if kind == "number" and go_type in ("int32", "int64", "uint8"):
        kind = f"number {go_json(value).decode()}"
    return f"json: cannot unmarshal {kind} into Go"


def conversion(value: Any, go_type: str, *, is_struct: bool = False) -> str:
    """What the reader of strategic merge patches says."""
    kind = go_kind(value)
    found = {"number": "int64", "array": "slice", "object": "map"}.get(kind, kind)
    if isinstance(value, float):
        found = "float64"
    if go_type.startswith("[]"):
        return f"cannot restore slice from {found}"
    if go_type.startswith("map[") or go_type in _MAP_TYPES:
        return f"cannot restore map from {found}"
    if is_struct:
        return f"cannot restore struct from: {found}"
    is_text = go_type not in ("int32", "int64", "bool", "float64")
    if (found == "int64" and is_text) or (found == "float64" and go_type.startswith("int")):
        return f"cannot convert {found} to {go_type}"
    return f"unrecognized type: {'string' if is_text else go_type}"


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
                raise _no_string(found, f"struct field {where}.{name}", name)
            if name in _TIMES and not is_time(found):
                raise _no_time(found)
        elif name in _MAPS:
            changed = _string_map(found, f"{where}.{name}")
            if changed is not found:
                return _checked_metadata({**metadata, name: changed}, where)
        elif name in _NUMBERS:
            if isinstance(found, bool) or not isinstance(found, int):
                raise _wrong_type(found, f"struct field {where}.{name}", "int64")
        elif name in _LISTS:
            changed = _checked_list(name, found, where)
            if changed is not found:
                return _checked_metadata({**metadata, name: changed}, where)
    return metadata


def _checked_list(name: str, found: Any, where: str) -> Any:
    go_type = _LISTS[name]
    field = f"struct field {where}.{name}"
    if not isinstance(found, list):
        raise _wrong_type(found, field, f"[]{go_type}")
    entries = name == "managedFields"
    for item in found:
        if entries and item is None:
            continue
        if not isinstance(item, str if name == "finalizers" else dict):
            raise _wrong_type(item, field, go_type)
        if name == "ownerReferences" and isinstance(item, dict):
            _check_owner(item, where)
        elif entries and isinstance(item, dict):
            _check_entry(item, where)
    return known_entries(found) if entries else found


def _check_entry(entry: dict[str, Any], where: str) -> None:
    _, dot, above = where.partition(".")
    if wrong := wrong_member(entry):
        name, go_type = wrong
        path = f"ManagedFieldsEntry.{above}{dot}managedFields.{name}"
        raise _wrong_type(entry[name], f"struct field {path}", go_type)
    time = wrong_time(entry)
    if time is not None:
        raise _no_time(time)


def _no_time(text: str) -> ShapeError:
    layout = "2006-01-02T15:04:05Z07:00"
    return ShapeError(f'parsing time "{text}" as "{layout}": cannot parse "{text}" as "2006"')


def _check_owner(owner: dict[str, Any], where: str) -> None:
    _, dot, above = where.partition(".")
    for name, found in owner.items():
        kind = _OWNER.get(name)
        if kind is None or found is None or isinstance(found, kind):
            continue
        field = f"struct field OwnerReference.{above}{dot}ownerReferences.{name}"
        if kind is bool:
            raise _wrong_type(found, field, "bool")
        raise _no_string(found, field, name)


def _no_string(value: Any, where: str, name: str) -> ShapeError:
    error = _wrong_type(value, where, "types.UID" if name == "uid" else "string")
    if name in _TIMES:
        error.conversion = f"{_cannot(value, 'string')} value of type string"
    return error


def _string_map(found: Any, where: str) -> Any:
    if found is None:
        return None
    if not isinstance(found, dict):
        raise _wrong_type(found, f"struct field {where}", "map[string]string")
    for value in found.values():
        if value is None:
            return _string_map({key: item or "" for key, item in found.items()}, where)
        if not isinstance(value, str):
            raise _wrong_type(value, f"struct field {where}", "string")
    return found


def _wrong_type(value: Any, where: str, go_type: str) -> ShapeError:
    error = ShapeError(f"{_cannot(value, go_type)} {where} of type {go_type}")
    error.conversion = conversion(value, go_type, is_struct=go_type.startswith("v1."))
    return error


def unknown_fields(of: ResourceType, value: Mapping[str, Any]) -> list[str]:
    """Paths of members that the type does not have, in the order in which they came."""
    metadata = value.get("metadata")
    found = []
    if isinstance(metadata, dict):
        found = [f"metadata.{name}" for name in metadata if name not in _METADATA]
        entries = metadata.get("managedFields")
        if isinstance(entries, list):
            found += [f"metadata.{path}" for path in unknown_members(entries)]
    if of.custom:
        if of.schema is not None and isinstance(value, dict):
            found += of.schema.unknown(value)
    else:
        known = ("kind", "apiVersion", "metadata")
        found += [name for name in value if name not in of.members and name not in known]
    return found


def duplicate_fields(body: bytes) -> list[str]:
    """Paths of members that are in the body more than once. That costs a second reading, which
    bodies that are plainly without them are spared.
    """
    if is_plain_json(body):
        return []
    try:
        pairs = json.loads(body, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return []  # YAML, or what only Go reads
    return list(dict.fromkeys(_duplicates(pairs, "")))


def is_plain_json(body: bytes) -> bool:
    """Whether a body is JSON in which plainly no member comes twice: it has as many colons behind
    quotation marks as it has when each member is written once. False where that does not tell.
    """
    if _UNUSUAL(body):
        return False
    try:
        once = msgspec.json.encode(_decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return once.count(b'":') == body.count(b'":')


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
