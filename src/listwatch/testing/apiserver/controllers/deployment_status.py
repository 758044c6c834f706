"""What the controller says of a Deployment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..storage.log import StoredObject
from .conditions import with_condition, without_condition
from .pods import condition_of
from .rollout import desired, max_unavailable, total

__all__ = [
    "counted",
    "is_complete",
    "progress_condition",
    "seconds_to_deadline",
    "with_progress",
]

_AVAILABLE = "NewReplicaSetAvailable"
_TIMED_OUT = "ProgressDeadlineExceeded"
_COUNTS = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")


def counted(
    deployment: Mapping[str, Any],
    groups: Sequence[StoredObject],
    new: StoredObject | None,
    now: str,
) -> dict[str, Any]:
    """The status with its counts and the condition Available. `groups` are all ReplicaSets."""
    before = deployment.get("status") or {}
    counts = {
        "replicas": _sum(groups, "replicas"),
        "updatedReplicas": _sum([new] if new is not None else [], "replicas"),
        "readyReplicas": _sum(groups, "readyReplicas"),
        "availableReplicas": _sum(groups, "availableReplicas"),
        "unavailableReplicas": max(0, total(groups) - _sum(groups, "availableReplicas")),
    }
    status: dict[str, Any] = {"observedGeneration": deployment["metadata"]["generation"]}
    status |= {name: count for name, count in counts.items() if count}
    status["terminatingReplicas"] = _sum(groups, "terminatingReplicas")
    wanted = desired(deployment)
    enough = counts["availableReplicas"] >= wanted - max_unavailable(deployment)
    condition = {
        "type": "Available",
        "status": "True" if enough else "False",
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": "MinimumReplicasAvailable" if enough else "MinimumReplicasUnavailable",
        "message": f"Deployment {'has' if enough else 'does not have'} minimum availability.",
    }
    status["conditions"] = with_condition(before.get("conditions") or (), condition)
    if "collisionCount" in before:
        status["collisionCount"] = before["collisionCount"]
    return status


def progress_condition(status: str, reason: str, message: str, now: str) -> dict[str, Any]:
    return {
        "type": "Progressing",
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def with_progress(
    deployment: Mapping[str, Any],
    status: dict[str, Any],
    groups: Sequence[StoredObject],
    new: StoredObject | None,
    now: datetime,
    stamp: str,
) -> dict[str, Any]:
    """`status` with the conditions Progressing and ReplicaFailure."""
    name = f'Deployment "{deployment["metadata"]["name"]}"'
    if new is not None:
        name = f'ReplicaSet "{new.key[1]}"'
    conditions = status["conditions"]
    current = condition_of({"status": status}, "Progressing")
    if deployment["spec"].get("progressDeadlineSeconds") is None:
        conditions = without_condition(conditions, "Progressing")
    elif not _was_complete(status, current):
        if is_complete(deployment, status):
            message = f"{name} has successfully progressed."
            found = progress_condition("True", _AVAILABLE, message, stamp)
            conditions = with_condition(conditions, found)
        elif _has_moved(deployment.get("status") or {}, status):
            message = f"{name} is progressing."
            found = progress_condition("True", "ReplicaSetUpdated", message, stamp)
            if current is not None and current["status"] == "True":
                found["lastTransitionTime"] = current["lastTransitionTime"]
            conditions = [*without_condition(conditions, "Progressing"), found]
        elif _is_late(deployment, current, now):
            message = f"{name} has timed out progressing."
            found = progress_condition("False", _TIMED_OUT, message, stamp)
            conditions = with_condition(conditions, found)
    failure = _failure(groups, new)
    conditions = without_condition(conditions, "ReplicaFailure")
    if failure is not None:
        conditions = [*conditions, {**failure, "lastUpdateTime": failure["lastTransitionTime"]}]
    return {**status, "conditions": conditions}


def is_complete(deployment: Mapping[str, Any], status: Mapping[str, Any]) -> bool:
    """Whether all that is wanted is there, and nothing else."""
    wanted = desired(deployment)
    return all(status.get(name, 0) == wanted for name in _COUNTS if name != "readyReplicas")


def seconds_to_deadline(
    deployment: Mapping[str, Any], status: Mapping[str, Any], now: datetime
) -> float | None:
    """When to look again whether a rollout is late; None: it is over, one way or the other."""
    current = condition_of({"status": status}, "Progressing")
    deadline = deployment["spec"].get("progressDeadlineSeconds")
    if current is None or deadline is None or current.get("reason") in (_AVAILABLE, _TIMED_OUT):
        return None
    since = datetime.fromisoformat(current["lastUpdateTime"])
    return max(0.0, float(deadline) - (now - since).total_seconds()) + 1


def _was_complete(status: Mapping[str, Any], current: Mapping[str, Any] | None) -> bool:
    same = status.get("replicas", 0) == status.get("updatedReplicas", 0)
    return same and current is not None and current.get("reason") == _AVAILABLE


def _has_moved(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    def of_old(status: Mapping[str, Any]) -> int:
        return int(status.get("replicas", 0)) - int(status.get("updatedReplicas", 0))

    more = any(new.get(name, 0) > old.get(name, 0) for name in _COUNTS[1:])
    return more or of_old(new) < of_old(old)


def _is_late(
    deployment: Mapping[str, Any], current: Mapping[str, Any] | None, now: datetime
) -> bool:
    if current is None or current.get("reason") == _AVAILABLE:
        return False
    if current.get("reason") == _TIMED_OUT:
        return True
    since = datetime.fromisoformat(current["lastUpdateTime"])
    return bool((now - since).total_seconds() > deployment["spec"]["progressDeadlineSeconds"])


def _failure(groups: Sequence[StoredObject], new: StoredObject | None) -> dict[str, Any] | None:
    for group in [*([new] if new is not None else []), *groups]:
        found = condition_of(group.value, "ReplicaFailure")
        if found is not None and found["status"] == "True":
            return dict(found)
    return None


def _sum(groups: Sequence[StoredObject], name: str) -> int:
    return sum((group.value.get("status") or {}).get(name, 0) for group in groups)
