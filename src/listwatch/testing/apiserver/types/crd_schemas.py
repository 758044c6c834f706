"""What a schema must be like, so that objects can be pruned and get defaults by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..validation.problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .crd_schema_parts import key_problems, kind_problems, rule_syntax_problems
from .go_patterns import pattern_problem
from .structural import Structural, pruned_value
from .structural_checks import schema_problems
from .structural_lists import embedded_problems

__all__ = ["openapi_problems", "structural_problems"]

Schema = Mapping[str, Any]

_EITHER = [{"type": "integer"}, {"type": "string"}]
_TYPES = ("array", "boolean", "integer", "number", "object", "string")
_META = ("apiVersion", "kind", "metadata")
_X = "x-kubernetes-"
_EMPTY_TYPE = {
    "root": "must not be empty at the root",
    "items": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}
_NESTED = {
    "type": "must be empty to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    f"{_X}preserve-unknown-fields": "must be false to be structural",
    f"{_X}embedded-resource": "must be false to be structural",
    f"{_X}int-or-string": "must be false to be structural",
    f"{_X}list-map-keys": "must be empty to be structural",
    f"{_X}list-type": "must be undefined to be structural",
    f"{_X}map-type": "must be undefined to be structural",
    f"{_X}validations": "must be empty to be structural",
}
"""What must not stand inside of allOf, anyOf, oneOf and not."""
_UNSUPPORTED = {
    "additionalItems": "additionalItems",
    "patternProperties": "patternProperties",
    "definitions": "definitions",
    "dependencies": "dependencies",
    "$ref": "$ref",
}


def structural_problems(schema: Schema, path: str) -> list[Problem]:
    """Why a schema is not structural, sorted as the real server sorts; if it is, what is wrong with
    its defaults.
    """
    found = [*_invariants(schema, "root", path), *_incomplete(schema, schema, path, path)]
    if found:
        return sorted(found, key=str)
    root = Structural(schema)
    return list(_default_problems(root, path, in_metadata=False, is_root=True))


def _invariants(schema: Schema, level: str, path: str) -> Iterator[Problem]:
    kind = schema.get("type") or ""
    items, properties = schema.get("items"), schema.get("properties") or {}
    additional = schema.get("additionalProperties")
    embedded = bool(schema.get(f"{_X}embedded-resource"))
    preserve = bool(schema.get(f"{_X}preserve-unknown-fields"))
    either = bool(schema.get(f"{_X}int-or-string"))
    if kind == "array" and items is None:
        yield required_field(f"{path}.items", "must be specified")
    if isinstance(items, dict):
        yield from _invariants(items, "items", f"{path}.items")
    for name, below in properties.items():
        yield from _invariants(below, "field", f"{path}.properties[{name}]")
    if additional is not None:
        if level == "root":
            yield forbidden_field(f"{path}.additionalProperties", "must not be used at the root")
        if isinstance(additional, dict):
            yield from _invariants(additional, "field", f"{path}.additionalProperties")
    for name, is_set in (("preserve-unknown-fields", preserve), ("embedded-resource", embedded)):
        if either and is_set:
            text = "must be false if x-kubernetes-int-or-string is true"
            yield invalid_field(f"{path}.{_X}{name}", True, text)
    yield from _validations(
        schema, path, skip_any=schema.get("anyOf") == _EITHER, skip_all=_starts_with_either(schema)
    )
    if embedded and kind != "object":
        text = "must be object if x-kubernetes-embedded-resource is true"
        yield (
            invalid_field(f"{path}.type", kind, text)
            if kind
            else required_field(f"{path}.type", text)
        )
    elif not kind and not either and not preserve:
        yield required_field(f"{path}.type", _EMPTY_TYPE[level])
    if embedded and additional is not None:
        text = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden_field(f"{path}.additionalProperties", text)
    if level == "root" and kind and kind != "object":
        yield invalid_field(f"{path}.type", kind, "must be object at the root")
    if level == "root" or embedded:
        for name, wanted in (("kind", "string"), ("apiVersion", "string"), ("metadata", "object")):
            if name in properties and properties[name].get("type") != wanted:
                found = properties[name].get("type") or ""
                text = f"must be {wanted}"
                yield invalid_field(f"{path}.properties[{name}].type", found, text)
    if level == "root" and "metadata" in properties and _says_more(properties["metadata"]):
        yield forbidden_field(
            f"{path}.properties[metadata]",
            "must not specify anything other than name and generateName, but metadata is "
            "implicitly specified",
        )
    if embedded and not preserve and not properties:
        yield required_field(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without "
            "x-kubernetes-preserve-unknown-fields",
        )


def _starts_with_either(schema: Schema) -> bool:
    all_of = schema.get("allOf")
    return any(one.get("anyOf") == _EITHER for one in (all_of or ())[:1])


def _says_more(metadata: Schema) -> bool:
    """Whether the schema of the root's metadata says anything but of the names."""
    rest = {name: value for name, value in metadata.items() if value and name != "type"}
    rest.pop("default", None)
    if rest.get("properties", {}).keys() <= {"name", "generateName"}:
        rest.pop("properties", None)
    return bool(rest)


