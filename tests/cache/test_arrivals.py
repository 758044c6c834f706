"""Waiting until a store shows an RV: to read one's own writes."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from listwatch import ListWatchError
from listwatch.cache import HistoryWentBack, Store

from .pods import added, modified, pod

pytestmark = pytest.mark.clause("I3")


def make(version: str = "10") -> Store[Any]:
    store: Store[Any] = Store()
    store.replace([pod("d/a", 5)], version)
    return store


async def waiting(store: Store[Any], *versions: str) -> list[asyncio.Task[None]]:
    """Tasks that wait, each as far as it comes by itself."""
    tasks = [asyncio.create_task(store.at_least(version)) for version in versions]
    await asyncio.sleep(0)
    return tasks


async def told(tasks: list[asyncio.Task[None]]) -> list[bool]:
    for _ in range(3):
        await asyncio.sleep(0)
    return [task.done() for task in tasks]


async def end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("version", ["9", "10"])
async def test_what_the_store_shows_already_needs_no_wait(version: str) -> None:
    await make().at_least(version, timeout=0)


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.apply([modified(pod("d/a", 12))]),
        lambda store: store.bookmark("12"),
        lambda store: store.replace([], "12"),
    ],
    ids=["event", "bookmark", "replace"],
)
async def test_each_way_in_which_the_store_moves_wakes_those_whose_rv_has_come(write: Any) -> None:
    store = make()
    tasks = await waiting(store, "11", "12", "13")
    assert await told(tasks) == [False, False, False]
    write(store)
    assert await told(tasks) == [True, True, False]
    await end(tasks)


async def test_an_empty_store_may_be_waited_for() -> None:
    store: Store[Any] = Store()
    tasks = await waiting(store, "5")
    assert await told(tasks) == [False]
    store.replace([], "7")
    await tasks[0]


async def test_what_moves_no_rv_wakes_nobody() -> None:
    store = make()
    tasks = await waiting(store, "12")
    store.add(pod("d/b", 12))
    store.apply([added(pod("d/c", 13))], moves_rv=False)
    assert await told(tasks) == [False]
    await end(tasks)


@pytest.mark.virtual_time
async def test_the_wait_ends_with_its_timeout_and_says_where_the_store_is() -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    with pytest.raises(TimeoutError, match=r"RV 12 has not arrived within 3\.0 s; .* at 10"):
        await make().at_least("12", timeout=3.0)
    assert loop.time() - started == pytest.approx(3.0)
    with pytest.raises(TimeoutError, match="at no RV yet"):
        await Store[Any]().at_least("12", timeout=3.0)


@pytest.mark.virtual_time
async def test_somebody_elses_timeout_is_not_taken_for_its_own() -> None:
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(1.0):
            await make().at_least("12", timeout=3.0)
    assert "has not arrived" not in str(caught.value)


@pytest.mark.clause("A2")
@pytest.mark.parametrize("version", ["", "0", "abc", "1.5", "007"])
async def test_an_rv_that_cannot_be_compared_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="cannot be waited for"):
        await make().at_least(version)


@pytest.mark.virtual_time
async def test_whoever_ends_his_wait_leaves_nothing_behind() -> None:
    store = make()
    tasks = await waiting(store, "12", "13", "14")
    assert len(store._arrivals) == 3
    tasks[0].cancel()
    await asyncio.gather(tasks[0], return_exceptions=True)
    assert len(store._arrivals) == 2
    with pytest.raises(TimeoutError):
        await store.at_least("15", timeout=1.0)
    store.bookmark("13")
    await tasks[1]
    assert len(store._arrivals) == 1
    await end(tasks)
    assert len(store._arrivals) == 0


async def test_a_wait_that_is_cancelled_as_its_rv_comes_is_cancelled() -> None:
    store = make()
    tasks = await waiting(store, "12", "12")
    store.bookmark("12")
    tasks[0].cancel()
    with pytest.raises(asyncio.CancelledError):
        await tasks[0]
    await tasks[1]


@pytest.mark.virtual_time
async def test_an_rv_that_comes_at_the_moment_of_the_timeout_has_come() -> None:
    store = make()
    asyncio.get_running_loop().call_later(3.0, store.bookmark, "12")
    await store.at_least("12", timeout=3.0)


@pytest.mark.clause("H18")
@pytest.mark.parametrize("version", ["9", "12", "50"])
async def test_a_new_epoch_wakes_nobody_as_if_his_write_had_come(version: str) -> None:
    store = make()
    [task] = await waiting(store, "12")
    store.replace([], version, new_epoch=True)
    with pytest.raises(HistoryWentBack, match=r"RV 12 .* read the object again"):
        await task


@pytest.mark.clause("H18")
async def test_in_a_new_epoch_its_own_rvs_count() -> None:
    store = make()
    store.replace([], "3", new_epoch=True)
    tasks = await waiting(store, "4", "10")
    store.bookmark("4")
    assert await told(tasks) == [True, False]
    await end(tasks)


def test_who_catches_a_timeout_catches_history_that_went_back() -> None:
    assert issubclass(HistoryWentBack, TimeoutError)
    assert issubclass(HistoryWentBack, ListWatchError)


async def test_a_writer_in_another_thread_wakes_who_waits_in_a_loop() -> None:
    store = make()
    tasks = await waiting(store, "12")
    writer = threading.Thread(target=store.bookmark, args=("12",))
    writer.start()
    await asyncio.wait_for(tasks[0], 20.0)
    writer.join()


def test_a_writer_is_not_troubled_by_a_waiter_whose_loop_is_gone() -> None:
    store = make()
    wait = store.at_least("12")

    async def begin() -> None:
        wait.send(None)

    asyncio.run(begin())
    assert len(store._arrivals) == 1
    store.bookmark("12")
    assert len(store._arrivals) == 0
    wait.close()
