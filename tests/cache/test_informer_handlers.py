"""Handlers of an informer: islands, in tasks, threads and inline, with bounds, and removed."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import logging
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from listwatch.cache import Bounded, ReflectorOptions, Registration, Unbounded
from listwatch.cache._thread import OneThread

from .hearing import WAYS, Gate, Way, caught_up, informer_of, listen
from .scripted import (
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    pod,
    settle,
    until,
)

pytestmark = pytest.mark.virtual_time

EACH_WAY = pytest.mark.parametrize("way", WAYS)
BESIDE = pytest.mark.parametrize("way", ["task", "thread"])


@contextmanager
def held(event: threading.Event) -> Iterator[threading.Event]:
    """Lets go, in the end, of a thread that waits for this."""
    try:
        yield event
    finally:
        event.set()


async def settle_until(come_about: Callable[[], bool]) -> None:
    """Turn the loop until something is so."""
    while not come_about():  # noqa: ASYNC110
        await asyncio.sleep(0)


# Islands


@pytest.mark.clause("K1", "K4", "K5")
async def test_of_a_hundred_handlers_none_notices_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Property 22, handlers are islands: one raises, one blocks, one is removed in the middle."""
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    informer = informer_of(source)

    def raises(line: str) -> None:
        raise LookupError("a handler with a bug")

    loop, is_gone = asyncio.get_running_loop(), asyncio.Event()

    def removes(line: str) -> None:
        if line.startswith("update"):
            gone.remove()
            loop.call_soon_threadsafe(is_gone.set)

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(is_stuck.set)
        minute.wait()

    is_stuck = asyncio.Event()
    with held(threading.Event()) as minute:
        broken = [listen(informer, way, raises, name=f"broken-{way}") for way in WAYS]
        stuck, in_thread = listen(informer, "thread", blocks)
        asleep, in_task = listen(informer, "task", lambda line: asyncio.sleep(60))
        left, gone = listen(informer, "thread", removes)
        others = [listen(informer, WAYS[number % 3]) for number in range(94)]
        async with informer:
            await informer.synced()
            for _, registration in others:
                await registration.synced()
            watch.send(modified(pod("a", 6)), added(pod("c", 7)))
            watch.send(deleted(pod("b", 8)))
            await settle()
            await is_gone.wait()
            await is_stuck.wait()
            await caught_up(*(each for _, each in broken), *(each for _, each in others))
            expected = [
                "add a 3 initial",
                "add b 4 initial",
                "update a 3 6",
                "add c 7",
                "delete b 8",
            ]
            for heard, registration in [*broken, *others]:
                assert heard.lines == expected
                assert registration.queued == 0
            assert {registration.failures for _, registration in others} == {0}
            assert {registration.failures for _, registration in broken} == {5}
            assert left.lines == expected[:3]
            for heard, registration in [(stuck, in_thread), (asleep, in_task)]:
                assert heard.lines == expected[:1]
                assert registration.queued == 4
                assert not registration.is_synced
            assert asyncio.get_running_loop().time() == 0
            minute.set()
            await caught_up(in_thread)
            assert stuck.lines == expected
            await until(301)
            assert asleep.lines == expected
    failures = [record for record in caplog.records if "failed on" in record.getMessage()]
    assert len(failures) == 15
    assert "handler broken-task failed on ADDED default/a" in caplog.text


