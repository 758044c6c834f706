"""Numbers as Go writes them."""

from __future__ import annotations

from decimal import Decimal

__all__ = ["go_float"]


def go_float(value: float) -> str:
    """As Go's `%v`: as short as it can be, with an exponent below 1e-4 and from 1e6 on."""
    number = Decimal(repr(value)).normalize()
    sign, digits, _ = number.as_tuple()
    exponent = number.adjusted()
    if -4 <= exponent < 6:
        return f"{number:f}"
    first, *rest = map(str, digits)
    fraction = f".{''.join(rest)}" if rest else ""
    return f"{'-' * sign}{first}{fraction}e{exponent:+03}"