def _validations(
    schema: Schema, path: str, *, skip_any: bool = False, skip_all: bool = False
) -> Iterator[Problem]:
    if not skip_any:
        for at, one in enumerate(schema.get("anyOf") or ()):
            yield from _nested(one, f"{path}.anyOf[{at}]")
    for at, one in enumerate(schema.get("allOf") or ()):
        yield from _nested(one, f"{path}.allOf[{at}]", skip_any=skip_all and at == 0)
    for at, one in enumerate(schema.get("oneOf") or ()):
        yield from _nested(one, f"{path}.oneOf[{at}]")
    if schema.get("not") is not None:
        yield from _nested(schema["not"], f"{path}.not")
    pattern = schema.get("pattern")
    if pattern and (problem := pattern_problem(pattern)):
        text = f"must be a valid regular expression, but isn't: {problem}"
        yield invalid_field(f"{path}.pattern", pattern, text)


def _nested(schema: Schema, path: str, *, skip_any: bool = False) -> Iterator[Problem]:
    yield from _validations(schema, path, skip_any=skip_any)
    if isinstance(schema.get("items"), dict):
        yield from _nested(schema["items"], f"{path}.items")
    for name, below in (schema.get("properties") or {}).items():
        yield from _nested(below, f"{path}.properties[{name}]")
    additional = schema.get("additionalProperties")
    for name, text in _NESTED.items():
        if schema.get(name):
            yield forbidden_field(f"{path}.{name}", text)
        if name == "type" and additional:
            yield forbidden_field(
                f"{path}.additionalProperties", "must be undefined to be structural"
            )
    if "metadata" in (schema.get("properties") or {}):
        text = "must not be specified in a nested context"
        yield forbidden_field(f"{path}.properties[metadata]", text)


def _incomplete(of: Schema, skeleton: Schema, path: str, here: str) -> Iterator[Problem]:
    """Members that only allOf, anyOf, oneOf or not speak of."""
    if of.get("not") is not None:
        yield from _incomplete_nested(of["not"], skeleton, path, f"{here}.not")
    for name in ("allOf", "anyOf", "oneOf"):
        for at, one in enumerate(of.get(name) or ()):
            yield from _incomplete_nested(one, skeleton, path, f"{here}.{name}[{at}]")


def _incomplete_nested(
    of: Schema, skeleton: Schema | None, path: str, here: str
) -> Iterator[Problem]:
    if skeleton is None:
        yield required_field(path, f"because it is defined in {here}")
        return
    yield from _incomplete(of, skeleton, path, here)
    if isinstance(of.get("items"), dict):
        below = skeleton.get("items")
        yield from _incomplete_nested(of["items"], below, f"{path}.items", f"{here}.items")
    known = skeleton.get("properties") or {}
    for name, below in (of.get("properties") or {}).items():
        where = f"properties[{name}]"
        yield from _incomplete_nested(below, known.get(name), f"{path}.{where}", f"{here}.{where}")


def _default_problems(
    node: Structural, path: str, *, in_metadata: bool, is_root: bool = False
) -> Iterator[Problem]:
    """Defaults that the schema itself would not take. Below additionalProperties nobody looks."""
    if not node.has_defaults:
        return
    if node.embedded:
        in_metadata = False
    if node.default is not None and not in_metadata:
        here = f"{path}.default"
        if pruned_value(node.default, node) != node.default:
            yield invalid_field(here, node.default, "must not have unknown fields")
        problems = list(embedded_problems(node.default, node, here))
        yield from problems or schema_problems(node.schema, node.default, below=here)
    if node.items is not None:
        yield from _default_problems(node.items, f"{path}.items", in_metadata=in_metadata)
    for name, below in node.properties.items():
        inside = in_metadata or ((is_root or node.embedded) and name in _META)
        yield from _default_problems(below, f"{path}.properties[{name}]", in_metadata=inside)