@pytest.mark.clause("K4")
@EACH_WAY
async def test_one_that_raises_is_logged_with_name_and_key_and_told_the_next(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(line: str) -> None:
        raise LookupError(f"no {line}")

    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    informer = informer_of(source)
    heard, registration = listen(informer, way, hook, name="mine")
    async with informer:
        await registration.synced()
        watch.send(deleted(pod("a", 6)))
        await settle()
        await caught_up(registration)
    assert heard.lines == ["add a 3 initial", "add b 4 initial", "delete a 6"]
    assert (registration.told, registration.failures) == (3, 3)
    for said in ("ADDED default/a", "ADDED default/b", "DELETED default/a"):
        assert f"handler mine failed on {said}" in caplog.text
    assert "LookupError: no delete a 6" in caplog.text


@pytest.mark.clause("K4", "K6")
@EACH_WAY
async def test_of_a_deletion_and_an_addition_each_is_told(way: Way) -> None:
    def hook(line: str) -> None:
        if line.startswith("gone"):
            raise LookupError("no deletions here")

    source = Scripted(
        Page(pod("a", 3), rv=5), watch := Watch(), Page(pod("a", 9, uid="other"), rv=9), Watch()
    )
    informer = informer_of(source, recreate_as_two=True)
    heard, registration = listen(informer, way, hook)
    async with informer:
        await informer.synced()
        watch.send(failure(410))
        await settle()
        await caught_up(registration)
    assert heard.lines == ["add a 3 initial", "gone a 3", "add a 9"]
    assert registration.failures == 1


@pytest.mark.clause("K4")
async def test_a_handler_that_waited_for_something_cancelled_is_not_cancelled_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def hook(line: str) -> None:
        sleep = asyncio.ensure_future(asyncio.sleep(60))
        sleep.cancel()
        await sleep

    informer = informer_of(Scripted(Page(pod("a", 3), pod("b", 4), rv=5), Watch()))
    heard, registration = listen(informer, "task", hook)
    async with informer:
        await registration.synced()
    assert heard.lines == ["add a 3 initial", "add b 4 initial"]
    assert registration.failures == 2
    assert "failed on ADDED default/b" in caplog.text


@pytest.mark.clause("K7", "K4")
@EACH_WAY
async def test_a_filter_that_raises_stops_nobody(
    way: Way, caplog: pytest.LogCaptureFixture
) -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4, phase="Up"), rv=5), watch := Watch())
    informer = informer_of(source)
    heard, registration = listen(informer, way, filter=lambda obj: obj["phase"] == "Up")
    async with informer:
        await registration.synced()
        watch.send(modified(pod("a", 6, phase="Up")), modified(pod("b", 7)))
        watch.send(deleted(pod("b", 8)), deleted(pod("a", 9)))
        await settle()
        await caught_up(registration)
    assert heard.lines == ["add b 4 initial", "add a 6", "delete b 7", "delete a 9"]
    assert registration.failures == 2
    assert "failed on ADDED default/a" in caplog.text
    assert "failed on MODIFIED default/b" in caplog.text


# The three ways


@pytest.mark.clause("K1")
async def test_an_inline_handler_is_told_in_the_step_in_which_the_store_changes() -> None:
    steps = 0
    heard: list[tuple[int, Any]] = []

    async def count() -> None:
        nonlocal steps
        while True:
            await asyncio.sleep(0)
            steps += 1

    source = Scripted(Page(rv=5), watch := Watch())
    informer = informer_of(source)
    informer.add_handler(
        on_add=lambda *_: heard.append((steps, asyncio.current_task())), inline=True
    )
    async with informer:
        await informer.synced()
        counting = asyncio.create_task(count())
        watch.send(*(added(pod(f"p{number}", 10 + number)) for number in range(500)))
        await settle()
        counting.cancel()
        await asyncio.wait([counting])
    assert len(heard) == 500
    assert len(set(heard)) == 1


@pytest.mark.clause("K1", "K2")
async def test_an_inline_handler_has_been_told_the_set_when_it_has_been_added() -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    async with informer:
        await informer.synced()
        heard, registration = listen(informer)
        assert heard.lines == ["add a 3 initial"]
        assert registration.is_synced


async def test_an_async_handler_cannot_be_inline() -> None:
    async def on_add(obj: Any, initial: bool) -> None: ...

    informer = informer_of(Scripted())
    with pytest.raises(TypeError, match="mine: inline is for plain functions"):
        informer.add_handler(on_add=on_add, inline=True, name="mine")


