"""A reflector's life: what it tells, resync, and that it ends when it is told to."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from listwatch.api import Event
from listwatch.cache import Reflector, ReflectorOptions, State, Store
from listwatch.rest import ConnectionLost
from listwatch.testing import VirtualTimeLoop

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
    names,
    pod,
    reflecting,
    refusal,
    settle,
    until,
)

# Errors


@pytest.mark.virtual_time
@pytest.mark.clause("H12")
async def test_the_error_handler_gets_the_reflector_and_each_failure() -> None:
    told: list[tuple[Any, str]] = []
    source = Scripted(
        refusal(500), Page(rv=5), first := Watch(), refusal(403), Page(rv=6), second := Watch()
    )
    async with reflecting(
        source, on_error=lambda reflector, error: told.append((reflector, type(error).__name__))
    ) as life:
        await until(10)
        first.fail(ConnectionLost("cut"))
        await until(60)
        second.fail(ConnectionLost("cut"))
        await settle()
    assert [name for _, name in told] == [
        "InternalError",
        "ConnectionLost",
        "Forbidden",
        "ConnectionLost",
    ]
    assert {reflector for reflector, _ in told} == {life.reflector}


@pytest.mark.virtual_time
@pytest.mark.clause("H12")
async def test_handlers_that_raise_stop_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a handler with a bug")

    source = Scripted(refusal(500), Page(pod("a", 3), rv=5), watch := Watch(), Watch())
    async with reflecting(
        source, on_error=broken, on_note=broken, on_progress=broken, should_resync=None
    ) as life:
        await until(10)
        watch.fail()
        await until(20)
        assert source.open_watches == 1
        assert names(life.store) == {"a": "3"}
    assert "a handler with a bug" in caplog.text
    assert {record.levelname for record in caplog.records if record.exc_info} == {"ERROR"}


@pytest.mark.virtual_time
@pytest.mark.clause("H12")
async def test_without_a_handler_failures_are_logged_as_loud_as_they_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, logger="listwatch.cache")
    source = Scripted(
        Page(rv=5), first := Watch(), second := Watch(), Page(rv=9), third := Watch(), Watch()
    )
    async with reflecting(source, on_error=None, on_note=None, name="pods"):
        await until(10)
        first.end()
        await settle()
        second.send(failure(410))
        await until(20)
        third.fail(ConnectionLost("the connection was cut"))
        await until(30)
    by_level = {
        level: " ".join(r.getMessage() for r in caplog.records if r.levelno == level)
        for level in (logging.DEBUG, logging.WARNING)
    }
    assert "ended by the server" in by_level[logging.DEBUG]
    assert "a scripted 410" in by_level[logging.DEBUG]
    assert "a scripted 410" not in by_level[logging.WARNING]
    assert by_level[logging.WARNING] == "pods: the connection was cut"


@pytest.mark.virtual_time
@pytest.mark.clause("H12")
async def test_a_failure_without_words_is_logged_by_its_class(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = Scripted(ConnectionRefusedError(), Page(rv=5), Watch())
    async with reflecting(source, on_error=None, name="pods") as life:
        assert life.reflector.health.last_error == "ConnectionRefusedError"
        await until(20)
    assert [record.getMessage() for record in caplog.records] == ["pods: ConnectionRefusedError"]


@pytest.mark.virtual_time
@pytest.mark.clause("H12", "K10")
async def test_a_bug_that_ends_it_is_told_though_nobody_awaits_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Store[Any]):
        def apply(self, events: Sequence[Event[Any]], **more: Any) -> Any:
            raise LookupError("a target with a bug")

    source = Scripted(Page(pod("a", 3), rv=5), Watch(modified(pod("a", 6))))
    reflector: Reflector[Any] = Reflector(source, Broken(), name="pods", rng=Still())
    task = asyncio.create_task(reflector.run())
    await settle()
    assert reflector.health.state is State.STOPPED
    assert reflector.health.last_error == "LookupError: a target with a bug"
    [record] = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == "pods has ended: LookupError: a target with a bug"
    assert record.exc_info is not None
    with pytest.raises(LookupError):
        await task


# What a target is told


class Listening(Store[Any]):
    """A store that remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def apply(self, events: Sequence[Event[Any]], **more: Any) -> Any:
        self.told.append("apply " + " ".join(event.object.resource_version for event in events))
        return super().apply(events, **more)

    def replace(self, items: Any, resource_version: str, **more: Any) -> Any:
        self.told.append(f"replace {resource_version}")
        return super().replace(items, resource_version, **more)

    def bookmark(self, resource_version: str) -> None:
        self.told.append(f"bookmark {resource_version}")
        super().bookmark(resource_version)

    def resync(self) -> None:
        self.told.append(f"resync at {asyncio.get_running_loop().time():g}")


