"""One stream of events to one consumer."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

from listwatch.api import Event, EventType, Status
from listwatch.watch import EmptyWatch, StreamWatcher, Watch
from listwatch.wire import EnvelopeError, ObjectTooLarge, UnexpectedEOF

from .streams import Body, ScriptDecoder, decoder_of, event, line

pytestmark = pytest.mark.virtual_time


async def names(watch: Watch[Any]) -> list[str]:
    return [
        item.object if isinstance(item.object, str) else item.object.name async for item in watch
    ]


@pytest.mark.clause("E1", "E2")
async def test_events_come_in_order_and_a_clean_end_ends_the_iteration() -> None:
    body = Body(line("a") + line("b")[:9], line("b")[9:] + line("c"))
    assert await names(StreamWatcher(decoder_of(body))) == ["a", "b", "c"]
    assert body.closed.is_set()


@pytest.mark.clause("E1")
async def test_nothing_is_read_before_somebody_asks_nor_ahead_of_the_batch_in_hand() -> None:
    body = Body(line("a") + line("b"), line("c"))
    watch = StreamWatcher(decoder_of(body))
    await asyncio.sleep(60)
    assert body.reads == 0
    events = aiter(watch)
    assert (await anext(events)).object.name == "a"
    await asyncio.sleep(60)
    assert body.reads == 1
    assert (await anext(events)).object.name == "b"
    assert body.reads == 1
    assert (await anext(events)).object.name == "c"
    watch.stop()


@pytest.mark.clause("E1")
async def test_a_batch_is_what_one_read_brought() -> None:
    body = Body(line("a") + line("b"), line("c")[:5], line("c")[5:])
    batches = [
        [item.object.name for item in batch]
        async for batch in StreamWatcher(decoder_of(body)).batches()
    ]
    assert batches == [["a", "b"], ["c"]]


@pytest.mark.clause("E2")
@pytest.mark.parametrize(
    "end",
    [
        ConnectionResetError("reset"),
        BrokenPipeError(),
        TimeoutError("silence"),
        UnexpectedEOF(5),
        EOFError(),
    ],
)
async def test_a_stream_that_breaks_off_just_ends(
    end: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "listwatch"):
        assert await names(StreamWatcher(ScriptDecoder([event("a")], end))) == ["a"]
    assert "broke off" in caplog.text


@pytest.mark.clause("E2")
async def test_an_end_inside_an_event_just_ends_after_the_events_before_it() -> None:
    assert await names(StreamWatcher(decoder_of(Body(line("a") + line("b")[:20])))) == ["a"]


@pytest.mark.clause("E2")
@pytest.mark.parametrize(
    "bad", [b"<html>oops\n", b'{"type":"NEW","object":{}}\n', b'{"type":"ADDED"}\n']
)
async def test_any_other_fault_is_one_error_event_and_the_end(bad: bytes) -> None:
    body = Body(line("a") + bad + line("never"), line("never"))
    first, error = [item async for item in StreamWatcher(decoder_of(body))]
    assert first.object.name == "a"
    assert error.type is EventType.ERROR
    status = error.object
    assert isinstance(status, Status)
    assert (status.code, status.reason) == (500, "InternalError")
    assert status.details is not None
    assert "ClientWatchDecoding" in [cause.reason for cause in status.details.causes]
    assert body.closed.is_set()


@pytest.mark.clause("E2", "C5")
@pytest.mark.parametrize("fault", [ObjectTooLarge(10, 20), EnvelopeError("no event")])
async def test_what_the_decoder_raises_is_told_in_words(fault: Exception) -> None:
    [error] = [item async for item in StreamWatcher(ScriptDecoder(fault))]
    assert str(fault) in error.object.message


@pytest.mark.clause("E2", "D6")
async def test_an_object_that_its_decoder_rejects_does_not_end_the_watch() -> None:
    bad = b'{"type":"ADDED","object":{"metadata":{"name":5}}}\n'
    found = [item async for item in StreamWatcher(decoder_of(Body(line("a") + bad + line("b"))))]
    assert [item.error is None for item in found] == [True, False, True]


@pytest.mark.clause("E3")
async def test_stop_wakes_a_read_that_waits_and_lets_the_source_go() -> None:
    decoder = ScriptDecoder([event("a")])
    watch = StreamWatcher(decoder)
    reader = asyncio.create_task(names(watch))
    await decoder.waiting.wait()
    watch.stop()
    assert await reader == ["a"]
    assert not reader.cancelled()
    assert decoder.closings == 1


@pytest.mark.clause("E3")
async def test_stop_is_idempotent_and_nothing_is_delivered_after_it() -> None:
    decoder = ScriptDecoder([event("a"), event("b")], [event("c")])
    watch = StreamWatcher(decoder)
    seen = []
    async for item in watch:
        seen.append(item.object)
        watch.stop()
        watch.stop()
    assert seen == ["a"]
    assert decoder.closings == 1
    assert await names(watch) == []
    assert decoder.calls == 1


@pytest.mark.clause("E3")
async def test_a_batch_that_arrives_while_the_watch_is_stopped_is_not_delivered() -> None:
    class Late(ScriptDecoder):
        async def decode(self) -> list[Event[Any]]:
            watch.stop()
            return [event("late")]

    watch: StreamWatcher[Any] = StreamWatcher(Late())
    assert await names(watch) == []
    assert asyncio.current_task().cancelling() == 0  # type: ignore[union-attr]


@pytest.mark.clause("E3")
async def test_stop_before_the_first_read_is_a_watch_without_events() -> None:
    decoder = ScriptDecoder([event("a")])
    watch = StreamWatcher(decoder)
    watch.stop()
    assert await names(watch) == []
    assert (decoder.calls, decoder.closings) == (0, 1)


@pytest.mark.clause("E3")
async def test_leaving_the_context_is_a_stop() -> None:
    decoder = ScriptDecoder([event("a")])
    async with StreamWatcher(decoder) as watch:
        assert await anext(watch.batches()) == [event("a")]
    assert decoder.closings == 1


@pytest.mark.clause("E3")
async def test_leaving_the_loop_is_a_stop() -> None:
    decoder = ScriptDecoder([event("a")])
    async for _ in StreamWatcher(decoder):
        break
    await asyncio.sleep(1)  # the generator behind the loop is closed by a task of its own
    assert decoder.closings == 1


@pytest.mark.clause("E3", "B8")
async def test_cancelling_the_reader_is_a_stop_and_stays_a_cancellation() -> None:
    decoder = ScriptDecoder()
    reader = asyncio.create_task(names(StreamWatcher(decoder)))
    await decoder.waiting.wait()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader
    assert decoder.closings == 1


@pytest.mark.clause("E3")
async def test_a_cancellation_at_the_same_moment_as_the_stop_is_not_swallowed() -> None:
    decoder = ScriptDecoder()
    watch = StreamWatcher(decoder)
    reader = asyncio.create_task(names(watch))
    await decoder.waiting.wait()
    watch.stop()
    reader.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reader


@pytest.mark.clause("E3")
async def test_a_stop_inside_a_timeout_leaves_the_timeout_working() -> None:
    decoder = ScriptDecoder()
    watch = StreamWatcher(decoder)
    loop = asyncio.get_running_loop()
    loop.call_later(5, watch.stop)
    begin = loop.time()

    async def stopped_then_too_long() -> None:
        async with asyncio.timeout(10):
            assert await names(watch) == []
            assert loop.time() - begin == 5
            await asyncio.sleep(60)

    with pytest.raises(TimeoutError):
        await stopped_then_too_long()
    assert loop.time() - begin == 10


@pytest.mark.clause("E3")
async def test_stop_may_be_called_from_any_thread() -> None:
    decoder = ScriptDecoder([event("a")])
    watch = StreamWatcher(decoder)
    reader = asyncio.create_task(names(watch))
    await decoder.waiting.wait()
    thread = threading.Thread(target=watch.stop)
    thread.start()
    assert await reader == ["a"]
    thread.join()
    assert decoder.closings == 1


@pytest.mark.clause("E3")
async def test_a_body_that_is_closed_under_its_reader_makes_no_noise(
    caplog: pytest.LogCaptureFixture,
) -> None:
    body = Body(line("a"), ends=False)
    watch = StreamWatcher(decoder_of(body))
    reader = asyncio.create_task(names(watch))
    await asyncio.sleep(1)
    with caplog.at_level(logging.DEBUG, "listwatch"):
        watch.stop()
        assert await reader == ["a"]
    assert caplog.text == ""


@pytest.mark.clause("E1")
async def test_a_second_reader_at_the_same_time_is_a_mistake_that_is_told() -> None:
    decoder = ScriptDecoder()
    watch = StreamWatcher(decoder)
    reader = asyncio.create_task(names(watch))
    await decoder.waiting.wait()
    with pytest.raises(RuntimeError, match="one consumer"):
        await names(watch)
    assert await reader == []  # whose watch the mistake has ended


@pytest.mark.clause("E6")
async def test_a_bug_in_the_decoder_is_an_error_event_and_a_log_entry(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = [
        item async for item in StreamWatcher(ScriptDecoder([event("a")], ZeroDivisionError("bug")))
    ]
    assert [item.type for item in found] == [EventType.ADDED, EventType.ERROR]
    assert "bug" in caplog.text


@pytest.mark.clause("E6")
async def test_a_bug_in_the_reporter_does_not_hide_what_was_to_be_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken:
        def report(self, error: Exception) -> Status:
            raise ZeroDivisionError("reporter")

    [error] = [
        item async for item in StreamWatcher(ScriptDecoder(EnvelopeError("the frame")), Broken())
    ]
    assert "the frame" in error.object.message
    assert "reporter" in caplog.text


@pytest.mark.clause("E6")
async def test_a_bug_in_closing_the_decoder_reaches_the_log_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(ScriptDecoder):
        def close(self) -> None:
            raise ZeroDivisionError("close")

    watch = StreamWatcher(Broken([event("a")], []))
    assert await names(watch) == ["a"]
    assert "close" in caplog.text


@pytest.mark.clause("E6")
async def test_a_reporter_of_ones_own_words_the_error() -> None:
    class Mine:
        def report(self, error: Exception) -> Status:
            return Status(code=418, message=f"mine: {error}")

    [error] = [item async for item in StreamWatcher(ScriptDecoder(EnvelopeError("x")), Mine())]
    assert (error.object.code, error.object.message) == (418, "mine: x")


@pytest.mark.clause("B5")
async def test_the_empty_watch_ends_at_once() -> None:
    watch: EmptyWatch[str] = EmptyWatch()
    assert await names(watch) == []
    assert [batch async for batch in watch.batches()] == []
    async with watch:
        watch.stop()


def test_a_watch_may_be_stopped_after_its_loop_is_gone() -> None:
    decoder: ScriptDecoder | None = None

    async def opened() -> StreamWatcher[Any]:
        nonlocal decoder
        decoder = ScriptDecoder()
        return StreamWatcher(decoder)

    watch = asyncio.run(opened())
    watch.stop()
    assert decoder is not None
    assert decoder.closings == 1
