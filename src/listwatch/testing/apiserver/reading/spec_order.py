"""The order in which members are written, where what is made late is not read once more.

The order of all others is that of their Go structs (types/go_structs.py).
"""

from __future__ import annotations

from typing import Any

__all__ = ["in_order", "spec_in_order"]

_ORDERS = {
    "services": """ports selector clusterIP clusterIPs type externalIPs sessionAffinity
        loadBalancerIP loadBalancerSourceRanges externalName externalTrafficPolicy
        healthCheckNodePort publishNotReadyAddresses sessionAffinityConfig ipFamilies
        ipFamilyPolicy allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy
        trafficDistribution""",
}
_SPECS = {storage: tuple(names.split()) for storage, names in _ORDERS.items()}


def spec_in_order(storage: str, spec: dict[str, Any]) -> dict[str, Any]:
    """`spec` with its known members in order, and the others behind them."""
    order = _SPECS.get(storage)
    return spec if order is None else in_order(spec, order)


def in_order(value: dict[str, Any], order: tuple[str, ...]) -> dict[str, Any]:
    """`value` with the members in `order` first; nulls are left out."""
    known = {name: value[name] for name in order if value.get(name) is not None}
    rest = {name: item for name, item in value.items() if name not in known and item is not None}
    return {**known, **rest} if rest else known
