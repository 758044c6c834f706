"""A source that is cancelled inside has failed; it has not been told to stop."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.api import Event, ListOptions
from listwatch.wire import ObjectList

from .scripted import Page, Scripted, Watch, modified, names, pod, reflecting, settle, until

pytestmark = [pytest.mark.clause("H10"), pytest.mark.virtual_time]


async def _waits_for_a_task_that_somebody_cancels() -> None:
    inner = asyncio.get_running_loop().create_task(asyncio.sleep(60))
    asyncio.get_running_loop().call_soon(inner.cancel)
    await inner


class Cancelled(Scripted):
    """Scripted, but that the first so many requests of each verb are cancelled from inside."""

    def __init__(self, *answers: Any, lists: int = 0, watches: int = 0) -> None:
        super().__init__(*answers)
        self._lists, self._watches = lists, watches

    async def alist(self, options: ListOptions, /) -> ObjectList[Any]:
        if self._lists:
            self._lists -= 1
            await _waits_for_a_task_that_somebody_cancels()
        return await super().alist(options)

    async def awatch(self, options: ListOptions, /) -> Any:
        if self._watches:
            self._watches -= 1
            await _waits_for_a_task_that_somebody_cancels()
        return await super().awatch(options)


class CancelledWatch(Watch):
    """A watch that is cancelled from inside while it is read."""

    async def decode(self) -> list[Event[Any]]:
        await _waits_for_a_task_that_somebody_cancels()
        return []


async def test_a_list_that_was_cancelled_inside_the_source_is_made_again() -> None:
    source = Cancelled(Page(pod("a", 5), rv=5), Watch(), lists=1)
    async with reflecting(source) as life:
        await until(20)
        assert names(life.store) == {"a": "5"}
    assert [str(setback.cause) for setback in life.setbacks] == ["source failed"]
    assert "cancelled" in str(life.errors[0])


async def test_a_watch_that_could_not_be_opened_since_it_was_cancelled_is_opened_later() -> None:
    source = Cancelled(Page(pod("a", 5), rv=5), Page(pod("a", 6), rv=6), Watch(), watches=1)
    async with reflecting(source) as life:
        await until(20)
        assert names(life.store) == {"a": "6"}
    assert [str(setback.cause) for setback in life.setbacks] == ["source failed"]


async def test_a_watch_that_is_cancelled_inside_the_source_is_replaced() -> None:
    watch = Watch()
    source = Scripted(Page(pod("a", 5), rv=5), CancelledWatch(), Page(pod("a", 6), rv=6), watch)
    async with reflecting(source) as life:
        await until(20)
        watch.send(modified(pod("a", 7)))
        await settle()
        assert names(life.store) == {"a": "7"}
    assert [str(setback.cause) for setback in life.setbacks] == ["source failed"]
