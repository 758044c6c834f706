"""What the server fills in where a client says nothing: enough for objects to look right.

Some is filled in when an object is read, so the client that wrote it owns it; the rest only when it
is created, by admission, and has no owner (K9).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from ..reading.spec_order import spec_in_order
from ..types.served import ResourceType
from .pod_defaults import fill_pod_spec, fill_template, late_pod_spec, quality_of_service
from .service_defaults import fill_service, with_addresses, with_kept_addresses
from .small_defaults import SMALL_DEFAULTS

__all__ = ["fill", "fill_late", "keep_allocated", "new_status"]

Value = dict[str, Any]

_SPEC: dict[str, Value] = {
    "services": {"type": "ClusterIP", "sessionAffinity": "None"},
    "replicationcontrollers": {"replicas": 1},
    "persistentvolumeclaims": {"volumeMode": "Filesystem"},
    "persistentvolumes": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "apps/replicasets": {"replicas": 1},
    "apps/deployments": {
        "replicas": 1,
        "strategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
        },
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    },
    "apps/statefulsets": {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "apps/daemonsets": {
        "updateStrategy": {
            "type": "RollingUpdate",
            "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
        },
        "revisionHistoryLimit": 10,
    },
    "batch/jobs": {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "manualSelector": False,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    },
    "batch/cronjobs": {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
    },
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
}
_DAEMON_SETS = "apps/daemonsets"
_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


def fill(of: ResourceType, value: Value) -> None:
    """Complete an object as it is read. `value` is the caller's own, what is in it is not."""
    if of.custom:
        return
    storage = of.storage
    top = _TOP.get(storage)
    if top:
        for name, default in top.items():
            if not value.get(name):
                value[name] = default
    spec = value.get("spec")
    defaults = _SPEC.get(storage)
    if defaults is not None:
        given = spec or {}
        spec = value["spec"] = _completed(given, defaults)
        counts = (given.get("parallelism"), given.get("completions"))
        if storage == "batch/jobs" and counts[0] is not None and counts[1] is None:
            del spec["completions"]  # it is 1 only where neither is given
    special = _SPECIAL.get(storage)
    if special is not None:
        special(value)
    if isinstance(spec, dict):
        value["spec"] = spec_in_order(storage, value["spec"])


def fill_late(of: ResourceType, value: Value, rng: Random) -> None:
    """Complete an object that is created, after its managedFields are made."""
    if of.custom:
        return
    storage = of.storage
    if storage == "pods":
        value["spec"] = late_pod_spec(value.get("spec") or {})
    elif storage == "services":
        value["spec"] = spec_in_order(storage, with_addresses(value["spec"], rng))
    elif storage == "namespaces":
        spec = value.get("spec") or {}
        finalizers = spec.get("finalizers") or []
        if "kubernetes" not in finalizers:
            value["spec"] = {**spec, "finalizers": [*finalizers, "kubernetes"]}
    elif storage == "nodes":
        spec = value.get("spec") or {}
        value["spec"] = {**spec, "taints": [*(spec.get("taints") or ()), _NOT_READY]}
    elif storage == "batch/jobs":
        spec = _with_job_labels(value["metadata"], value["spec"])
        value["spec"] = spec_in_order(storage, spec)
        template = spec.get("template")
        if isinstance(template, dict) and not value["metadata"].get("labels"):
            value["metadata"]["labels"] = (template.get("metadata") or {}).get("labels")
    elif storage in _PROTECTION:
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
            value["status"]["qosClass"] = quality_of_service(value["spec"])
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
    if of.storage == "services" and spec is not None and before:
        new["spec"] = with_kept_addresses(before, spec)
    elif of.storage == "namespaces":
        new["spec"] = before or {}
    elif of.storage == _DAEMON_SETS:
        _count_template(old, new)
    elif of.storage == "pods" and spec is not None and before:
        kept = {name: before[name] for name in _ADMITTED if name in before}
        if any(name not in spec for name in kept):
            new["spec"] = {**kept, **spec}


