"""How a reflector watches, and what it does when a watch ends."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.api import Event
from listwatch.cache import Cause, Phase, ReflectorOptions
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused, TransportTimeout
from listwatch.watch import EmptyWatch

from .scripted import (
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

pytestmark = pytest.mark.virtual_time


# Opening one


@pytest.mark.clause("H3")
async def test_a_watch_asks_for_bookmarks_and_for_five_to_ten_minutes() -> None:
    seconds = []
    for seed in range(40):
        source = Scripted(Page(rv=5), Watch())
        async with reflecting(source, rng=Random(seed)):
            options = source.requests[1].options
            assert options.allow_watch_bookmarks
            assert options.resource_version_match is None
            assert options.timeout_seconds is not None
            seconds.append(options.timeout_seconds)
    assert all(300 <= each <= 600 for each in seconds)
    assert min(seconds) < 350
    assert max(seconds) > 550


@pytest.mark.clause("H3")
async def test_each_watch_draws_anew() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source, rng=Random(1)):
        first.end()
        await until(10)
        drawn = [request.options.timeout_seconds for request in source.requests[1:3]]
        assert drawn[0] != drawn[1]


@pytest.mark.clause("H3")
async def test_the_bounds_are_settable() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with reflecting(source, options=ReflectorOptions(timeout_seconds=(30, 30))):
        assert source.requests[1].options.timeout_seconds == 30


# Events


@pytest.mark.clause("H6")
async def test_the_rv_moves_with_each_event_and_bookmark() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    async with reflecting(source) as life:
        for event, rv in (
            (added(pod("b", 6)), "6"),
            (modified(pod("a", 7)), "7"),
            (deleted(pod("b", 8)), "8"),
            (bookmark(20), "20"),
        ):
            watch.send(event)
            await settle()
            assert life.reflector.last_sync_resource_version == rv
        assert names(life.store) == {"a": "7"}


@pytest.mark.clause("H6")
async def test_a_bookmark_among_events_changes_no_object() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(added(pod("a", 6)), bookmark(9), modified(pod("a", 12)), bookmark(15))
        await settle()
        assert names(life.store) == {"a": "12"}
        assert life.reflector.last_sync_resource_version == "15"


@pytest.mark.clause("I3", "H6")
async def test_an_older_bookmark_does_not_move_it_back() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(added(pod("a", 9)), bookmark(7))
        await settle()
        assert life.reflector.last_sync_resource_version == "9"


@pytest.mark.clause("H6")
@pytest.mark.parametrize("rv", ["", "0"])
async def test_synthetic_events_come_in_no_order_and_do_not_move_the_rv(rv: str) -> None:
    source = Scripted(Page(rv=rv), watch := Watch())
    async with reflecting(source) as life:
        assert source.asked[1] == f"watch rv={rv or '-'}"
        watch.send(added(pod("a", 90)), added(pod("b", 30)))
        await settle()
        watch.send(added(pod("c", 60)))
        await settle()
        assert names(life.store) == {"a": "90", "b": "30", "c": "60"}
        assert life.reflector.last_sync_resource_version == rv


@pytest.mark.clause("H6")
@pytest.mark.parametrize(
    ("event", "at"),
    [(modified(pod("a", 95)), "95"), (deleted(pod("b", 96)), "96"), (bookmark(97), "97")],
    ids=["MODIFIED", "DELETED", "BOOKMARK"],
)
@pytest.mark.parametrize("before", [1, 2])
async def test_the_first_event_that_is_not_added_ends_them(
    event: Event[Any], at: str, before: int
) -> None:
    source = Scripted(Page(pod("b", 20), rv=""), watch := Watch())
    async with reflecting(source) as life:
        watch.send(*[added(pod("a", 90)), added(pod("b", 30))][:before], event)
        await settle()
        assert life.reflector.last_sync_resource_version == at
        assert life.reflector.health.late_writes == 0
        watch.send(added(pod("d", 99)))
        await settle()
        assert life.reflector.last_sync_resource_version == "99"
        assert "d" in names(life.store)


@pytest.mark.clause("H6", "I3")
async def test_events_of_an_older_state_are_dropped_and_counted() -> None:
    source = Scripted(Page(pod("a", 5), rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(modified(pod("a", 9)), modified(pod("a", 8)), deleted(pod("a", 7)))
        await settle()
        assert names(life.store) == {"a": "9"}
        assert life.reflector.health.late_writes == 2


# It does not open


@pytest.mark.clause("H7")
@pytest.mark.parametrize(
    "answer",
    [
        ConnectionRefused("no"),
        refusal(429),
        EmptyWatch(ConnectionLost("cut")),
        EmptyWatch(TransportTimeout("late")),
        EmptyWatch(),
    ],
    ids=repr,
)
async def test_a_server_that_is_not_there_is_watched_at_the_same_rv_later(
    answer: Exception | EmptyWatch[Any],
) -> None:
    source = Scripted(Page(rv=5), answer, answer, answer, Watch())
    async with reflecting(source) as life:
        await until(60)
        assert source.asked_at == [
            (0, "list rv=0 limit=500"),
            (0, "watch rv=5"),
            (2, "watch rv=5"),
            (6, "watch rv=5"),
            (14, "watch rv=5"),
        ]
        assert not life.reflector.health.relists


@pytest.mark.clause("H7", "H8")
async def test_expired_when_it_is_opened_is_a_list_at_once() -> None:
    source = Scripted(Page(rv=5), refusal(410), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        assert source.asked_at[1:] == [
            (0, "watch rv=5"),
            (0, "list rv=5 NotOlderThan"),
            (0, "watch rv=9"),
        ]
        assert life.reflector.health.relists == {Cause.EXPIRED: 1}


@pytest.mark.clause("H7", "H9")
@pytest.mark.parametrize("code", [401, 403, 404, 500, 503])
async def test_any_other_refusal_is_a_list_at_the_pace_of_rounds(code: int) -> None:
    source = Scripted(Page(rv=5), refusal(code), Page(rv=9), Watch())
    async with reflecting(source):
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=5 NotOlderThan"), (2, "watch rv=9")]


# It ends


@pytest.mark.clause("H8", "H9")
async def test_a_watch_that_brought_something_goes_on_at_once_after_a_clean_end() -> None:
    source = Scripted(Page(rv=5), first := Watch(), second := Watch())
    async with reflecting(source) as life:
        await until(100)
        first.send(added(pod("a", 6)))
        await settle()
        first.end()
        await settle()
        assert source.asked_at[2:] == [(100, "watch rv=6")]
        assert second.is_open
        assert not life.reflector.health.relists


@pytest.mark.clause("H8")
@pytest.mark.parametrize(
    "error", [ConnectionResetError("cut"), ConnectionLost("cut"), TimeoutError("late"), EOFError()]
)
async def test_a_watch_that_broke_off_goes_on_at_the_last_rv(error: Exception) -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source) as life:
        await until(20)
        first.send(added(pod("a", 6)), bookmark(8))
        first.fail(error)
        await settle()
        assert source.asked_at[2:] == [(20, "watch rv=8")]
        assert not life.reflector.health.relists
        assert life.errors == [error]


@pytest.mark.clause("H8", "H7")
async def test_429_in_a_watch_goes_on_when_the_server_says() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source) as life:
        await until(20)
        first.send(failure(429, retry_after=7))
        await until(60)
        assert source.asked_at[2:] == [(27, "watch rv=5")]
        assert not life.reflector.health.relists


@pytest.mark.clause("H8")
@pytest.mark.parametrize("code", [410])
async def test_expired_in_a_watch_is_a_list_at_once_from_the_last_rv(code: int) -> None:
    source = Scripted(Page(rv=5), first := Watch(), Page(rv=20), Watch())
    async with reflecting(source) as life:
        await until(30)
        first.send(added(pod("a", 6)), failure(code))
        await settle()
        assert source.asked_at[2:] == [
            (30, "list rv=6 NotOlderThan"),
            (30, "watch rv=20"),
        ]
        assert life.told[-1] == "watch expired, relisted: 1 vanished"


@pytest.mark.clause("H8", "H9")
async def test_what_came_before_the_error_in_the_same_read_is_kept_and_what_came_after_is_not() -> (
    None
):
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source) as life:
        first.send(added(pod("a", 6)), failure(429), added(pod("b", 7)))
        await settle()
        assert names(life.store) == {"a": "6"}
        assert first.closed_at == 0


@pytest.mark.clause("H8", "H9")
@pytest.mark.parametrize("code", [403, 404, 500, 503])
async def test_another_error_in_a_watch_is_a_list_at_the_pace_of_rounds(code: int) -> None:
    source = Scripted(Page(rv=5), first := Watch(), Page(rv=9), Watch())
    async with reflecting(source):
        first.send(failure(code))
        await until(10)
        assert source.asked_at[2:] == [(2, "list rv=5 NotOlderThan"), (2, "watch rv=9")]


@pytest.mark.clause("H8")
async def test_internal_errors_within_the_budget_are_watched_again() -> None:
    watches = [Watch(failure(500)) for _ in range(3)]
    source = Scripted(Page(rv=5), *watches, Page(rv=9), Watch())
    options = ReflectorOptions(internal_error_budget=6)
    async with reflecting(source, options=options) as life:
        await until(60)
        # At 0, 2 and 6 s; then the budget is used up.
        assert source.asked == [
            "list rv=0 limit=500",
            "watch rv=5",
            "watch rv=5",
            "watch rv=5",
            "list rv=5 NotOlderThan",
            "watch rv=9",
        ]
        assert life.reflector.health.relists == {Cause.INTERNAL: 1}


def short() -> Watch:
    watch = Watch()
    watch.end()
    return watch


@pytest.mark.clause("H8", "H9")
async def test_the_third_very_short_watch_in_a_row_is_a_list() -> None:
    source = Scripted(Page(rv=5), short(), short(), short(), Page(rv=9), Watch())
    async with reflecting(source) as life:
        await until(60)
        assert source.asked_at == [
            (0, "list rv=0 limit=500"),
            (0, "watch rv=5"),
            (2, "watch rv=5"),
            (6, "watch rv=5"),
            (14, "list rv=5 NotOlderThan"),
            (14, "watch rv=9"),
        ]
        assert life.reflector.health.relists == {Cause.CLEAN: 1}


@pytest.mark.clause("H8")
async def test_one_event_in_between_and_they_are_not_in_a_row() -> None:
    lively = Watch(added(pod("a", 6)))
    lively.end()
    source = Scripted(Page(rv=5), short(), short(), lively, short(), short(), Watch())
    async with reflecting(source) as life:
        await until(120)
        assert not life.reflector.health.relists
        assert [one for one in source.asked if one.startswith("list")] == ["list rv=0 limit=500"]


@pytest.mark.clause("H1", "H8")
async def test_a_watch_that_expires_right_after_its_list_makes_the_next_list_consistent() -> None:
    # The list was served by a cache that lags behind what the watch can still tell.
    source = Scripted(
        Page(rv=5), Watch(failure(410)), Page(rv=5), Watch(failure(410)), Page(rv=70), Watch()
    )
    async with reflecting(source):
        await until(10)
        assert source.asked_at[2:] == [
            (0, "list rv=5 NotOlderThan"),
            (0, "watch rv=5"),
            (2, "list rv=- limit=500"),
            (2, "watch rv=70"),
        ]


@pytest.mark.clause("H1", "H8")
async def test_a_watch_that_lived_long_is_not_watched_in_vain() -> None:
    source = Scripted(
        Page(rv=5), Watch(failure(410)), Page(rv=9), second := Watch(), Page(rv=70), Watch()
    )
    async with reflecting(source):
        await until(10)
        second.send(bookmark(20))
        await until(140)
        second.send(modified(pod("a", 30)), failure(410))
        await until(150)
        assert source.asked_at[4:] == [(140, "list rv=30 NotOlderThan"), (140, "watch rv=70")]


# Said


@pytest.mark.clause("H12", "K10")
async def test_each_end_is_told_with_what_follows() -> None:
    source = Scripted(
        Page(rv=5), first := Watch(), refusal(429, retry_after=9), second := Watch(), Watch()
    )
    async with reflecting(source) as life:
        first.end()
        await until(20)
        second.fail(ConnectionLost("the connection was cut"))
        await until(40)
        assert life.told == [
            "listed 0 in 0.0 s",
            "watch: ended by the server; watch again in 2.0 s",
            "opening the watch: too many requests (429 TooManyRequests: a scripted 429); "
            "watch again in 9.0 s",
            "watch: connection lost (the connection was cut); watch again in 0.0 s",
        ]
        assert [note.phase for note in life.setbacks] == [
            Phase.WATCH,
            Phase.OPENING_WATCH,
            Phase.WATCH,
        ]


# A source without RVs


@pytest.mark.clause("H6", "H8")
@pytest.mark.parametrize("rv", ["", "0"])
async def test_without_an_rv_a_watch_that_ended_is_followed_by_a_list(rv: str) -> None:
    first, second = Watch(added(pod("a", 3)), added(pod("b", 4))), Watch(added(pod("a", 3)))
    source = Scripted(
        Page(pod("a", 3), pod("b", 4), rv=rv), first, Page(pod("a", 3), rv=rv), second
    )
    async with reflecting(source) as life:
        await until(10)
        first.end()
        await until(20)
        assert names(life.store) == {"a": "3"}  # b went in between, and no watch tells of that
        assert [asked.split()[0] for asked in source.asked] == ["list", "watch", "list", "watch"]


@pytest.mark.clause("H6", "E4")
async def test_so_is_one_that_is_silent() -> None:
    first = Watch(added(pod("a", 3)), added(pod("b", 4)))
    source = Scripted(Page(pod("a", 3), pod("b", 4)), first, Page(pod("a", 3)), Watch())
    async with reflecting(source) as life:
        await until(200)
        assert names(life.store) == {"a": "3"}
        assert first.closed_at == 150


@pytest.mark.clause("H6", "H8")
async def test_once_a_watch_has_told_an_rv_it_goes_on_from_there() -> None:
    first = Watch(added(pod("a", 3)), modified(pod("a", 6)))
    source = Scripted(Page(pod("a", 3)), first, Watch())
    async with reflecting(source):
        await until(10)
        first.end()
        await until(20)
        assert source.asked[2:] == ["watch rv=6"]
