"""What objects count for in ResourceQuotas: as themselves, and by what they ask for."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..types.quantities import quantity_value
from ..types.served import ResourceType
from ..validation.pod.resource_names import is_native
from .amounts import Amounts, Value, pod_amounts, summed
from .claim_growth import class_of_claim

__all__ = ["counted", "missing_in_containers", "usage"]

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_OF_PODS = frozenset(
    {"pods", *(f"{what}{name}" for what in ("", "requests.", "limits.") for name in _COMPUTE)}
)
_NEEDED = _OF_PODS - {"pods", *(name for name in _OF_PODS if name.endswith(_COMPUTE[2]))}
"""What each container must ask for where a quota limits it."""
_OF_SERVICES = frozenset({"services", "services.nodeports", "services.loadbalancers"})
_OF_CLAIMS = ("persistentvolumeclaims", "requests.storage")
_OF_CLASS = ".storageclass.storage.k8s.io/"
_ALIASES = frozenset({"configmaps", "resourcequotas", "replicationcontrollers", "secrets"})
"""Types that are counted by their plain names, too."""


def _count_name(of: ResourceType) -> str:
    return f"count/{of.qualified_name}"


def counted(of: ResourceType, names: Iterable[str]) -> list[str]:
    """Which of what a quota limits objects of a type count for."""
    return [name for name in names if name == _count_name(of) or _is_counted(of.storage, name)]


def _is_counted(storage: str, name: str) -> bool:
    if storage == "pods":
        if name in _OF_PODS or name.startswith(("hugepages-", "requests.hugepages-")):
            return True
        return name.startswith("requests.") and not is_native(name)
    if storage == "services":
        return name in _OF_SERVICES
    if storage == "persistentvolumeclaims":
        return name in _OF_CLAIMS or name.endswith(tuple(_OF_CLASS + each for each in _OF_CLAIMS))
    return storage == name and storage in _ALIASES


def usage(of: ResourceType, value: Value) -> dict[str, str]:
    """How much an object counts for."""
    storage = of.storage
    used = {_count_name(of): "1"}
    if storage == "pods":
        if (value.get("status") or {}).get("phase") not in ("Failed", "Succeeded"):
            used |= _pod(value.get("spec") or {})
    elif storage == "services":
        used |= _service(value.get("spec") or {})
    elif storage == "persistentvolumeclaims":
        used |= _claim(value)
    elif storage in _ALIASES:
        used[storage] = "1"
    return used


def _pod(spec: Value) -> dict[str, str]:
    overhead = spec.get("overhead") or {}
    requests = summed((pod_amounts(spec, "requests"), overhead))
    limits = pod_amounts(spec, "limits")
    limits = summed((limits, {name: v for name, v in overhead.items() if name in limits}))
    return _compute(requests, limits)


def _compute(requests: Amounts, limits: Amounts) -> dict[str, str]:
    used = {"pods": "1"}
    for name in _COMPUTE:
        if name in requests:
            used[name] = used[f"requests.{name}"] = requests[name]
        if name in limits:
            used[f"limits.{name}"] = limits[name]
    for name, amount in requests.items():
        if name.startswith("hugepages-"):
            used[name] = used[f"requests.{name}"] = amount
        elif not is_native(name):
            used[f"requests.{name}"] = amount
    return used


def missing_in_containers(spec: Value, limited: Iterable[str]) -> str:
    """What containers must say that do not, where quotas limit it."""
    of_pod = spec.get("resources") or {}
    if any(
        name in (of_pod.get(what) or {}) for what in ("requests", "limits") for name in _COMPUTE
    ):
        return ""
    missing: dict[str, list[str]] = {}
    for member in ("containers", "initContainers"):
        for container in spec.get(member) or ():
            resources = container.get("resources") or {}
            said = _compute(resources.get("requests") or {}, resources.get("limits") or {})
            for name in _NEEDED.intersection(limited) - said.keys():
                missing.setdefault(name, []).append(container.get("name") or "")
    if not missing:
        return ""
    told = (f"{name} for: {','.join(sorted(set(missing[name])))}" for name in sorted(missing))
    return f"must specify {'; '.join(told)}"


def _service(spec: Value) -> dict[str, str]:
    ports = spec.get("ports") or ()
    kind = spec.get("type")
    node_ports = len(ports) if kind in ("NodePort", "LoadBalancer") else 0
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False:
        node_ports = sum(1 for port in ports if port.get("nodePort"))
    return {
        "services": "1",
        "services.nodeports": str(node_ports),
        "services.loadbalancers": "1" if kind == "LoadBalancer" else "0",
    }


def _claim(claim: Value) -> dict[str, str]:
    used = {"persistentvolumeclaims": "1"}
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    amount = requests.get("storage")
    allocated = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
    if amount is not None:
        if allocated and quantity_value(allocated) > quantity_value(amount):
            amount = allocated
        value = quantity_value(amount)
        used["requests.storage"] = amount if value.denominator == 1 else str(math.ceil(value))
    name = class_of_claim(claim)
    if name:
        used |= {f"{name}{_OF_CLASS}{each}": used[each] for each in _OF_CLAIMS if each in used}
    return used
