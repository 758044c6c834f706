"""How a mirror is, in one value."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.api import EventType
from listwatch.cache import Cause, Health, Mirror, Reflector, ReflectorOptions, State, Store
from listwatch.rest import ConnectionLost

from .scripted import (
    Delayed,
    Page,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    end_of_initial_events,
    failure,
    modified,
    pod,
    reflecting,
    refusal,
    refused_object,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("K10")]


async def test_before_it_starts_nothing_is_known() -> None:
    health = Reflector(Scripted(), Store()).health
    assert health == Health(
        state=State.STARTING,
        synced=False,
        connected_since=None,
        last_byte_age=None,
        last_event_age=None,
        resource_version="",
        epoch=0,
        objects=0,
        relists={},
        undecodable=(),
        last_error="",
        watch_list="",
        requests=0,
        late_writes=0,
    )
    assert not health.ready
    assert str(health) == "starting; 0 objects at -; not synced"


async def test_its_state_says_what_it_is_doing() -> None:
    source = Scripted(
        Delayed(1, refusal(405)),
        Delayed(1, Page(rv=5)),
        Delayed(1, refusal(429, retry_after=5)),
        Watch(),
        watch_list=True,
    )
    seen = []
    async with reflecting(source) as life:
        for at in (0.5, 1.5, 2.5, 3.5, 20):
            await until(at)
            seen.append(life.reflector.health.state)
    seen.append(life.reflector.health.state)
    assert seen == [
        State.STREAMING,
        State.LISTING,
        State.WATCHING,
        State.BACKING_OFF,
        State.WATCHING,
        State.STOPPED,
    ]


async def test_the_ages_of_the_last_byte_and_event() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source) as life:
        await until(10)
        health = life.reflector.health
        assert (health.last_byte_age, health.last_event_age) == (10, None)
        watch.send(added(pod("a", 6)))
        await until(15)
        health = life.reflector.health
        assert (health.last_byte_age, health.last_event_age) == (5, 5)
        watch.trickle()
        await until(20)
        health = life.reflector.health
        assert (health.last_byte_age, health.last_event_age) == (5, 10)
        watch.send(bookmark(9))
        await until(21)
        assert life.reflector.health.last_event_age == 1


@pytest.mark.clause("E4")
async def test_the_age_grows_while_a_watch_is_silent() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with reflecting(source) as life:
        await until(140)
        assert life.reflector.health.last_byte_age == 140
        assert "last byte 140.0 s ago" in str(life.reflector.health)


async def test_since_when_it_is_connected() -> None:
    source = Scripted(Page(rv=5), first := Watch(), Delayed(3, Watch()))
    async with reflecting(source) as life:
        assert life.reflector.health.connected_since == 0
        await until(50)
        first.fail()
        await until(51)
        assert life.reflector.health.connected_since is None
        await until(60)
        assert life.reflector.health.connected_since == 53
    assert life.reflector.health.connected_since is None


async def test_rv_epoch_objects_requests_and_late_writes() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(added(pod("b", 6)), modified(pod("b", 6)))
        await settle()
        health = life.reflector.health
        assert (health.resource_version, health.epoch, health.objects) == ("6", 0, 2)
        assert (health.requests, health.late_writes) == (2, 1)
        assert health.synced
        assert health.ready


async def test_relists_are_counted_by_their_cause() -> None:
    source = Scripted(
        Page(rv=5),
        Watch(failure(410)),
        Page(rv=6),
        second := Watch(),
        Page(rv=7),
        Watch(failure(410)),
        Page(rv=8),
        Watch(),
    )
    async with reflecting(source) as life:
        await until(40)
        second.send(failure(503))
        await until(80)
        assert life.reflector.health.relists == {Cause.EXPIRED: 2, Cause.SERVER: 1}
        assert "relists: expired 2, server error 1" in str(life.reflector.health)


async def test_the_cause_of_a_relist_is_what_began_it_not_what_delayed_it() -> None:
    source = Scripted(
        Page(rv=5), Watch(failure(410)), ConnectionLost("cut"), refusal(503), Page(rv=7), Watch()
    )
    async with reflecting(source) as life:
        await until(80)
        assert life.reflector.health.relists == {Cause.EXPIRED: 1}


async def test_the_last_error_stays() -> None:
    source = Scripted(refusal(403), Page(rv=5), Watch())
    async with reflecting(source) as life:
        await until(30)
        assert life.reflector.health.last_error == "Forbidden: 403 Forbidden: a scripted 403"
        assert str(life.reflector.health).endswith(
            "last error: Forbidden: 403 Forbidden: a scripted 403"
        )


async def test_it_reads_as_one_line() -> None:
    source = Scripted(RuntimeError("first line\nsecond line"))
    async with reflecting(source) as life:
        assert "\n" not in str(life.reflector.health)


async def test_undecodable_keys_are_named() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.send(refused_object(EventType.ADDED, pod("a", 6)))
        await settle()
        assert life.reflector.health.undecodable == ("default/a",)
        assert "1 undecodable" in str(life.reflector.health)


@pytest.mark.clause("H19")
async def test_why_there_is_no_watch_list_is_said_until_there_is_one() -> None:
    source = Scripted(refusal(405), Page(rv=5), Watch(), watch_list=True)
    async with reflecting(source) as life:
        assert "405" in life.reflector.health.watch_list
        assert "no watch-list (" in str(life.reflector.health)
    source = Scripted(Watch(end_of_initial_events(5)), watch_list=True)
    async with reflecting(source) as life:
        assert life.reflector.health.watch_list == ""


async def test_a_mirror_is_ready_once_it_has_a_set_and_until_it_stops() -> None:
    source = Scripted(Delayed(1, Page(rv=5)), Watch())
    async with Mirror(source, rng=Still()) as mirror:
        assert not mirror.health.ready
        await until(2)
        assert mirror.health.ready
        mirror.stop()
        await settle()
        assert not mirror.health.ready
        assert mirror.health.synced


async def test_it_is_one_value_of_one_moment() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source, options=ReflectorOptions()) as life:
        before = life.reflector.health
        watch.send(added(pod("a", 6)))
        await asyncio.sleep(1)
        assert before.objects == 0
        assert before.relists == {}
        assert life.reflector.health.objects == 1
        with pytest.raises(AttributeError):
            before.objects = 7  # type: ignore[misc]
