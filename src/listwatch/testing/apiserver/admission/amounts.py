"""Amounts of resources by their names, such as `{"cpu": "500m"}`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..defaulting.pod_totals import summed as of_containers
from ..types.quantities import quantity_sum

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


def pod_amounts(spec: Value, what: str) -> dict[str, str]:
    """What a pod takes at its peak; `what`: `requests` or `limits`."""
    of_pod = (spec.get("resources") or {}).get(what) or {}
    own = {name: of_pod[name] for name in _OF_POD if name in of_pod}
    return {**of_containers(spec, what), **own}
