"""Quantities such as `500m` and `1Gi`, as the real server writes them."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

__all__ = ["canonical_quantity"]

_SYNTAX = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE])|[eE]([+-]?\d+))?", re.A
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


@lru_cache(maxsize=1024)
def canonical_quantity(text: str) -> str:
    """A quantity in the form in which it comes back. Raises `ValueError` with Go's message.

    >>> canonical_quantity("1000m"), canonical_quantity("1024Mi"), canonical_quantity("0.5")
    ('1', '1Gi', '500m')
    """
    found = _SYNTAX.fullmatch(text)
    if found is None:
        raise ValueError(_WRONG)
    number, suffix, exponent = found.groups()
    value = Fraction(number)
    if suffix in _BINARY[1:]:
        value *= 1024 ** _BINARY.index(suffix)
        if abs(value) >= 1024 and value.denominator == 1:
            return _binary(int(value))
        return _decimal(value, "si")
    if exponent is not None:
        return _decimal(value * Fraction(10) ** int(exponent), "exponent")
    return _decimal(value * Fraction(10) ** _DECIMAL[suffix or ""], "si")


def _binary(value: int) -> str:
    power = 0
    while value and value % 1024 == 0 and power < len(_BINARY) - 1:
        value //= 1024
        power += 1
    return f"{value}{_BINARY[power]}"


def _decimal(value: Fraction, form: str) -> str:
    """Rounded up to billionths, then with the largest step of a thousand that keeps it whole."""
    whole = value * 10**9
    sign = -1 if whole < 0 else 1
    nanos = -(-abs(whole).numerator // whole.denominator)
    if not nanos:
        return "0"
    power = -9
    while nanos % 1000 == 0 and power < 18:
        nanos //= 1000
        power += 3
    if form == "exponent":
        suffix = f"e{power}" if power else ""
    else:
        suffix = next(name for name, found in _DECIMAL.items() if found == power)
    return f"{'-' if sign < 0 else ''}{nanos}{suffix}"
