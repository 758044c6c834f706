"""A schema in a definition, as the real server writes it back, and what it does not take in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["as_written", "schemas_in", "unknown_formats", "unknown_in_schema"]

_ORDER = (
    *("id", "$schema", "$ref", "description", "type", "format", "title", "default", "maximum"),
    *("exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength", "pattern"),
    *("maxItems", "minItems", "uniqueItems", "multipleOf", "enum", "maxProperties"),
    *("minProperties", "required", "items", "allOf", "oneOf", "anyOf", "not", "properties"),
    *("additionalProperties", "patternProperties", "dependencies", "additionalItems"),
    *("definitions", "externalDocs", "example", "nullable"),
    *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"),
    *("x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type"),
    *("x-kubernetes-map-type", "x-kubernetes-validations"),
)
_KNOWN = frozenset(_ORDER)
_LISTS = frozenset({"allOf", "oneOf", "anyOf"})
_MAPS = frozenset({"properties", "patternProperties", "definitions"})
_ONE = frozenset({"not", "items", "additionalProperties", "additionalItems"})
_KEPT = frozenset(
    {
        *("default", "example", "maximum", "minimum", "maxLength", "minLength", "maxItems"),
        *("minItems", "multipleOf", "maxProperties", "minProperties", "not", "items"),
        *("additionalProperties", "additionalItems", "x-kubernetes-preserve-unknown-fields"),
        *("x-kubernetes-list-type", "x-kubernetes-map-type", "$ref"),
    }
)
"""Members that are written though they are empty, 0 or false."""
_RULE = ("rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf")


def as_written(schema: Any) -> Any:
    """In order, without what is empty or unknown. What has the wrong type stays as it is."""
    if not isinstance(schema, Mapping):
        return schema
    written: dict[str, Any] = {}
    for name in _ORDER:
        value = schema.get(name)
        if value is None or (not value and name not in _KEPT):
            continue
        if name in _ONE:
            value = (
                [as_written(one) for one in value] if isinstance(value, list) else as_written(value)
            )
        elif name in _LISTS:
            if isinstance(value, list):
                value = [as_written(one) for one in value]
        elif name in _MAPS:
            if isinstance(value, dict):
                value = {key: as_written(value[key]) for key in sorted(value)}
        elif name == "x-kubernetes-validations":
            if isinstance(value, list):
                value = [_rule(rule) for rule in value]
        elif isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
            value = value if name in ("default", "example") else int(value)
        written[name] = value
    return written


def _rule(rule: Any) -> Any:
    if not isinstance(rule, Mapping):
        return rule
    return {"rule": "", **{name: rule[name] for name in _RULE if rule.get(name) is not None}}


def unknown_in_schema(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    """The paths of members that no schema has. Inside of `items` and `additionalProperties` nobody
    looks for them.
    """
    for name, value in schema.items():
        if name not in _KNOWN:
            yield f"{path}.{name}"
        elif name == "not" and isinstance(value, Mapping):
            yield from unknown_in_schema(value, f"{path}.{name}")
        elif name in _LISTS and isinstance(value, list):
            for at, one in enumerate(value):
                if isinstance(one, Mapping):
                    yield from unknown_in_schema(one, f"{path}.{name}[{at}]")
        elif name in _MAPS and isinstance(value, Mapping):
            for key, one in value.items():
                if isinstance(one, Mapping):
                    yield from unknown_in_schema(one, f"{path}.{name}.{key}")


def schemas_in(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema and all that are in it."""
    yield schema
    for name in _ONE:
        below = schema.get(name)
        if isinstance(below, Mapping):
            yield from schemas_in(below)
    for name in ("allOf", "oneOf", "anyOf"):
        for one in schema.get(name) or ():
            yield from schemas_in(one)
    for one in (schema.get("properties") or {}).values():
        yield from schemas_in(one)


def unknown_formats(schema: Mapping[str, Any]) -> list[str]:
    """Formats that are not checked, as often as they are named."""
    from .structural_formats import is_known_format  # patterns by the dozen: for definitions only

    return [
        found["format"]
        for found in schemas_in(schema)
        if found.get("format") and not is_known_format(found.get("type") or "", found["format"])
    ]
