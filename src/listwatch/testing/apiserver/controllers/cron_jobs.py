"""CronJobs: a Job each time that their schedule says so."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, cast

from ..storage.log import Key, StoredObject, Write
from ..validation.jobs.cron_schedules import Schedule, ScheduleError
from ..validation.jobs.time_zones import time_zone
from ..writing.metadata import timestamp
from .cron_runs import CronRun, job_name, new_job
from .cron_times import EndlessSchedule, last_time, schedule_of, seconds_to_next
from .owners import controller_of, controller_uid, is_dying
from .pods import condition_of
from .workload import Workload

__all__ = ["CronJobs"]

_STORAGE, _JOBS = "batch/cronjobs", "batch/jobs"
_DELAY = 0.01


class CronJobs(Workload):
    """Starts Jobs, keeps account of those that run, and clears up those that are over."""

    name: ClassVar[str] = "cronjob"
    watched: ClassVar[frozenset[str] | None] = frozenset({_STORAGE, _JOBS})
    storage: ClassVar[str] = _STORAGE

    def observe(self, write: Write) -> None:
        if write.storage == _STORAGE:
            after = _DELAY
            if write.old is not None and _timing(write.old) != _timing(write.new):
                after = self._seconds_to_next(write.new.value)
            self.plan(write.new.key, after)
            return
        for state in (write.new, write.old):
            holder = None if state is None else controller_of(state.metadata)
            if holder is not None and holder["kind"] == "CronJob":
                self.plan((write.new.key[0], holder["name"]), _DELAY)

    def _seconds_to_next(self, value: Mapping[str, Any]) -> float:
        """With a new schedule nothing is started that its past would have had."""
        try:
            after = seconds_to_next(value, schedule_of(value["spec"]), self.client.now)
        except ScheduleError:
            after = None  # whoever looks at it will say so
        return _DELAY if after is None else after

    def sync(self, item: Hashable) -> None:
        key = cast("Key", item)
        stored = self.client.get(_STORAGE, key)
        if stored is None:
            return
        run = CronRun(stored.value, self.client.now)
        jobs = [
            job
            for job in self.client.list(_JOBS, key[0])
            if (holder := controller_of(job.metadata)) is not None and holder["name"] == key[1]
        ]
        self._clear_up(run, jobs)
        self._follow(run, jobs)
        done = is_dying(stored.metadata) or self._start(run)
        if run.status != (stored.value.get("status") or {}):
            status = {name: value for name, value in run.status.items() if value}
            done = self.client.update_status(_STORAGE, stored.value, status) is not None and done
        if done:
            self.forget(key)
        else:
            self.retry(key)

    # Jobs that are there

    def _clear_up(self, run: CronRun, jobs: Sequence[StoredObject]) -> None:
        """Keep as many finished Jobs as the history limits say, the newest ones."""
        limits = {"Complete": "successfulJobsHistoryLimit", "Failed": "failedJobsHistoryLimit"}
        for kind, limit in limits.items():
            kept = run.spec.get(limit)
            if kept is None:
                continue
            over = sorted((job for job in jobs if _end(job) == kind), key=_age)
            for job in over[: max(0, len(over) - kept)]:
                self._delete(run, job)

    def _follow(self, run: CronRun, jobs: Sequence[StoredObject]) -> None:
        """Bring the status to what has become of its Jobs."""
        for job in jobs:
            name, uid, end = job.key[1], job.metadata["uid"], _end(job)
            if not end:
                if not run.has(uid):
                    text = f"Saw a job that the controller did not create or forgot: {name}"
                    self._events.event(run.value, "UnexpectedJob", text, warning=True)
                continue
            if run.has(uid):
                run.drop(uid)
                text = f"Saw completed job: {name}, condition: {end}"
                self._events.event(run.value, "SawCompletedJob", text)
            finished = (job.value.get("status") or {}).get("completionTime")
            if end == "Complete" and finished:
                before = run.status.get("lastSuccessfulTime") or ""
                run.status["lastSuccessfulTime"] = max(before, finished)
        children = {job.metadata["uid"] for job in jobs}
        for active in run.active:
            gone = self.client.get(_JOBS, (run.namespace, active["name"])) is None
            if active["uid"] not in children and gone:
                text = f"Active job went missing: {active['name']}"
                self._events.event(run.value, "MissingJob", text)
                run.drop(active["uid"])

    def _delete(self, run: CronRun, job: StoredObject) -> bool:
        name = job.key[1]
        if not self.client.delete(_JOBS, job, policy="Background"):
            text = f"Deleted job: {self.client.refusal}"
            self._events.event(run.value, "FailedDelete", text, warning=True)
            return False
        run.drop(job.metadata["uid"])
        self._events.event(run.value, "SuccessfulDelete", f"Deleted job {name}")
        return True

    # The next one

    def _start(self, run: CronRun) -> bool:
        """Start a Job if its time has come, and plan the next look. False: to be tried again."""
        schedule = None if run.spec.get("suspend") else self._schedule(run)
        if schedule is None:
            return True
        try:
            missed = last_time(run.value, schedule, run.now, within_deadline=True)
        except EndlessSchedule as error:
            text = f"invalid schedule: {run.spec['schedule']} : {error}"
            self._events.event(run.value, "InvalidSchedule", text, warning=True)
            return True
        if missed.are_many:
            text = (
                "too many missed start times. Set or decrease .spec.startingDeadlineSeconds "
                "or check clock skew"
            )
            self._events.event(run.value, "TooManyMissedTimes", text, warning=True)
        if missed.last is not None and self._may_start(run, missed.last):
            if not self._make_room(run):
                return False
            if not self._create(run, missed.last):
                return False
        after = seconds_to_next({**run.value, "status": run.status}, schedule, run.now)
        if after is not None:
            self.plan((run.namespace, run.name), after)
        return True

    def _schedule(self, run: CronRun) -> Schedule | None:
        zone, text = run.spec.get("timeZone"), run.spec.get("schedule") or ""
        if zone is not None:
            try:
                time_zone(zone)
            except ValueError as error:
                why = f'invalid timeZone: "{zone}": {error}'
                self._events.event(run.value, "UnknownTimeZone", why, warning=True)
                return None
        if "TZ" in text:
            why = (
                f'CRON_TZ or TZ used in schedule "{text}" is not officially supported, see '
                "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ "
                "for more details"
            )
            self._events.event(run.value, "UnsupportedSchedule", why, warning=True)
        try:
            return schedule_of(run.spec)
        except ScheduleError as error:
            why = f'unparseable schedule: "{text}" : {error}'
            self._events.event(run.value, "UnparseableSchedule", why, warning=True)
            return None

    def _may_start(self, run: CronRun, moment: datetime) -> bool:
        deadline = run.spec.get("startingDeadlineSeconds")
        if deadline is not None and moment + timedelta(seconds=deadline) < run.now:
            when = moment.astimezone(UTC).strftime("%a, %d %b %Y %H:%M:%S %z")
            text = f"Missed scheduled time to start a job: {when}"
            self._events.event(run.value, "MissSchedule", text, warning=True)
            return False
        name = job_name(run.name, moment)
        if run.status.get("lastScheduleTime") == timestamp(moment) or any(
            active["name"] == name for active in run.active
        ):
            return False
        if run.spec.get("concurrencyPolicy") == "Forbid" and run.active:
            text = (
                "Not starting job because prior execution is running "
                "and concurrency policy is Forbid"
            )
            self._events.event(run.value, "JobAlreadyActive", text)
            return False
        return True

    def _make_room(self, run: CronRun) -> bool:
        """With the policy Replace: end those that run."""
        if run.spec.get("concurrencyPolicy") != "Replace":
            return True
        for active in run.active:
            job = self.client.get(_JOBS, (run.namespace, active["name"]))
            if job is None or not self._delete(run, job):
                return False
        return True

    def _create(self, run: CronRun, moment: datetime) -> bool:
        name = job_name(run.name, moment)
        found = self.client.get(_JOBS, (run.namespace, name))
        made = None if found is None else found.value
        if made is None:
            made = self.client.create(_JOBS, run.namespace, new_job(run.value, name, moment))
            if made is None:
                text = f"Error creating job: {self.client.refusal}"
                self._events.event(run.value, "FailedCreate", text, warning=True)
                return False
            self._events.event(run.value, "SuccessfulCreate", f"Created job {name}")
        elif controller_uid(made["metadata"]) != run.value["metadata"]["uid"]:
            return True  # somebody else's
        metadata = made["metadata"]
        run.status["lastScheduleTime"] = timestamp(moment)
        reference = {"kind": "Job", "apiVersion": "batch/v1", "namespace": run.namespace}
        reference |= {part: metadata[part] for part in ("name", "uid", "resourceVersion")}
        run.status["active"] = [*run.active, reference]
        return True


def _timing(found: StoredObject) -> tuple[Any, Any]:
    spec = found.value["spec"]
    return spec.get("schedule"), spec.get("timeZone")


def _end(job: StoredObject) -> str:
    """`Complete` or `Failed`; empty: it goes on."""
    for kind in ("Complete", "Failed"):
        found = condition_of(job.value, kind)
        if found is not None and found["status"] == "True":
            return kind
    return ""


def _age(job: StoredObject) -> tuple[bool, str, str]:
    """The oldest first, those that have never started last."""
    start = (job.value.get("status") or {}).get("startTime")
    return start is None, start or "", job.key[1]