@pytest.mark.clause("K1")
async def test_a_plain_handler_has_a_thread_of_its_own_in_which_it_stays() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    informer = informer_of(source)
    threads: dict[str, set[Any]] = {"one": set(), "two": set()}

    def put_down(name: str) -> Registration[Any]:
        def hook(line: str) -> None:
            threads[name].add(threading.current_thread())

        return listen(informer, "thread", hook, name=name)[1]

    both = [put_down(name) for name in threads]
    async with informer:
        await caught_up(*both)
        for number in range(6, 10):
            watch.send(modified(pod("a", number)))
            await settle()
            await caught_up(*both)
    [[one], [two]] = threads.values()
    assert len({one, two, threading.current_thread()}) == 3
    assert one.name == "handler one"
    assert one.daemon


@pytest.mark.clause("K1")
async def test_a_handler_with_one_async_function_runs_in_a_task() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    informer = informer_of(source)
    tasks: list[Any] = []

    async def on_add(obj: Any, initial: bool) -> None:
        tasks.append(asyncio.current_task())

    registration = informer.add_handler(
        on_add=on_add, on_update=lambda old, new: tasks.append(asyncio.current_task())
    )
    async with informer:
        watch.send(modified(pod("a", 6)))
        await settle()
        await caught_up(registration)
        assert len(tasks) == 2
        assert len(set(tasks)) == 1


