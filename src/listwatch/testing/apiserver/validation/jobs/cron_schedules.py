"""Schedules of CronJobs: five fields such as `*/5 8-18 * * mon-fri`, or a word such as `@daily`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from ..durations import duration_nanoseconds
from ..problems import go_quoted
from .time_zones import time_zone

__all__ = ["Schedule", "ScheduleError", "parse_schedule"]


class ScheduleError(ValueError):
    """A text that is no schedule. Its message is that of the real server."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    least: int
    most: int
    names: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Field:
    values: frozenset[int]
    starred: bool
    """Whether it has a `*`, that is whether it says nothing."""


def _names(text: str, start: int) -> dict[str, int]:
    return {name: start + at for at, name in enumerate(text.split())}


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_BOUNDS = (
    _Bounds(0, 59, {}),
    _Bounds(0, 23, {}),
    _Bounds(1, 31, {}),
    _Bounds(1, 12, _names(_MONTHS, 1)),
    _Bounds(0, 6, _names("sun mon tue wed thu fri sat", 0)),
)
_WORDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_EVERY = "@every "
_MOST = 2**63 - 1
_SEARCHED_YEARS = 5
_is_integer = re.compile("[+-]?[0-9]+").fullmatch
# Unlike Python, the real server does not take the separators of ASCII (\x1c to \x1f) for spaces.
_fields_of = re.compile(r"[^\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")


@dataclass(frozen=True, slots=True)
class Schedule:
    """When something happens, in whole minutes or every so many seconds."""

    zone: tzinfo | None = None
    """Where its times are. None: in the zone of the moment that `after` is given."""
    every: timedelta | None = None
    """Set where it is only a distance, counted from whenever it is asked."""
    minutes: frozenset[int] = frozenset()
    hours: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    weekdays: frozenset[int] = frozenset()
    """Sunday is 0."""
    both_days: bool = True
    """Whether a day must be one of `days` and of `weekdays`; else one of either is enough."""

    def after(self, moment: datetime) -> datetime | None:
        """The first time that is later than `moment`, which has a zone, and in that zone. None
        where there is none in the next five years.
        """
        if moment.tzinfo is None:
            raise ValueError("a moment without a time zone is no moment")
        try:
            found = self._after(moment.astimezone(UTC), self.zone or moment.tzinfo)
            return None if found is None else found.astimezone(moment.tzinfo)
        except OverflowError:  # at the end of what a datetime can be
            return None

    def _after(self, moment: datetime, zone: tzinfo) -> datetime | None:
        if self.every is not None:
            return moment.replace(microsecond=0) + self.every
        if not (self.minutes and self.hours and self.months):
            return None
        last_year = (moment + timedelta(seconds=1)).astimezone(zone).year + _SEARCHED_YEARS
        found = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while (local := found.astimezone(zone)).year <= last_year:
            if local.month not in self.months:
                next_month = local.replace(day=1) + timedelta(days=32)
                found = _midnight(next_month.replace(day=1))
            elif not self._on(local):
                found = _midnight(local + timedelta(days=1))
            elif local.hour not in self.hours:
                found += timedelta(minutes=60 - local.minute)
            elif local.minute not in self.minutes:
                found += timedelta(minutes=1)
            else:
                return found
        return None

    def _on(self, local: datetime) -> bool:
        """Whether it happens on that day."""
        in_month = local.day in self.days
        in_week = local.isoweekday() % 7 in self.weekdays
        return (in_month and in_week) if self.both_days else (in_month or in_week)


def _midnight(local: datetime) -> datetime:
    """The start of the day, which need not be at 00:00 where clocks are put forward then. East of
    Greenwich the real server leaves out such a day; this does not.
    """
    return local.replace(hour=0, minute=0, fold=0).astimezone(UTC)


