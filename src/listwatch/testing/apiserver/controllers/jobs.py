"""Jobs: pods until enough of them have succeeded, or too many have failed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from datetime import datetime
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write, WriteKind
from .job_pods import (
    TRACKING,
    JobPods,
    free_indexes,
    index_ranges,
    new_job_pod,
    seconds_of_back_off,
)
from .owners import controller_of, is_dying
from .pods import PODS, condition_of, deletion_order
from .workload import Workload

__all__ = ["Jobs"]

_STORAGE = "batch/jobs"
_DELAY = 0.01
_LIMIT = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_DEADLINE = ("DeadlineExceeded", "Job was active longer than specified deadline")
_DONE = ("CompletionsReached", "Reached expected number of succeeded pods")


class Jobs(Workload):
    """Makes pods, counts how they ended, and says when it is over."""

    name: ClassVar[str] = "job"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, PODS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            if write.kind is WriteKind.DELETED:
                self._plan_pods_of(write.new)
            self.plan(write.new.key, _DELAY)
            return
        for state in (write.new, write.old):
            holder = None if state is None else controller_of(state.metadata)
            if holder is not None and holder["kind"] == "Job":
                self.plan((write.new.key[0], holder["name"]), _DELAY)
                return
        if TRACKING in (write.new.metadata.get("finalizers") or ()):
            self.plan((write.new.key[0], f"pod/{write.new.key[1]}"), _DELAY)

    def sync(self, item: Hashable) -> None:
        namespace, name = cast("Key", item)
        if name.startswith("pod/"):
            self._let_orphan_go((namespace, name.removeprefix("pod/")))
            return
        job = self.client.get(_STORAGE, (namespace, name))
        if job is None:
            return
        pods = self._pods(job)
        if _is_over(job.value):
            for pod in pods.all:
                self._untrack(pod)
        elif not is_dying(job.metadata):
            self._work(job, pods)

    def _pods(self, job: StoredObject) -> JobPods:
        pods = self.client.list(PODS, job.key[0])
        return JobPods(job.value, pods)

    # Work

    def _work(self, job: StoredObject, pods: JobPods) -> None:
        spec, status = job.value["spec"], dict(job.value.get("status") or {})
        if spec.get("suspend"):
            self._suspend(job, pods, status)
            return
        if status.get("startTime") is None:
            status["startTime"] = self.client.stamp
        conditions = [dict(found) for found in status.get("conditions") or ()]
        if condition_of({"status": status}, "Suspended") is not None:
            conditions = [found for found in conditions if found["type"] != "Suspended"]
            conditions.append(self._condition("Suspended", ("JobResumed", "Job resumed"), "False"))
        failure = self._failure(job.value, pods, status)
        succeeded = pods.succeeded_in_all
        completions = spec.get("completions")
        if failure is None:
            if completions is not None:
                done = succeeded >= completions
            else:
                done = succeeded > 0 and not pods.active
            if not done:
                self._make_pods(job, pods)
        else:
            done = False
        if failure is not None or done:
            for pod in pods.active:
                self.client.delete(PODS, pod)
        left = self._pods(job)
        if failure is not None:
            _add(conditions, self._condition("FailureTarget", failure))
        elif done:
            _add(conditions, self._condition("SuccessCriteriaMet", _DONE))
        self._count(job, left, {**status, "conditions": conditions}, failure, done=done)

    def _failure(
        self, job: Mapping[str, Any], pods: JobPods, status: Mapping[str, Any]
    ) -> tuple[str, str] | None:
        spec = job["spec"]
        target = condition_of({"status": status}, "FailureTarget")
        if target is not None:
            return target["reason"], target["message"]
        limit = spec.get("backoffLimit", 6)
        restarts = pods.restarts if spec["template"]["spec"].get("restartPolicy") != "Never" else 0
        if pods.failed_in_all > limit or restarts > limit:
            return _LIMIT
        deadline = spec.get("activeDeadlineSeconds")
        if deadline is not None:
            start = datetime.fromisoformat(status["startTime"])
            left = deadline - (self.client.now - start).total_seconds()
            if left <= 0:
                return _DEADLINE
            metadata = job["metadata"]
            self.plan((metadata["namespace"], metadata["name"]), left)
        return None

    def _make_pods(self, job: StoredObject, pods: JobPods) -> None:
        spec = job.value["spec"]
        parallelism, completions = spec.get("parallelism", 1), spec.get("completions")
        active = sorted(pods.active, key=deletion_order)
        if completions is None:
            wanted = parallelism if not pods.succeeded_in_all else min(parallelism, len(active))
        else:
            wanted = min(parallelism, completions - pods.succeeded_in_all)
        for pod in active[: max(0, len(active) - wanted)]:
            self.client.delete(PODS, pod)
            text = f"Deleted pod: {pod.key[1]}"
            self._events.event(job.value, "SuccessfulDelete", text)
        missing = wanted - len(active)
        if missing <= 0:
            return
        wait = seconds_of_back_off(pods, self.client.now)
        if wait > 0:
            self.plan(job.key, wait)
            return
        indexes = free_indexes(job.value, pods, missing)
        is_over = self.piece()
        for number in range(missing):
            index = indexes[number] if indexes is not None else None
            made = self.client.create(PODS, job.key[0], new_job_pod(job.value, index))
            if made is None:
                text = f"Error creating: {self.client.refusal}"
                self._events.event(job.value, "FailedCreate", text, warning=True)
                self.retry(job.key)
                return
            text = f"Created pod: {made['metadata']['name']}"
            self._events.event(job.value, "SuccessfulCreate", text)
            if is_over():
                self.plan(job.key)
                return

    # Counting

    def _count(
        self,
        job: StoredObject,
        pods: JobPods,
        status: dict[str, Any],
        failure: tuple[str, str] | None,
        *,
        done: bool,
    ) -> None:
        """Count finished pods as the real one does, in three steps, so that none is lost and none
        counted twice: their uids go into the status, their finalizers off, and their number into
        the status.
        """
        uncounted = pods.uncounted
        self._write(job.key, self._with_counts(status, pods, {}, {}, uncounted))
        for pod in pods.finished:
            self._untrack(pod)
        counts = {
            name: status.get(name, 0) + len(uncounted.get(name, ()))
            for name in ("succeeded", "failed")
        }
        conditions = list(status["conditions"])
        final: dict[str, Any] = {}
        if not pods.active and not pods.ending:
            if failure is not None:
                conditions.append(self._condition("Failed", failure))
                self._events.event(job.value, *failure, warning=True)
            elif done:
                conditions.append(self._condition("Complete", _DONE))
                final["completionTime"] = self.client.stamp
                self._events.event(job.value, "Completed", "Job completed")
        indexes = index_ranges(job.value, pods)
        if indexes is not None:
            final["completedIndexes"] = indexes
        status = {**status, "conditions": conditions}
        self._write(job.key, self._with_counts(status, pods, counts, final, {}))

    def _with_counts(
        self,
        status: Mapping[str, Any],
        pods: JobPods,
        counts: Mapping[str, int],
        final: Mapping[str, Any],
        uncounted: Mapping[str, list[str]],
    ) -> dict[str, Any]:
        made = {**status, **counts, **final}
        made["active"] = len(pods.active)
        made["ready"] = pods.ready
        made["terminating"] = len(pods.ending)
        made["uncountedTerminatedPods"] = dict(uncounted)
        for name in ("active", "succeeded", "failed", "conditions"):
            if not made.get(name):
                made.pop(name, None)
        return made

    def _write(self, key: Key, status: dict[str, Any]) -> None:
        job = self.client.get(_STORAGE, key)
        if job is not None and job.value.get("status") != status:
            self.client.update_status(_STORAGE, job.value, status)

    def _suspend(self, job: StoredObject, pods: JobPods, status: dict[str, Any]) -> None:
        for pod in pods.active:
            self.client.delete(PODS, pod)
        conditions = [dict(found) for found in status.get("conditions") or ()]
        before = condition_of({"status": status}, "Suspended")
        if before is None or before["status"] != "True":
            conditions = [found for found in conditions if found["type"] != "Suspended"]
            conditions.append(self._condition("Suspended", ("JobSuspended", "Job suspended")))
            self._events.event(job.value, "Suspended", "Job suspended")
        status.pop("startTime", None)
        self._count(job, self._pods(job), {**status, "conditions": conditions}, None, done=False)

    def _condition(self, kind: str, why: tuple[str, str], status: str = "True") -> dict[str, Any]:
        now = self.client.stamp
        return {
            "type": kind,
            "status": status,
            "lastProbeTime": now,
            "lastTransitionTime": now,
            "reason": why[0],
            "message": why[1],
        }

    # Pods

    def _untrack(self, pod: StoredObject) -> None:
        finalizers = pod.metadata.get("finalizers") or ()
        if TRACKING in finalizers:
            kept = [name for name in finalizers if name != TRACKING]
            metadata = {"uid": pod.metadata["uid"], "finalizers": kept or None}
            self.client.patch(PODS, pod.key, {"metadata": metadata})

    def _let_orphan_go(self, key: Key) -> None:
        """A pod whose Job is gone has nobody left who counts it."""
        pod = self.client.get(PODS, key)
        if pod is None:
            return
        holder = controller_of(pod.metadata)
        if holder is not None and holder["kind"] == "Job":
            job = self.client.get(_STORAGE, (key[0], holder["name"]))
            if job is not None and job.metadata["uid"] == holder["uid"]:
                return
        self._untrack(pod)

    def _plan_pods_of(self, job: StoredObject) -> None:
        for pod in self.client.list(PODS, job.key[0]):
            holder = controller_of(pod.metadata)
            if holder is not None and holder["uid"] == job.metadata["uid"]:
                self.plan((pod.key[0], f"pod/{pod.key[1]}"), _DELAY)


def _is_over(job: Mapping[str, Any]) -> bool:
    return any(
        (found := condition_of(job, kind)) is not None and found["status"] == "True"
        for kind in ("Complete", "Failed")
    )


def _add(conditions: list[dict[str, Any]], condition: dict[str, Any]) -> None:
    if all(found["type"] != condition["type"] for found in conditions):
        conditions.append(condition)
