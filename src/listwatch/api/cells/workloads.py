"""Cells of deployments, sets and jobs."""

from __future__ import annotations

from datetime import datetime

from .reading import NONE, Obj, age, at, condition, items, mapping, number, span, text, time_at

__all__ = [
    "cron_active",
    "cron_last",
    "cron_suspended",
    "job_completions",
    "job_duration",
    "job_status",
    "node_selector",
    "ready_of_wanted",
]


def ready_of_wanted(obj: Obj, now: datetime) -> str:
    wanted = number(obj, "spec", "replicas", default=1)
    return f"{number(obj, 'status', 'readyReplicas')}/{wanted}"


def node_selector(obj: Obj, now: datetime) -> str:
    labels = mapping(obj, "spec", "template", "spec", "nodeSelector")
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or NONE


def job_status(job: Obj, now: datetime) -> str:
    def holds(kind: str) -> bool:
        return text(condition(job, kind), "status") == "True"

    for kind in ("Complete", "Failed"):
        if holds(kind):
            return kind
    if at(job, "metadata", "deletionTimestamp"):
        return "Terminating"
    for kind in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if holds(kind):
            return kind
    return "Running"


def job_completions(job: Obj, now: datetime) -> str:
    done = number(job, "status", "succeeded")
    wanted = number(job, "spec", "completions", default=-1)
    if wanted >= 0:
        return f"{done}/{wanted}"
    at_once = number(job, "spec", "parallelism")
    return f"{done}/1 of {at_once}" if at_once > 1 else f"{done}/1"


def job_duration(job: Obj, now: datetime) -> str:
    start = time_at(job, "status", "startTime")
    if start is None:
        return ""
    return span(start, time_at(job, "status", "completionTime") or now)


def cron_suspended(cron: Obj, now: datetime) -> str:
    return "True" if at(cron, "spec", "suspend") is True else "False"


def cron_active(cron: Obj, now: datetime) -> str:
    return str(len(items(cron, "status", "active")))


def cron_last(cron: Obj, now: datetime) -> str:
    path = ("status", "lastScheduleTime")
    return age(cron, now, *path) if at(cron, *path) else NONE
