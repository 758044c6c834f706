"""What the server fills in where a client says nothing.

Some is filled in when an object is read, so the client that wrote it owns it; the rest only when it
is created, by admission, and has no owner (K9).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from ..storage.autoscaler_versions import with_status_kept
from ..types.served import ResourceType
from .claim_defaults import with_sources
from .job_defaults import JOB_DEFAULTS, missing_labels, with_selector
from .members import with_defaults
from .pod_defaults import (
    fill_pod_spec,
    fill_template,
    gated,
    keep_admitted,
    late_pod_spec,
)
from .pod_totals import quality_of_service
from .service_defaults import fill_service
from .small_defaults import SMALL_DEFAULTS
from .workload_defaults import TEMPLATE_GENERATION, WORKLOAD_DEFAULTS

__all__ = ["fill", "fill_late", "keep_allocated", "keep_metadata", "new_status"]

Value = dict[str, Any]

_SPEC: dict[str, Value] = {
    "services": {"type": "ClusterIP", "sessionAffinity": "None"},
    "persistentvolumeclaims": {"volumeMode": "Filesystem"},
    "persistentvolumes": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "autoscaling/horizontalpodautoscalers": {"minReplicas": 1},
    "apiextensions.k8s.io/customresourcedefinitions": {"conversion": {"strategy": "None"}},
    "storage.k8s.io/csidrivers": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "volumeLifecycleModes": ["Persistent"],
        "storageCapacity": False,
        "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "requiresRepublish": False,
        "seLinuxMount": False,
    },
}
"""Members of spec, by storage; where there is an object already, those of that too."""
_TOP: dict[str, Value] = {
    "secrets": {"type": "Opaque"},
    "scheduling.k8s.io/priorityclasses": {"preemptionPolicy": "PreemptLowerPriority"},
    "storage.k8s.io/storageclasses": {
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "Immediate",
    },
}
_STATUS: dict[str, Value] = {
    "pods": {"phase": "Pending"},
    "namespaces": {"phase": "Active"},
    "persistentvolumeclaims": {"phase": "Pending"},
    "persistentvolumes": {"phase": "Pending"},
}
_PROTECTION = {
    "persistentvolumeclaims": "kubernetes.io/pvc-protection",
    "persistentvolumes": "kubernetes.io/pv-protection",
    "storage.k8s.io/volumeattributesclasses": "kubernetes.io/vac-protection",
}
_CLAIMS = "persistentvolumeclaims"
_DAEMON_SETS = "apps/daemonsets"
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def fill(of: ResourceType, value: Value) -> None:
    """Complete an object as it is read. `value` is the caller's own, what is in it is not."""
    if of.custom:
        return
    storage = of.storage
    top = _TOP.get(storage)
    if top:
        for name, default in top.items():
            if value.get(name) is None or (storage == "secrets" and not value[name]):
                value[name] = default
    spec = value.get("spec")
    defaults = _SPEC.get(storage)
    if defaults is not None:
        spec = value["spec"] = with_defaults(spec, defaults)
    special = _SPECIAL.get(storage)
    if special is not None:
        special(value)


def fill_late(of: ResourceType, value: Value, rng: Random) -> None:
    """Complete an object that is created, after its managedFields are made."""
    if of.custom:
        return
    storage = of.storage
    if storage == "pods":
        value["spec"] = late_pod_spec(value.get("spec") or {}, value["metadata"].get("labels"))
    elif storage == "namespaces":
        spec = value.get("spec") or {}
        finalizers = spec.get("finalizers") or []
        if "kubernetes" not in finalizers:
            value["spec"] = {**spec, "finalizers": [*finalizers, "kubernetes"]}
    elif storage == "nodes":
        spec = value.get("spec") or {}
        value["spec"] = {**spec, "taints": [*(spec.get("taints") or ()), _NOT_READY]}
    elif storage == "batch/jobs":
        with_selector(value)
    elif storage == _CLAIMS:
        value["spec"] = with_sources(value["spec"])
    if storage in _PROTECTION:
        finalizers = value["metadata"].get("finalizers") or []
        if _PROTECTION[storage] not in finalizers:
            value["metadata"]["finalizers"] = [*finalizers, _PROTECTION[storage]]