def _count_template(old: Mapping[str, Any], new: Value) -> None:
    """Which template it is, as an annotation tells that is never the client's."""
    count = (old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "1")
    template = (new.get("spec") or {}).get("template")
    if isinstance(template, dict) and count.isdecimal():
        was = (old.get("spec") or {}).get("template")
        if fill_template(template) != was:
            count = str(int(count) + 1)
    annotations = {**(new["metadata"].get("annotations") or {}), _TEMPLATE_GENERATION: count}
    new["metadata"] = {**new["metadata"], "annotations": dict(sorted(annotations.items()))}


_ADMITTED = ("tolerations", "priority", "preemptionPolicy", "serviceAccountName", "nodeName")


def _completed(spec: Value, defaults: Value) -> Value:
    missing = {name: value for name, value in defaults.items() if spec.get(name) is None}
    return {**spec, **missing} if missing else spec


def _service(value: Value) -> None:
    value["spec"] = fill_service(value["spec"])


def _pod_template(value: Value) -> None:
    if isinstance(value.get("template"), dict):
        value["template"] = fill_template(value["template"])


def _secret(value: Value) -> None:
    texts = value.pop("stringData", None)
    if texts:
        data = {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}
        value["data"] = {**(value.get("data") or {}), **data}


def _pod(value: Value) -> None:
    value["spec"] = fill_pod_spec(value.get("spec") or {}, in_pod=True)


def _with_template(value: Value) -> None:
    spec = value["spec"]
    if isinstance(spec.get("template"), dict):
        value["spec"] = {**spec, "template": fill_template(spec["template"])}


def _daemon_set(value: Value) -> None:
    _with_template(value)
    annotations = value["metadata"].get("annotations") or {}
    if _TEMPLATE_GENERATION not in annotations:
        annotations = {**annotations, _TEMPLATE_GENERATION: "1"}
        value["metadata"] = {**value["metadata"], "annotations": annotations}


def _replication_controller(value: Value) -> None:
    _with_template(value)
    template = value["spec"].get("template")
    labels = template["metadata"].get("labels") if isinstance(template, dict) else None
    if labels:
        if not value["metadata"].get("labels"):
            value["metadata"] = {**value["metadata"], "labels": labels}
        value["spec"] = {"selector": labels, **value["spec"]}


def _cron_job(value: Value) -> None:
    spec = value["spec"]
    template = spec.get("jobTemplate")
    if isinstance(template, dict) and isinstance(template.get("spec"), dict):
        job = template["spec"]
        if isinstance(job.get("template"), dict):
            job = {**job, "template": fill_template(job["template"])}
        template = {"metadata": {}, **template, "spec": job}
        value["spec"] = {**spec, "jobTemplate": template}


def _namespace(value: Value) -> None:
    metadata = value["metadata"]
    label = {"kubernetes.io/metadata.name": metadata.get("name", "")}
    value["metadata"] = {**metadata, "labels": {**(metadata.get("labels") or {}), **label}}


def _with_job_labels(metadata: Mapping[str, Any], spec: Value) -> Value:
    if spec.get("manualSelector") or not isinstance(spec.get("template"), dict):
        return spec
    uid, name = metadata["uid"], metadata["name"]
    labels = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = dict(spec["template"])
    of_template = template.get("metadata") or {}
    joined = dict(sorted({**(of_template.get("labels") or {}), **labels}.items()))
    template["metadata"] = {**of_template, "labels": joined}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    return {**spec, "selector": selector, "template": template}


_SPECIAL: dict[str, Callable[[Value], None]] = {
    "services": _service,
    "secrets": _secret,
    "pods": _pod,
    "namespaces": _namespace,
    "podtemplates": _pod_template,
    "replicationcontrollers": _replication_controller,
    "apps/deployments": _with_template,
    "apps/replicasets": _with_template,
    "apps/statefulsets": _with_template,
    "apps/daemonsets": _daemon_set,
    "batch/jobs": _with_template,
    "batch/cronjobs": _cron_job,
    **SMALL_DEFAULTS,
}
