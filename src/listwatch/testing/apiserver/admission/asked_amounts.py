"""How what somebody asks for stands to what is allowed, in the real server's words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from ..types.quantities import quantity_value
from .amounts import Amounts, Value

__all__ = ["Asked"]

_MOST_MILLIS = ((1 << 63) - 1) // 1000


class Asked:
    """What a pod, a container or a claim asks for, and what it may have at the most."""

    __slots__ = ("_limits", "_requests", "_what")

    def __init__(self, what: str, requests: Amounts, limits: Amounts) -> None:
        self._what = what
        self._requests = requests
        self._limits = limits

    def problems(self, limit: Value) -> Iterator[str]:
        """With all that one item of a LimitRange says."""
        for name, amount in sorted((limit.get("min") or {}).items()):
            yield from self.below(name, amount)
        for name, amount in sorted((limit.get("max") or {}).items()):
            yield from self._above(name, amount)
        for name, amount in sorted((limit.get("maxLimitRequestRatio") or {}).items()):
            yield from self._too_far_apart(name, amount)

    def below(self, name: str, least: str) -> Iterator[str]:
        """Where it asks for less than it must."""
        request, limit = self._requests.get(name), self._limits.get(name)
        said = f"minimum {name} usage per {self._what} is {least}"
        if request is None:
            yield f"{said}.  No request is specified"
        elif _value(request) < _value(least):
            yield f"{said}, but request is {request}"
        elif limit is not None and _value(limit) < _value(least):
            yield f"{said}, but limit is {limit}"

    def requested_above(self, name: str, most: str) -> Iterator[str]:
        """Where it asks for more than it may, whatever its limit."""
        request = self._requests.get(name)
        said = f"maximum {name} usage per {self._what} is {most}"
        if request is None:
            yield f"{said}.  No request is specified"
        elif _value(request) > _value(most):
            yield f"{said}, but request is {request}"

    def _above(self, name: str, most: str) -> Iterator[str]:
        request, limit = self._requests.get(name), self._limits.get(name)
        said = f"maximum {name} usage per {self._what} is {most}"
        if limit is None:
            yield f"{said}.  No limit is specified"
        elif _value(limit) > _value(most):
            yield f"{said}, but limit is {limit}"
        elif request is not None and _value(request) > _value(most):
            yield f"{said}, but request is {request}"

    def _too_far_apart(self, name: str, ratio: str) -> Iterator[str]:
        request, limit = _value(self._requests.get(name)), _value(self._limits.get(name))
        said = f"{name} max limit to request ratio per {self._what} is {ratio}"
        if not request:
            yield f"{said}, but no request is specified or request is 0"
        elif not limit:
            yield f"{said}, but no limit is specified or limit is 0"
        else:
            found = float(limit) / float(request)
            if found > float(_value(ratio)):
                yield f"{said}, but provided ratio is {found:f}"


def _value(amount: str | None) -> Fraction:
    """To a thousandth, or where that would be too large a number, to one; rounded up."""
    value = quantity_value(amount or "0")
    parts = 1000 if abs(value) <= _MOST_MILLIS else 1
    return Fraction(math.ceil(value * parts), parts)
