"""Durations such as `1h30m`, as the real server reads them."""

from __future__ import annotations

import re

from ..types.go_texts import time_quoted

__all__ = ["duration_nanoseconds"]

_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,  # the micro sign
    "\u03bcs": 10**3,  # the Greek letter
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
_MOST = 2**63 - 1
_part = re.compile(r"(?P<whole>[0-9]*)(?:\.(?P<fraction>[0-9]*))?(?P<unit>[^0-9.]*)", re.DOTALL)


def duration_nanoseconds(text: str) -> int:
    """How long it is, below zero for `-1s`. Raises `ValueError` with the real server's words.

    >>> duration_nanoseconds("1m30s") // 10**9
    90
    """
    unsigned = text[1:] if text[:1] in ("-", "+") else text
    sign = -1 if text.startswith("-") else 1
    if unsigned == "0":
        return 0
    if not unsigned:
        raise _wrong("invalid duration", text)
    total = 0
    at = 0
    while at < len(unsigned):
        found = _part.match(unsigned, at)
        if found is None or not (found["whole"] or found["fraction"]):
            raise _wrong("invalid duration", text)
        if not found["unit"]:
            raise _wrong("missing unit in duration", text)
        if found["unit"] not in _UNITS:
            raise _wrong(f"unknown unit {time_quoted(found['unit'])} in duration", text)
        total += _nanoseconds(found["whole"], found["fraction"] or "", _UNITS[found["unit"]])
        if total > (_MOST if sign > 0 else _MOST + 1):
            raise _wrong("invalid duration", text)
        at = found.end()
    return sign * total


def _nanoseconds(whole: str, fraction: str, unit: int) -> int:
    if len(whole.lstrip("0")) > 19:
        return _MOST + 2  # whatever it is, it is too long
    return int(whole or "0") * unit + int(fraction[:18].ljust(18, "0")) * unit // 10**18


def _wrong(why: str, text: str) -> ValueError:
    return ValueError(f"time: {why} {time_quoted(text)}")
