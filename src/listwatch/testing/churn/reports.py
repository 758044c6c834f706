"""What controllers write of apps, ReplicaSets and Jobs."""

from __future__ import annotations

from typing import Any

from .model import App, Group
from .steps import CONTROLLER, Step, Verb

__all__ = ["app_status", "app_step", "group_status", "group_step", "job_status"]

_RESOURCES = {
    "Deployment": "apps/v1/deployments",
    "StatefulSet": "apps/v1/statefulsets",
    "CronJob": "batch/v1/cronjobs",
    "ReplicaSet": "apps/v1/replicasets",
    "Job": "batch/v1/jobs",
}


def app_step(verb: Verb, app: App, body: dict[str, Any], *, manager: str = CONTROLLER) -> Step:
    """One write of a Deployment, StatefulSet or CronJob."""
    resource = _RESOURCES[app.blueprint.kind]
    return Step(verb, resource, app.namespace, app.name, manager, body)


def group_step(verb: Verb, group: Group, body: dict[str, Any]) -> Step:
    """One write of a ReplicaSet or Job."""
    resource = _RESOURCES[group.kind]
    return Step(verb, resource, group.app.namespace, group.name, CONTROLLER, body)


def group_status(group: Group) -> dict[str, Any]:
    """Of a ReplicaSet."""
    count, ready = len(group.live), group.ready
    return {
        "replicas": count,
        "fullyLabeledReplicas": count,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "observedGeneration": 1,
    }


def app_status(app: App, now: str) -> dict[str, Any] | None:
    """Of a Deployment or StatefulSet; None for what reports nothing."""
    current = app.current
    if current is None or app.blueprint.kind == "CronJob":
        return None
    count = sum(len(group.live) for group in app.groups)
    ready = sum(group.ready for group in app.groups)
    status: dict[str, Any] = {
        "observedGeneration": app.revision,
        "replicas": count,
        "updatedReplicas": len(current.live),
        "readyReplicas": ready,
        "availableReplicas": ready,
    }
    if app.blueprint.kind == "Deployment":
        status["unavailableReplicas"] = max(0, app.replicas - ready) or None
        available = "True" if ready * 4 >= app.replicas * 3 else "False"
        before = app.available
        if before is None or before["status"] != available:
            words = "has" if available == "True" else "does not have"
            app.available = {
                "type": "Available",
                "status": available,
                "lastUpdateTime": now,
                "lastTransitionTime": now,
                "reason": f"MinimumReplicas{'A' if available == 'True' else 'Una'}vailable",
                "message": f"Deployment {words} minimum availability.",
            }
        status["conditions"] = [app.available]
    return status


def job_status(job: Group, now: str) -> dict[str, Any]:
    """Of a Job."""
    before = job.reported or {}
    status: dict[str, Any] = {"startTime": before.get("startTime", now)}
    active = len(job.live)
    status["active"] = active or None
    status["succeeded"] = job.succeeded or None
    status["failed"] = job.failed or None
    if job.succeeded >= job.desired or job.failed > 2:
        done = job.succeeded >= job.desired
        kinds = ("SuccessCriteriaMet", "Complete") if done else ("FailureTarget", "Failed")
        status["conditions"] = before.get("conditions") or [
            {
                "type": kind,
                "status": "True",
                "lastProbeTime": now,
                "lastTransitionTime": now,
            }
            for kind in kinds
        ]
        if done:
            status["completionTime"] = before.get("completionTime", now)
    return status
