"""PUT and PATCH of `/status`: what they may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..defaulting.service_defaults import fill_service_status
from ..storage.autoscaler_versions import with_old_status
from ..types.served import ResourceType
from .pod_status import completed_pod_status

__all__ = ["KEPT_METADATA", "with_phase_time", "with_status_of"]

_PHASE_TIME = "lastPhaseTransitionTime"

_ALL = ("labels", "annotations", "finalizers", "ownerReferences")
KEPT_METADATA = {
    "pods": ("ownerReferences",),
    "apps/deployments": ("labels",),
    "apiextensions.k8s.io/customresourcedefinitions": ("labels", "annotations", "finalizers"),
    "admissionregistration.k8s.io/validatingadmissionpolicies": _ALL,
    "apiregistration.k8s.io/apiservices": _ALL,
    "flowcontrol.apiserver.k8s.io/flowschemas": _ALL,
    "flowcontrol.apiserver.k8s.io/prioritylevelconfigurations": _ALL,
    "networking.k8s.io/servicecidrs": _ALL,
    "resource.k8s.io/resourceclaims": _ALL,
    "storage.k8s.io/volumeattachments": _ALL,
}
"""Members of metadata that only the object's own path changes, by storage."""
_FIRST_PHASES = {
    "namespaces": "Active",
    "persistentvolumeclaims": "Pending",
    "persistentvolumes": "Pending",
}
"""What a status says that does not tell the phase, by storage."""
_ALWAYS_THERE = frozenset({"pods", *_FIRST_PHASES})
"""Types whose status has something to say even if a client takes it away."""


def with_status_of(
    of: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """`old` with the status of `new`. Of a built-in object most of the metadata changes too."""
    sent = new["metadata"]
    if of.custom:
        metadata = dict(old["metadata"])
        if "managedFields" in sent:
            metadata["managedFields"] = sent["managedFields"]
    else:
        metadata = dict(sent)
        for name in KEPT_METADATA.get(of.storage, ()):
            if name in old["metadata"]:
                metadata[name] = old["metadata"][name]
            else:
                metadata.pop(name, None)
    changed = {**old, "metadata": metadata}
    if new.get("status") is None and of.storage in _ALWAYS_THERE:
        new = {**new, "status": {}}
    if new.get("status") is not None:
        if of.storage == "services":
            new = fill_service_status(new)
        status = _completed(of.storage, new["status"])
        if of.storage == "pods":
            status = completed_pod_status(old.get("status") or {}, status)
        changed["status"] = status
    else:
        changed.pop("status", None)
    return with_old_status(old, changed) if of.api_version == "autoscaling/v1" else changed


def _completed(storage: str, status: dict[str, Any]) -> dict[str, Any]:
    phase = _FIRST_PHASES.get(storage)
    if phase is not None and not status.get("phase"):
        return {**status, "phase": phase}
    if storage == "nodes" and "config" in status:
        return {name: item for name, item in status.items() if name != "config"}
    return status


def with_phase_time(old: Mapping[str, Any], new: Mapping[str, Any], now: str) -> dict[str, Any]:
    """`new`, a PersistentVolume, with the time since when it is in its phase, unless that is told
    along with another phase.
    """
    before, after = old.get("status") or {}, dict(new.get("status") or {})
    told = after.get(_PHASE_TIME)
    if before.get("phase") == after.get("phase"):
        after[_PHASE_TIME] = told or before.get(_PHASE_TIME)
    elif told in (None, before.get(_PHASE_TIME)):
        after[_PHASE_TIME] = now
    return {**new, "status": {name: found for name, found in after.items() if found is not None}}
