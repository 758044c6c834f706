"""The defaults of pods, and of the templates that pods are made from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .container_defaults import fill_containers
from .label_keys import with_label_keys
from .pod_totals import summed
from .volume_defaults import fill_volume

__all__ = [
    "fill_pod_spec",
    "fill_template",
    "gated",
    "keep_admitted",
    "late_pod_spec",
]

Value = dict[str, Any]

_SPEC = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "securityContext": {},
    "schedulerName": "default-scheduler",
}
_COMPUTE = ("cpu", "memory")
_HUGE = "hugepages-"
_TOLERATIONS = [
    {
        "key": f"node.kubernetes.io/{trouble}",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 300,
    }
    for trouble in ("not-ready", "unreachable")
]


def fill_pod_spec(spec: Value, *, in_pod: bool = False) -> Value:
    """A complete copy; what is complete already comes back itself."""
    complete = dict(spec)
    complete.pop("schedulingGroup", None)  # it is off unless somebody asks for it
    for name, default in _SPEC.items():
        if complete.get(name) in (None, ""):
            complete[name] = default
    account = complete.get("serviceAccountName") or complete.get("serviceAccount")
    if account:
        complete["serviceAccountName"] = complete["serviceAccount"] = account
    fill_containers(complete, in_pod=in_pod)
    if in_pod:
        _fill_pod(complete)
    volumes = complete.get("volumes")
    if isinstance(volumes, list):
        complete["volumes"] = [
            fill_volume(found) if isinstance(found, dict) else found for found in volumes
        ]
    return spec if complete == spec else complete


def _fill_pod(spec: Value) -> None:
    """What templates do not have."""
    if spec.get("enableServiceLinks") is None:
        spec["enableServiceLinks"] = True
    grace = spec["terminationGracePeriodSeconds"]
    if isinstance(grace, int) and grace < 0:
        spec["terminationGracePeriodSeconds"] = 1
    resources = spec.get("resources")
    if isinstance(resources, dict) and (resources.get("limits") or resources.get("requests")):
        spec["resources"] = _pod_resources(spec, resources)


def _pod_resources(spec: Value, resources: Value) -> Value:
    """A pod asks for what its containers ask for, or else for what it is limited to."""
    limits, requests = dict(resources.get("limits") or {}), dict(resources.get("requests") or {})
    for name, total in summed(spec, "limits").items():
        if name.startswith(_HUGE) and name not in requests:
            limits.setdefault(name, total)
    if limits:
        for name, total in summed(spec, "requests").items():
            if name in _COMPUTE:
                requests.setdefault(name, total)
        for name, limit in limits.items():
            if name in _COMPUTE or name.startswith(_HUGE):
                requests.setdefault(name, limit)
    sides = {"limits": limits, "requests": requests}
    return {
        **resources,
        **{name: dict(sorted(side.items())) for name, side in sides.items() if side},
    }


def fill_template(template: Value) -> Value:
    """A pod template: metadata and the spec of its pods."""
    spec = template.get("spec")
    metadata = template.get("metadata") or {}
    return {"metadata": metadata, "spec": fill_pod_spec(spec if isinstance(spec, dict) else {})}


def late_pod_spec(spec: Value, labels: Mapping[str, str] | None = None) -> Value:
    """What is added when a pod is created with these labels."""
    return _tolerant(with_label_keys(spec, labels or {}))


def keep_admitted(before: Mapping[str, Any], spec: Value) -> Value:
    """A changed spec with what was added to the one `before` it."""
    kept = {
        name: before[name]
        for name in ("priority", "preemptionPolicy")
        if name in before and spec.get(name) is None
    }
    return {**_tolerant(spec), **kept}


def _tolerant(spec: Value) -> Value:
    """With a while for nodes that are in trouble, unless the spec says something of that."""
    tolerations = spec.get("tolerations")
    keys = {
        found.get("key") or ""
        for found in tolerations or ()
        if isinstance(found, dict) and (found.get("effect") or "") in ("", "NoExecute")
    }
    missing = [found for found in _TOLERATIONS if found["key"] not in keys and "" not in keys]
    return {**spec, "tolerations": [*(tolerations or ()), *missing]} if missing else spec


def gated(now: str) -> Value:
    """The condition of a new pod that is not to be scheduled yet."""
    return {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }
