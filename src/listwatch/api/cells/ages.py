"""Spans of time as kubectl and the server write them."""

from __future__ import annotations

__all__ = ["age_text"]

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def age_text(seconds: float) -> str:
    """A span as kubectl writes it: two units at most, and the finer one only while it matters.

    >>> age_text(119), age_text(125), age_text(3 * 3600), age_text(9 * 86400)
    ('119s', '2m5s', '3h', '9d')
    """
    whole = int(seconds)
    if whole < -1:  # the clocks of server and client differ a little
        return "<invalid>"
    whole = max(0, whole)
    if whole < 2 * _MINUTE:
        return f"{whole}s"
    if whole < 10 * _MINUTE:
        return _two_units(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two_units(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two_units(whole, _DAY, "d", _HOUR, "h")
    if whole < 2 * _YEAR:
        return f"{whole // _DAY}d"
    if whole < 8 * _YEAR:
        return _two_units(whole, _YEAR, "y", _DAY, "d")
    return f"{whole // _YEAR}y"


def _two_units(seconds: int, large: int, large_name: str, small: int, small_name: str) -> str:
    rest = seconds % large // small
    return f"{seconds // large}{large_name}" + (f"{rest}{small_name}" if rest else "")
