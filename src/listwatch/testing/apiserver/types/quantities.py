"""Quantities such as `500m` and `1Gi`, as the real server reads and writes them."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "canonical_quantity",
    "is_whole",
    "quantity_in_thousandths",
    "quantity_sum",
    "quantity_value",
]

_PARTS = re.compile(r"([+-]?)(0*)(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[+-]?\d*)", re.ASCII).fullmatch
_EXPONENT = re.compile(r"[eE]([+-]?\d+)", re.ASCII).fullmatch
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SUFFIXES = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_INT64 = 1 << 63
_FAST_DIGITS = 18
_MOST_DIGITS = 4000
"""More than that Python does not make a number of without being asked to."""
_FINEST = -9
_FARTHEST = 400
"""A power of ten beyond all amounts, but not beyond all memory."""
_WRONG = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_NO_NUMBER = "unable to parse numeric part of quantity"
_NO_SUFFIX = "unable to parse quantity's suffix"


class _Amount(NamedTuple):
    """`number` times ten to the `power`."""

    number: int
    power: int
    form: str
    """`si`, `exponent` or `binary`."""
    text: str = ""
    """How it was sent, where that is how it comes back."""


@lru_cache(maxsize=1024)
def quantity_value(text: str) -> Fraction:
    """How much a quantity is. Raises `ValueError` where it is none, with Go's message.

    >>> quantity_value("1500m"), quantity_value("1Ki")
    (Fraction(3, 2), Fraction(1024, 1))
    """
    return _value(_read(text))


def is_whole(text: str) -> bool:
    """Whether it is no part of one, as the real server looks: to a thousandth, rounded up.

    >>> is_whole("1500m"), is_whole("2k"), is_whole("999999u")
    (False, True, True)
    """
    return not math.ceil(quantity_value(text) * 1000) % 1000


@lru_cache(maxsize=1024)
def canonical_quantity(text: str) -> str:
    """A quantity in the form in which it comes back. Raises `ValueError` likewise.

    >>> canonical_quantity("1000m"), canonical_quantity("1024Mi"), canonical_quantity("0.5")
    ('1', '1Gi', '500m')
    """
    return _written(_read(text))


@lru_cache(maxsize=1024)
def quantity_in_thousandths(text: str) -> str:
    """Likewise, away from zero to the next thousandth, which is the least that a pod can ask for.

    >>> quantity_in_thousandths("1n"), quantity_in_thousandths("1e-9")
    ('1m', '1e-3')
    """
    return _written(_rounded(_read(text), -3))


def quantity_sum(one: str, other: str) -> str:
    """Both together, in the form of `one` unless that is nothing.

    >>> quantity_sum("1Gi", "512Mi"), quantity_sum("0", "1Ki"), quantity_sum("1500m", "500m")
    ('1536Mi', '1Ki', '2')
    """
    first, second = _read(one), _read(other)
    power = min(first.power, second.power)
    first_number, second_number = (
        each.number * 10 ** min(each.power - power, _FARTHEST) for each in (first, second)
    )
    form = first.form if first.number else second.form
    return _written(_Amount(first_number + second_number, power, form))


def _read(text: str) -> _Amount:
    text = text.strip(" ")
    found = _PARTS(text) if text else None
    if found is None:
        raise ValueError(_WRONG)
    sign, _, whole, rest, suffix = found.groups()
    whole, rest = whole or "0", rest or ""
    power, binary, form = _step(suffix)
    if len(whole) + len(rest) > _MOST_DIGITS:
        raise ValueError(_NO_NUMBER)
    digits = whole + rest
    number = int(digits) << binary
    power -= len(rest)
    if form == "binary":
        is_fast = not rest and 15 - len(whole) - binary * 3 // 10 - 1 >= 0
    else:
        is_fast = len(digits) <= _FAST_DIGITS and power >= _FINEST
    signed = -number if sign == "-" else number
    if is_fast and number < _INT64:
        kept = int(digits) & 7 if form == "binary" else _is_short(digits, power)
        return _Amount(signed, power, form, text if kept else "")
    if not any(char.isdigit() for char in text[: len(text) - len(suffix)]):
        raise ValueError(_NO_NUMBER)
    amount = _rounded(_Amount(signed, power, form), _FINEST)
    if form == "binary":
        value = abs(_value(amount))
        if value >= _INT64:
            most = _INT64 - 1
            return _Amount(-most if sign == "-" else most, 0, form)
        if 0 < value < 1:
            return amount._replace(form="si")
    return amount


def _step(suffix: str) -> tuple[int, int, str]:
    """What a suffix stands for: powers of ten and of two."""
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], 0, "si"
    if suffix in _BINARY:
        return 0, 10 * _BINARY.index(suffix), "binary"
    exponent = _EXPONENT(suffix)
    if exponent is None or len(exponent[1]) > 20 or not -_INT64 <= int(exponent[1]) < _INT64:
        raise ValueError(_NO_SUFFIX)
    # Go keeps 32 bits of it.
    return (int(exponent[1]) + (1 << 31)) % (1 << 32) - (1 << 31), 0, "exponent"


def _is_short(digits: str, power: int) -> bool:
    """Whether there is no shorter way to write it, or so the real server thinks."""
    return power % 3 == 0 and not digits.endswith("000") and digits[0] != "0"


def _value(amount: _Amount) -> Fraction:
    power = max(-_FARTHEST, min(amount.power, _FARTHEST))
    return Fraction(amount.number) * Fraction(10) ** power


def _rounded(amount: _Amount, power: int) -> _Amount:
    """Away from zero to a multiple of that power of ten."""
    if amount.power >= power or not amount.number:
        return amount
    step = 10 ** min(power - amount.power, _MOST_DIGITS + 1)
    number = -(-abs(amount.number) // step)
    return _Amount(-number if amount.number < 0 else number, power, amount.form)


def _written(amount: _Amount) -> str:
    if amount.text:
        return amount.text
    if not amount.number:
        return "0"
    if amount.form == "binary":
        value = _value(amount)
        if abs(value) >= 1024 and value.denominator == 1:
            return _in_1024s(int(value))
    number, power = amount.number, amount.power
    while number % 10 == 0:
        number //= 10
        power += 1
    number *= 10 ** (power % 3)
    power -= power % 3
    if amount.form == "exponent":
        return f"{number}e{power}" if power else f"{number}"
    # Where the real server knows no suffix, it writes none.
    return f"{number}{_SUFFIXES.get(power, '')}"


def _in_1024s(value: int) -> str:
    power = 0
    while value % 1024 == 0 and power < len(_BINARY) - 1:
        value //= 1024
        power += 1
    return f"{value}{_BINARY[power]}"
