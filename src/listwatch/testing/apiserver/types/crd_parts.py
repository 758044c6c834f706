"""What is wrong with the parts of a version besides its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..validation.problems import Problem, invalid_field, required_field
from .structural_results import too_many

__all__ = ["column_problems", "scale_problems", "selectable_problems", "warning_texts"]

_MAX_SELECTABLE = 8
_WARNING_LENGTH = 256
_COLUMN_TYPES = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS = (*("byte", "date", "date-time", "double", "float", "int32", "int64", "password"),)

Json = Mapping[str, Any]


def scale_problems(scale: Json, path: str) -> Iterator[Problem]:
    for name, start in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value = scale.get(name)
        where = f"{path}.{name}"
        if not value:
            yield required_field(where)
        elif value[0] != ".":
            yield invalid_field(where, value, "must be a simple json path starting with .")
        elif not value.startswith(start):
            text = f"should be a json path under {start[:-1]}"
            yield invalid_field(where, value, text)
    value = scale.get("labelSelectorPath")
    if value:
        where = f"{path}.labelSelectorPath"
        if value[0] != ".":
            yield invalid_field(where, value, "must be a simple json path starting with .")
        elif not value.startswith((".spec.", ".status.")):
            text = "should be a json path under either .spec or .status"
            yield invalid_field(where, value, text)


def column_problems(column: Json, path: str) -> Iterator[Problem]:
    if not column.get("name"):
        yield required_field(f"{path}.name")
    kind, shape = column.get("type"), column.get("format")
    text = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not kind:
        yield required_field(f"{path}.type", text)
    elif kind not in _COLUMN_TYPES:
        yield invalid_field(f"{path}.type", kind, text)
    if shape and shape not in _COLUMN_FORMATS:
        yield invalid_field(f"{path}.format", shape, f"must be one of {','.join(_COLUMN_FORMATS)}")
    where = column.get("jsonPath")
    if not where:
        yield required_field(f"{path}.JSONPath")
    elif where[0] != ".":
        text = "must be a simple json path starting with ."
        yield invalid_field(f"{path}.JSONPath", where, text)


def selectable_problems(fields: Sequence[Json], schema: Json, path: str) -> Iterator[Problem]:
    seen: set[str] = set()
    for at, one in enumerate(fields):
        where, value = f"{path}[{at}].jsonPath", one.get("jsonPath")
        if not value:
            yield required_field(where)
            continue
        found, wrong = _followed(value, schema)
        if wrong:
            yield invalid_field(where, value, f"is an invalid path: {wrong}")
            continue
        if value.startswith(".metadata."):
            yield invalid_field(where, value, "must not point to fields in metadata")
        if (found or {}).get("type") not in ("string", "boolean", "integer"):
            text = (
                "must point to a field of type string, boolean or integer. Enum string fields and "
                "strings with formats are allowed."
            )
            yield invalid_field(where, value, text)
        if value in seen:
            yield Problem(where, "FieldValueDuplicate", f'Duplicate value: "{value}"')
        seen.add(value)
    if len(seen) > _MAX_SELECTABLE:
        yield too_many(path, len(seen), _MAX_SELECTABLE)


def _followed(path: str, schema: Json) -> tuple[Json | None, str]:
    """The schema that a path leads to, or why it leads nowhere."""
    found: Any = schema
    for name in path.removeprefix(".").split("."):
        if name == "metadata" and found is schema and name not in (schema.get("properties") or {}):
            return {"type": "string"}, ""
        properties = found.get("properties") or {}
        if name in properties:
            found = properties[name]
        elif isinstance(found.get("additionalProperties"), dict):
            found = found["additionalProperties"]
        else:
            return None, "does not refer to a valid field"
    return found, ""


def warning_texts(warning: str, *, deprecated: bool) -> Iterator[str]:
    if not deprecated:
        yield "can only be set for deprecated versions"
        return
    if len(warning.encode()) > _WARNING_LENGTH:
        yield f"must be <= {_WARNING_LENGTH} characters long"
    if not warning:
        yield "must not be an empty string"
    for at, char in enumerate(warning):
        if not char.isprintable():
            where = len(warning[:at].encode())
            yield (
                "must only contain printable UTF-8 characters; non-printable character found at "
                f"index {where}"
            )
            return
