"""At which of its times a CronJob starts a Job, and when it looks again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..validation.jobs.cron_schedules import Schedule, parse_schedule

__all__ = ["EndlessSchedule", "Missed", "last_time", "schedule_of", "seconds_to_next"]

_PADDING = 0.1
"""Seconds after its time at which a Job is started, for clocks that are a little late."""
_MANY = 100


class EndlessSchedule(ValueError):
    """It has no times, or all of them at once, such as the 31st of February."""

    def __init__(self) -> None:
        super().__init__("time difference between two schedules is less than 1 second")


@dataclass(frozen=True, slots=True)
class Missed:
    """What has passed of a schedule since it was last looked at."""

    since: datetime
    last: datetime | None
    """The last of the times; None: there was none, or nobody can say."""
    count: int

    @property
    def are_many(self) -> bool:
        return self.count > _MANY


def schedule_of(spec: Mapping[str, Any]) -> Schedule:
    """The schedule of a CronJob, in its time zone. Raises `ScheduleError`."""
    text, zone = str(spec.get("schedule") or ""), spec.get("timeZone")
    if zone and "TZ" not in text:
        text = f"TZ={zone} {text}"
    return parse_schedule(text)


def last_time(
    job: Mapping[str, Any], schedule: Schedule, now: datetime, *, within_deadline: bool
) -> Missed:
    """The newest of the times that have passed since the last Job, or since the CronJob came;
    `within_deadline`: or that it is not too late for. Raises `EndlessSchedule`.
    """
    status = job.get("status") or {}
    since = datetime.fromisoformat(
        status.get("lastScheduleTime") or job["metadata"]["creationTimestamp"]
    )
    deadline = job["spec"].get("startingDeadlineSeconds")
    if within_deadline and deadline is not None:
        since = max(since, now - timedelta(seconds=deadline))
    first = schedule.after(since)
    if first is None:
        raise EndlessSchedule
    if now < first:
        return Missed(since, None, 0)
    second = schedule.after(first)
    if second is not None and now < second:
        return Missed(since, first, 0)
    apart = 0 if second is None else round((second - first).total_seconds())
    if apart < 1:
        raise EndlessSchedule
    # As many as there would be if all were as far apart as the first two.
    count = int((now - first).total_seconds()) // apart + 1
    found = schedule.after(first + timedelta(seconds=(count - 2) * apart))
    last = None
    while found is not None and found <= now:
        last, found = found, schedule.after(found)
    return Missed(since, last, count)


def seconds_to_next(job: Mapping[str, Any], schedule: Schedule, now: datetime) -> float | None:
    """Until the CronJob has to be looked at again; None: never."""
    try:
        missed = last_time(job, schedule, now, within_deadline=False)
        start = missed.last or (now if missed.count else missed.since)
    except EndlessSchedule:
        start = now
    found = schedule.after(start)
    return None if found is None else (found - now).total_seconds() + _PADDING
