"""The defaults of services."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

__all__ = ["fill_service", "with_addresses", "with_kept_addresses"]

Value = dict[str, Any]

_ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort")
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


def fill_service(spec: Value) -> Value:
    """What a client leaves out of a spec that has a type."""
    spec = dict(spec)
    ports = spec.get("ports")
    if isinstance(ports, list):
        spec["ports"] = [_port(port) if isinstance(port, dict) else port for port in ports]
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] in _WITH_NODE_PORTS:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    return spec


def with_addresses(spec: Value, rng: Random) -> Value:
    """What the server gives out when a service is created."""
    if spec["type"] == "ExternalName":
        return spec
    spec = dict(spec)
    if not spec.get("clusterIP"):
        spec["clusterIP"] = f"10.0.0.{rng.randint(1, 254)}"
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    ports = spec.get("ports")
    if spec["type"] in _WITH_NODE_PORTS and isinstance(ports, list):
        spec["ports"] = [
            {**port, "nodePort": port.get("nodePort") or rng.randint(30000, 32767)}
            for port in ports
            if isinstance(port, dict)
        ]
    return spec


def with_kept_addresses(old: Mapping[str, Any], spec: Value) -> Value:
    """A spec that leaves out what was given out keeps it, as long as its type is the same."""
    if spec.get("type", "ClusterIP") != old.get("type", "ClusterIP"):
        return spec
    return {**{name: old[name] for name in _ALLOCATED if name in old}, **spec}


def _port(port: Value) -> Value:
    complete: Value = {"name": port["name"]} if port.get("name") else {}
    complete["protocol"] = port.get("protocol") or "TCP"
    complete.update((name, item) for name, item in port.items() if name not in complete)
    if complete.get("targetPort") is None:
        complete["targetPort"] = port.get("port", 0)
    return complete
