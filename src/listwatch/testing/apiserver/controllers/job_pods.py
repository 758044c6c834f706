"""The pods of one Job, sorted by what they mean to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..storage.log import StoredObject
from .owners import controller_uid, is_dying
from .pods import is_finished, is_ready, new_pod

__all__ = [
    "TRACKING",
    "JobPods",
    "free_indexes",
    "index_ranges",
    "new_job_pod",
    "seconds_of_back_off",
]

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer that keeps a pod until it is counted."""
_INDEX = "batch.kubernetes.io/job-completion-index"
_BACK_OFF, _MOST_BACK_OFF = 10.0, 600.0
"""Seconds between a failure and the next pod: at first, and at most."""


class JobPods:
    """As they are now."""

    def __init__(self, job: Mapping[str, Any], pods: Sequence[StoredObject]) -> None:
        uid = job["metadata"]["uid"]
        status = job.get("status") or {}
        self._status = status
        self.all = [pod for pod in pods if controller_uid(pod.metadata) == uid]
        self.finished = [pod for pod in self.all if is_finished(pod.value)]
        unfinished = [pod for pod in self.all if not is_finished(pod.value)]
        self.active = [pod for pod in unfinished if not is_dying(pod.metadata)]
        self.ending = [pod for pod in unfinished if is_dying(pod.metadata)]

    @property
    def ready(self) -> int:
        return sum(is_ready(pod.value) for pod in self.active)

    @property
    def uncounted(self) -> dict[str, list[str]]:
        """The uids of those whose end is not in the status yet, by how they ended."""
        found: dict[str, list[str]] = {}
        for pod in self.finished:
            if TRACKING in (pod.metadata.get("finalizers") or ()):
                kind = "succeeded" if _phase(pod) == "Succeeded" else "failed"
                found.setdefault(kind, []).append(pod.metadata["uid"])
        return found

    @property
    def succeeded_in_all(self) -> int:
        return int(self._status.get("succeeded", 0)) + len(self.uncounted.get("succeeded", ()))

    @property
    def failed_in_all(self) -> int:
        return int(self._status.get("failed", 0)) + len(self.uncounted.get("failed", ()))

    @property
    def restarts(self) -> int:
        """Of the containers of pods that go on."""
        return sum(
            status.get("restartCount", 0)
            for pod in self.active
            for status in (pod.value.get("status") or {}).get("containerStatuses") or ()
        )

    def indexes(self, pods: Sequence[StoredObject]) -> set[int]:
        """The completion indexes of some of them."""
        found = ((pod.metadata.get("annotations") or {}).get(_INDEX) for pod in pods)
        return {int(index) for index in found if index is not None}


def seconds_of_back_off(pods: JobPods, now: datetime) -> float:
    """How long the next pod has to wait after the failures since the last success."""
    ends = sorted((_finished_at(pod), _phase(pod)) for pod in pods.finished)
    failures = 0
    for _, phase in reversed(ends):
        if phase != "Failed":
            break
        failures += 1
    if not failures:
        return 0.0
    seconds = min(_BACK_OFF * 2.0 ** (failures - 1), _MOST_BACK_OFF)
    passed = (now - datetime.fromisoformat(ends[-1][0])).total_seconds()
    return max(0.0, seconds - passed)


def new_job_pod(job: Mapping[str, Any], index: int | None) -> dict[str, Any]:
    """A pod that is counted, of one index where the Job's pods have indexes."""
    pod = new_pod(job, job["spec"]["template"])
    metadata = pod["metadata"]
    metadata["finalizers"] = [*metadata.get("finalizers", ()), TRACKING]
    if index is None:
        return pod
    text = str(index)
    metadata["annotations"] = {**(metadata.get("annotations") or {}), _INDEX: text}
    metadata["labels"] = {**(metadata.get("labels") or {}), _INDEX: text}
    metadata["generateName"] = f"{job['metadata']['name']}-{text}-"
    spec = pod["spec"]
    spec["hostname"] = f"{job['metadata']['name']}-{text}"
    path = f"metadata.labels['{_INDEX}']"
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    spec["containers"] = [
        {**container, "env": [*(container.get("env") or ()), variable]}
        for container in spec.get("containers") or ()
    ]
    return pod


def free_indexes(job: Mapping[str, Any], pods: JobPods, count: int) -> list[int] | None:
    """The lowest indexes that nobody works on; None: the pods have none."""
    if job["spec"].get("completionMode") != "Indexed":
        return None
    taken = pods.indexes([*pods.active, *_succeeded(pods)])
    free = [index for index in range(job["spec"]["completions"]) if index not in taken]
    return free[:count]


def index_ranges(job: Mapping[str, Any], pods: JobPods) -> str | None:
    """The indexes that are done, as `0-2,5`; None: the pods have none."""
    if job["spec"].get("completionMode") != "Indexed":
        return None
    parts: list[list[int]] = []
    for index in sorted(pods.indexes(_succeeded(pods))):
        if parts and parts[-1][-1] == index - 1:
            parts[-1].append(index)
        else:
            parts.append([index])
    return ",".join(
        str(part[0]) if len(part) == 1 else f"{part[0]}{'-' if len(part) > 2 else ','}{part[-1]}"
        for part in parts
    )


def _succeeded(pods: JobPods) -> list[StoredObject]:
    return [pod for pod in pods.finished if _phase(pod) == "Succeeded"]


def _phase(pod: StoredObject) -> str:
    return str((pod.value.get("status") or {}).get("phase"))


def _finished_at(pod: StoredObject) -> str:
    statuses = (pod.value.get("status") or {}).get("containerStatuses") or ()
    ends = [
        ended["finishedAt"]
        for status in statuses
        if (ended := (status.get("state") or {}).get("terminated"))
    ]
    return max(ends, default=str(pod.metadata["creationTimestamp"]))
