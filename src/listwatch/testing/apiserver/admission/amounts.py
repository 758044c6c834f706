"""Amounts of resources by their names, such as `{"cpu": "500m"}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..types.quantities import quantity_sum, quantity_value

__all__ = ["Amounts", "Value", "pod_amounts", "summed"]

Value = Mapping[str, Any]
Amounts = Mapping[str, str]
_OF_POD = ("cpu", "memory")
"""What a pod can say of itself, whatever its containers say."""


def summed(all_of_them: Iterable[Amounts]) -> dict[str, str]:
    total: dict[str, str] = {}
    for each in all_of_them:
        for name, amount in each.items():
            total[name] = quantity_sum(total[name], amount) if name in total else amount
    return total


def _most(one: Amounts, other: Amounts) -> dict[str, str]:
    made = dict(one)
    for name, amount in other.items():
        if name not in made or quantity_value(amount) > quantity_value(made[name]):
            made[name] = amount
    return made


def pod_amounts(spec: Value, what: str) -> dict[str, str]:
    """What a pod takes at its peak; `what`: `requests` or `limits`.

    Containers run together, and beside those initial ones that go on; the other initial ones run
    before, one by one.
    """
    total = summed(_of(container, what) for container in spec.get("containers") or ())
    running: dict[str, str] = {}
    peak: dict[str, str] = {}
    for container in spec.get("initContainers") or ():
        own = _of(container, what)
        if (container or {}).get("restartPolicy") == "Always":
            total = summed((total, own))
            running = summed((running, own))
            own = running
        else:
            own = summed((own, running))
        peak = _most(peak, own)
    of_pod = (spec.get("resources") or {}).get(what) or {}
    return {**_most(total, peak), **{name: of_pod[name] for name in _OF_POD if name in of_pod}}


def _of(container: Value | None, what: str) -> Amounts:
    return ((container or {}).get("resources") or {}).get(what) or {}
