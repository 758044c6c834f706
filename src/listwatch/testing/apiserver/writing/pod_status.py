"""What a pod's status has that whoever writes it need not say."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping
from typing import Any

__all__ = ["completed_pod_status"]

Value = dict[str, Any]

_NOT_SERVED = "nodeAllocatableResourceClaimStatuses"


def completed_pod_status(old: Mapping[str, Any], status: Value) -> Value:
    """The new status with what `old`, the one before it, says of the pod for good; and with its
    addresses, of which the first is also told alone.
    """
    made = {name: found for name, found in status.items() if name != _NOT_SERVED}
    for name in ("qosClass", "observedGeneration"):
        if not made.get(name) and old.get(name):
            made[name] = old[name]
    conditions = made.get("conditions")
    if conditions:
        made["conditions"] = _with_generations(conditions, old.get("conditions") or ())
    ip, ips = made.get("podIP"), made.get("podIPs")
    if ip and (not ips or (ips[0] or {}).get("ip") != ip):
        made["podIPs"] = [{"ip": ip}]
    elif ips and (ips[0] or {}).get("ip"):
        made["podIP"] = ips[0]["ip"]
    return made


def _with_generations(conditions: Any, before: Any) -> Any:
    """Conditions that do not say which generation they are of: that of the old one."""
    known: dict[str, deque[int]] = defaultdict(deque)
    for condition in before:
        known[condition.get("type") or ""].append(condition.get("observedGeneration") or 0)
    if not any(any(found) for found in known.values()):
        return conditions
    made = []
    for condition in conditions:
        found = known[condition.get("type") or ""]
        generation = found.popleft() if found else 0
        if generation and not condition.get("observedGeneration"):
            condition = {**condition, "observedGeneration": generation}
        made.append(condition)
    return made
