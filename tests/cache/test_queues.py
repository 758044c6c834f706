"""What waits for a handler, and how much of it may (K4)."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import EventType
from listwatch.cache import Bounded, Delta, Store, Unbounded
from listwatch.cache.queues import NotificationQueue, collapsed

from .scripted import added, deleted, modified, pod, settle

pytestmark = pytest.mark.clause("K4")

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def add(name: str, rv: int, **more: Any) -> Delta[Any]:
    return Delta(ADDED, pod(name, rv), key=name, **more)


def update(name: str, old: int, rv: int, **more: Any) -> Delta[Any]:
    return Delta(MODIFIED, pod(name, rv), key=name, old=pod(name, old), **more)


def delete(name: str, old: int, rv: int, **more: Any) -> Delta[Any]:
    return Delta(DELETED, pod(name, rv), key=name, old=pod(name, old), **more)


def said(delta: Any) -> str:
    old = "-" if delta.old is None else delta.old.resource_version
    return f"{delta.type} {delta.key} {old} {delta.object.resource_version}"


async def drained(queue: NotificationQueue[Any]) -> list[Any]:
    """All that waits, as told by somebody quick."""
    found = []
    queue.in_hand = 0
    while len(queue):
        found += await queue.take()
        queue.in_hand = 0
    return found


# Policies


@pytest.mark.parametrize("size", [0, -1])
def test_a_queue_has_room_for_one_at_least(size: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Bounded(size)


def test_there_are_two_things_to_do_when_it_is_full() -> None:
    wrong: Any = "drop"
    with pytest.raises(ValueError, match="'block' or 'collapse', not 'drop'"):
        Bounded(5, when_full=wrong)


async def test_without_bound_all_of_it_waits_in_its_order() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Unbounded())
    news = [update("a", number, number + 1) for number in range(1000)]
    queue.put(news[:700])
    queue.put(news[700:])
    assert len(queue) == 1000
    assert not queue.blocks
    assert await drained(queue) == news


async def test_what_is_in_hand_waits_until_its_turn_has_come() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Unbounded())
    queue.put([add("a", 1), add("b", 2), add("c", 3)])
    assert len(await queue.take()) == 3
    assert len(queue) == 3
    queue.in_hand -= 1
    assert len(queue) == 2


async def test_a_mark_is_passed_on_in_its_place_and_is_no_notification() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Unbounded())
    queue.put([first := add("a", 1)])
    queue.mark(mark := settle)  # type: ignore[arg-type]
    queue.put([last := add("b", 2)])
    assert len(queue) == 2
    assert await queue.take() == [first, mark, last]
    queue.in_hand = 0
    assert len(queue) == 0


async def test_taking_waits_for_something_to_take() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Unbounded())
    taking = asyncio.create_task(queue.take())
    await settle()
    assert not taking.done()
    queue.put([])
    await settle()
    assert not taking.done()
    queue.put([one := add("a", 1)])
    assert await taking == [one]


@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("policy", [Unbounded(), Bounded(1, "block"), Bounded(1)], ids=repr)
async def test_once_closed_nothing_comes(policy: Any, drop: bool) -> None:
    queue: NotificationQueue[Any] = NotificationQueue(policy)
    queue.put([one := add("a", 1), two := add("b", 2)])
    queue.close(drop=drop)
    assert not queue.blocks
    queue.put([add("c", 3)])
    queue.mark(settle)  # type: ignore[arg-type]
    found = []
    while taken := await queue.take():
        found += taken
    assert found == ([] if drop else [one, two])
    assert await queue.take() == []
    assert len(queue) == 0


async def test_closing_lets_whoever_waits_go() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(1, "block"))
    taking = asyncio.create_task(queue.take())
    await settle()
    queue.close(drop=True)
    assert await taking == []
    await queue.room()


# Block


async def test_it_blocks_until_no_more_than_its_size_waits() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(2, "block"))
    queue.put([add("a", 1), add("b", 2)])
    assert not queue.blocks
    queue.put([add("c", 3), add("d", 4), add("e", 5)])
    room = asyncio.create_task(queue.room())
    assert queue.blocks
    for taken, blocks in [(2, True), (2, True), (1, False)]:
        # What was taken has been told when more is.
        assert len(await queue.take()) == taken
        await settle()
        assert queue.blocks is blocks
        assert room.done() is not blocks
    await room


# Collapse


async def test_as_long_as_there_is_room_each_notification_waits() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(3))
    news = [update("a", 1, 2), update("a", 2, 3), update("a", 3, 4)]
    queue.put(news)
    assert await drained(queue) == news


async def test_then_only_what_is_new_of_each_object_waits_until_it_has_caught_up() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(2))
    queue.put([update("a", 1, 2), update("b", 3, 4), update("a", 2, 5)])
    assert len(queue) == 2
    for number in range(5, 1000):
        queue.put([update("a", number, number + 1)])
        assert len(queue) == 2
    assert [said(delta) for delta in await drained(queue)] == [
        "MODIFIED a 1 1000",
        "MODIFIED b 3 4",
    ]
    queue.put(news := [update("b", 4, 5), update("b", 5, 6)])
    assert await drained(queue) == news


async def test_what_cancels_out_leaves_nothing_to_take() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(1))
    queue.put([add("a", 1), delete("a", 1, 2)])
    assert len(queue) == 0
    taking = asyncio.create_task(queue.take())
    await settle()
    assert not taking.done()
    queue.put([one := add("b", 3)])
    assert await taking == [one]


async def test_a_mark_comes_after_all_that_came_before_it_and_only_once() -> None:
    queue: NotificationQueue[Any] = NotificationQueue(Bounded(1))
    queue.put([add("a", 1, initial=True), add("b", 2, initial=True)])
    queue.mark(mark := settle)  # type: ignore[arg-type]
    queue.put([update("a", 1, 5), add("c", 6)])
    assert len(queue) == 3
    found = await drained(queue)
    assert found.index(mark) == 2
    told = [said(delta) for delta in found if delta is not mark]
    assert told == ["ADDED a - 5", "ADDED b - 2", "ADDED c - 6"]
    assert found[0].initial


@pytest.mark.parametrize(
    ("news", "told"),
    [
        ([add("a", 1), update("a", 1, 2)], ["ADDED a - 2"]),
        ([add("a", 1), delete("a", 1, 2)], []),
        ([add("a", 1), delete("a", 1, 2), add("a", 3)], ["ADDED a - 3"]),
        ([update("a", 1, 2), update("a", 2, 3)], ["MODIFIED a 1 3"]),
        ([update("a", 1, 2), delete("a", 2, 3)], ["DELETED a 1 3"]),
        ([delete("a", 1, 2), add("a", 3)], ["MODIFIED a 1 3"]),
        ([delete("a", 1, 2), add("a", 3), update("a", 3, 4)], ["MODIFIED a 1 4"]),
        ([delete("a", 1, 2), add("a", 3), delete("a", 3, 4)], ["DELETED a 1 4"]),
    ],
)
def test_two_changes_of_an_object_are_one(news: list[Any], told: list[str]) -> None:
    assert [said(delta) for delta in collapsed(news)] == told


@pytest.mark.clause("K6", "J2")
def test_of_how_a_change_was_found_out_nothing_is_lost() -> None:
    [again] = collapsed([delete("a", 1, 2), add("a", 3, initial=True), update("a", 3, 4)])
    assert again.recreated
    [again] = collapsed([update("a", 1, 2, recreated=True), update("a", 2, 3)])
    assert again.recreated
    [again] = collapsed([update("a", 1, 2), update("a", 2, 3, recreated=True)])
    assert again.recreated
    [gone] = collapsed([update("a", 1, 2), delete("a", 2, 2, final_state_unknown=True)])
    assert gone.final_state_unknown
    assert not gone.recreated


@pytest.mark.clause("H11")
def test_two_resyncs_are_one_and_a_change_is_more_than_a_resync() -> None:
    [one] = collapsed([update("a", 1, 1, resync=True), update("a", 1, 1, resync=True)])
    assert one.resync
    for news in (
        [update("a", 1, 1, resync=True), update("a", 1, 2)],
        [update("a", 1, 2), update("a", 2, 2, resync=True)],
    ):
        [one] = collapsed(news)
        assert not one.resync
        assert said(one) == "MODIFIED a 1 2"


# Whatever happens

STEPS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["set", "set", "again", "delete"])),
    max_size=60,
)


def story(steps: list[tuple[str, str]]) -> list[Delta[Any]]:
    """What a store tells of these steps."""
    store: Store[Any] = Store()
    told: list[Delta[Any]] = []
    for number, (name, step) in enumerate(steps, 1):
        match step:
            case "set":
                event = modified(pod(name, number))
            case "again":
                event = added(pod(name, number, uid=f"uid-{number}"))
            case _:
                event = deleted(pod(name, number))
        told += store.apply([event])
    return told


def replayed(deltas: list[Any], shown: dict[str, Any]) -> dict[str, Any]:
    for delta in deltas:
        before = shown.get(delta.key)
        assert (before is None) is (delta.type is ADDED)
        if before is not None:
            assert delta.old is before
        if delta.type is DELETED:
            del shown[delta.key]
        else:
            shown[delta.key] = delta.object
    return shown


@given(STEPS)
def test_collapsed_news_lead_where_all_of_them_lead(steps: list[tuple[str, str]]) -> None:
    news = story(steps)
    short = collapsed(news)
    assert replayed(short, {}) == replayed(news, {})
    assert len({delta.key for delta in short}) == len(short)  # type: ignore[union-attr]


@given(STEPS, st.data(), st.sampled_from(["block", "collapse"]), st.integers(1, 5))
def test_however_one_takes_them_they_lead_there(
    steps: list[tuple[str, str]],
    data: st.DataObject,
    when_full: Literal["block", "collapse"],
    size: int,
) -> None:
    news = story(steps)

    async def run() -> None:
        queue: NotificationQueue[Any] = NotificationQueue(Bounded(size, when_full))
        told: list[Any] = []
        left = list(news)
        while left:
            count = data.draw(st.integers(1, len(left)))
            queue.put(left[:count])
            del left[:count]
            if when_full == "collapse":
                # In hand is no more than the size: all else is one for each object.
                assert len(queue) <= max(size, 3 + queue.in_hand)
            assert queue.blocks is (when_full == "block" and len(queue) > size)
            if len(queue) > queue.in_hand and data.draw(st.booleans()):
                told += await queue.take()
                assert queue.in_hand <= size
        told += await drained(queue)
        if when_full == "block":
            assert told == news
        assert replayed(told, {}) == replayed(news, {})

    asyncio.run(run())
