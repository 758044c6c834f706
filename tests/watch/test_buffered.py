"""A bounded buffer in front of a consumer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from listwatch.watch import StreamWatcher, Watch, buffered

from .streams import ScriptDecoder, event

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("E5")]


def watch_of(*names: str, ends: bool = True) -> tuple[ScriptDecoder, Watch[str]]:
    decoder = ScriptDecoder(*([event(name)] for name in names), *([[]] if ends else []))
    return decoder, StreamWatcher(decoder)


async def names(watch: Watch[Any]) -> list[str]:
    return [item.object async for item in watch]


async def test_it_gives_the_same_events_in_the_same_order() -> None:
    _, watch = watch_of(*"abcdefgh")
    assert await names(buffered(watch, 3)) == list("abcdefgh")


async def test_it_reads_ahead_up_to_its_size_and_no_further() -> None:
    decoder, watch = watch_of(*"abcdefgh")
    async with buffered(watch, 3) as ahead:
        await asyncio.sleep(60)
        assert decoder.calls == 4  # three in the buffer, one waits to get in
        events = aiter(ahead)
        assert (await anext(events)).object == "a"
        await asyncio.sleep(60)
        assert decoder.calls == 5


async def test_its_batches_are_what_it_holds() -> None:
    _, watch = watch_of(*"abcd")
    async with buffered(watch, 10) as ahead:
        await asyncio.sleep(1)
        assert [[item.object for item in batch] async for batch in ahead.batches()] == [
            list("abcd")
        ]


@pytest.mark.clause("E3")
async def test_stop_wakes_its_consumer_and_stops_what_is_behind_it() -> None:
    decoder, watch = watch_of("a", ends=False)
    ahead = buffered(watch, 3)
    reader = asyncio.create_task(names(ahead))
    await decoder.waiting.wait()
    thread = threading.Thread(target=ahead.stop)
    thread.start()
    assert await reader == ["a"]
    thread.join()
    assert decoder.closings == 1


@pytest.mark.clause("E3")
async def test_nothing_is_delivered_after_stop() -> None:
    _, watch = watch_of(*"abcd")
    seen = []
    ahead = buffered(watch, 10)
    async for item in ahead:
        seen.append(item.object)
        ahead.stop()
    assert seen == ["a"]


@pytest.mark.clause("E3")
async def test_leaving_it_ends_its_task() -> None:
    decoder, watch = watch_of("a", ends=False)
    async for _ in buffered(watch, 1):
        break
    await asyncio.sleep(1)
    assert decoder.closings == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_its_consumer_ends_its_task() -> None:
    decoder, watch = watch_of(ends=False)
    reader = asyncio.create_task(names(buffered(watch, 1)))
    await decoder.waiting.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert decoder.closings == 1


async def test_a_size_of_none_is_refused() -> None:
    _, watch = watch_of("a")
    with pytest.raises(ValueError, match="at least 1"):
        buffered(watch, 0)
    watch.stop()