@pytest.mark.virtual_time
@pytest.mark.clause("H13")
async def test_a_target_is_told_of_every_rv_and_of_bookmarks() -> None:
    store = Listening()
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source, store) as life:
        watch.send(added(pod("a", 6)), bookmark(8), modified(pod("a", 9)), modified(pod("a", 10)))
        await settle()
        assert store.told == ["replace 5", "apply 6", "bookmark 8", "apply 9 10"]
        assert life.reflector.last_sync_resource_version == "10"


@pytest.mark.virtual_time
@pytest.mark.clause("H13", "I3")
async def test_but_not_of_bookmarks_that_say_nothing_new() -> None:
    store = Listening()
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source, store):
        watch.send(added(pod("a", 9)), bookmark(7), bookmark(""))
        await settle()
        assert store.told == ["replace 5", "apply 9"]


@pytest.mark.virtual_time
@pytest.mark.clause("H13")
async def test_the_last_rv_can_be_read_before_and_after() -> None:
    source = Scripted(Page(rv=5), Watch())
    reflector: Reflector[Any] = Reflector(source, Store(), rng=Still())
    assert reflector.last_sync_resource_version == ""
    assert reflector.health.state is State.STARTING
    task = asyncio.create_task(reflector.run())
    await settle()
    reflector.stop()
    await task
    assert reflector.last_sync_resource_version == "5"


# Resync


@pytest.mark.virtual_time
@pytest.mark.clause("H11")
async def test_resync_is_called_each_period_and_talks_to_no_server() -> None:
    store = Listening()
    source = Scripted(Page(rv=5), Watch())
    options = ReflectorOptions(resync_period=40)
    async with reflecting(source, store, options=options):
        await until(125)
        assert store.told[1:] == ["resync at 40", "resync at 80", "resync at 120"]
        assert len(source.requests) == 2


@pytest.mark.virtual_time
@pytest.mark.clause("H11")
async def test_if_should_resync_says_so() -> None:
    store = Listening()
    answers = iter([False, True, False])
    source = Scripted(Page(rv=5), Watch())
    options = ReflectorOptions(resync_period=40)
    async with reflecting(source, store, options=options, should_resync=lambda: next(answers)):
        await until(125)
        assert store.told[1:] == ["resync at 80"]


@pytest.mark.virtual_time
@pytest.mark.clause("H11")
async def test_there_is_none_by_default() -> None:
    store = Listening()
    async with reflecting(Scripted(Page(rv=5), Watch()), store):
        await until(140)
        assert store.told == ["replace 5"]


@pytest.mark.virtual_time
@pytest.mark.clause("H11", "H12")
async def test_a_resync_that_raises_is_logged_and_is_called_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers: list[Exception | None] = [RuntimeError("a bug in should_resync"), None]

    def should_resync() -> bool:
        answer = answers.pop(0)
        if answer is not None:
            raise answer
        return True

    store = Listening()
    source = Scripted(Page(rv=5), watch := Watch())
    options = ReflectorOptions(resync_period=40)
    async with reflecting(source, store, options=options, should_resync=should_resync):
        await until(81)
        assert watch.is_open
        assert store.told[1:] == ["resync at 80"]
    assert "a bug in should_resync" in caplog.text


# Its end


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_it_ends_with_all_that_it_began() -> None:
    source = Scripted(Page(rv=5), Watch())
    tasks = asyncio.all_tasks()
    async with reflecting(source, options=ReflectorOptions(resync_period=5)) as life:
        assert life.reflector.health.state is State.WATCHING
        life.reflector.stop()
        assert life.task is not None
        await asyncio.wait([life.task])
        assert asyncio.all_tasks() == tasks
        assert source.open_watches == 0
        assert life.reflector.health.state is State.STOPPED
        assert life.reflector.health.connected_since is None
        life.reflector.stop()


