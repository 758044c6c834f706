"""What controllers see in pods, and how they make them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..storage.log import StoredObject
from .owners import is_dying, owned_by

__all__ = [
    "PODS",
    "condition_of",
    "deletion_order",
    "disruption_target",
    "is_active",
    "is_available",
    "is_finished",
    "is_ready",
    "new_pod",
    "node_of",
    "seconds_to_available",
]

PODS = "pods"
_COST = "controller.kubernetes.io/pod-deletion-cost"


def condition_of(value: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The condition of an object by its type."""
    conditions = (value.get("status") or {}).get("conditions") or ()
    return next((found for found in conditions if found.get("type") == kind), None)


def node_of(pod: StoredObject) -> str:
    """The name of its node; empty where it is on none."""
    return str((pod.value.get("spec") or {}).get("nodeName") or "")


def disruption_target(pod: StoredObject, reason: str, message: str, stamp: str) -> dict[str, Any]:
    """The condition that tells why a pod has to go."""
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "observedGeneration": pod.metadata.get("generation"),
        "lastProbeTime": None,
        "lastTransitionTime": stamp,
        "reason": reason,
        "message": message,
    }


def is_finished(pod: Mapping[str, Any]) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def is_active(pod: Mapping[str, Any]) -> bool:
    """Whether it runs, or will, and nobody has told it to end."""
    return not is_finished(pod) and not is_dying(pod["metadata"])


def is_ready(pod: Mapping[str, Any]) -> bool:
    ready = condition_of(pod, "Ready")
    return ready is not None and ready.get("status") == "True"


def seconds_to_available(pod: Mapping[str, Any], min_ready: int, now: datetime) -> float | None:
    """Until it has been ready for `min_ready` seconds; 0: it has. None: it is not ready."""
    ready = condition_of(pod, "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    if not min_ready or not ready.get("lastTransitionTime"):
        return 0.0
    since = datetime.fromisoformat(ready["lastTransitionTime"])
    return max(0.0, min_ready - (now - since).total_seconds())


def is_available(pod: Mapping[str, Any], min_ready: int, now: datetime) -> bool:
    return seconds_to_available(pod, min_ready, now) == 0.0


def new_pod(owner: Mapping[str, Any], template: Mapping[str, Any]) -> dict[str, Any]:
    """A pod of `owner`, whose name the server makes."""
    of_template = template.get("metadata") or {}
    metadata: dict[str, Any] = {
        "generateName": f"{owner['metadata']['name']}-",
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owned_by(owner)],
    }
    for name in ("labels", "annotations", "finalizers"):
        if of_template.get(name):
            metadata[name] = of_template[name]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": metadata,
        "spec": dict(template.get("spec") or {}),
    }


def deletion_order(found: StoredObject) -> tuple[Any, ...]:
    """By what pods are sorted when some have to go: those first whose loss matters least."""
    pod, metadata = found.value, found.metadata
    status = pod.get("status") or {}
    phases = {"Pending": 0, "Unknown": 1, "Running": 2}
    ready = condition_of(pod, "Ready") or {}
    restarts = sum(one.get("restartCount", 0) for one in status.get("containerStatuses") or ())
    return (
        bool((pod.get("spec") or {}).get("nodeName")),
        phases.get(status.get("phase", ""), 2),
        is_ready(pod),
        _cost(metadata),
        _Newest(str(ready.get("lastTransitionTime") or "")),
        -restarts,
        _Newest(str(metadata["creationTimestamp"])),
        metadata["name"],
    )


def _cost(metadata: Mapping[str, Any]) -> int:
    try:
        return int((metadata.get("annotations") or {}).get(_COST, 0))
    except ValueError:
        return 0


class _Newest(str):
    """A time that sorts before the older ones."""

    __slots__ = ()

    def __lt__(self, other: str) -> bool:
        return str(self) > str(other)
