"""What a schema says of lists, maps and rules, as far as the definition itself shows it wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..validation.problems import (
    Problem,
    forbidden_field,
    invalid_field,
    required_field,
    unsupported_field,
)
from .structural_rules import syntax_problem, uses_old_self

__all__ = ["key_problems", "kind_problems", "rule_syntax_problems"]

Schema = Mapping[str, Any]

_X = "x-kubernetes-"
_STEP = re.compile(r"\.([^.\[\]'\s]+)|\['((?:[^'\\]|\\.)+)'\]")
"""Of a path to a field."""


def kind_problems(
    schema: Schema, path: str, name: str, wanted: str, allowed: tuple[str, ...]
) -> Iterator[Problem]:
    """What is wrong with a list-type or a map-type."""
    value, kind = schema.get(f"{_X}{name}"), schema.get("type") or ""
    if value is None:
        return
    if kind != wanted:
        text = f"must be {wanted} if {_X}{name} is specified"
        yield (
            invalid_field(f"{path}.type", kind, text)
            if kind
            else required_field(f"{path}.type", text)
        )
    elif value == "set" and isinstance(schema.get("items"), dict):
        items = schema["items"]
        of = {"array": "list-type", "object": "map-type"}.get(items.get("type") or "", "")
        found = items.get(f"{_X}{of}")
        if of and found != "atomic" and (found is not None or of == "map-type"):
            text = f"must be atomic as item of a list with {_X}list-type=set"
            shown = items.get(f"{_X}list-type")
            yield invalid_field(f"{path}.items.{_X}{of}", shown, text)
    if value not in allowed:
        yield unsupported_field(f"{path}.{_X}{name}", value, allowed, plain=True)


def key_problems(schema: Schema, path: str) -> Iterator[Problem]:
    kind, keys = schema.get(f"{_X}list-type"), schema.get(f"{_X}list-map-keys") or []
    items = schema.get("items")
    if keys and kind != "map":
        text = "must be map if x-kubernetes-list-map-keys is non-empty"
        where = f"{path}.{_X}list-type"
        yield required_field(where, text) if kind is None else invalid_field(where, kind, text)
    if kind == "map":
        if not keys:
            text = "must not be empty if x-kubernetes-list-type is map"
            yield required_field(f"{path}.{_X}list-map-keys", text)
        if items is None:
            text = "must have a schema if x-kubernetes-list-type is map"
            yield required_field(f"{path}.items", text)
        elif isinstance(items, dict):
            yield from _item_problems(items, keys, path)
    if isinstance(items, dict) and kind in ("set", "map"):
        if items.get("nullable"):
            text = f"cannot be nullable when x-kubernetes-list-type is {kind}"
            yield forbidden_field(f"{path}.items.nullable", text)
        if kind == "map":
            yield from _key_defaults(items, keys, path)


def _item_problems(items: Schema, keys: list[str], path: str) -> Iterator[Problem]:
    kind = items.get("type") or ""
    if kind != "object":
        text = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid_field(f"{path}.items.type", kind, text)
        return
    properties = items.get("properties") or {}
    for at, name in enumerate(keys):
        where = f"{path}.{_X}list-map-keys"
        if name not in properties:
            yield invalid_field(where, keys, "entries must all be names of item properties")
        elif properties[name].get("type") in ("array", "object"):
            text = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid_field(f"{path}.items.properties[{name}].type", kind, text)
        if name in keys[:at]:
            yield invalid_field(where, keys, "must not contain duplicate entries")


def _key_defaults(items: Schema, keys: list[str], path: str) -> Iterator[Problem]:
    for name in keys:
        found = (items.get("properties") or {}).get(name)
        if found is None:
            continue
        where = f"{path}.items.properties[{name}]"
        if name not in (items.get("required") or ()) and found.get("default") is None:
            yield required_field(
                f"{where}.default",
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be "
                "a required property",
            )
        if found.get("nullable"):
            text = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"
            yield forbidden_field(f"{where}.nullable", text)


_REASONS = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)


def rule_syntax_problems(schema: Schema, path: str) -> Iterator[Problem]:
    """Of the rules: what is beside the expressions, and whether these can be read. Whether the old
    state is used where it is said to be is told only if nothing else is wrong.
    """
    problems = list(_rule_problems(schema, path))
    yield from problems
    if problems:
        return
    for at, rule in enumerate(schema.get(f"{_X}validations") or ()):
        if rule.get("optionalOldSelf") is not None and not uses_old_self(rule.get("rule") or ""):
            where = f"{path}.{_X}validations[{at}].optionalOldSelf"
            need = "may not be set if oldSelf is not used in rule"
            yield invalid_field(where, rule["optionalOldSelf"], need)


def _rule_problems(schema: Schema, path: str) -> Iterator[Problem]:
    for at, rule in enumerate(schema.get(f"{_X}validations") or ()):
        where = f"{path}.{_X}validations[{at}]"
        text, message = (rule.get("rule") or "").strip(), rule.get("message") or ""
        if not text:
            yield required_field(f"{where}.rule", "rule is not specified")
        elif message and not message.strip():
            yield invalid_field(f"{where}.message", message, "must be non-empty if specified")
        elif _has_lines(message.strip()):
            yield invalid_field(f"{where}.message", message, "must not contain line breaks")
        elif _has_lines(text) and not message:
            need = "message must be specified if rule contains line breaks"
            yield required_field(f"{where}.message", need)
        expression = rule.get("messageExpression") or ""
        if expression and not expression.strip():
            need = "messageExpression must be non-empty if specified"
            yield required_field(f"{where}.messageExpression", need)
        if problem := syntax_problem(rule, where):
            yield problem
        reason = rule.get("reason")
        if reason is not None and reason not in _REASONS:
            yield unsupported_field(f"{where}.reason", reason, _REASONS)
        yield from _field_path_problems(schema, rule.get("fieldPath") or "", f"{where}.fieldPath")


def _field_path_problems(schema: Mapping[str, Any], text: str, path: str) -> Iterator[Problem]:
    if not text:
        return
    if not text.strip():
        yield invalid_field(path, text, "must be non-empty if specified")
    if _has_lines(text):
        yield invalid_field(path, text, "must not contain line breaks")
    at = 0
    node: Any = schema
    while at < len(text) and isinstance(node, Mapping):
        step = _STEP.match(text, at)
        if step is None:
            break
        name = step[1] or step[2]
        more = node.get("additionalProperties")
        node = (node.get("properties") or {}).get(name, more)
        at = step.end()
    if at < len(text) or not isinstance(node, Mapping):
        yield invalid_field(path, text, "must be a valid path")


def _has_lines(text: str) -> bool:
    return "\n" in text or "\r" in text
