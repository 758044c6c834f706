"""How often something happens: `20/s`."""

from __future__ import annotations

import re

__all__ = ["parse_rate", "rate_text"]

_PER = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
_RATE = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:/(s|m|h))?", re.ASCII)
_MOST = 100_000.0


def parse_rate(text: str) -> float:
    """Times a second. A number alone is that; else `20/s`, `30/m`, `100/h`.

    Raises `ValueError` for anything else, for never, and for more than any machine can do.

    >>> parse_rate("20/s"), parse_rate("30/m"), parse_rate("0.5")
    (20.0, 0.5, 0.5)
    """
    found = _RATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no rate: expected one such as 20/s, 0.5/s or 30/m")
    rate = float(found[1]) / _PER[found[2] or ""]
    if not 0 < rate <= _MOST:
        raise ValueError(f"{text!r} must be above 0, and at most {_MOST:.0f}/s")
    return rate


def rate_text(rate: float) -> str:
    """In the unit that makes it more than one, if there is one.

    >>> rate_text(20.0), rate_text(0.5)
    ('20/s', '30/m')
    """
    for unit, seconds in (("s", 1.0), ("m", 60.0)):
        if rate * seconds >= 1:
            return f"{rate * seconds:g}/{unit}"
    return f"{rate * 3600:g}/h"
