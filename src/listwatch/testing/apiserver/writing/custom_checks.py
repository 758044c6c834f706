"""What is wrong with a custom object, by its schema and by its scale subresource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..storage.state import Target
from ..types.custom_schema import CustomSchema
from ..types.served import ResourceType
from ..types.structural_checks import MISSING, schema_problems
from ..types.structural_lists import embedded_problems, list_problems
from ..types.structural_rules import rule_problems
from ..types.structural_values import go_type
from ..validation.problems import Problem, invalid_field

__all__ = ["custom_problems", "custom_update_problems"]

_MAX_REPLICAS = (1 << 31) - 1
_GO_TYPES = {
    "string": "string",
    "boolean": "bool",
    "number": "float64",
    "array": "[]interface {}",
    "object": "map[string]interface {}",
    "null": "<nil>",
}
_BLOCKING = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
"""With one of these the rules are not looked at."""
_NOT_CHECKED = Problem(
    "<nil>",
    "FieldValueInvalid",
    "Invalid value: null: some validation rules were not checked because the object was invalid; "
    "correct the existing errors to complete validation",
)


def custom_problems(of: ResourceType, new: Mapping[str, Any]) -> list[Problem]:
    """Those of a new object, whose status is none where it has a path of its own."""
    if not of.custom:
        return []
    value = {**new, "kind": of.kind, "apiVersion": of.api_version}
    if of.has_status:
        value.pop("status", None)
    return _problems(of, value, None, status=False)


def custom_update_problems(
    target: Target, new: Mapping[str, Any], old: Mapping[str, Any]
) -> list[Problem]:
    """Those of what is to take the place of `old`."""
    if not target.type.custom:
        return []
    status = target.subresource == "status"
    return _problems(target.type, dict(new), dict(old), status=status)


def _problems(
    of: ResourceType, new: dict[str, Any], old: dict[str, Any] | None, *, status: bool
) -> list[Problem]:
    replicas = list(_replica_problems(of, new, status=status))
    schema = of.schema
    if schema is None:
        return replicas
    if status:
        problems = [*_status_problems(schema, new, old or {}), *replicas]
    else:
        problems = schema_problems(schema.schema, new, MISSING if old is None else old)
        problems += replicas
        problems += embedded_problems(new, schema.root)
    if schema.root.has_lists and not (old and any(list_problems(old, schema.root))):
        problems += list_problems(new, schema.root)
    if schema.root.has_rules:
        if any(found.reason in _BLOCKING for found in problems):
            problems.append(_NOT_CHECKED)
        else:
            problems += rule_problems(schema.root, new, MISSING if old is None else old)
    return problems


def _status_problems(
    schema: CustomSchema, new: Mapping[str, Any], old: Mapping[str, Any]
) -> Sequence[Problem]:
    of_status = (schema.schema.get("properties") or {}).get("status")
    if of_status is None or "status" not in new:
        return []
    return schema_problems(of_status, new["status"], old.get("status", MISSING), below="status")


def _replica_problems(
    of: ResourceType, value: Mapping[str, Any], *, status: bool
) -> Iterator[Problem]:
    """Replicas where the scale subresource looks for them."""
    if not of.scale:
        return
    for name in ("specReplicasPath", "statusReplicasPath")[status:]:
        path = of.scale.get(name) or ""
        found = _at(value, path)
        if found is MISSING:
            continue
        if go_type(found) != "integer":
            text = (
                f"{path} accessor error: {_go_shown(found)} is of the type "
                f"{_GO_TYPES[go_type(found)]}, expected int64"
            )
            yield invalid_field(path, 0, text)
        elif found < 0:
            yield invalid_field(path, found, "should be a non-negative integer")
        elif found > _MAX_REPLICAS:
            text = f"should be less than or equal to {_MAX_REPLICAS}"
            yield invalid_field(path, found, text)


def _at(value: Any, path: str) -> Any:
    for name in path.removeprefix(".").split("."):
        if not isinstance(value, dict) or name not in value:
            return MISSING
        value = value[name]
    return value


def _go_shown(value: Any) -> str:
    if value is None:
        return "<nil>"
    return str(value).lower() if isinstance(value, bool) else str(value)