def openapi_problems(schema: Schema, path: str) -> list[Problem]:
    """What no schema of a custom resource may say, structural or not."""
    return list(_openapi(schema, path, _Place(is_root=True)))


class _Place:
    """Where in the schema of an object one stands."""

    def __init__(
        self, *, is_root: bool = False, in_meta: bool = False, no_defaults: str | None = None
    ) -> None:
        self.is_root = is_root
        self.in_meta = in_meta
        self.no_defaults = no_defaults
        """Why there may be none; None: there may."""

    def below(self, *, in_meta: bool = False, no_defaults: str | None = None) -> _Place:
        return _Place(
            in_meta=self.in_meta or in_meta,
            no_defaults=self.no_defaults if no_defaults is None else no_defaults,
        )


def _openapi(schema: Schema, path: str, place: _Place) -> Iterator[Problem]:
    yield from _forbidden(schema, path, place)
    if schema.get("uniqueItems"):
        text = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden_field(f"{path}.uniqueItems", text)
    properties, additional = schema.get("properties") or {}, schema.get("additionalProperties")
    if additional is not None:
        if properties and additional is not True:
            text = "additionalProperties and properties are mutual exclusive"
            yield forbidden_field(f"{path}.additionalProperties", text)
        if isinstance(additional, dict):
            reason = "inside additionalProperties applying to object metadata"
            below = place.below(no_defaults=reason if place.in_meta else None)
            yield from _openapi(additional, f"{path}.additionalProperties", below)
    for name, one in properties.items():
        meta = name in _META and (place.is_root or bool(schema.get(f"{_X}embedded-resource")))
        reason = f"in top-level {name}" if meta and place.is_root else ""
        below = place.below(in_meta=meta, no_defaults=reason or None)
        yield from _openapi(one, f"{path}.properties[{name}]", below)
    plain = place.below()
    if isinstance(schema.get("not"), dict):
        yield from _openapi(schema["not"], f"{path}.not", plain)
    for name in ("allOf", "oneOf", "anyOf"):
        for at, one in enumerate(schema.get(name) or ()):
            yield from _openapi(one, f"{path}.{name}[{at}]", plain)
    if isinstance(schema.get("items"), dict):
        yield from _openapi(schema["items"], f"{path}.items", plain)
    if schema.get(f"{_X}preserve-unknown-fields") is False:
        text = "must be true or undefined"
        yield invalid_field(f"{path}.{_X}preserve-unknown-fields", False, text)
    yield from kind_problems(schema, path, "map-type", "object", ("atomic", "granular"))
    yield from kind_problems(schema, path, "list-type", "array", ("atomic", "set", "map"))
    yield from key_problems(schema, path)
    yield from rule_syntax_problems(schema, path)


def _forbidden(schema: Schema, path: str, place: _Place) -> Iterator[Problem]:
    kind = schema.get("type") or ""
    if kind and kind not in _TYPES:
        yield unsupported_field(f"{path}.type", kind, _TYPES, plain=True)
    if schema.get("default") is not None and place.no_defaults is not None:
        yield forbidden_field(f"{path}.default", f"must not be set {place.no_defaults}")
    if schema.get("id"):
        yield forbidden_field(f"{path}.id", "id is not supported")
    for name, shown in _UNSUPPORTED.items():
        value = schema.get(name)
        if value is not None and (value or name not in ("patternProperties", "definitions")):
            yield forbidden_field(f"{path}.{name}", f"{shown} is not supported")
    if kind == "null":
        text = "type cannot be set to null, use nullable as an alternative"
        yield forbidden_field(f"{path}.type", text)
    if isinstance(schema.get("items"), list) and schema["items"]:
        yield forbidden_field(f"{path}.items", "items must be a schema object and not an array")
    if place.in_meta and schema.get(f"{_X}embedded-resource"):
        text = "must not be used inside of resource meta"
        yield forbidden_field(f"{path}.{_X}embedded-resource", text)