def new_status(of: ResourceType, value: Value) -> None:
    """The status of a new object: what the client says of it counts for nodes only."""
    if of.storage == "nodes":
        status = value.get("status") or {}
        if "capacity" in status and "allocatable" not in status:
            status = {**status, "allocatable": status["capacity"]}
        value["status"] = {**status, **of.zero_members["status"], **status}
        return
    if not of.has_status:
        return
    value.pop("status", None)
    status = _STATUS.get(of.storage)
    if status is not None:
        value["status"] = dict(status)
        if of.storage == "pods":
            if value["spec"].get("schedulingGates"):
                value["status"]["conditions"] = [
                    gated(value["metadata"].get("creationTimestamp", ""))
                ]
            value["status"]["qosClass"] = quality_of_service(value["spec"])
        elif of.storage == "persistentvolumes":
            since = value["metadata"].get("creationTimestamp")
            value["status"]["lastPhaseTransitionTime"] = since
    elif of.storage == "apiextensions.k8s.io/customresourcedefinitions":
        versions = (value.get("spec") or {}).get("versions") or []
        stored = [found.get("name") for found in versions if found.get("storage")]
        value["status"] = {
            "conditions": None,
            "acceptedNames": {"plural": "", "kind": ""},
            "storedVersions": stored,
        }


def keep_allocated(of: ResourceType, old: Mapping[str, Any], new: Value) -> None:
    """What was given out when an object was created is not lost by a PUT that leaves it out."""
    if of.custom:
        return
    spec, before = new.get("spec"), old.get("spec")
    if of.storage in ("namespaces", "certificates.k8s.io/certificatesigningrequests"):
        new["spec"] = before or {}
    elif of.storage == _CLAIMS and spec is not None:
        new["spec"] = with_sources(spec, before)
    elif of.storage == "pods" and spec is not None and before:
        new["spec"] = keep_admitted(before, spec)


def keep_metadata(of: ResourceType, old: Mapping[str, Any], new: Value) -> None:
    """Labels and annotations that are there whatever of an object changes."""
    if of.storage == _DAEMON_SETS:
        _count_template(old, new)
    elif of.api_version == "autoscaling/v1":
        new["metadata"] = with_status_kept(old, new["metadata"])
    elif of.storage == "batch/jobs":
        new["metadata"] = {**new["metadata"], **missing_labels(new)}


def _count_template(old: Mapping[str, Any], new: Value) -> None:
    """Which template it is, as an annotation tells that is never the client's."""
    count = (old["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, "1")
    template = (new.get("spec") or {}).get("template")
    if isinstance(template, dict) and count.isdecimal():
        was = (old.get("spec") or {}).get("template")
        if template is not was and fill_template(template) != was:
            count = str(int(count) + 1)
    annotations = {**(new["metadata"].get("annotations") or {}), TEMPLATE_GENERATION: count}
    new["metadata"] = {**new["metadata"], "annotations": dict(sorted(annotations.items()))}


def _service(value: Value) -> None:
    value["spec"] = fill_service(value["spec"])


def _secret(value: Value) -> None:
    texts = value.pop("stringData", None)
    if texts:
        data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        value["data"] = {**(value.get("data") or {}), **data}


def _pod(value: Value) -> None:
    value["spec"] = fill_pod_spec(value.get("spec") or {}, in_pod=True)


def _namespace(value: Value) -> None:
    metadata = value["metadata"]
    label = {"kubernetes.io/metadata.name": metadata.get("name", "")}
    value["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), **label}}


_SPECIAL: dict[str, Callable[[Value], None]] = {
    "services": _service,
    "secrets": _secret,
    "pods": _pod,
    "namespaces": _namespace,
    **JOB_DEFAULTS,
    **SMALL_DEFAULTS,
    **WORKLOAD_DEFAULTS,
}
