"""Schedules of CronJobs: which are taken, and when they come next (K28)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.jobs.cron_schedules import (
    ScheduleError,
    parse_schedule,
)

NEW_YORK = ZoneInfo("America/New_York")


def after(text: str, moment: str) -> str:
    found = parse_schedule(text).after(datetime.fromisoformat(moment))
    return "never" if found is None else found.isoformat()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty spec string"),
        (" ", "expected exactly 5 fields, found 0: []"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* 9-8 * * *", "beginning of range (9) beyond end of range (8): 9-8"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        ("* * * * 7", "end of range (7) above maximum (6): 7"),
        (
            "x * * * *",
            'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            f"{2**63} * * * *",
            f'failed to parse int from {2**63}: strconv.Atoi: parsing "{2**63}": '
            "value out of range",
        ),
        ("@reboot", "unrecognized descriptor: @reboot"),
        (
            "@every 1x",
            'failed to parse duration @every 1x: time: unknown unit "x" in duration "1x"',
        ),
        ("@every 5", 'failed to parse duration @every 5: time: missing unit in duration "5"'),
        ("@every s", 'failed to parse duration @every s: time: invalid duration "s"'),
        ("TZ=Mars/Base * * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"),
        ("TZ=../UTC * * * * *", "provided bad location ../UTC: time: invalid location name"),
        ("TZ=UTC", "invalid schedule format: runtime error: slice bounds out of range [:-1]"),
    ],
)
def test_a_text_that_is_no_schedule(text: str, said: str) -> None:
    with pytest.raises(ScheduleError) as refused:
        parse_schedule(text)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("text", "moment", "found"),
    [
        ("* * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:01:00+00:00"),
        ("* * * * *", "2024-01-01T00:00:59.5Z", "2024-01-01T00:01:00+00:00"),
        ("30 8 * * MON-fri", "2024-06-01T00:00:00Z", "2024-06-03T08:30:00+00:00"),
        ("*/20 * * * *", "2024-01-01T00:45:00Z", "2024-01-01T01:00:00+00:00"),
        ("5/20 * * * *", "2024-01-01T00:26:00Z", "2024-01-01T00:45:00+00:00"),
        ("@monthly", "2024-12-15T00:00:00Z", "2025-01-01T00:00:00+00:00"),
        ("@weekly", "2024-06-01T00:00:00Z", "2024-06-02T00:00:00+00:00"),
        ("0 0 29 feb *", "2024-03-01T00:00:00Z", "2028-02-29T00:00:00+00:00"),
        ("0 0 30 2 ?", "2024-01-01T00:00:00Z", "never"),
        ("@every 90m", "2024-01-01T00:00:30.7Z", "2024-01-01T01:30:30+00:00"),
        ("@every 1ms", "2024-01-01T00:00:30Z", "2024-01-01T00:00:31+00:00"),
        ("@every 2000000h", "9999-01-01T00:00:00Z", "never"),
        ("TZ=Europe/Berlin 0 12 * * *", "2024-07-01T00:00:00Z", "2024-07-01T10:00:00+00:00"),
        ("CRON_TZ=UTC 0 12 * * *", "2024-07-01T00:00:00+02:00", "2024-07-01T14:00:00+02:00"),
    ],
)
def test_when_it_comes_next(text: str, moment: str, found: str) -> None:
    assert after(text, moment) == found


def test_a_day_of_the_month_or_of_the_week_is_enough_unless_one_is_any() -> None:
    assert after("0 0 13 * fri", "2024-06-01T00:00:00Z") == "2024-06-07T00:00:00+00:00"
    assert after("0 0 13 * *", "2024-06-01T00:00:00Z") == "2024-06-13T00:00:00+00:00"
    assert after("0 0 */1 * fri", "2024-06-01T00:00:00Z") == "2024-06-07T00:00:00+00:00"
    assert after("0 0 */2 * fri", "2024-06-01T00:00:00Z") == "2024-06-03T00:00:00+00:00"


def test_an_hour_that_clocks_leave_out_is_left_out() -> None:
    schedule = parse_schedule("30 2 * * *")
    found = schedule.after(datetime(2024, 3, 9, 12, tzinfo=NEW_YORK))
    assert found == datetime(2024, 3, 11, 2, 30, tzinfo=NEW_YORK)


def test_an_hour_that_clocks_show_twice_comes_twice() -> None:
    schedule = parse_schedule("30 1 * * *")
    first = schedule.after(datetime(2024, 11, 3, tzinfo=NEW_YORK))
    assert first is not None
    second = schedule.after(first)
    assert second is not None
    assert second.astimezone(UTC) - first.astimezone(UTC) == timedelta(hours=1)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        parse_schedule("@daily").after(datetime(2024, 1, 1))


@given(st.text(max_size=30) | st.text("0123456789*/-,? @everyhTZ=UTC", max_size=30))
def test_any_text_is_a_schedule_or_refused(text: str) -> None:
    try:
        schedule = parse_schedule(text)
    except ScheduleError:
        return
    moment = datetime(2024, 2, 28, 23, 59, 30, tzinfo=UTC)
    found = schedule.after(moment)
    assert found is None or found > moment


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2040, 1, 1), timezones=st.just(NEW_YORK)),
    st.integers(0, 59),
    st.integers(0, 23),
)
def test_the_next_time_is_one_that_was_asked_for(moment: datetime, minute: int, hour: int) -> None:
    found = parse_schedule(f"{minute} {hour} * * *").after(moment)
    assert found is not None
    assert (found.minute, found.hour, found.second) == (minute, hour, 0)
    assert timedelta() < found.astimezone(UTC) - moment.astimezone(UTC) <= timedelta(hours=49)