def parse_schedule(text: str) -> Schedule:
    """Read a schedule, which may begin with a zone (`TZ=Europe/Berlin `). Raises `ScheduleError`.

    >>> parse_schedule("30 8 * * mon-fri").after(datetime(2024, 6, 1, tzinfo=UTC)).isoformat()
    '2024-06-03T08:30:00+00:00'
    """
    if not text:
        raise ScheduleError("empty spec string")
    zone = None
    if text.startswith(("TZ=", "CRON_TZ=")):
        zone, text = _zone_and_rest(text)
    if text.startswith("@"):
        if text.startswith(_EVERY):
            return Schedule(zone=zone, every=_distance(text))
        if text not in _WORDS:
            raise ScheduleError(f"unrecognized descriptor: {text}")
        text = _WORDS[text]
    fields = _fields_of.findall(text)
    if len(fields) != len(_BOUNDS):
        shown = " ".join(fields)
        raise ScheduleError(f"expected exactly 5 fields, found {len(fields)}: [{shown}]")
    minutes, hours, days, months, weekdays = (
        _field(field, bounds) for field, bounds in zip(fields, _BOUNDS, strict=True)
    )
    return Schedule(
        zone=zone,
        minutes=minutes.values,
        hours=hours.values,
        days=days.values,
        months=months.values,
        weekdays=weekdays.values,
        both_days=days.starred or weekdays.starred,
    )


def _zone_and_rest(text: str) -> tuple[tzinfo | None, str]:
    name, space, rest = text[text.index("=") + 1 :].partition(" ")
    if not space:
        raise ScheduleError(
            "invalid schedule format: runtime error: slice bounds out of range [:-1]"
        )
    try:
        return time_zone(name), rest.strip()
    except ValueError as error:
        raise ScheduleError(f"provided bad location {name}: {error}") from None


def _distance(text: str) -> timedelta:
    try:
        nanoseconds = duration_nanoseconds(text[len(_EVERY) :])
    except ValueError as error:
        raise ScheduleError(f"failed to parse duration {text}: {error}") from None
    return timedelta(seconds=max(nanoseconds // 10**9, 1))


def _field(text: str, bounds: _Bounds) -> _Field:
    values: set[int] = set()
    starred = False
    for part in text.split(","):
        if part:
            found = _range(part, bounds)
            values |= found.values
            starred = starred or found.starred
    return _Field(frozenset(values), starred)


def _range(text: str, bounds: _Bounds) -> _Field:
    """A number or name, or `*`, or two with a dash, and perhaps a step."""
    limits, *steps = text.split("/")
    low, *highs = limits.split("-")
    starred = low in ("*", "?")
    if starred:
        start, end = bounds.least, bounds.most
    else:
        start = end = _number_or_name(low, bounds)
        if len(highs) == 1:
            end = _number_or_name(highs[0], bounds)
        elif highs:
            raise ScheduleError(f"too many hyphens: {text}")
    step = 1
    if len(steps) == 1:
        step = _number(steps[0])
        if not highs:
            end = bounds.most
        starred = starred and step <= 1
    elif steps:
        raise ScheduleError(f"too many slashes: {text}")
    if start < bounds.least:
        raise ScheduleError(f"beginning of range ({start}) below minimum ({bounds.least}): {text}")
    if end > bounds.most:
        raise ScheduleError(f"end of range ({end}) above maximum ({bounds.most}): {text}")
    if start > end:
        raise ScheduleError(f"beginning of range ({start}) beyond end of range ({end}): {text}")
    if not step:
        raise ScheduleError(f"step of range should be a positive number: {text}")
    return _Field(frozenset(range(start, end + 1, step)), starred)


def _number_or_name(text: str, bounds: _Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _number(text) if named is None else named


def _number(text: str) -> int:
    why = "" if _is_integer(text) else "invalid syntax"
    if not why and (len(text.lstrip("+-0")) > 19 or not -_MOST - 1 <= int(text) <= _MOST):
        why = "value out of range"
    if why:
        raise ScheduleError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {go_quoted(text)}: {why}"
        )
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
