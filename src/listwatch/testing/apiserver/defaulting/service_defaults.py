"""The defaults of services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["fill_service", "fill_service_status"]

Value = dict[str, Any]

_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_AFFINITY = 10800
"""Seconds that a client stays with its endpoint."""


def fill_service(spec: Value) -> Value:
    """What a client leaves out of a spec that has a type."""
    spec = dict(spec)
    kind = spec["type"]
    ports = spec.get("ports")
    if isinstance(ports, list):
        spec["ports"] = [_port(port) if isinstance(port, dict) else port for port in ports]
    if spec.get("sessionAffinity") == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec.get("sessionAffinity") == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": _AFFINITY}}
    if kind in (*_WITH_NODE_PORTS, "ClusterIP") and spec.get("internalTrafficPolicy") is None:
        spec["internalTrafficPolicy"] = "Cluster"
    is_external = kind in _WITH_NODE_PORTS or (kind == "ClusterIP" and spec.get("externalIPs"))
    if is_external and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is None:
        spec["allocateLoadBalancerNodePorts"] = True
    return spec


def fill_service_status(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A service in whose status load balancers say how they are reached."""
    points = ((value.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    if not points or (value.get("spec") or {}).get("type") != "LoadBalancer":
        return value
    filled = [
        {**point, "ipMode": "VIP"} if point.get("ip") and point.get("ipMode") is None else point
        for point in points
    ]
    balancer = {**value["status"]["loadBalancer"], "ingress": filled}
    return {**value, "status": {**value["status"], "loadBalancer": balancer}}


def _port(port: Value) -> Value:
    target = port.get("targetPort")
    return {
        **port,
        "protocol": port.get("protocol") or "TCP",
        "targetPort": target or port.get("port", 0),
    }
