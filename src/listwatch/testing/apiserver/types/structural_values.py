"""JSON values as the real server tells their types and shows them in messages."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ..reading.encoding import go_json
from ..validation.problems import go_quoted

__all__ = ["go_float", "go_type", "shown", "shown_json"]


_LIMIT = 1 << 63


def go_type(value: Any) -> str:
    """The JSON type. A whole number is an integer, unless it was written as a float or is too large
    for one.
    """
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        fits = isinstance(value, int) and -_LIMIT <= value < _LIMIT
        return "integer" if fits else "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "null" if value is None else "object"


def go_float(value: float) -> str:
    """As `%v` shows it: with an exponent from a million on."""
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    power = len(text) + exponent - 1
    minus = "-" if sign else ""
    if power < -4 or power >= 6:
        point = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{point}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if exponent >= 0:
        return f"{minus}{text}{'0' * exponent}"
    if power < 0:
        return f"{minus}0.{'0' * (-power - 1)}{text}"
    return f"{minus}{text[: power + 1]}.{text[power + 1 :]}"


def shown_json(value: Any) -> str:
    """As JSON, members sorted."""
    return go_json(_sorted(value)).decode()


def _sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value


def shown(value: Any) -> str:
    """As a bad value is shown."""
    if isinstance(value, str):
        return go_quoted(value)
    if isinstance(value, float):
        return go_float(value)
    return shown_json(value)
