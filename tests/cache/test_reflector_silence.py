"""A watch that says nothing: replaced before that can do harm."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.cache import Cause, Liveness, ReflectorOptions, State
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused
from listwatch.watch import EmptyWatch

from .scripted import (
    Delayed,
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    end_of_initial_events,
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("E4")]


# When


async def test_without_bookmarks_it_is_ended_after_150_seconds() -> None:
    source = Scripted(Page(rv=5), first := Watch(), second := Watch())
    async with reflecting(source):
        await until(149.9)
        assert len(source.asked) == 2
        await until(150)
        assert source.asked_at[2:] == [(150, "watch rv=5")]
        assert first.closed_at == 150
        assert second.is_open


async def test_an_event_is_no_silence() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(100)
        first.send(added(pod("a", 6)))
        await until(249.9)
        assert len(source.asked) == 2
        await until(250)
        assert source.asked_at[2:] == [(250, "watch rv=6")]


async def test_nor_are_bytes_that_make_no_event_yet() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        for at in (100, 200, 300):
            await until(at)
            first.trickle()
        await until(449)
        assert len(source.asked) == 2
        await until(450)
        assert source.asked_at[2:] == [(450, "watch rv=5")]


async def test_two_bookmarks_tell_how_long_silence_may_last() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(60)
        first.send(bookmark(6))
        await until(120)
        first.send(bookmark(7))
        await until(239.9)
        assert len(source.asked) == 2
        await until(240)
        assert source.asked_at[2:] == [(240, "watch rv=7")]


async def test_but_no_less_than_75_seconds() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        for at in (10, 20):
            await until(at)
            first.send(bookmark(at))
        await until(94.9)
        assert len(source.asked) == 2
        await until(95)
        assert source.asked_at[2:] == [(95, "watch rv=20")]


async def test_one_bookmark_tells_nothing() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source):
        await until(10)
        first.send(bookmark(6))
        await until(159)
        assert len(source.asked) == 2
        await until(160)
        assert len(source.asked) == 3


async def test_nor_does_the_one_that_ends_the_initial_events() -> None:
    first = Watch(end_of_initial_events(5))
    source = Scripted(first, Watch(), watch_list=True)
    async with reflecting(source):
        await until(10)
        first.send(bookmark(6))
        await until(159)
        assert len(source.asked) == 1
        await until(161)
        assert len(source.asked) == 2


async def test_bookmarks_of_another_watch_tell_nothing() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Watch(), Watch())
    async with reflecting(source):
        for at in (10, 20):
            await until(at)
            first.send(bookmark(at))
        first.end()
        await until(169.9)
        assert len(source.asked) == 3
        await until(170)
        assert len(source.asked) == 4


async def test_the_deadline_is_settable() -> None:
    source = Scripted(Page(rv=5), Watch(), Watch())
    options = ReflectorOptions(liveness=Liveness(idle=20))
    async with reflecting(source, options=options):
        await until(20)
        assert source.asked_at[2:] == [(20, "watch rv=5")]


@pytest.mark.clause("H3")
async def test_none_waits_until_the_server_should_have_ended_it() -> None:
    source = Scripted(Page(rv=5), Watch(), Watch())
    options = ReflectorOptions(liveness=Liveness(idle=None))
    async with reflecting(source, options=options):
        await until(309)
        assert len(source.asked) == 2
        await until(310)
        assert source.asked_at[2:] == [(310, "watch rv=5")]


@pytest.mark.clause("H4")
async def test_a_deadline_shorter_than_that_of_the_initial_events_counts_from_their_end() -> None:
    first = Watch(end_of_initial_events(5))
    source = Scripted(first, Watch(), watch_list=True)
    options = ReflectorOptions(liveness=Liveness(idle=5, initial=30))
    async with reflecting(source, options=options):
        await until(6)
        assert source.asked_at[1:] == [(5, "watch rv=5")]


@pytest.mark.clause("E1")
async def test_time_in_which_nobody_read_is_no_silence() -> None:
    busy = asyncio.Event()
    busy.set()
    source = Scripted(Page(rv=5), first := Watch(), Watch())
    async with reflecting(source, ready=busy.wait):
        await until(10)
        busy.clear()
        first.send(added(pod("a", 6)))
        await until(1000)
        assert len(source.asked) == 2
        assert first.reads == 1
        busy.set()
        await until(1149)
        assert len(source.asked) == 2
        await until(1150)
        assert source.asked_at[2:] == [(1150, "watch rv=6")]


# How


async def test_the_next_watch_is_open_before_the_silent_one_is_dropped() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Delayed(4, second := Watch()))
    async with reflecting(source) as life:
        await until(152)
        assert source.asked_at[2:] == [(150, "watch rv=5")]
        assert first.is_open
        await until(154)
        assert not first.is_open
        assert second.is_open
        second.send(added(pod("a", 6)))
        await settle()
        assert names(life.store) == {"a": "6"}
        assert life.reflector.health.connected_since == 154


@pytest.mark.clause("H9", "H12")
async def test_it_is_no_failure_and_no_relist() -> None:
    source = Scripted(Page(rv=5), Watch(), Watch())
    async with reflecting(source) as life:
        await until(151)
        assert not life.reflector.health.relists
        assert life.errors == []
        assert [note.cause for note in life.setbacks] == [Cause.IDLE]
        assert life.told[-1] == "watch: silent; watch again in 0.0 s"
        assert life.reflector.health.state is State.WATCHING


@pytest.mark.clause("H18")
async def test_each_such_end_looks_whether_history_went_back() -> None:
    source = Scripted(
        Page(pod("a", 40), rv=50), Watch(), Watch(), Page(rv=20), Watch(), checks=[20]
    )
    async with reflecting(source) as life:
        await until(151)
        assert source.checked_at == [150]
        assert source.asked_at[2:] == [
            (150, "watch rv=50"),
            (150, "list rv=- limit=500"),
            (150, "watch rv=20"),
        ]
        assert names(life.store) == {}


async def test_it_goes_on_like_that() -> None:
    source = Scripted(Page(rv=5), *[Watch() for _ in range(5)])
    async with reflecting(source):
        await until(620)
        assert [at for at, _ in source.asked_at[1:]] == [0, 150, 300, 450, 600]
        assert source.open_watches == 1


@pytest.mark.clause("H7", "H9")
@pytest.mark.parametrize(
    "answer",
    [refusal(429), ConnectionRefused("no"), EmptyWatch(ConnectionLost("cut"))],
    ids=repr,
)
async def test_the_silent_one_is_kept_while_the_next_is_refused(
    answer: Exception | EmptyWatch[object],
) -> None:
    source = Scripted(Page(rv=5), first := Watch(), answer, answer, last := Watch())
    async with reflecting(source) as life:
        await until(150)
        assert first.is_open
        await until(151)
        assert first.is_open
        await until(200)
        assert source.asked[2:] == ["watch rv=5"] * 3
        assert not first.is_open
        assert last.is_open
        assert not life.reflector.health.relists
        assert life.setbacks[0].cause is Cause.IDLE
        assert len(life.setbacks) == 3


async def test_and_it_is_read_meanwhile_and_speaks_again() -> None:
    source = Scripted(Page(rv=5), first := Watch(), *[refusal(429)] * 2)
    async with reflecting(source) as life:
        await until(150.5)
        first.send(added(pod("a", 6)))
        await until(299)
        assert names(life.store) == {"a": "6"}
        assert first.is_open
        # Nobody needs another one any more.
        assert source.asked[2:] == ["watch rv=5"]
        await until(301)
        assert source.asked[3:] == ["watch rv=6"]


async def test_one_that_speaks_while_the_next_is_being_opened_stays() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Delayed(4, second := Watch()), Watch())
    async with reflecting(source) as life:
        await until(152)
        first.send(added(pod("a", 6)))
        await until(160)
        assert names(life.store) == {"a": "6"}
        assert first.is_open
        assert not second.is_open
        await until(303)
        assert source.asked_at[-1] == (302, "watch rv=6")


async def test_so_does_one_of_which_bytes_arrive_meanwhile() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Delayed(4, second := Watch()), Watch())
    async with reflecting(source) as life:
        await until(152)
        first.trickle()
        await until(200)
        assert first.is_open
        assert second.closed_at is not None
        first.send(added(pod("a", 6)))
        await until(210)
        assert names(life.store) == {"a": "6"}
        assert first.is_open


@pytest.mark.clause("H7", "H8")
async def test_where_the_next_is_expired_the_set_is_listed_at_once() -> None:
    source = Scripted(Page(rv=5), first := Watch(), refusal(410), Page(pod("a", 8), rv=9), Watch())
    async with reflecting(source) as life:
        await until(151)
        assert source.asked_at[2:] == [
            (150, "watch rv=5"),
            (150, "list rv=5 NotOlderThan"),
            (150, "watch rv=9"),
        ]
        assert not first.is_open
        assert life.reflector.health.relists == {Cause.EXPIRED: 1}


@pytest.mark.clause("H7", "H9")
async def test_any_other_refusal_of_it_is_a_list_at_the_pace_of_rounds() -> None:
    source = Scripted(Page(rv=5), first := Watch(), refusal(403), Page(rv=9), Watch())
    async with reflecting(source) as life:
        await until(160)
        assert source.asked[3:] == ["list rv=5 NotOlderThan", "watch rv=9"]
        assert source.asked_at[3][0] > 150
        assert not first.is_open
        assert [type(error).__name__ for error in life.errors] == ["Forbidden"]


async def test_where_the_silent_one_breaks_meanwhile_one_watch_is_opened() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Delayed(4, second := Watch()), third := Watch())
    async with reflecting(source):
        await until(152)
        first.fail()
        await until(170)
        assert source.open_watches == 1
        assert second.is_open or third.is_open


@pytest.mark.clause("H17")
@pytest.mark.parametrize("at", [150, 151, 152])
async def test_a_stop_in_the_middle_of_that_leaves_nothing_open(at: float) -> None:
    source = Scripted(Page(rv=5), Watch(), Delayed(1, Watch()), Watch())
    async with reflecting(source) as life:
        await asyncio.sleep(at)
        life.reflector.stop()
        assert life.task is not None
        await life.task
        assert source.open_watches == 0
