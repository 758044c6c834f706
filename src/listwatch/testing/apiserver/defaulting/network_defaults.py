"""The defaults of endpoints, NetworkPolicies and IngressClasses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .members import change_each

__all__ = ["NETWORK_DEFAULTS"]

Value = dict[str, Any]

_DROPPED = "deprecatedTopology"
"""What only an older version of EndpointSlices can be given."""


def _endpoints(value: Value) -> None:
    def port(found: Value) -> Value:
        return {**found, "protocol": found.get("protocol") or "TCP"}

    def subset(found: Value) -> Value:
        found = dict(found)
        change_each(found, "ports", port)
        return found

    change_each(value, "subsets", subset)


def _with_protocol(port: Value) -> Value:
    """An empty protocol is one, if a wrong one."""
    return {**port, "protocol": "TCP"} if port.get("protocol") is None else port


def _endpoint_slice(value: Value) -> None:
    def port(found: Value) -> Value:
        name = found.get("name") or ""
        return _with_protocol({**found, "name": name})

    def endpoint(found: Value) -> Value:
        kept = {name: member for name, member in found.items() if name != _DROPPED}
        return {"conditions": {}, **kept}

    change_each(value, "ports", port)
    change_each(value, "endpoints", endpoint)


def _network_policy(value: Value) -> None:
    def port(found: Value) -> Value:
        return {"protocol": "TCP", **_with_protocol(found)}

    def rule(found: Value) -> Value:
        found = dict(found)
        change_each(found, "ports", port)
        return found

    spec = dict(value.get("spec") or {})
    change_each(spec, "ingress", rule)
    change_each(spec, "egress", rule)
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    value["spec"] = spec


def _ingress_class(value: Value) -> None:
    spec = value.get("spec") or {}
    parameters = spec.get("parameters")
    if isinstance(parameters, dict) and parameters.get("scope") is None:
        value["spec"] = {**spec, "parameters": {**parameters, "scope": "Cluster"}}


NETWORK_DEFAULTS: dict[str, Callable[[Value], None]] = {
    "endpoints": _endpoints,
    "discovery.k8s.io/endpointslices": _endpoint_slice,
    "networking.k8s.io/ingressclasses": _ingress_class,
    "networking.k8s.io/networkpolicies": _network_policy,
}
"""What completes an object as it is read, by storage; `fill` calls it."""
