"""What a Service keeps of what it was given, and what it loses with its type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..validation.network.services import is_external, needs_health_check
from .ports import node_ports

__all__ = ["keep", "lose"]

Spec = dict[str, Any]

_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


def keep(spec: Spec, before: Mapping[str, Any]) -> None:
    """What a client leaves out it need not have read."""
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        for name in ("clusterIP", "clusterIPs"):
            if not spec.get(name) and before.get(name):
                spec[name] = before[name]
    if _has_ports(spec) and _has_ports(before):
        used = node_ports(spec) & node_ports(before)
        had = {port.get("name"): port.get("nodePort") for port in before.get("ports") or ()}
        ports = [dict(port) for port in spec.get("ports") or ()]
        for port in ports:
            number = had.get(port.get("name"))
            if not port.get("nodePort") and number and number not in used:
                port["nodePort"] = number
        if ports:
            spec["ports"] = ports
    if needs_health_check(spec) and needs_health_check(before):
        name = "healthCheckNodePort"
        spec[name] = spec.get(name) or before.get(name)


def _has_ports(spec: Mapping[str, Any]) -> bool:
    return spec.get("type") == "NodePort" or (
        spec.get("type") == "LoadBalancer"
        and spec.get("allocateLoadBalancerNodePorts") is not False
    )


def lose(spec: Spec, before: Mapping[str, Any]) -> None:
    """What the new type has no use for goes, unless the client has changed it: then it is wrong."""
    kind, was = spec.get("type"), before.get("type")
    if kind == "ExternalName" != was:
        if all(_same(spec, before, name) for name in ("clusterIP", "clusterIPs")):
            spec["clusterIP"] = spec["clusterIPs"] = None
        for name in ("ipFamilies", "ipFamilyPolicy"):
            if _same(spec, before, name):
                spec[name] = None
    loses_ports = was in _WITH_NODE_PORTS and kind not in _WITH_NODE_PORTS
    if loses_ports and spec.get("ports") and node_ports(spec) <= node_ports(before):
        spec["ports"] = [
            {name: value for name, value in port.items() if name != "nodePort"}
            for port in spec["ports"]
        ]
    if needs_health_check(before) and not needs_health_check(spec):
        _drop(spec, before, "healthCheckNodePort")
    if was == "LoadBalancer" != kind:
        _drop(spec, before, "allocateLoadBalancerNodePorts")
        _drop(spec, before, "loadBalancerClass")
    if is_external(before) and not is_external(spec):
        _drop(spec, before, "externalTrafficPolicy")


def _same(spec: Mapping[str, Any], before: Mapping[str, Any], name: str) -> bool:
    return (spec.get(name) or None) == (before.get(name) or None)


def _drop(spec: Spec, before: Mapping[str, Any], name: str) -> None:
    if spec.get(name) == before.get(name):
        spec[name] = None
