"""CronJobs."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..basics import non_negative, one_of
from ..checks import Checks, Value
from ..problems import Problem, invalid_field, required_field, unsupported_field
from ..workloads.replicas import has_new_spec, member, name_warnings
from .cron_schedules import ScheduleError, parse_schedule
from .jobs import job_spec_problems, job_spec_warnings
from .time_zones import time_zone

__all__ = ["CHECKS"]

_POLICIES = ("Allow", "Forbid", "Replace")
_is_zone_part = re.compile(r"(?!-|\.\.?$)[A-Za-z.\-_0-9+]{1,14}").fullmatch


def _create(new: Value) -> Iterator[Problem]:
    yield from _spec(member(new, "spec"), None)


def _update(new: Value, old: Value) -> Iterator[Problem]:
    yield from _spec(member(new, "spec"), member(old, "spec"))


def _spec(spec: Value, before: Value | None) -> Iterator[Problem]:
    schedule, zone = spec.get("schedule") or "", spec.get("timeZone")
    if schedule:
        yield from _schedule(schedule, zone, (before or {}).get("schedule") or "")
    else:
        yield required_field("spec.schedule")
    deadline = spec.get("startingDeadlineSeconds")
    yield from non_negative("spec.startingDeadlineSeconds", deadline)
    if zone is not None and (before is None or before.get("timeZone") != zone):
        yield from _zone_problems("spec.timeZone", zone)
    yield from one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _POLICIES)
    yield from _job_template(member(member(spec, "jobTemplate"), "spec"), "spec.jobTemplate.spec")
    for name in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from non_negative(f"spec.{name}", spec.get(name))


def _schedule(schedule: str, zone: str | None, before: str) -> Iterator[Problem]:
    field = "spec.schedule"
    try:
        parse_schedule(schedule)
    except ScheduleError as error:
        yield invalid_field(field, schedule, str(error))
    if "TZ" in schedule:
        if "TZ" not in before:
            text = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
            yield invalid_field(field, schedule, text)
        elif zone is not None:
            text = "cannot use both timeZone field and TZ or CRON_TZ in schedule"
            yield invalid_field(field, schedule, text)


def _zone_problems(field: str, name: str) -> Iterator[Problem]:
    if not name:
        yield invalid_field(field, name, "timeZone must be nil or non-empty string")
        return
    if not all(_is_zone_part(part) for part in name.split("/")):
        yield invalid_field(field, name, f"unknown time zone {name}")
        return
    if name.lower() == "local":
        text = (
            "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
        )
        yield invalid_field(field, name, text)
    try:
        time_zone(name)
    except ValueError as error:
        yield invalid_field(field, name, str(error))


def _job_template(job: Value, path: str) -> Iterator[Problem]:
    """A Job that selects its pods by itself."""
    yield from job_spec_problems(job, path)
    selector = job.get("selector")
    if selector is not None:
        yield invalid_field(f"{path}.selector", selector, "`selector` will be auto-generated")
    if job.get("manualSelector"):
        yield unsupported_field(f"{path}.manualSelector", True, ["nil", "false"])


def _warnings(new: Value) -> Iterator[str]:
    yield from name_warnings(new)
    yield from _job_warnings(new)


def _job_warnings(new: Value) -> Iterator[str]:
    job = member(member(member(new, "spec"), "jobTemplate"), "spec")
    yield from job_spec_warnings(job, "spec.jobTemplate.spec")


def _update_warnings(new: Value, old: Value) -> Iterator[str]:
    if has_new_spec(new, old):
        yield from _job_warnings(new)


CHECKS = {
    "batch/cronjobs": Checks(
        create=_create, update=_update, warnings=_warnings, update_warnings=_update_warnings
    )
}
