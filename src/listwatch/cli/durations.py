"""Spans of time: as people type them, and as kubectl prints them."""

from __future__ import annotations

import re

from listwatch.api.cells.ages import age_text

__all__ = ["age_text", "parse_duration"]

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|s|m|h|d)", re.ASCII)
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+", re.ASCII)


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
