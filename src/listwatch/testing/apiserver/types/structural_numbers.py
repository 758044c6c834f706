"""Whether a number is within the bounds of its schema."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ..validation.problems import Problem
from .structural_results import Result, invalid_at, of_the_whole, problem_at
from .structural_values import go_float, go_type

__all__ = ["is_integral", "number_problems"]

_EPSILON = 1e-9
_MAX_EXACT = (1 << 53) - 1
_INT32 = (-(1 << 31), (1 << 31) - 1)
_INT64 = (-(1 << 63), (1 << 63) - 1)
_MAX_FLOAT32 = 3.4028235677973366e38

Schema = Mapping[str, Any]


def is_integral(value: float) -> bool:
    """Whether a float counts as an integer."""
    if not math.isfinite(value) or abs(value) > _MAX_EXACT:
        return False
    nearest = math.trunc(value)
    if value == nearest:
        return True
    if value == 0 or nearest == 0:
        return False
    return abs(value - nearest) / (abs(value) + abs(nearest)) < _EPSILON


def number_problems(
    schema: Schema, value: float, types: tuple[str, ...], format_: str, path: str
) -> Result:
    result = Result()
    result.count = 1
    kind = types[0] if types in (("integer",), ("number",)) else ""
    whole = go_type(value) == "integer"
    result.add(_out_of_range(value, kind, format_, "Checked", path))
    factor = schema.get("multipleOf")
    if factor is not None:
        wrong = _out_of_range(factor, kind, format_, "MultipleOf", path)
        result.add(wrong)
        result.add(_multiple(value, factor, whole and wrong is None, path))
    for name, other, words in _BOUNDS:
        bound = schema.get(name)
        if bound is None:
            continue
        wrong = _out_of_range(bound, kind, format_, f"{name.capitalize()} boundary", path)
        result.add(wrong)
        exclusive = bool(schema.get(other))
        native = whole and wrong is None
        number = value if native else float(value)
        limit = math.trunc(bound) if native else float(bound)
        passed = number <= limit if name == "maximum" else number >= limit
        if not passed or (exclusive and number == limit):
            shown_limit = str(limit) if native else go_float(limit)
            text = f"should be {words[exclusive]} {shown_limit}"
            result.add(invalid_at(path, number, text))
    return result


_BOUNDS = (
    ("minimum", "exclusiveMinimum", ("greater than or equal to", "greater than")),
    ("maximum", "exclusiveMaximum", ("less than or equal to", "less than")),
)


def _out_of_range(value: float, kind: str, format_: str, what: str, path: str) -> Problem | None:
    """Numbers that the type or its format has no room for."""
    if kind == "integer":
        low, high = _INT32 if format_ == "int32" else _INT64
        whole = isinstance(value, int) or value == math.trunc(value)
        if whole and low <= value <= high:
            return None
    elif format_ != "float" or abs(value) < _MAX_FLOAT32:
        return None
    of = f"{kind} with format {format_}" if format_ else f"{kind} (default format)"
    return of_the_whole(f"{what} value must be of type {of} in {path}")


def _multiple(value: float, factor: float, native: bool, path: str) -> Problem | None:
    if native:
        whole = math.trunc(factor)
        if whole <= 0:
            text = f"factor MultipleOf declared for {path} must be positive: {whole}"
            return problem_at(path, "FieldValueInvalid", whole, text)
        if value % whole == 0:
            return None
        return invalid_at(path, value, f"should be a multiple of {whole}")
    if factor <= 0:
        text = f"factor MultipleOf declared for {path} must be positive: {go_float(factor)}"
        return problem_at(path, "FieldValueInvalid", float(factor), text)
    times = 1 / factor * value if factor < 1 else value / factor
    if is_integral(times):
        return None
    return invalid_at(path, float(value), f"should be a multiple of {go_float(factor)}")
