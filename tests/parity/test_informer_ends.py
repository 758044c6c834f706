"""Shared informers: handlers that fail, and that end, as client-go tries it (docs/parity.md)."""

from __future__ import annotations

import asyncio
import logging
import threading

import pytest

from listwatch.api import Unstructured
from tests.cache.scripted import (
    Page,
    Watch,
    added,
    pod,
    settle,
)

from .handlers import Blocked, Handler, make, said

pytestmark = pytest.mark.virtual_time


# Handlers that fail, and that end


@pytest.mark.clause("K4", "K3")
@pytest.mark.parametrize("pods", [1, 5])
async def test_a_handler_that_raises_each_time_is_logged_each_time_and_told_all_and_is_synced(
    pods: int, caplog: pytest.LogCaptureFixture
) -> None:
    """client-go's waits a second after each, and is never synced."""

    async def raises(obj: Unstructured, in_initial_list: bool) -> None:
        raise RuntimeError("a handler with a bug")

    informer, _ = make(Page(*[pod(f"pod{n}", n + 1) for n in range(pods)], rv=9), Watch())
    first = informer.add_handler(on_add=raises, name="first")
    second = informer.add_handler(on_add=raises, name="second")
    good = Handler()
    informer.add_handler(good)
    with caplog.at_level(logging.ERROR, "listwatch.cache"):
        async with informer:
            await first.synced(timeout=1)
            await second.synced(timeout=1)
            assert asyncio.get_running_loop().time() == 0
            assert first.failures == second.failures == pods
    for name in ("first", "second"):
        logged = [record for record in caplog.records if name in record.getMessage()]
        assert len(logged) == pods
        assert all("default/pod" in record.getMessage() for record in logged)
    assert len(good.told) == pods


@pytest.mark.clause("K5")
async def test_removing_a_handler_at_work_does_not_wait_for_it_and_what_it_does_it_finishes() -> (
    None
):
    informer, _ = make(Page(rv=1), watch := Watch())
    handler = Blocked()
    registration = informer.add_handler(handler)
    async with informer:
        await settle()
        watch.send(added(pod("pod1", 2)), added(pod("pod2", 3)))
        await handler.began.wait()
        registration.remove()
        assert handler.told == []
        handler.let.set()
        await settle()
        assert handler.told == ["pod12"], "and it is told nothing more"


@pytest.mark.clause("K5")
async def test_whoever_waits_for_the_removal_finds_the_handler_at_its_end() -> None:
    informer, _ = make(Page(rv=1), watch := Watch())
    handler = Blocked()
    registration = informer.add_handler(handler)
    async with informer:
        await settle()
        watch.send(added(pod("pod1", 2)))
        await handler.began.wait()
        removal = asyncio.create_task(registration.removed())
        await settle()
        assert not removal.done()
        handler.let.set()
        await removal
        assert handler.told == ["pod12"]


@pytest.mark.clause("K5")
@pytest.mark.parametrize("story", ["never started", "added later", "added before"])
async def test_waiting_for_the_removal_of_an_idle_handler_is_short(story: str) -> None:
    informer, _ = make(Page(pod("a", 1), rv=1), Watch())
    if story == "never started":
        await informer.add_handler(Handler()).removed()
        return
    before = informer.add_handler(Handler())
    async with informer:
        await informer.synced(timeout=10)
        later = informer.add_handler(Handler())
        await (before if story == "added before" else later).removed()
        assert asyncio.get_running_loop().time() == 0


@pytest.mark.clause("H17")
@pytest.mark.parametrize("story", ["a handler before", "a handler later", "never run"])
async def test_nothing_runs_on_after_it(story: str) -> None:
    tasks = asyncio.all_tasks()
    informer, source = make(Page(pod("a", 1), rv=1), Watch())
    if story != "a handler later":
        informer.add_handler(Handler())
    if story != "never run":
        async with informer:
            await informer.synced(timeout=10)
            if story == "a handler later":
                informer.add_handler(Handler())
            await settle()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0


@pytest.mark.clause("K1", "K4")
async def test_a_handler_in_a_thread_may_block_and_ends_with_its_removal() -> None:
    loop = asyncio.get_running_loop()
    began, let = asyncio.Event(), threading.Event()
    told: list[str] = []

    def blocks(obj: Unstructured, in_initial_list: bool) -> None:
        loop.call_soon_threadsafe(began.set)
        assert let.wait(20)
        told.append(said(obj))

    informer, _ = make(Page(pod("a", 1), rv=1), watch := Watch())
    other = Handler()
    registration = informer.add_handler(on_add=blocks)
    informer.add_handler(other)
    async with informer:
        await began.wait()
        watch.send(added(pod("b", 2)))
        await settle()
        assert other.told == ["+a1", "b2"]
        let.set()
        await registration.removed()
        assert told == ["a1"]
