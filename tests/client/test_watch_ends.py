"""How a watch ends: with its consumer, or with its client. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest

from listwatch.cache.changes import Changes
from listwatch.cache.mirror import MirrorStopped
from listwatch.client import Client

from .conftest import (
    Bench,
    tasks_besides_this,
    turn,
    write,
)
from .following import Following, take

pytestmark = pytest.mark.virtual_time


# --- leaving it ----------------------------------------------------------------------------------


async def left_by_break(changes: Changes[Any]) -> None:
    async for _ in changes:
        break


async def left_by_exception(changes: Changes[Any]) -> None:
    async def follow() -> None:
        async for _ in changes:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await follow()


async def left_by_cancel(changes: Changes[Any]) -> None:
    begun = asyncio.Event()

    async def follow() -> None:
        async for _ in changes:
            begun.set()

    task = asyncio.create_task(follow())
    await begun.wait()
    await turn()  # it waits for the next event
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def left_by_cancel_in_the_body(changes: Changes[Any]) -> None:
    begun = asyncio.Event()

    async def follow() -> None:
        async for _ in changes:
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(follow())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def left_by_batches(changes: Changes[Any]) -> None:
    async with aclosing(changes.batches()) as batches:  # type: ignore[type-var]
        async for _ in batches:
            break


async def never_iterated(changes: Changes[Any]) -> None:
    pass


LEAVINGS = [
    left_by_break,
    left_by_exception,
    left_by_cancel,
    left_by_cancel_in_the_body,
    left_by_batches,
    never_iterated,
]


@pytest.mark.clause("E3", "H17")
@pytest.mark.parametrize("leave", LEAVINGS, ids=lambda leave: leave.__name__)
async def test_nothing_runs_on_when_it_is_left(
    bench: Bench, client: Client, leave: Callable[[Changes[Any]], Any]
) -> None:
    write(bench.core, "a")
    before = tasks_besides_this()
    await leave(client.watch("cm"))
    await turn()
    assert tasks_besides_this() == before
    assert bench.transport.open_responses == 0
    sent = bench.transport.requests
    await asyncio.sleep(600)
    assert bench.transport.requests == sent


@pytest.mark.clause("E3", "H17")
@pytest.mark.parametrize("how", ["break", "exception", "cancel", "nothing"])
async def test_an_async_with_is_left_only_when_nothing_runs_any_more(
    bench: Bench, client: Client, how: str
) -> None:
    write(bench.core, "a")
    before = tasks_besides_this()
    after: list[Any] = []

    async def follow() -> None:
        try:
            async with client.watch("cm") as changes:
                async for _ in changes:
                    if how == "break":
                        break
                    if how == "exception":
                        raise ZeroDivisionError
                    if how == "cancel":
                        me = asyncio.current_task()
                        assert me is not None
                        me.cancel()
                    if how == "nothing":
                        return
        finally:
            after.append(tasks_besides_this() - before - {asyncio.current_task()})
            after.append(bench.transport.open_responses)

    task = asyncio.create_task(follow())
    before.add(asyncio.current_task())  # type: ignore[arg-type]
    await asyncio.wait([task])
    assert after == [set(), 0]
    assert task.cancelled() == (how == "cancel")
    if how == "exception":
        assert isinstance(task.exception(), ZeroDivisionError)


@pytest.mark.clause("H17")
async def test_it_can_be_left_while_it_waits_for_its_next_round(
    bench: Bench, client: Client
) -> None:
    bench.faults.add("any: answer 503")
    before = tasks_besides_this()
    for delay in (0.0, 0.5, 5.0, 100.0):
        task = asyncio.create_task(take(client.watch("cm"), 1))
        await asyncio.sleep(delay)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        await turn()
        assert tasks_besides_this() == before


# --- the client is closed ------------------------------------------------------------------------


async def test_closing_the_client_ends_a_watch(bench: Bench) -> None:
    write(bench.core, "a")
    client = bench.client()
    following = Following(client.watch("cm"))
    await following.until(1)
    await client.close()
    async with asyncio.timeout(1):
        await following.task  # it ends, and raises nothing
    assert len(following.events) == 1
    await client.close()


async def test_closing_the_client_ends_a_watch_that_waits(bench: Bench) -> None:
    bench.faults.add("any: answer 503")
    client = bench.client()
    following = Following(client.watch("cm"))
    await asyncio.sleep(100)
    await client.close()
    async with asyncio.timeout(1):
        await following.task


async def test_what_is_begun_after_the_client_was_closed_ends_at_once(bench: Bench) -> None:
    client = bench.client()
    changes, mirror = client.watch("cm"), client.mirror("cm")
    await client.close()
    assert [event async for event in changes] == []
    with pytest.raises(MirrorStopped):
        async with mirror:
            await mirror.synced()
    assert bench.transport.requests == 0


async def test_a_closed_client_gives_no_watch(bench: Bench) -> None:
    client = bench.client()
    await client.close()
    with pytest.raises(RuntimeError, match="closed"):
        client.watch("cm")
    with pytest.raises(RuntimeError, match="closed"):
        client.mirror("cm")
