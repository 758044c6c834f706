"""The status of a Job, which others than the server's controller may write (`managedBy`). What an
update leaves as it is, is mostly not looked at again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..checks import Value
from ..internal_values import internal
from ..problems import Problem, duplicate_field, invalid_field, required_field
from ..workloads.replicas import count_problems, member
from .index_intervals import IntervalError, common_index, count_of_indexes
from .job_conditions import is_false, is_finished, is_true

__all__ = ["job_status_problems"]

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_TERMINAL = ("Failed", "Complete", "FailureTarget")


def job_status_problems(new: Value, old: Value) -> Iterator[Problem]:
    spec, now, before = member(new, "spec"), member(new, "status"), member(old, "status")
    changes = _Changes(now, before)
    yield from count_problems(now, _COUNTS)
    yield from _uncounted(now)
    yield from _conditions(now, changes)
    yield from _finished(spec, now, changes)
    yield from _indexes(spec, now, changes)
    yield from _pods(now, changes)
    yield from _success(spec, now)
    yield from _changed(spec, now, before, changes)


class _Changes:
    """What differs of two statuses."""

    def __init__(self, now: Value, before: Value) -> None:
        self._now, self._before = now, before
        self.finished = is_finished(now) != is_finished(before)
        resumes = is_true(before, "Suspended") and is_false(now, "Suspended")
        self.start = self.of("startTime")
        self.start_unless_resumed = self.start and not resumes

    def of(self, *names: str) -> bool:
        """Whether one of these members differs; a count that is not there is none."""
        return any(
            (self._now.get(name) or None) != (self._before.get(name) or None)
            if name in ("active", "completedIndexes", "uncountedTerminatedPods")
            else self._now.get(name) != self._before.get(name)
            for name in names
        )

    def turned(self, *conditions: str) -> bool:
        """Whether one of these conditions is true of one only."""
        return any(is_true(self._now, name) != is_true(self._before, name) for name in conditions)


def _uncounted(status: Value) -> Iterator[Problem]:
    seen: set[str] = set()
    uncounted = member(status, "uncountedTerminatedPods")
    for name in ("succeeded", "failed"):
        for at, uid in enumerate(uncounted.get(name) or ()):
            field = f"status.uncountedTerminatedPods.{name}[{at}]"
            if not uid:
                yield invalid_field(field, uid, "must not be empty")
            elif uid in seen:
                yield duplicate_field(field, uid)
            seen.add(uid)


def _condition_problem(text: str) -> Problem:
    return Problem("status.conditions", "FieldValueInvalid", f"Invalid value: {text}")


def _conditions(status: Value, changes: _Changes) -> Iterator[Problem]:
    complete, failed = is_true(status, "Complete"), is_true(status, "Failed")
    if complete and failed and changes.turned("Complete", "Failed"):
        yield _condition_problem("cannot set Complete=True and Failed=true conditions")
    if (
        complete
        and is_true(status, "FailureTarget")
        and changes.turned("Complete", "FailureTarget")
    ):
        yield _condition_problem("cannot set Complete=True and FailureTarget=true conditions")
    ended, started = status.get("completionTime"), status.get("startTime")
    if changes.turned("Complete") or changes.of("completionTime"):
        if ended is not None and not complete:
            text = "cannot set completionTime when there is no Complete=True condition"
            yield invalid_field("status.completionTime", ended, text)
        if ended is None and complete:
            text = "completionTime is required for Complete jobs"
            yield required_field("status.completionTime", text)
    if (
        (changes.start or changes.of("completionTime"))
        and started is not None
        and ended is not None
        and ended < started
    ):
        text = "must be equal to or after `startTime`"
        yield invalid_field("status.completionTime", ended, text)
    if (
        failed
        and not is_true(status, "FailureTarget")
        and (changes.turned("Failed") or changes.of("failedIndexes"))
    ):
        text = "cannot set Failed=True condition without the FailureTarget=true condition"
        yield _condition_problem(text)
    if (
        complete
        and not is_true(status, "SuccessCriteriaMet")
        and changes.turned("Complete", "SuccessCriteriaMet")
    ):
        text = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield _condition_problem(text)


def _finished(spec: Value, status: Value, changes: _Changes) -> Iterator[Problem]:
    if not is_finished(status):
        return
    active, uncounted = status.get("active") or 0, status.get("uncountedTerminatedPods")
    if active > 0 and (changes.finished or changes.of("active")):
        yield invalid_field("status.active", active, "active>0 is invalid for finished job")
    nothing_to_do = spec.get("suspend") is True and spec.get("completions") == 0
    if (
        status.get("startTime") is None
        and (changes.finished or changes.start)
        and not nothing_to_do
    ):
        yield required_field("status.startTime", "startTime is required for finished job")
    if (
        uncounted
        and (uncounted.get("failed") or uncounted.get("succeeded"))
        and (changes.finished or changes.of("uncountedTerminatedPods"))
    ):
        shown = internal("batch.v1.UncountedTerminatedPods", uncounted)
        text = "must be empty for finished job"
        yield invalid_field("status.uncountedTerminatedPods", shown, text)


def _indexes(spec: Value, status: Value, changes: _Changes) -> Iterator[Problem]:
    completions: Any = spec.get("completions")
    per_index = spec.get("backoffLimitPerIndex") is not None
    completed = status.get("completedIndexes") or ""
    failed = status.get("failedIndexes")
    new_completed, new_failed = changes.of("completedIndexes"), changes.of("failedIndexes")
    if new_completed and completions is not None:
        yield from _written("completedIndexes", completed, completions)
    if new_failed and completions is not None and per_index and failed is not None:
        yield from _written("failedIndexes", failed, completions)
    if new_completed and completed and spec.get("completionMode") != "Indexed":
        text = "cannot set non-empty completedIndexes when non-indexed completion mode"
        yield invalid_field("status.completedIndexes", completed, text)
    if new_failed and not per_index and failed is not None:
        text = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        yield invalid_field("status.failedIndexes", failed, text)
    if (new_completed or new_failed) and completions is not None and failed is not None:
        both = common_index(completed, failed, completions)
        if both is not None:
            text = f"failedIndexes and completedIndexes overlap at index: {both}"
            yield invalid_field("status.failedIndexes", failed, text)


def _written(name: str, text: str, completions: int) -> Iterator[Problem]:
    try:
        count_of_indexes(text, completions)
    except IntervalError as error:
        yield invalid_field(f"status.{name}", text, f"error parsing {name}: {error}")


def _pods(status: Value, changes: _Changes) -> Iterator[Problem]:
    terminating, ready = status.get("terminating") or 0, status.get("ready") or 0
    if terminating > 0 and is_finished(status) and (changes.finished or changes.of("terminating")):
        text = "terminating>0 is invalid for finished job"
        yield invalid_field("status.terminating", terminating, text)
    if (
        status.get("ready") is not None
        and ready > (status.get("active") or 0)
        and changes.of("ready", "active")
    ):
        yield invalid_field("status.ready", ready, "cannot set more ready pods than active")


def _success(spec: Value, status: Value) -> Iterator[Problem]:
    met = is_true(status, "SuccessCriteriaMet")
    if met and is_true(status, "Failed"):
        yield _condition_problem("cannot set SuccessCriteriaMet=True and Failed=true conditions")
    if met and is_true(status, "FailureTarget"):
        text = "cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"
        yield _condition_problem(text)
    if spec.get("successPolicy") is not None and not met and is_true(status, "Complete"):
        text = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        yield _condition_problem(text)


def _changed(spec: Value, now: Value, before: Value, changes: _Changes) -> Iterator[Problem]:
    """What cannot become of what was."""
    for name in _TERMINAL:
        if is_true(before, name) and not is_true(now, name):
            yield _condition_problem(f"cannot disable the terminal {name}=True condition")
    failed, succeeded = now.get("failed") or 0, now.get("succeeded") or 0
    if failed < (before.get("failed") or 0):
        yield invalid_field("status.failed", failed, "cannot decrease the failed counter")
    scales = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    if succeeded < (before.get("succeeded") or 0) and not scales:
        yield invalid_field("status.succeeded", succeeded, "cannot decrease the succeeded counter")
    ended = now.get("completionTime")
    if ended is not None and before.get("completionTime") not in (None, ended):
        yield invalid_field("status.completionTime", ended, "field is immutable")
    if (
        changes.start_unless_resumed
        and before.get("startTime") is not None
        and not spec.get("suspend")
    ):
        text = "field is immutable for unsuspended job once set"
        yield invalid_field("status.startTime", now.get("startTime"), text)
    met = "SuccessCriteriaMet"
    if is_true(before, met) and not is_true(now, met):
        yield _condition_problem("cannot disable the SuccessCriteriaMet=True condition")
    if is_true(before, "Complete") and not is_true(before, met) and is_true(now, met):
        text = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        yield _condition_problem(text)