@pytest.mark.clause("K1", "K4")
@pytest.mark.parametrize("inline", [True, False])
async def test_what_a_plain_function_leaves_to_be_awaited_is_an_error_and_no_silence(
    inline: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def later(obj: Any) -> None: ...

    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    registration = informer.add_handler(on_add=lambda obj, initial: later(obj), inline=inline)
    async with informer:
        await registration.synced()
    assert registration.failures == 1
    assert "to be awaited, but is no async function" in caplog.text


@pytest.mark.clause("K1")
async def test_a_coroutine_that_never_waits_does_not_keep_the_loop_to_itself() -> None:
    others = 0

    async def beside() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    source = Scripted(Page(*(pod(f"p{number}", 4) for number in range(2000)), rv=5), Watch())
    informer = informer_of(source)
    seen: list[int] = []

    async def hook(line: str) -> None:
        seen.append(others)

    _, registration = listen(informer, "task", hook)
    counting = asyncio.create_task(beside())
    async with informer:
        await registration.synced()
    counting.cancel()
    await asyncio.wait([counting])
    assert max(Counter(seen).values()) <= 128


@pytest.mark.clause("K1")
@BESIDE
async def test_context_variables_of_who_started_it_are_there(way: Way) -> None:
    variable = contextvars.ContextVar("variable", default="none")
    seen: list[str] = []

    async def in_task(line: str) -> None:
        seen.append(variable.get())

    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    hook = in_task if way == "task" else lambda line: seen.append(variable.get())
    _, registration = listen(informer, way, hook)
    variable.set("mine")
    async with informer:
        await registration.synced()
    assert seen == ["mine"]


def test_a_handler_is_named_after_what_was_given() -> None:
    class Empty(dict[str, Any]):
        def on_add(self, obj: Any, initial: bool) -> None: ...

    def on_delete(obj: Any) -> None: ...

    informer = informer_of(Scripted())
    assert informer.add_handler(Empty()).name.endswith("<locals>.Empty")
    assert informer.add_handler(on_delete=on_delete).name.endswith("<locals>.on_delete")
    assert informer.add_handler(on_delete=on_delete, name="mine").name == "mine"


# Bounds


def flood(watch: Watch, start: int, count: int) -> None:
    """Each object of three changes so often, in one read for each time."""
    for turn in range(count):
        rv = start + 3 * turn
        watch.send(*(modified(pod(name, rv + at)) for at, name in enumerate("abc")))


def three(rv: int = 5) -> Page:
    return Page(*(pod(name, number) for number, name in enumerate("abc", 1)), rv=rv)


@pytest.mark.clause("K4")
@BESIDE
async def test_without_bound_all_of_it_waits_and_is_counted(way: Way) -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    gate = Gate(way)
    heard, registration = listen(informer, way, gate.passes, queue=Unbounded())
    async with informer:
        await gate.reached()
        flood(watch, 10, 100)
        await settle(400)
        assert registration.queued == 302
        assert watch.unread == 0
        assert "302 queued" in repr(registration)
        gate.open(1000)
        await caught_up(registration)
        assert registration.queued == 0
        assert len(heard.lines) == registration.told == 303


@pytest.mark.clause("K4", "E1")
@BESIDE
async def test_a_full_queue_that_blocks_stops_the_reading_until_there_is_room(way: Way) -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    beside, _ = listen(informer)
    gate = Gate(way)
    heard, registration = listen(informer, way, gate.passes, queue=Bounded(4, "block"))
    try:
        async with informer:
            await gate.reached()
            flood(watch, 10, 100)
            await settle(400)
            # Two of the set and a read, which is one too many.
            assert registration.queued == 5
            assert watch.unread == 99
            assert len(beside.lines) == 6
            most = 0
            for number in range(1, 303):
                gate.open()
                await gate.reached()
                await settle()
                most = max(most, registration.queued)
                assert len(heard.lines) == number + 1
            assert most <= 4 + 3
            gate.open()
            await caught_up(registration)
            assert watch.unread == 0
            assert heard.lines == beside.lines
            assert len(heard.lines) == 303
    finally:
        gate.open(1000)


@pytest.mark.clause("K4", "H11")
async def test_a_resync_is_not_piled_up_for_a_handler_that_blocks() -> None:
    source = Scripted(three(), Watch())
    informer = informer_of(source, options=ReflectorOptions(resync_period=10))
    beside, _ = listen(informer)

    async def sleeps(line: str) -> None:
        await asyncio.sleep(200)

    _, registration = listen(informer, "task", sleeps, queue=Bounded(1, "block"))
    async with informer:
        await until(105)
        assert len(beside.lines) == 33
        assert registration.queued == 2


@pytest.mark.clause("K4", "E4")
async def test_while_it_blocks_nothing_is_taken_for_silence_and_nothing_is_lost() -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    opened = asyncio.Event()

    async def waits(line: str) -> None:
        await opened.wait()

    heard, registration = listen(informer, "task", waits, queue=Bounded(4, "block"))
    async with informer:
        flood(watch, 10, 5)
        await until(3600)
        assert watch.unread == 4
        assert len(source.asked) == 2
        assert informer.health.synced
        opened.set()
        await settle(200)
        await caught_up(registration)
        assert heard.shown == {"a": "22", "b": "23", "c": "24"}


@pytest.mark.clause("K4")
async def test_who_blocks_all_and_is_removed_blocks_nobody_any_more() -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    beside, _ = listen(informer)
    _, registration = listen(
        informer, "task", lambda line: asyncio.sleep(10**6), queue=Bounded(1, "block")
    )
    async with informer:
        flood(watch, 10, 10)
        await settle()
        assert watch.unread == 10
        registration.remove()
        await settle(200)
        assert watch.unread == 0
        assert len(beside.lines) == 33


@pytest.mark.clause("K4")
@BESIDE
async def test_a_full_queue_that_collapses_keeps_of_each_object_what_is_new(way: Way) -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    gate, opened, inside = threading.Event(), asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(inside.set)
        gate.wait()

    async def waits(line: str) -> None:
        inside.set()
        await opened.wait()

    with held(gate):
        hook = waits if way == "task" else blocks
        heard, registration = listen(informer, way, hook, queue=Bounded(1))
        async with informer:
            await inside.wait()
            for turn in range(100):
                flood(watch, 10 + 3 * turn, 1)
                await settle()
                assert registration.queued <= 3
            watch.send(deleted(pod("b", 400)), added(pod("d", 401)), deleted(pod("d", 402)))
            watch.send(added(pod("e", 403)), modified(pod("e", 404)))
            await settle()
            assert watch.unread == 0
            gate.set()
            opened.set()
            await registration.synced()
            await caught_up(registration)
    # What it was being told it was told; b it has never heard of.
    assert heard.lines == ["add a 1 initial", "add c 309 initial", "update a 1 307", "add e 404"]


@pytest.mark.clause("K4", "K3")
async def test_a_slow_handler_of_a_collapsing_queue_ends_where_all_end() -> None:
    source = Scripted(three(), watch := Watch())
    informer = informer_of(source)
    fast, _ = listen(informer)
    slow, registration = listen(informer, "task", lambda line: asyncio.sleep(1), queue=Bounded(2))
    async with informer:
        for turn in range(200):
            rv = 10 + 10 * turn
            names = "abcdefg"[turn % 5 : turn % 5 + 3]
            there = fast.shown
            watch.send(
                *(
                    deleted(pod(name, rv + at))
                    if turn % 3 == 0 and name in there
                    else (modified if name in there else added)(pod(name, rv + at))
                    for at, name in enumerate(names)
                )
            )
            await until(0.7 * turn)
        await caught_up(registration)
        assert slow.shown == fast.shown
        assert len(slow.lines) < len(fast.lines) / 2
        assert registration.is_synced


# Removal


@pytest.mark.clause("K5")
@EACH_WAY
async def test_a_removed_handler_is_told_nothing_more_and_let_go(way: Way) -> None:
    source = Scripted(Page(pod("a", 3), rv=5), watch := Watch())
    informer = informer_of(source)
    tasks = asyncio.all_tasks()
    async with informer:
        await informer.synced()
        running = asyncio.all_tasks()
        heard, registration = listen(informer, way)
        await registration.synced()
        informer.remove_handler(registration)
        registration.remove()
        await registration.removed()
        await registration.removed()
        watch.send(modified(pod("a", 6)))
        await settle()
        assert heard.lines == ["add a 3 initial"]
        assert asyncio.all_tasks() == running
        assert registration.queued == 0
        assert registration.is_synced
        assert repr(registration).startswith("<Registration ")
        life = weakref.ref(heard)
        del heard, registration
        gc.collect()
        assert life() is None
    assert asyncio.all_tasks() == tasks


@pytest.mark.clause("K5")
@EACH_WAY
async def test_one_removed_before_the_start_hears_nothing(way: Way) -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    heard, registration = listen(informer, way)
    await registration.removed()
    async with informer:
        await informer.synced()
        await settle()
        assert heard.lines == []
        assert informer._listeners == []


@pytest.mark.clause("K5")
@BESIDE
async def test_removed_waits_until_the_last_notification_has_finished(way: Way) -> None:
    gate, opened, inside = threading.Event(), asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    finished: list[str] = []

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(inside.set)
        gate.wait()
        finished.append(line)

    async def waits(line: str) -> None:
        inside.set()
        await opened.wait()
        finished.append(line)

    informer = informer_of(Scripted(three(), Watch()))
    with held(gate):
        heard, registration = listen(informer, way, waits if way == "task" else blocks)
        async with informer:
            await inside.wait()
            registration.remove()
            assert registration.queued == 0
            waiting = [asyncio.create_task(registration.removed()) for _ in range(2)]
            await settle()
            assert not any(each.done() for each in waiting)
            gate.set()
            opened.set()
            await asyncio.gather(*waiting)
            assert finished == heard.lines == ["add a 1 initial"]


@pytest.mark.clause("K5")
@EACH_WAY
async def test_one_that_removes_itself_is_told_nothing_more_of_what_came_at_once(way: Way) -> None:
    informer = informer_of(Scripted(three(), watch := Watch()))
    loop, is_removed = asyncio.get_running_loop(), asyncio.Event()

    def hook(line: str) -> Any:
        if "b" in line:
            registration.remove()
            loop.call_soon_threadsafe(is_removed.set)
        return None if way != "task" else settle(1)

    heard, registration = listen(informer, way, hook)
    async with informer:
        await is_removed.wait()
        await registration.removed()
        watch.send(modified(pod("a", 6)))
        await settle()
        assert heard.lines == ["add a 1 initial", "add b 2 initial"]


@pytest.mark.clause("K5")
async def test_an_async_handler_cannot_wait_for_its_own_end() -> None:
    informer = informer_of(Scripted(three(), Watch()))

    async def hook(line: str) -> None:
        await registration.removed()

    _, registration = listen(informer, "task", hook, name="mine")
    async with informer:
        await registration.synced()
        assert registration.failures == 3


@pytest.mark.clause("K5")
async def test_nor_can_one_in_a_thread() -> None:
    informer = informer_of(Scripted(three(), Watch()))
    loop = asyncio.get_running_loop()

    def hook(line: str) -> None:
        asyncio.run_coroutine_threadsafe(registration.removed(), loop).result()

    heard, registration = listen(informer, "thread", hook, name="mine")
    async with informer:
        await registration.synced()
        assert registration.failures == 3
        assert len(heard.lines) == 3


@pytest.mark.clause("K5")
async def test_but_it_may_leave_that_to_another_task() -> None:
    informer = informer_of(Scripted(three(), Watch()))
    others: list[asyncio.Task[None]] = []

    async def hook(line: str) -> None:
        others.append(asyncio.create_task(registration.removed()))
        await asyncio.sleep(1)

    heard, registration = listen(informer, "task", hook)
    async with informer:
        await until(2)
        [other] = others
        await other
        assert heard.lines == ["add a 1 initial"]


@pytest.mark.clause("K5", "K2")
@BESIDE
async def test_a_handler_added_by_another_may_end_that_other(way: Way) -> None:
    informer = informer_of(Scripted(three(), Watch()))
    inner: list[Registration[Any]] = []
    loop, is_added = asyncio.get_running_loop(), asyncio.Event()

    def ends_it(line: str) -> None:
        asyncio.run_coroutine_threadsafe(outer.removed(), loop).result()

    async def ends_it_too(line: str) -> None:
        await outer.removed()

    def hook(line: str) -> None:
        if not inner:
            inner.append(listen(informer, way, ends_it if way == "thread" else ends_it_too)[1])
            loop.call_soon_threadsafe(is_added.set)

    _, outer = listen(informer, "thread", hook)
    async with informer:
        await is_added.wait()
        await inner[0].synced()
        assert inner[0].failures == 0


@pytest.mark.clause("K5")
async def test_any_thread_may_remove_or_add_one() -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), watch := Watch()))
    first, registration = listen(informer, "task")
    async with informer:
        await registration.synced()
        found: list[Any] = []

        def change() -> None:
            registration.remove()
            found.extend(listen(informer, way) for way in WAYS)

        await asyncio.to_thread(change)
        for heard, late in found:
            await late.synced()
            assert heard.lines == ["add a 3 initial"]
        watch.send(modified(pod("a", 6)))
        await settle()
        await caught_up(*(late for _, late in found))
        assert [heard.lines[1:] for heard, _ in found] == [["update a 3 6"]] * 3
        assert first.lines == ["add a 3 initial"]


