"""What client-go tries of waiting for a condition, told as stories of ours (docs/parity.md)."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.api import Event, EventType
from listwatch.cache import Changes, Delta, Store
from listwatch.cache.until import NotMet, until, until_with_sync
from tests.cache.scripted import (
    Page,
    Scripted,
    Still,
    Watch,
    added,
    deleted,
    end_of_initial_events,
    failure,
    modified,
    pod,
    settle,
)
from tests.cache.scripted import until as time_is

pytestmark = pytest.mark.virtual_time


def was_added(event: Event[Any]) -> bool:
    return event.type is EventType.ADDED


def was_modified(event: Event[Any]) -> bool:
    return event.type is EventType.MODIFIED


def was_deleted(event: Event[Any]) -> bool:
    return event.type is EventType.DELETED


@pytest.mark.clause("L3")
@pytest.mark.parametrize("timeout", [None, 60])
async def test_conditions_are_met_one_after_the_other(timeout: float | None) -> None:
    source = Scripted(Watch(added(pod("a", 2)), modified(pod("a", 3))))
    event = await until(source, "1", was_added, was_modified, timeout=timeout, rng=Still())
    assert event.type is EventType.MODIFIED
    assert event.object.resource_version == "3"
    assert source.open_watches == 0


@pytest.mark.clause("L3")
async def test_one_event_may_meet_several() -> None:
    source = Scripted(Watch(added(pod("a", 2))))
    event = await until(source, "1", was_added, was_added, timeout=60, rng=Still())
    assert event.type is EventType.ADDED


@pytest.mark.clause("L3")
async def test_what_is_not_met_in_time_says_how_far_it_came() -> None:
    source = Scripted(Watch(added(pod("a", 2))))
    with pytest.raises(NotMet) as caught:
        await until(source, "1", was_added, was_added, was_deleted, timeout=10, rng=Still())
    assert asyncio.get_running_loop().time() == 10
    assert caught.value.met == 2
    assert caught.value.last is not None
    assert caught.value.last.type is EventType.ADDED
    assert source.open_watches == 0


@pytest.mark.clause("L3")
async def test_what_a_condition_raises_ends_it() -> None:
    def bad(event: Event[Any]) -> bool:
        raise ValueError("something bad")

    source = Scripted(Watch(added(pod("a", 2))))
    with pytest.raises(ValueError, match="something bad"):
        await until(source, "1", was_added, bad, timeout=60, rng=Still())
    assert source.open_watches == 0


# With a copy of the set


def never(change: Delta[Any]) -> bool:
    raise AssertionError("nothing is to be shown")


@pytest.mark.clause("L3")
@pytest.mark.parametrize("precondition", [None, lambda store: True], ids=["none", "one"])
async def test_where_no_set_comes_it_ends_with_its_time(precondition: Any) -> None:
    with pytest.raises(NotMet) as caught:
        await until_with_sync(Scripted(), never, precondition=precondition, timeout=10, rng=Still())
    assert caught.value.last is None
    assert asyncio.get_running_loop().time() == 10


@pytest.mark.clause("L3")
async def test_a_precondition_that_holds_is_all_that_is_looked_at() -> None:
    source = Scripted(Page(pod("first", 1), rv=1), Watch())
    seen: list[str] = []

    def there(store: Store[Any]) -> bool:
        seen.extend(store.keys())
        return "default/first" in store

    assert await until_with_sync(source, never, precondition=there, timeout=10, rng=Still()) is None
    assert seen == ["default/first"]
    assert source.open_watches == 0


@pytest.mark.clause("L3")
async def test_one_that_does_not_lets_the_conditions_see_what_is_there() -> None:
    source = Scripted(Page(pod("first", 1), rv=1), Watch())
    change = await until_with_sync(
        source, was_added, precondition=lambda store: False, timeout=10, rng=Still()
    )
    assert change is not None
    assert (change.type, change.key) == (EventType.ADDED, "default/first")


@pytest.mark.clause("L3")
async def test_it_goes_on_over_an_expired_watch_and_sees_the_deletion_in_the_relist() -> None:
    source = Scripted(Page(pod("first", 1), rv=1), Watch(failure(410)), Page(rv=2), Watch())
    change = await until_with_sync(source, was_deleted, timeout=10, rng=Still())
    assert change is not None
    assert change.final_state_unknown
    assert change.object.resource_version == "1"


# A set as a watch: client-go's informer watcher is Changes here


@pytest.mark.clause("J1", "K2")
@pytest.mark.parametrize("watch_list", [False, True])
async def test_a_set_and_its_changes_are_one_stream_whichever_way_they_come(
    watch_list: bool,
) -> None:
    there = [pod(name, n) for n, name in enumerate(("one", "two", "three"), start=1)]
    watch = Watch(*map(added, there), end_of_initial_events(3)) if watch_list else Watch()
    answers = [watch] if watch_list else [Page(*there, rv=3), watch]
    source = Scripted(*answers, watch_list=watch_list)
    told: list[tuple[str, str]] = []
    changes: Changes[Any] = Changes(source, rng=Still())

    def note(change: Delta[Any]) -> None:
        told.append((change.type.value, change.key[8:]))

    async def read() -> None:
        async with changes:
            async for change in changes:
                note(change)

    task = asyncio.create_task(read())
    await settle()
    watch.send(added(pod("four", 4)), modified(pod("two", 5)), deleted(pod("three", 6)))
    await settle()
    assert told == [
        ("ADDED", "one"),
        ("ADDED", "two"),
        ("ADDED", "three"),
        ("ADDED", "four"),
        ("MODIFIED", "two"),
        ("DELETED", "three"),
    ]
    watch.send(added(pod("unread", 7)))
    task.cancel()
    await asyncio.wait([task])
    assert source.open_watches == 0


@pytest.mark.clause("J2")
async def test_what_a_relist_misses_is_a_deletion_with_the_state_that_was_seen_last() -> None:
    source = Scripted(Page(pod("secret", 123), rv=123), Watch(failure(410)), Page(rv=124), Watch())
    found: list[Delta[Any]] = []
    async with Changes(source, rng=Still()) as changes:
        async for change in changes:
            found.append(change)
            if len(found) == 2:
                break
    assert [(change.type.value, change.object.resource_version) for change in found] == [
        ("ADDED", "123"),
        ("DELETED", "123"),
    ]
    assert found[1].final_state_unknown


@pytest.mark.clause("E1", "J1")
@pytest.mark.parametrize("reading", [False, True], ids=["nobody reads", "somebody waits"])
async def test_it_ends_at_once_when_it_is_stopped(reading: bool) -> None:
    source = Scripted(Page(*[pod(f"p{n}", n + 1) for n in range(1000)], rv=1000), Watch())
    changes: Changes[Any] = Changes(source, rng=Still())
    order: list[int] = []

    async def read() -> None:
        async for batch in changes.batches():
            order.extend(int(change.object.resource_version) for change in batch)

    async with changes:
        if reading:
            task = asyncio.create_task(read())
            await settle(2000)
            assert order == list(range(1, 1001))
        await time_is(5)
        changes.stop()
        if reading:
            await task
    assert source.open_watches == 0
    assert asyncio.get_running_loop().time() == 5
