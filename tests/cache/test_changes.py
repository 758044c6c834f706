"""Changes: what happened, for one consumer, who sets the pace."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
from collections.abc import AsyncIterator
from contextlib import nullcontext
from typing import Any

import pytest

from listwatch.api import EventType, Forbidden, Unstructured
from listwatch.cache import Changes, Delta, MirrorStopped, ReflectorOptions, State
from listwatch.testing import VirtualTimeLoop

from .scripted import (
    Page,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    names,
    pod,
    refusal,
    settle,
    until,
)

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def changes_of(source: Scripted, **more: Any) -> Changes[Unstructured]:
    return Changes(source, **{"kind": "Pod", "rng": Still(), **more})


def told(delta: Delta[Unstructured]) -> str:
    return f"{delta.type} {delta.key.removeprefix('default/')} {delta.object.resource_version}"


async def next_of(iterator: AsyncIterator[Any], within: float = 1.0) -> Any:
    async with asyncio.timeout(within):
        return await anext(iterator)


async def nothing_comes(iterator: AsyncIterator[Any]) -> None:
    """Nothing is there for the reader now; it goes on waiting afterwards."""
    waiting = asyncio.ensure_future(anext(iterator))
    await settle()
    assert not waiting.done()
    waiting.cancel()
    await asyncio.wait([waiting])


# What comes


@pytest.mark.virtual_time
@pytest.mark.clause("J1", "J2")
async def test_first_the_set_then_each_change() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    async with changes_of(source) as changes:
        came: list[str] = []
        async for change in changes:
            came.append(told(change))
            if len(came) == 2:
                watch.send(modified(pod("a", 6)), bookmark(7), deleted(pod("b", 8)))
            if len(came) == 4:
                break
    assert came == ["ADDED a 3", "ADDED b 4", "MODIFIED a 6", "DELETED b 8"]


@pytest.mark.virtual_time
@pytest.mark.clause("J2")
async def test_a_relist_is_exactly_what_changed() -> None:
    source = Scripted(
        Page(pod("same", 1), pod("gone", 2), pod("changed", 3), rv=5),
        watch := Watch(),
        Page(pod("same", 1), pod("changed", 8), pod("new", 9, uid="n"), rv=9),
        last := Watch(),
    )
    async with changes_of(source) as changes:
        batches = changes.batches()
        assert len(await next_of(batches)) == 3
        watch.send(failure(410))
        batch = await next_of(batches)
        assert [told(change) for change in batch] == [
            "MODIFIED changed 8",
            "ADDED new 9",
            "DELETED gone 2",
        ]
        assert [change.final_state_unknown for change in batch] == [False, False, True]
        last.send(modified(pod("new", 10, uid="n")))
        assert [told(change) for change in await next_of(batches)] == ["MODIFIED new 10"]
        await batches.aclose()


@pytest.mark.virtual_time
@pytest.mark.clause("J2")
async def test_a_relist_without_a_difference_is_silent() -> None:
    source = Scripted(
        Page(pod("a", 1), rv=5), watch := Watch(), Page(pod("a", 1), rv=9), last := Watch()
    )
    async with changes_of(source) as changes:
        batches = changes.batches()
        await next_of(batches)
        watch.send(failure(410))
        await settle()
        last.send(modified(pod("a", 10)))
        assert [told(change) for change in await next_of(batches)] == ["MODIFIED a 10"]
        await batches.aclose()


@pytest.mark.virtual_time
async def test_nothing_is_delivered_twice() -> None:
    source = Scripted(Page(rv=5), first := Watch(), second := Watch())
    async with changes_of(source) as changes:
        changing = aiter(changes)
        first.send(added(pod("a", 6)), modified(pod("a", 7)))
        assert [told(await next_of(changing)) for _ in range(2)] == ["ADDED a 6", "MODIFIED a 7"]
        first.fail()
        await until(10)
        second.send(modified(pod("a", 7)), modified(pod("a", 8)))
        assert told(await next_of(changing)) == "MODIFIED a 8"


@pytest.mark.virtual_time
@pytest.mark.clause("I1", "J3")
async def test_its_store_is_at_or_past_the_last_change() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with changes_of(source) as changes:
        watch.send(added(pod("a", 6)))
        change = await next_of(aiter(changes))
        assert changes.store[change.key].resource_version == "6"
        assert changes.health.resource_version == "6"


# The consumer's pace


@pytest.mark.virtual_time
@pytest.mark.clause("E1")
async def test_the_reflector_reads_no_further_while_a_batch_is_not_taken() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with changes_of(source) as changes:
        for rv in range(6, 16):
            watch.send(modified(pod("a", rv)))
        await settle()
        # One read is ahead of the consumer, who has not asked for anything yet.
        assert watch.reads == 1
        batches = changes.batches()
        assert [told(change) for change in await next_of(batches)] == ["ADDED a 6"]
        await until(500)
        assert watch.reads == 2
        assert watch.unread == 8
        assert [told(change) for change in await next_of(batches)] == ["MODIFIED a 7"]
        await settle()
        assert watch.reads == 3
        assert source.open_watches == 1
        await batches.aclose()


@pytest.mark.virtual_time
@pytest.mark.clause("E1", "E4")
async def test_nor_while_the_changes_of_one_read_are_not_all_taken() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with changes_of(source) as changes:
        watch.send(added(pod("a", 6)), added(pod("b", 7)))
        watch.send(added(pod("c", 8)))
        changing = aiter(changes)
        assert told(await next_of(changing)) == "ADDED a 6"
        await until(1000)
        assert watch.reads == 1
        assert len(source.asked) == 2  # a busy consumer is no silence
        assert told(await next_of(changing)) == "ADDED b 7"
        assert told(await next_of(changing)) == "ADDED c 8"


@pytest.mark.virtual_time
@pytest.mark.clause("E1")
async def test_a_watch_opened_again_waits_for_the_consumer_too() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    async with changes_of(source) as changes:
        watch.send(modified(pod("a", 6)))
        watch.send(modified(pod("a", 7)))
        await until(100)
        # The set is not taken yet, so no more than one read is in front of it.
        assert watch.reads <= 1
        came = [told(await next_of(one)) for one in [aiter(changes)] * 3]
        assert came == ["ADDED a 3", "MODIFIED a 6", "MODIFIED a 7"]


@pytest.mark.virtual_time
async def test_batches_are_what_one_read_brought_and_never_empty() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with changes_of(source) as changes:
        watch.send(bookmark(6))
        watch.send(added(pod("a", 7)), added(pod("b", 8)))
        watch.send(bookmark(9))
        watch.send(deleted(pod("a", 10)))
        batches = changes.batches()
        sizes = [len(await next_of(batches)) for _ in range(2)]
        assert sizes == [2, 1]
        await nothing_comes(batches)


# Leaving it


@pytest.mark.virtual_time
@pytest.mark.clause("H17", "E3")
async def test_leaving_the_block_leaves_nothing() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    async with changes_of(source) as changes:
        async for _ in changes:
            break
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0
    assert changes.health.state is State.STOPPED


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_an_error_in_the_loop_leaves_nothing_and_is_the_one_that_is_raised() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())

    async def broken() -> None:
        async with changes_of(source) as changes:
            async for _ in changes:
                raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await broken()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("H17", "E3")
async def test_a_bare_loop_starts_and_stops_it() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())

    async def first() -> str:
        async for change in changes_of(source):
            return told(change)
        raise AssertionError

    assert await first() == "ADDED a 3"
    gc.collect()
    await settle()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_an_error_in_a_bare_loop_does_too() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())

    async def broken() -> None:
        async for _ in changes_of(source):
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await broken()
    gc.collect()
    await settle()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("batches", [True, False])
async def test_cancelled_at_whatever_step_it_leaves_nothing(bare: bool, batches: bool) -> None:
    reached: list[int] = []
    for steps in range(1, 80):
        source = Scripted(
            Page(pod("a", 3), rv=5, more="c"),
            Page(pod("b", 3), rv=5),
            Watch(modified(pod("a", 6)), failure(410)),
            Page(pod("b", 8), rv=9),
            watch := Watch(modified(pod("b", 10))),
        )
        watch.fail()
        came: list[Any] = []

        async def consume(source: Scripted = source, came: list[Any] = came) -> None:
            changes = changes_of(source)

            async def loop() -> None:
                async for change in changes.batches() if batches else changes:
                    came.extend(change if isinstance(change, list) else [change])
                    await asyncio.sleep(0)

            if bare:
                await loop()
            else:
                async with changes:
                    await loop()

        before = asyncio.all_tasks()
        task = asyncio.create_task(consume())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        del task  # its traceback holds the generators
        await settle(20)
        assert asyncio.all_tasks() == before, steps
        assert source.open_watches == 0, steps
        reached.append(len(came))
    assert reached[-1] >= 3


@pytest.mark.virtual_time
async def test_what_a_loop_left_over_the_next_one_gets() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 3), pod("c", 3), rv=5), Watch())
    async with changes_of(source) as changes:
        async for change in changes:
            assert told(change) == "ADDED a 3"
            break
        rest = []
        async for change in changes:
            rest.append(told(change))
            if len(rest) == 2:
                break
        assert rest == ["ADDED b 3", "ADDED c 3"]


@pytest.mark.virtual_time
async def test_two_consumers_at_once_are_an_error() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with changes_of(source) as changes:
        one = asyncio.ensure_future(anext(aiter(changes)))
        await settle()
        with pytest.raises(RuntimeError, match="one consumer"):
            await next_of(aiter(changes))
        watch.send(added(pod("a", 6)))
        assert told(await one) == "ADDED a 6"


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
@pytest.mark.parametrize("batches", [True, False])
async def test_stop_ends_a_loop_that_waits(batches: bool) -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    async with changes_of(source) as changes:
        came: list[Any] = []

        async def read() -> None:
            stream = changes.batches() if batches else aiter(changes)
            came.extend([change async for change in stream])

        task = asyncio.create_task(read())
        await settle()
        changes.stop()
        changes.stop()
        await asyncio.wait_for(task, 1)
        assert len(came) == 1


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
async def test_after_a_stop_nothing_is_delivered() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 3), rv=5), Watch())
    async with changes_of(source) as changes:
        came = []
        async for change in changes:
            came.append(told(change))
            changes.stop()
        assert came == ["ADDED a 3"]


@pytest.mark.clause("E3")
async def test_it_may_be_stopped_from_another_thread() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    thread: threading.Thread | None = None
    async with asyncio.timeout(20), changes_of(source) as changes:
        async for _ in changes:
            thread = threading.Thread(target=changes.stop)
            thread.start()
    assert thread is not None
    thread.join()
    assert source.open_watches == 0


@pytest.mark.virtual_time
async def test_it_can_be_read_once() -> None:
    changes = changes_of(Scripted(Page(rv=5), Watch()))
    async with changes:
        pass
    with pytest.raises((RuntimeError, MirrorStopped)):
        async for _ in changes:
            pass
    with pytest.raises(RuntimeError, match="make another"):
        async with changes:
            pass


# Its only other end


@pytest.mark.virtual_time
@pytest.mark.parametrize("bare", [True, False])
async def test_what_fail_fast_says_ends_it(bare: bool) -> None:
    source = Scripted(*[refusal(403)] * 2)
    changes = changes_of(source, options=ReflectorOptions(fail_fast=True))

    async def read() -> None:
        async with nullcontext() if bare else changes:
            async for _ in changes:
                pass

    with pytest.raises(Forbidden, match="a scripted 403"):
        await read()


@pytest.mark.virtual_time
async def test_it_goes_on_over_everything_else() -> None:
    source = Scripted(
        refusal(500),
        Page(pod("a", 3), rv=5),
        Watch(failure(503)),
        refusal(401),
        Page(pod("a", 4), rv=6),
        Watch(modified(pod("a", 7))),
    )
    async with changes_of(source) as changes:
        came = []
        async for change in changes:
            came.append(told(change))
            if len(came) == 3:
                break
    assert came == ["ADDED a 3", "MODIFIED a 4", "MODIFIED a 7"]


# Against a model: whatever a server does, applying the changes gives the store


@pytest.mark.clause("J1", "J2")
@pytest.mark.parametrize("seed", range(30))
def test_the_changes_applied_one_by_one_are_the_store(seed: int) -> None:
    chance = random.Random(seed)

    async def run() -> None:
        source, server, rv = Scripted(), dict[str, int](), 5
        watches: list[Watch] = []

        def state() -> Page:
            return Page(*(pod(name, at, uid=f"{name}") for name, at in server.items()), rv=rv)

        def write(watch: Watch | None) -> None:
            nonlocal rv
            rv += 1
            name = chance.choice("abcdef")
            if name in server and chance.random() < 0.4:
                del server[name]
                event = deleted(pod(name, rv, uid=name))
            else:
                event = modified(pod(name, rv, uid=name))
                event = event if name in server else added(pod(name, rv, uid=name))
                server[name] = rv
            if watch is not None:
                watch.send(event)

        shown: dict[str, str] = {}
        changes = changes_of(source)

        async def consume() -> None:
            async for change in changes:
                key = change.key[8:]
                if change.type is ADDED:
                    assert key not in shown
                else:
                    assert shown[key] == change.old.resource_version  # type: ignore[union-attr]
                shown[key] = change.object.resource_version
                if change.type is DELETED:
                    del shown[key]
                if chance.random() < 0.2:
                    await asyncio.sleep(chance.random() * 3)

        for _ in range(3):
            write(None)
        watches.append(Watch())
        source.then(state(), watches[-1])
        async with changes:
            task = asyncio.create_task(consume())
            for _ in range(6):
                for _ in range(chance.randrange(6)):
                    await asyncio.sleep(chance.random())
                    write(watches[-1])
                await asyncio.sleep(60)
                if chance.random() < 0.5:  # gone for a while, and the history with it
                    old = watches[-1]
                    for _ in range(chance.randrange(5)):
                        write(None)
                    watches.append(Watch())
                    source.then(state(), watches[-1])
                    old.send(failure(410))
                    await asyncio.sleep(60)
            await asyncio.sleep(100)
            assert shown == {name: str(at) for name, at in server.items()}
            assert shown == names(changes.store)
            task.cancel()
            await asyncio.wait([task])

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())


async def test_after_its_block_there_is_nothing_more_of_it() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), Watch())
    async with Changes(source) as changes:
        async for _ in changes:
            break
    with pytest.raises(MirrorStopped):
        await anext(aiter(changes))
