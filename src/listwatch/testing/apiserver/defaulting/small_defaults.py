"""The defaults of types that have few of them, and the order of what is in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..reading.spec_order import in_order

__all__ = ["FILLED_ALWAYS", "SMALL_DEFAULTS"]

Value = dict[str, Any]

_RULE_ORDER = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
_SUBJECT_ORDER = ("kind", "apiGroup", "name", "namespace")
_LIMIT_ORDER = ("type", "max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ENDPOINT_ORDER = ("addresses", "conditions", "hostname", "targetRef", "nodeName", "zone", "hints")
_PORT_ORDER = ("name", "port", "protocol", "appProtocol")
_SLICE_PORT_ORDER = ("name", "protocol", "port", "appProtocol")
_TARGET_ORDER = ("kind", "name", "apiVersion")
_RBAC = "rbac.authorization.k8s.io"
_CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


def _objects(value: Value, member: str) -> list[Any] | None:
    """A member that is a list, if it is."""
    found = value.get(member)
    return found if isinstance(found, list) else None


def _each(value: Value, member: str, change: Callable[[Value], Value]) -> None:
    """Replace the objects in a list that is a member of `value`."""
    found = _objects(value, member)
    if found is not None:
        value[member] = [change(item) if isinstance(item, dict) else item for item in found]


def _endpoints(value: Value) -> None:
    def subset(found: Value) -> Value:
        found = dict(found)
        _each(found, "ports", _with_protocol)
        return found

    _each(value, "subsets", subset)


def _endpoint_slice(value: Value) -> None:
    def port(found: Value) -> Value:
        return in_order(_with_protocol({"name": "", **found}), _SLICE_PORT_ORDER)

    def endpoint(found: Value) -> Value:
        return in_order({"conditions": {}, **found}, _ENDPOINT_ORDER)

    _each(value, "ports", port)
    _each(value, "endpoints", endpoint)


def _with_protocol(port: Value) -> Value:
    return in_order({**port, "protocol": port.get("protocol") or "TCP"}, _PORT_ORDER)


def _limit_range(value: Value) -> None:
    def limit(found: Value) -> Value:
        if found.get("type") != "Container":
            return found
        default = {**(found.get("max") or {}), **(found.get("default") or {})}
        request = {**(found.get("min") or {}), **default, **(found.get("defaultRequest") or {})}
        filled = {"default": default, "defaultRequest": request}
        return in_order(
            {**found, **{name: dict(sorted(v.items())) for name, v in filled.items() if v}},
            _LIMIT_ORDER,
        )

    spec = value.get("spec")
    if isinstance(spec, dict):
        value["spec"] = spec = dict(spec)
        _each(spec, "limits", limit)


def _autoscaler(value: Value) -> None:
    spec = value["spec"]
    old = "targetCPUUtilizationPercentage"
    if value.get("apiVersion") != "autoscaling/v1" and not spec.get("metrics") and old not in spec:
        spec = {**spec, "metrics": [_CPU]}
    target = spec.get("scaleTargetRef")
    if isinstance(target, dict):
        spec = {**spec, "scaleTargetRef": in_order(target, _TARGET_ORDER)}
    value["spec"] = spec


def _role(value: Value) -> None:
    _each(value, "rules", lambda rule: in_order(rule, _RULE_ORDER))


def _role_binding(value: Value) -> None:
    def subject(found: Value) -> Value:
        if found.get("kind") in ("User", "Group") and not found.get("apiGroup"):
            found = {**found, "apiGroup": _RBAC}
        return in_order(found, _SUBJECT_ORDER)

    _each(value, "subjects", subject)


def _node(value: Value) -> None:
    spec = value.get("spec") or {}
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        value["spec"] = {**spec, "podCIDRs": [spec["podCIDR"]]}


def _volume(value: Value) -> None:
    spec = value.get("spec") or {}
    path = spec.get("hostPath")
    if isinstance(path, dict):
        value["spec"] = {**spec, "hostPath": {**path, "type": path.get("type") or ""}}


def _network_policy(value: Value) -> None:
    def rule(found: Value) -> Value:
        found = dict(found)
        _each(found, "ports", lambda port: {"protocol": "TCP", **_given(port)})
        return found

    spec = dict(value.get("spec") or {})
    _each(spec, "ingress", rule)
    _each(spec, "egress", rule)
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    value["spec"] = spec


def _given(port: Value) -> Value:
    return {name: member for name, member in port.items() if name != "protocol" or member}


SMALL_DEFAULTS: dict[str, Callable[[Value], None]] = {
    "endpoints": _endpoints,
    "limitranges": _limit_range,
    "nodes": _node,
    "persistentvolumes": _volume,
    "autoscaling/horizontalpodautoscalers": _autoscaler,
    "discovery.k8s.io/endpointslices": _endpoint_slice,
    "networking.k8s.io/networkpolicies": _network_policy,
    f"{_RBAC}/roles": _role,
    f"{_RBAC}/clusterroles": _role,
    f"{_RBAC}/rolebindings": _role_binding,
    f"{_RBAC}/clusterrolebindings": _role_binding,
}
"""What completes an object as it is read, by storage; `fill` calls it."""
FILLED_ALWAYS = frozenset(
    {
        "endpoints",
        "discovery.k8s.io/endpointslices",
        f"{_RBAC}/roles",
        f"{_RBAC}/clusterroles",
        f"{_RBAC}/rolebindings",
        f"{_RBAC}/clusterrolebindings",
    }
)
"""Those whose defaults are outside of spec, where an update can take them away."""
