"""The defaults of types that have few of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..storage.autoscaler_versions import (
    DEFAULT_USE,
    as_new_autoscaler,
    as_old_autoscaler,
    without_kept,
)
from .admission_defaults import fill_binding, fill_policy, fill_webhooks
from .device_defaults import fill_claim, fill_claim_template, fill_slice
from .flow_control_defaults import fill_flow_schema, fill_priority_level
from .members import change_each
from .network_defaults import NETWORK_DEFAULTS
from .volume_defaults import fill_source

__all__ = ["FILLED_ALWAYS", "SMALL_DEFAULTS"]

Value = dict[str, Any]

_ADMISSION = "admissionregistration.k8s.io"
_DEVICES = "resource.k8s.io"
_FLOW_CONTROL = "flowcontrol.apiserver.k8s.io"
_RBAC = "rbac.authorization.k8s.io"
_CPU = {
    "type": "Resource",
    "resource": {
        "name": "cpu",
        "target": {"type": "Utilization", "averageUtilization": DEFAULT_USE},
    },
}
_OLD_AUTOSCALER = "autoscaling/v1"
_SCALING_RULES: dict[str, Value] = {
    "scaleUp": {
        "stabilizationWindowSeconds": 0,
        "selectPolicy": "Max",
        "policies": [
            {"type": "Pods", "value": 4, "periodSeconds": 15},
            {"type": "Percent", "value": 100, "periodSeconds": 15},
        ],
    },
    "scaleDown": {
        "selectPolicy": "Max",
        "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
    },
}


def _limit_range(value: Value) -> None:
    def limit(found: Value) -> Value:
        if found.get("type") != "Container":
            return found
        default = {**(found.get("max") or {}), **(found.get("default") or {})}
        request = {**(found.get("min") or {}), **default, **(found.get("defaultRequest") or {})}
        filled = {"default": default, "defaultRequest": request}
        return {**found, **{name: dict(sorted(v.items())) for name, v in filled.items() if v}}

    spec = value.get("spec")
    if isinstance(spec, dict):
        value["spec"] = spec = dict(spec)
        change_each(spec, "limits", limit)


def _autoscaler(value: Value) -> None:
    """Also the annotations, which are members in v1 in effect, and nothing in v2."""
    if value.get("apiVersion") == _OLD_AUTOSCALER:
        made = as_old_autoscaler(as_new_autoscaler(value))
        value["metadata"], value["spec"] = made["metadata"], made["spec"]
    else:
        value["metadata"] = without_kept(value["metadata"])
    spec = value["spec"]
    if value.get("apiVersion") != _OLD_AUTOSCALER and not spec.get("metrics"):
        spec = {**spec, "metrics": [_CPU]}
    behavior = spec.get("behavior")
    if isinstance(behavior, dict):
        rules = {
            name: _scaling_rules(behavior.get(name), defaults)
            for name, defaults in _SCALING_RULES.items()
        }
        spec = {**spec, "behavior": rules}
    value["spec"] = spec


def _scaling_rules(rules: Any, defaults: Value) -> Value:
    given = rules if isinstance(rules, dict) else {}
    return {**defaults, **{name: found for name, found in given.items() if found is not None}}


def _role_binding(value: Value) -> None:
    def subject(found: Value) -> Value:
        if found.get("kind") in ("User", "Group") and not found.get("apiGroup"):
            found = {**found, "apiGroup": _RBAC}
        return found

    change_each(value, "subjects", subject)
    role = value.get("roleRef") or {}
    if not role.get("apiGroup"):
        value["roleRef"] = {**role, "apiGroup": _RBAC}


def _node(value: Value) -> None:
    """Of the two members that say the same, the older one counts."""
    spec = dict(value.get("spec") or {})
    spec.pop("configSource", None)
    one, networks = spec.get("podCIDR"), spec.get("podCIDRs")
    if one and (not networks or networks[0] != one):
        spec["podCIDRs"] = [one]
    elif networks and not one:
        spec = {"podCIDR": networks[0], **spec}
    if spec or "spec" in value:
        value["spec"] = spec


def _api_service(value: Value) -> None:
    spec = value.get("spec") or {}
    service = spec.get("service")
    if isinstance(service, dict) and service.get("port") is None:
        value["spec"] = {**spec, "service": {**service, "port": 443}}


def _lease(value: Value) -> None:
    """What only leader election by the server itself makes use of is not kept."""
    spec = value.get("spec") or {}
    if "strategy" in spec or "preferredHolder" in spec:
        without = ("strategy", "preferredHolder")
        value["spec"] = {name: item for name, item in spec.items() if name not in without}


def _volume(value: Value) -> None:
    spec = value["spec"]
    filled = {
        name: fill_source(name, source) for name, source in spec.items() if isinstance(source, dict)
    }
    value["spec"] = {**spec, **filled}


SMALL_DEFAULTS: dict[str, Callable[[Value], None]] = {
    **NETWORK_DEFAULTS,
    "limitranges": _limit_range,
    "nodes": _node,
    "coordination.k8s.io/leases": _lease,
    "persistentvolumes": _volume,
    "autoscaling/horizontalpodautoscalers": _autoscaler,
    "apiregistration.k8s.io/apiservices": _api_service,
    f"{_ADMISSION}/mutatingadmissionpolicies": fill_policy,
    f"{_ADMISSION}/mutatingadmissionpolicybindings": fill_binding,
    f"{_ADMISSION}/mutatingwebhookconfigurations": fill_webhooks,
    f"{_ADMISSION}/validatingadmissionpolicies": fill_policy,
    f"{_ADMISSION}/validatingadmissionpolicybindings": fill_binding,
    f"{_ADMISSION}/validatingwebhookconfigurations": fill_webhooks,
    f"{_FLOW_CONTROL}/flowschemas": fill_flow_schema,
    f"{_FLOW_CONTROL}/prioritylevelconfigurations": fill_priority_level,
    f"{_RBAC}/rolebindings": _role_binding,
    f"{_RBAC}/clusterrolebindings": _role_binding,
    f"{_DEVICES}/resourceclaims": fill_claim,
    f"{_DEVICES}/resourceclaimtemplates": fill_claim_template,
    f"{_DEVICES}/resourceslices": fill_slice,
}
"""What completes an object as it is read, by storage; `fill` calls it."""
FILLED_ALWAYS = frozenset(
    {
        "endpoints",
        "autoscaling/horizontalpodautoscalers",
        f"{_ADMISSION}/mutatingwebhookconfigurations",
        f"{_ADMISSION}/validatingwebhookconfigurations",
        "discovery.k8s.io/endpointslices",
        f"{_RBAC}/rolebindings",
        f"{_RBAC}/clusterrolebindings",
    }
)
"""Those whose defaults are outside of spec, where an update can take them away."""
