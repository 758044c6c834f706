"""What the containers of a pod need together, and the quality of service that follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..types.quantities import quantity_sum, quantity_value

__all__ = ["quality_of_service", "summed"]

Value = Mapping[str, Any]

_COMPUTE = ("cpu", "memory")


def summed(spec: Value, side: str) -> dict[str, str]:
    """What the containers of a pod ask for together (`requests`), or may have (`limits`): those
    that run side by side, or what one needs that runs before them, with the sidecars then.
    """
    total: dict[str, str] = {}
    for container in spec.get("containers") or ():
        _add(total, _side(container, side))
    beside: dict[str, str] = {}
    before: dict[str, str] = {}
    for container in spec.get("initContainers") or ():
        own = _side(container, side)
        if container.get("restartPolicy") == "Always":
            _add(total, own)
            _add(beside, own)
            own = beside
        else:
            joined = dict(own)
            _add(joined, beside)
            own = joined
        _raise(before, own)
    _raise(total, before)
    return total


def _side(container: Any, side: str) -> Mapping[str, Any]:
    resources = container.get("resources") if isinstance(container, dict) else None
    found = resources.get(side) if isinstance(resources, dict) else None
    return found if isinstance(found, dict) else {}


def _add(total: dict[str, str], amounts: Mapping[str, Any]) -> None:
    for name, amount in amounts.items():
        total[name] = _sum(total[name], str(amount)) if name in total else str(amount)


def _raise(most: dict[str, str], amounts: Mapping[str, Any]) -> None:
    for name, amount in amounts.items():
        if name not in most or _value(amount) > _value(most[name]):
            most[name] = str(amount)


def _sum(first: str, second: str) -> str:
    try:
        return quantity_sum(first, second)
    except ValueError:  # which is told elsewhere
        return first


def _value(amount: Any) -> Fraction:
    try:
        return quantity_value(str(amount))
    except ValueError:  # which is told elsewhere
        return Fraction(0)


def quality_of_service(spec: Value) -> str:
    """`BestEffort` where nothing is asked for, `Guaranteed` where all ask for cpu and memory as
    much as they may have, else `Burstable`.
    """
    of_pod = spec.get("resources")
    if isinstance(of_pod, dict):
        pairs = [_pair(of_pod)]
        full = all(name in pairs[0][1] for name in _COMPUTE) or not of_pod.get("limits")
    else:
        pairs = [_pair(each.get("resources")) for each in _containers(spec)]
        full = all(name in limits for _, limits in pairs for name in _COMPUTE)
    requests = _total(asked for asked, _ in pairs)
    limits = _total(most for _, most in pairs)
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if full and requests == limits else "Burstable"


def _containers(spec: Value) -> Iterable[Value]:
    for kind in ("containers", "initContainers"):
        for container in spec.get(kind) or ():
            yield container if isinstance(container, dict) else {}


def _pair(resources: Any) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """What is asked for, which is as much as may be where it is not said; and what may be."""
    resources = resources if isinstance(resources, dict) else {}
    limits = _compute(resources.get("limits") or {})
    return {**limits, **_compute(resources.get("requests") or {})}, limits


def _compute(amounts: Mapping[str, Any]) -> dict[str, Fraction]:
    found = {name: _value(amounts[name]) for name in _COMPUTE if name in amounts}
    return {name: value for name, value in found.items() if value > 0}


def _total(parts: Iterable[Mapping[str, Fraction]]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, Fraction(0)) + value
    return total