# The end


@pytest.mark.clause("K1", "H17")
@BESIDE
async def test_at_the_end_what_waits_is_dropped(way: Way) -> None:
    gate, inside = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(inside.set)
        gate.wait()

    async def waits(line: str) -> None:
        inside.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            return  # it swallows that, and is told nothing more all the same

    informer = informer_of(Scripted(three(), Watch()))
    heard, registration = listen(informer, way, waits if way == "task" else blocks)

    async def lets_go() -> None:
        await settle_until(lambda: registration.queued == 0)
        gate.set()

    async with informer:
        await inside.wait()
        assert registration.queued == 2
        letting = asyncio.create_task(lets_go())
    await letting
    assert heard.lines == ["add a 1 initial"]
    assert registration.queued == 0
    assert loop.time() == 0


@pytest.mark.clause("H17")
async def test_a_thread_that_does_not_come_back_is_left_behind_after_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loop: Any = asyncio.get_running_loop()
    inside = asyncio.Event()

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(inside.set)
        never.wait()

    informer = informer_of(Scripted(three(), Watch()))
    with held(threading.Event()) as never:
        heard, _ = listen(informer, "thread", blocks, name="stubborn")
        _, quick = listen(informer, "thread")
        async with informer:
            await inside.wait()
            await quick.synced()
            began = loop.time()
            # The clock waits for no thread of which it does not know.
            loop._outside -= 1
        assert loop.time() == began + 5
        loop._outside += 1
        assert caplog.messages == ["handler stubborn does not come to an end: it is left behind"]
        assert asyncio.all_tasks() == {asyncio.current_task()}
    for thread in threading.enumerate():
        if thread.name == "handler stubborn":
            thread.join(10)
    assert heard.lines == ["add a 1 initial"]


