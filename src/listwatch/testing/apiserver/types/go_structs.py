"""Built-in objects as Go's structs hold them: what their decoder makes of JSON, and what JSON their
encoder makes of it (K7).

Names are in the structs' order. What an encoder leaves out when it is empty is gone, what it does
not leave out is there. `types/go_fields.json` has the order, Go's types and what is left out
(`python -m conformance.go_fields` writes it); `types/fields.json` the rest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .fields import Node, schema_of, schemas
from .go_values import (
    Bytes,
    Decoding,
    GoValue,
    IntOrString,
    Quantity,
    Scalar,
    Time,
    WrongType,
)

__all__ = [
    "Decoding",
    "GoList",
    "GoMap",
    "GoValue",
    "Struct",
    "WrongType",
    "empty_members",
    "in_go_form",
    "struct_named",
    "struct_of",
]

_FREE_FORM = frozenset({"RawExtension", "FieldsV1", "JSON", "Info"})
_SCHEMA = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps"
_TIMES = frozenset({"Time", "MicroTime"})
_NO_MEMBERS = "CustomResourceSubresourceStatus"
_STRUCTS = frozenset({"Duration", "RawExtension", "JSON"})
_REFUSED_EMPTY = {
    "v2.HPAScalingRules": frozenset({"policies"}),
    "v1.EphemeralContainer": frozenset({"ports", "resizePolicy", "restartPolicyRules"}),
}
"""Lists that the checks refuse when they are there and empty, so that they must be seen; all others
can be left out when they are read, for they are when they are written.
"""


class _Many(GoValue):
    item: GoValue

    def __init__(self, go_type: str, item: GoValue) -> None:
        super().__init__(go_type)
        self.item = item
        self._is_plain = type(item) in (GoValue, Scalar, Quantity, IntOrString)

    def is_empty(self, value: Any) -> bool:
        return not value


class GoList(_Many):
    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if not isinstance(value, list):
            raise self.wrong(value, path, at)
        item = self.item
        return [
            _zero_of(item) if found is None else item.decode(found, path, f"{shown}[{place}]", at)
            for place, found in enumerate(value)
        ]

    def written(self, value: Any) -> Any:
        if self._is_plain:
            return value
        made = [self.item.written(found) for found in value]
        same = all(new is old for new, old in zip(made, value, strict=True))
        return value if same else made


class GoMap(_Many):
    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if not isinstance(value, dict):
            raise self.wrong(value, path, at)
        item = self.item
        return {
            name: _zero_of(item)
            if found is None
            else item.decode(found, path, f"{shown}.{name}", at)
            for name, found in value.items()
        }

    def written(self, value: Any) -> Any:
        """Go writes maps sorted."""
        made = {name: self.item.written(value[name]) for name in sorted(value)}
        same = list(made) == list(value) and all(made[name] is value[name] for name in made)
        return value if same else made


class _SchemaOr(GoValue):
    """A schema of a CRD, or something else: a list of them, a list of names, or a boolean."""

    def __init__(self, go_type: str, other: str) -> None:
        super().__init__(go_type)
        self._other = other

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        inside = Decoding()  # where nobody looks for what is unknown
        try:
            if isinstance(value, dict):
                return _schema().decode(value, path, shown, inside)
            if isinstance(value, list) and self._other == "Array":
                return GoList("[]v1.JSONSchemaProps", _schema()).decode(value, path, shown, inside)
            if isinstance(value, list) and self._other == "StringArray":
                return GoList("[]string", Scalar("string", "string")).decode(
                    value, path, shown, inside
                )
        except WrongType as wrong:
            wrong.struct = at.struct
            wrong.has_decoder = True
            raise
        if self._other != "Bool":
            return None
        if not isinstance(value, bool):
            text = "boolean or JSON schema expected"
            raise WrongType(value, at.struct, path, self.go_type, text)
        return value


def _schema() -> GoValue:
    return _named(_SCHEMA, False)


class Struct(GoValue):
    """Members by name, in order."""

    is_struct = True

    def __init__(self, go_type: str, node: Node, members: Mapping[str, str]) -> None:
        super().__init__(go_type)
        self.name = go_type.rpartition(".")[2]
        self._node = node
        self._members = members
        self._fields: dict[str, tuple[GoValue, bool]] | None = None
        self._places: dict[str, int] = {}
        self._always: dict[str, GoValue] = {}
        self._inlined: dict[str, str] = {}
        """How paths name members that are those of a struct inside of this one."""

    @property
    def fields(self) -> Mapping[str, tuple[GoValue, bool]]:
        """Each member: how it is read, and whether it is left out when it is empty."""
        if self._fields is None:
            self._fields = {}
            properties = self._node.get("properties") or {}
            refused = _REFUSED_EMPTY.get(self.go_type, frozenset())
            for name in {**self._members, **properties}:
                text = self._members.get(name, "?")
                if name not in properties and name not in self._members:
                    continue
                text, _, inlined = text.partition("@")
                if inlined:
                    self._inlined[name] = f"{inlined}.{name}"
                value = _value(properties.get(name) or {}, text.rstrip("?"))
                may_miss = text.endswith("?") and name not in refused
                self._fields[name] = (value, may_miss)
                if not text.endswith("?") or (
                    value.is_struct and not value.is_pointer and not text.endswith("??")
                ):
                    self._always[name] = value
            self._places = {name: at for at, name in enumerate(self._fields)}
        return self._fields

    def decode(self, value: Any, path: str, shown: str, at: Decoding) -> Any:
        if not isinstance(value, dict):
            raise self.wrong(value, path, at)
        fields, inlined = self.fields, self._inlined
        made = {}
        above, at.struct = at.struct, self.name
        for name, found in value.items():
            field = fields.get(name)
            if field is None:
                at.unknown.append(f"{shown}.{name}" if shown else name)
                continue
            if found is None:
                continue
            member, may_miss = field
            step: Any = inlined.get(name, name)
            held = member.decode(
                found,
                f"{path}.{step}" if path else step,
                f"{shown}.{name}" if shown else name,
                at,
            )
            if may_miss and not (member.is_pointer or member.is_struct) and member.is_empty(held):
                continue
            made[name] = held
        at.struct = above
        return made

    def written(self, value: Any) -> Any:
        fields = self.fields
        made: dict[str, Any] = {}
        same = True
        last = -1
        for name, found in value.items():
            place = self._places.get(name)
            if place is None:
                made[name] = found
                continue
            if place < last:
                same = False
            last = place
            if found is None:
                made[name] = found
                continue
            made[name] = new = fields[name][0].written(found)
            if new is not found:
                same = False
        for name, member in self._always.items():
            if name not in made:
                made[name] = _zero_of(member)
                same = False
        if same:
            return value
        places = self._places
        rest = len(places)
        return dict(sorted(made.items(), key=lambda item: places.get(item[0], rest)))

    def is_empty(self, value: Any) -> bool:
        return False


def _zero_of(value: GoValue) -> Any:
    if value.is_pointer:
        return None
    return value.written({}) if isinstance(value, Struct) else value.zero


@cache
def struct_of(api_version: str, kind: str) -> Struct | None:
    """The struct of a built-in kind; None where it is none."""
    node = schema_of(api_version, kind)
    if node is None:
        return None
    name = next(n for n, found in schemas().items() if found is node)
    made = _named(name, False)
    return made if isinstance(made, Struct) else None


def struct_named(name: str) -> GoValue:
    """The struct of that full name, such as `io.k8s.api.core.v1.Taint`."""
    return _named(name, False)


def in_go_form(
    api_version: str, kind: str, value: dict[str, Any], old: Mapping[str, Any]
) -> dict[str, Any]:
    """A built-in object whose members, but for metadata, are as Go writes them; the order of the
    members themselves is not this function's. Those that are in `old`, too, have that form.
    """
    struct = struct_of(api_version, kind)
    if struct is None:
        return value
    fields = struct.fields
    changed = {}
    for name, member in value.items():
        if name == "metadata" or not isinstance(member, dict | list):
            continue
        if member is old.get(name):
            continue
        field = fields.get(name)
        if field is not None:
            new = field[0].written(member)
            if new is not member:
                changed[name] = new
    return {**value, **changed} if changed else value


@cache
def empty_members(api_version: str, kind: str) -> Mapping[str, Any] | None:
    """The members besides metadata of an object of which nothing is said, as Go writes them."""
    struct = struct_of(api_version, kind)
    if struct is None:
        return None
    return {name: value for name, value in struct.written({}).items() if name != "metadata"}


@cache
def _go_fields() -> dict[str, dict[str, str]]:
    data = Path(__file__).with_name("go_fields.json").read_bytes()
    return msgspec.json.decode(data, type=dict[str, dict[str, str]])


@cache
def _named(name: str, pointer: bool) -> GoValue:
    node = schemas()[name]
    package, _, kind = name.rpartition(".")
    text = f"{package.rpartition('.')[2]}.{kind}"
    made: GoValue
    if kind == "Quantity":
        made = Quantity("resource.Quantity")
    elif kind == "IntOrString":
        made = IntOrString("intstr.IntOrString")
    elif kind in _TIMES:
        made = Time(text)
    elif name.startswith(_SCHEMA) and name != _SCHEMA:
        made = _SchemaOr(text, name.removeprefix(f"{_SCHEMA}Or"))
    elif kind in _FREE_FORM or ("properties" not in node and kind != _NO_MEMBERS):
        made = GoValue(text)
        if node.get("type") == "string":
            made = Scalar(text, "string")
            made.zero = "0s" if kind == "Duration" else None
        made.is_struct = kind in _STRUCTS
    else:
        made = Struct(text, node, _go_fields().get(name) or {})
    made.is_pointer = pointer
    return made


def _value(node: Node, go_type: str) -> GoValue:
    pointer = go_type.startswith("*")
    go_type = go_type.lstrip("*")
    reference = node.get("$ref") or node.get("ref")
    if reference:
        return _named(reference, pointer)
    made: GoValue
    kind = node.get("type")
    if kind == "array":
        # A type with a name of its own says nothing of its items: all such are texts.
        of_item = go_type[2:] if go_type.startswith("[]") else "string"
        item = _value(node.get("items") or {}, of_item)
        made = GoList(go_type, item)
    elif kind == "object" and isinstance(node.get("additionalProperties"), dict):
        item = _value(node["additionalProperties"], go_type.partition("]")[2])
        made = GoMap(go_type, item)
    elif kind in ("string", "boolean", "integer", "number"):
        is_bytes = node.get("format") == "byte"
        made = Bytes(go_type, kind) if is_bytes else Scalar(go_type, kind)
    else:
        made = GoValue(go_type)
    made.is_pointer = pointer
    return made
