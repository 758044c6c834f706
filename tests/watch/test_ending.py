"""What a watch says of its end, and of when it last brought anything."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch.api import Event
from listwatch.watch import EmptyWatch, StreamWatcher, broken_by, buffered, last_read
from listwatch.wire import EnvelopeError, UnexpectedEOF

from .streams import Body, ScriptDecoder, decoder_of, event, line

pytestmark = pytest.mark.virtual_time


async def read_all(watch: StreamWatcher[Any]) -> list[Event[Any]]:
    return [item async for item in watch]


class TestWhatBrokeItOff:
    @pytest.mark.clause("E2")
    @pytest.mark.parametrize(
        "error", [ConnectionResetError("cut"), TimeoutError("late"), UnexpectedEOF(3)]
    )
    async def test_is_the_error_of_the_connection(self, error: Exception) -> None:
        watch = StreamWatcher(ScriptDecoder([event("a")], error))
        assert broken_by(watch) is None, "it has not ended yet"
        assert len(await read_all(watch)) == 1
        assert broken_by(watch) is error

    @pytest.mark.clause("E2", "C4")
    async def test_is_the_end_inside_a_frame(self) -> None:
        watch = StreamWatcher(decoder_of(Body(line("a") + line("b")[:-5])))
        assert len(await read_all(watch)) == 1
        assert isinstance(broken_by(watch), UnexpectedEOF)

    @pytest.mark.clause("E2")
    async def test_is_nothing_after_a_clean_end(self) -> None:
        watch = StreamWatcher(decoder_of(Body(line("a"))))
        await read_all(watch)
        assert broken_by(watch) is None

    @pytest.mark.clause("E2")
    async def test_is_nothing_where_an_error_event_has_said_it(self) -> None:
        watch = StreamWatcher(ScriptDecoder(EnvelopeError("garbage")))
        assert len(await read_all(watch)) == 1
        assert broken_by(watch) is None

    @pytest.mark.clause("E3")
    async def test_is_nothing_after_a_stop(self) -> None:
        watch = StreamWatcher(decoder_of(Body(ends=False)))
        reader = asyncio.create_task(read_all(watch))
        await asyncio.sleep(1)
        watch.stop()
        assert await reader == []
        assert broken_by(watch) is None

    @pytest.mark.clause("B5")
    async def test_is_why_an_empty_watch_is_empty(self) -> None:
        lost = ConnectionResetError("lost before the answer")
        assert broken_by(EmptyWatch(lost)) is lost
        assert broken_by(EmptyWatch()) is None

    @pytest.mark.clause("E5")
    async def test_is_known_through_a_buffer(self) -> None:
        lost = ConnectionResetError("cut")
        watch = buffered(StreamWatcher(ScriptDecoder([event("a")], lost)), 5)
        assert [item.object async for item in watch] == ["a"]
        assert broken_by(watch) is lost

    async def test_is_unknown_of_watches_that_do_not_say(self) -> None:
        class Other:
            broken = True

        assert broken_by(object()) is None
        assert broken_by(Other()) is None


@pytest.mark.clause("E4")
class TestTheLastRead:
    async def test_is_at_first_when_the_watch_was_opened(self) -> None:
        await asyncio.sleep(5)
        now = asyncio.get_running_loop().time()
        for decoder in (ScriptDecoder(), decoder_of(Body())):
            assert last_read(StreamWatcher(decoder)) == now

    async def test_moves_with_every_read_also_one_that_completes_no_event(self) -> None:
        class Slowly(Body):
            async def receive(self) -> bytes:
                await asyncio.sleep(10)
                return await super().receive()

        watch = StreamWatcher(decoder_of(Slowly(line("a")[:5], line("a")[5:20], line("a")[20:])))
        start = last_read(watch)
        assert start is not None
        reader = asyncio.create_task(read_all(watch))
        seen = []
        for _ in range(5):
            await asyncio.sleep(9)
            seen.append(last_read(watch))
            await asyncio.sleep(1)
            await asyncio.sleep(0)
        assert seen == [start, start + 10, start + 20, start + 30, start + 30]
        assert len(await reader) == 1

    async def test_is_not_moved_by_a_blank_end(self) -> None:
        watch = StreamWatcher(decoder_of(Body()))
        opened = last_read(watch)
        await asyncio.sleep(10)
        assert await read_all(watch) == []
        assert last_read(watch) == opened

    async def test_is_that_of_the_last_event_where_the_decoder_knows_no_bytes(self) -> None:
        watch = StreamWatcher(ScriptDecoder([event("a")], []))
        await asyncio.sleep(10)
        await anext(aiter(watch))
        assert last_read(watch) == asyncio.get_running_loop().time()

    async def test_is_known_through_a_buffer(self) -> None:
        inner = StreamWatcher(ScriptDecoder([event("a")], []))
        assert last_read(buffered(inner, 5)) == last_read(inner)

    async def test_is_unknown_of_watches_that_do_not_say(self) -> None:
        assert last_read(EmptyWatch()) is None
        assert last_read(object()) is None