@pytest.mark.clause("H17")
async def test_a_handler_that_was_removed_is_waited_for_too() -> None:
    gate, inside = threading.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    finished: list[str] = []

    def blocks(line: str) -> None:
        loop.call_soon_threadsafe(inside.set)
        gate.wait()
        finished.append(line)

    informer = informer_of(Scripted(three(), Watch()))
    _, registration = listen(informer, "thread", blocks)
    _, asleep = listen(informer, "task", lambda line: asyncio.sleep(3600))
    async with informer:
        await inside.wait()
        registration.remove()
        asleep.remove()
        loop.call_soon(gate.set)
    assert finished == ["add a 1 initial"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.clause("H17")
async def test_a_task_that_ignores_its_cancellation_is_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def stays(line: str) -> None:
        while not enough.is_set():
            try:
                await enough.wait()
            except asyncio.CancelledError:
                continue

    enough = asyncio.Event()
    informer = informer_of(Scripted(three(), Watch()))
    _, registration = listen(informer, "task", stays, name="stubborn")
    async with informer:
        await settle()
    assert asyncio.get_running_loop().time() <= 10
    assert "handler stubborn does not come to an end: it is left behind" in caplog.text
    enough.set()
    await registration.removed()
    assert registration.told == 1


@pytest.mark.clause("K4")
async def test_where_no_thread_can_be_had_the_handler_is_ended_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuses(self: Any, *given: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(OneThread, "submit", refuses)
    informer = informer_of(Scripted(three(), watch := Watch()))
    beside, _ = listen(informer)
    _, registration = listen(informer, "thread", name="mine")
    async with informer:
        await settle()
        watch.send(bookmark(9))
        await settle()
        assert registration.queued == 0
        assert len(beside.lines) == 3
    assert "handler mine has ended, and is told nothing more" in caplog.text
    assert caplog.records[-1].levelno == logging.ERROR


class Thing:
    """An object whose life can be followed."""

    name = "a"

    def __init__(self, version: str) -> None:
        self.resource_version = version
        self.metadata = {"name": "a", "resourceVersion": version}


@pytest.mark.clause("K1")
async def test_while_nothing_comes_nothing_is_held_of_what_was_told() -> None:
    """Property 25: neither a queue nor a thread holds on to the last that went through it."""
    source = Scripted(Page(rv=5), watch := Watch())
    informer = informer_of(source, kind="")
    registrations = [listen(informer, way)[1] for way in WAYS]
    async with informer:
        thing = Thing("6")
        life = weakref.ref(thing)
        watch.send(added(thing))
        del thing
        await settle()
        await caught_up(*registrations)
        assert life() is not None
        # The last that they are told is how it changed, and nothing comes after that.
        watch.send(modified(Thing("7")))
        await settle_until(lambda: all(each.told == 2 for each in registrations))
        for _ in range(200):
            await settle()
            gc.collect()
            if life() is None:
                return
    pytest.fail("it is held still")


@pytest.mark.parametrize("inline", [True, False])
def test_a_queue_that_cannot_be_is_refused(inline: bool) -> None:
    informer = informer_of(Scripted())
    odd: Any = Bounded(5) if inline else 5
    with pytest.raises(TypeError, match="queue"):
        informer.add_handler(on_add=lambda obj, initial: None, inline=inline, queue=odd)