@pytest.mark.virtual_time
@pytest.mark.clause("H17", "H12")
async def test_what_breaks_because_of_its_stop_is_not_told_as_a_failure() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with reflecting(source) as life:
        watch.fail(ConnectionLost("the client was closed"))
        life.reflector.stop()
        await settle()
        assert life.errors == []
        assert life.setbacks == []


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_one_that_was_stopped_before_does_not_begin() -> None:
    source = Scripted()
    reflector: Reflector[Any] = Reflector(source, Store())
    reflector.stop()
    await reflector.run()
    assert source.requests == []
    assert reflector.health.state is State.STOPPED


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_a_stop_that_falls_into_its_very_beginning_is_not_lost() -> None:
    # A thread may come between any two steps of run(): here at the birth of its task.
    source = Scripted()
    reflector: Reflector[Any] = Reflector(source, Store())
    loop = asyncio.get_running_loop()

    def born(loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
        if "_live" in coro.__qualname__:
            reflector.stop()
        return asyncio.Task(coro, loop=loop, **more)

    task = asyncio.create_task(reflector.run())
    loop.set_task_factory(born)
    try:
        await asyncio.wait([task], timeout=5)
        assert task.done()
    finally:
        loop.set_task_factory(None)
        task.cancel()
        await asyncio.wait([task])


@pytest.mark.clause("H17")
def test_it_may_be_stopped_from_another_thread_at_any_time() -> None:
    for pause in (0.0, 0.001, 0.01):
        source = Scripted(Page(rv=5), Watch())
        reflector: Reflector[Any] = Reflector(source, Store())

        async def run(reflector: Reflector[Any] = reflector, pause: float = pause) -> None:
            done = threading.Event()
            timer = threading.Timer(pause, lambda: (reflector.stop(), done.set()))
            timer.start()
            async with asyncio.timeout(20):
                await reflector.run()
            await asyncio.to_thread(done.wait)
            timer.join()

        asyncio.run(run())
        assert source.open_watches == 0


@pytest.mark.clause("H17")
def test_stopping_one_whose_loop_is_closed_is_nothing() -> None:
    source = Scripted(Page(rv=5), Watch())
    reflector: Reflector[Any] = Reflector(source, Store())

    async def run() -> None:
        asyncio.get_running_loop().call_later(0.01, reflector.stop)
        await reflector.run()

    asyncio.run(run())
    reflector.stop()


@pytest.mark.virtual_time
async def test_one_runs_once() -> None:
    async with reflecting(Scripted(Page(rv=5), Watch())) as life:
        with pytest.raises(RuntimeError, match="make another"):
            await life.reflector.run()


def story() -> Scripted:
    """A bit of everything that awaits something."""
    ends = Watch(end_of_initial_events(9))
    ends.fail()
    return Scripted(
        Delayed(1, refusal(500)),
        Delayed(1, Watch(added(pod("a", 3)), end_of_initial_events(5), failure(410))),
        Delayed(1, Watch(added(pod("a", 3)), failure(404))),
        Delayed(1, Page(pod("a", 3), rv=6, more="c1")),
        Delayed(1, refusal(503)),
        Delayed(1, Page(pod("b", 3), rv=6)),
        Delayed(1, refusal(429, retry_after=2)),
        Delayed(1, Watch(added(pod("c", 7)))),
        Delayed(1, Watch()),
        Delayed(1, Watch()),
        Delayed(1, Watch()),
        Delayed(1, Watch()),
        watch_list=True,
    )


STEPS = range(1, 150)


@pytest.mark.clause("H17", "B8")
@pytest.mark.parametrize("how", ["cancel", "stop"])
def test_at_whatever_step_it_ends_nothing_is_left(how: str) -> None:
    ended_at = set()
    for steps in STEPS:
        source = story()

        async def run(source: Scripted = source, steps: int = steps) -> None:
            reflector: Reflector[Any] = Reflector(
                source,
                Store(),
                kind="Pod",
                rng=Still(),
                options=ReflectorOptions(resync_period=7),
                on_error=lambda reflector, error: None,
            )
            task = asyncio.create_task(reflector.run())
            for _ in range(steps):
                await one_step()
            if how == "cancel":
                task.cancel()
            else:
                reflector.stop()
            await asyncio.wait([task])
            assert task.cancelled() == (how == "cancel")
            assert asyncio.all_tasks() == {asyncio.current_task()}, steps
            assert reflector.health.state is State.STOPPED
            ended_at.add((len(source.requests), len(source.answers)))

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            runner.run(run())
        assert source.open_watches == 0, steps
        assert source.open_lists == 0, steps
    # The steps reach the end of the story.
    assert max(requests for requests, _ in ended_at) > 12
    assert min(left for _, left in ended_at) == 0


async def one_step() -> None:
    """Let the loop turn once; where nothing is ready, let time go on to the next timer."""
    loop = asyncio.get_running_loop()
    if loop._ready:  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return
    due = [handle for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
    await asyncio.sleep(max(min(handle.when() for handle in due) - loop.time(), 0) if due else 0)
