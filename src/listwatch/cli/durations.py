"""Spans of time: as people type them, and as kubectl prints them."""

from __future__ import annotations

import re

__all__ = ["age_text", "parse_duration"]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h|d)", re.ASCII)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)

_MINUTE, _HOUR, _DAY, _YEAR = 60, 3600, 86400, 365 * 86400


def parse_duration(text: str) -> float:
    """Seconds. A number alone is of seconds; else parts such as `1h30m`, `5s`, `500ms`, `1.5h`.

    Raises `ValueError` for anything else, and for no time at all.

    >>> parse_duration("1h30m"), parse_duration("500ms"), parse_duration("7")
    (5400.0, 0.5, 7.0)
    """
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        seconds = float(stripped)
    else:
        parts = _PART.findall(stripped)
        if not parts or "".join(number + unit for number, unit in parts) != stripped:
            raise ValueError(
                f"{text!r} is no duration: expected one such as 5s, 500ms, 2m or 1h30m"
            )
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds <= 0:
        raise ValueError(f"{text!r} is no time at all: a duration must be more than 0")
    return seconds


def age_text(seconds: float) -> str:
    """A span as kubectl writes it: two units at most, and the finer one only while it matters.

    >>> age_text(119), age_text(125), age_text(3 * 3600), age_text(9 * 86400)
    ('119s', '2m5s', '3h', '9d')
    """
    # The clocks of server and client differ a little.
    if seconds < -2:
        return "<invalid>"
    whole = max(0, int(seconds))
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
