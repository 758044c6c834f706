"""Objects that differ from a valid one in one member."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from conformance.requests import Json
from listwatch.api import BUILTIN_RESOURCES
from listwatch.testing.apiserver.types.go_structs import (
    GoList,
    GoMap,
    GoValue,
    Struct,
    struct_of,
)
from listwatch.testing.apiserver.types.go_values import IntOrString, Quantity, Scalar

__all__ = ["kind_of", "mutations"]

_TEXTS = ("", "Not_Valid!", "x" * 300, "-", "a/b", "0")
_NUMBERS = (-1, 0, 1, 70000, 2**31 - 1)
_SAMPLES: dict[str, tuple[Any, ...]] = {
    "string": ("x", "Not_Valid!"),
    "boolean": (True, False),
    "integer": (-1, 0, 1),
    "number": (1,),
}


def kind_of(path: str) -> tuple[str, str]:
    """apiVersion and kind of what a collection's path holds."""
    parts = path.strip("/").split("/")
    group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
    plural = parts[-1]
    found = next(
        each
        for each in BUILTIN_RESOURCES
        if (each.group, each.version, each.name) == (group, version, plural)
    )
    return found.api_version, found.kind


def mutations(obj: Json, api_version: str, kind: str) -> Iterator[tuple[str, Json]]:
    """Each with what was done. Names and namespaces of the object itself stay."""
    struct = struct_of(api_version, kind)
    assert struct is not None
    for name, value in obj.items():
        if name in ("metadata", "kind", "apiVersion"):
            continue
        field = struct.fields.get(name)
        for path, made in _of(value, field[0] if field else None, name):
            yield path, _with(obj, name, made)
    for name, (field_type, _) in struct.fields.items():
        if name not in obj and name not in ("metadata", "kind", "apiVersion", "status"):
            for sample in _samples(field_type):
                yield f"{name} = {sample!r:.60}", {**obj, name: sample}


_GONE = object()


def _with(obj: Json, name: str, value: Any) -> Json:
    made = copy.copy(obj)
    if value is _GONE:
        made.pop(name)
    else:
        made[name] = value
    return made


def _of(value: Any, node: GoValue | None, path: str) -> Iterator[tuple[str, Any]]:
    yield f"{path} gone", _GONE
    if isinstance(value, bool):
        yield f"{path} = {not value}", not value
    elif isinstance(value, int):
        for number in _NUMBERS:
            if number != value:
                yield f"{path} = {number}", number
        yield f"{path} + 1", value + 1
    elif isinstance(value, str):
        for text in _TEXTS:
            yield f"{path} = {text!r:.30}", text
    elif isinstance(value, list):
        yield f"{path} = []", []
        if value:
            yield f"{path} twice", [*value, copy.deepcopy(value[0])]
        item = getattr(node, "item", None)
        if isinstance(item, Struct):
            yield f"{path} + {{}}", [*value, {}]
        for at, each in enumerate(value):
            for below, made in _of(each, item, f"{path}[{at}]"):
                changed = list(value)
                if made is _GONE:
                    del changed[at]
                else:
                    changed[at] = made
                yield below, changed
    elif isinstance(value, dict):
        yield f"{path} = {{}}", {}
        for name, each in value.items():
            field = node.fields.get(name) if isinstance(node, Struct) else None
            child = field[0] if field else getattr(node, "item", None)
            for below, made in _of(each, child, f"{path}.{name}"):
                yield below, _with(value, name, made)
        if isinstance(node, Struct):
            for name, (child, _) in node.fields.items():
                if name not in value:
                    for sample in _samples(child):
                        yield f"{path}.{name} = {sample!r:.60}", {**value, name: sample}
        else:
            yield f"{path}[Not Valid!]", {**value, "Not Valid!": next(iter(value.values()), "x")}


def _samples(node: Any) -> Iterator[Any]:
    """Values of a member that is not there."""
    if isinstance(node, Scalar):
        yield from _SAMPLES[node.kind]
    elif isinstance(node, Struct):
        yield {}
    elif isinstance(node, GoList):
        yield from ([sample] for sample in _samples(node.item))
    elif isinstance(node, GoMap):
        yield from ({"a b": sample} for sample in _samples(node.item))
    elif isinstance(node, Quantity):
        yield from ("1", "-1", "100m")
    elif isinstance(node, IntOrString):
        yield from (1, -1, "x", "50%", "150%")
