"""One look at a CronJob, and the Jobs that it starts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..validation.jobs.time_zones import time_zone
from .owners import owned_by

__all__ = ["CronRun", "job_name", "new_job"]

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronRun:
    """What is known at one time, and the status that it leads to."""

    def __init__(self, value: Mapping[str, Any], now: datetime) -> None:
        self.value = value
        self.spec: Mapping[str, Any] = value["spec"]
        self.namespace: str = value["metadata"]["namespace"]
        self.name: str = value["metadata"]["name"]
        self.now = now
        self.status: dict[str, Any] = dict(value.get("status") or {})

    @property
    def active(self) -> list[Mapping[str, Any]]:
        return list(self.status.get("active") or ())

    def has(self, uid: str) -> bool:
        return any(active["uid"] == uid for active in self.active)

    def drop(self, uid: str) -> None:
        """A Job is not active any more."""
        self.status["active"] = [active for active in self.active if active["uid"] != uid]


def job_name(name: str, moment: datetime) -> str:
    """Such as `backup-29453760`: one name for one time, so that none is started twice."""
    return f"{name}-{int(moment.timestamp()) // 60}"


def new_job(owner: Mapping[str, Any], name: str, moment: datetime) -> dict[str, Any]:
    """The Job of one time."""
    template = owner["spec"]["jobTemplate"]
    of_template = template.get("metadata") or {}
    zone = owner["spec"].get("timeZone")
    local = moment.astimezone(time_zone(zone) if zone else UTC)
    when = local.isoformat(timespec="seconds").replace("+00:00", "Z")
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "annotations": {**(of_template.get("annotations") or {}), _SCHEDULED: when},
        "ownerReferences": [owned_by(owner)],
    }
    if of_template.get("labels"):
        metadata["labels"] = of_template["labels"]
    return {
        "kind": "Job",
        "apiVersion": "batch/v1",
        "metadata": metadata,
        "spec": template.get("spec") or {},
    }
