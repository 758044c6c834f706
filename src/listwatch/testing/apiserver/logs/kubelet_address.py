"""Which container of a pod is meant, and where its kubelet would be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..storage.log import StoredObject
from ..storage.state import State, Target
from ..validation.problems import bad_request, internal_error, not_found
from .container_log import containers_of

__all__ = ["container_meant", "kubelet_address"]

_KUBELET_PORT = 10250
_ADDRESSES = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")
"""Types of addresses, in the order in which a real server prefers them."""


def kubelet_address(state: State, target: Target, pod: StoredObject) -> str:
    """Host and port of the kubelet of a pod that is on a node. Raises `Refused`."""
    name = pod.value["spec"]["nodeName"]
    node = state.log.get("nodes", ("", name))
    if node is None:
        raise not_found(target.type, name)  # of the pods, as there
    if state.runs_pods:
        return f"{name}:{_KUBELET_PORT}"  # whatever its addresses
    addresses = (node.value.get("status") or {}).get("addresses") or ()
    by_type = {each.get("type"): each.get("address") for each in reversed(addresses)}
    address = next((by_type[kind] for kind in _ADDRESSES if kind in by_type), None)
    if address is None:
        raise internal_error("no preferred addresses found; known addresses: []")
    return f"{address}:{_KUBELET_PORT}"


def container_meant(pod: Mapping[str, Any], asked: str) -> str:
    """Its name. Raises `Refused`."""
    name = pod["metadata"]["name"]
    known = containers_of(pod["spec"])
    if asked:
        if asked not in known:
            raise bad_request(f"container {asked} is not valid for pod {name}")
        return asked
    containers = pod["spec"].get("containers") or []
    if len(containers) == 1:
        return str(containers[0].get("name"))
    must = f"a container name must be specified for pod {name}"
    raise bad_request(f"{must}, choose one of: [{' '.join(known)}]" if containers else must)
