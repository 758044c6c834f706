"""What client-go and apimachinery try of framers, decoders and stream watchers (docs/parity.md)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from listwatch.api import Event, EventType, PartialObjectMetadata, Status, Unstructured
from listwatch.watch import BodyDecoder, EmptyWatch, StreamWatcher
from listwatch.wire import (
    JSONFramer,
    LengthDelimitedFramer,
    ObjectTooLarge,
    StreamDecoder,
    UnexpectedEOF,
    WatchDecoder,
    decode_unstructured,
    json_frame,
    length_delimited_frame,
)
from tests.watch.streams import Body, ScriptDecoder, event

FRAMES = bytes.fromhex("00000004 01020304 00000003 050607 00000000 00000001 08")


@pytest.mark.clause("C1", "C3")
@pytest.mark.parametrize("size", [1, 2, 3, 40])
def test_frames_come_out_whole_whatever_the_reads_are_and_an_empty_one_too(size: int) -> None:
    framer = LengthDelimitedFramer()
    found = []
    for start in range(0, len(FRAMES), size):
        found += framer.feed(FRAMES[start : start + size])
    assert found == [b"\x01\x02\x03\x04", b"\x05\x06\x07", b"", b"\x08"]
    assert framer.end() == []


@pytest.mark.clause("C4")
def test_a_frame_shorter_than_its_prefix_says_is_no_frame_and_the_stream_is_over() -> None:
    framer = LengthDelimitedFramer()
    assert framer.feed(FRAMES[:6]) == []
    [fault] = framer.end()
    assert isinstance(fault, UnexpectedEOF)
    assert framer.end() == []


@pytest.mark.clause("C2", "C1")
@pytest.mark.parametrize("size", [1, 3, 20])
def test_json_values_of_any_kind_are_frames_and_the_last_needs_no_newline(size: int) -> None:
    stream = b'{"test":true}\n1\n["a"]'
    framer = JSONFramer()
    found: list[Any] = []
    for start in range(0, len(stream), size):
        found += framer.feed(stream[start : start + size])
    found += framer.end()
    assert found == [b'{"test":true}', b"1", b'["a"]']
    assert framer.end() == []


@pytest.mark.clause("C6", "A7")
@pytest.mark.parametrize("framer", [JSONFramer, LengthDelimitedFramer])
def test_a_frame_does_not_change_with_what_is_fed_afterwards(framer: Any) -> None:
    """Also one that was put together in the framer's own buffer, which is used again."""
    write = json_frame if framer is JSONFramer else length_delimited_frame
    cut = framer()
    kept: list[bytes] = []
    for n in range(100):
        frame = write(b'{"a":%d}' % n)
        kept += cut.feed(frame[:6])
        kept += cut.feed(frame[6:])
    assert kept == [b'{"a":%d}' % n for n in range(100)]
    assert {type(frame) for frame in kept} == {bytes}


@pytest.mark.clause("C5", "C6")
def test_of_small_large_and_giant_frames_only_the_giant_is_missing() -> None:
    sizes = (1025, 5 * 1024, 17 * 1024 * 1024, 1025)
    decoder = StreamDecoder(LengthDelimitedFramer(), bytes, limit=16 * 1024 * 1024)
    found: list[Any] = []
    for size in sizes:
        found += decoder.feed(length_delimited_frame(bytes(size)))
    found += decoder.end()
    assert [len(item) for item in found if isinstance(item, bytes)] == [1025, 5 * 1024, 1025]
    fault = found[2]
    assert isinstance(fault, ObjectTooLarge)
    assert fault.size == sizes[2]


@pytest.mark.clause("C4")
def test_a_stream_of_nothing_ends_clean() -> None:
    for decoder in (
        StreamDecoder(JSONFramer(), bytes),
        StreamDecoder(LengthDelimitedFramer(), bytes),
        WatchDecoder(decode_unstructured),
    ):
        assert decoder.feed(b"") == []
        assert decoder.end() == []


POD = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "foo", "resourceVersion": "7"}}


@pytest.mark.clause("C3", "D1", "D3", "D4")
@pytest.mark.parametrize("kind", list(EventType))
def test_what_is_written_as_an_event_is_read_as_that_event(kind: EventType) -> None:
    frame = json_frame(json.dumps({"type": kind.value, "object": POD}).encode())
    decoder = WatchDecoder(decode_unstructured)
    [found] = decoder.feed(frame)
    assert isinstance(found, Event)
    assert found.type is kind
    match kind:
        case EventType.ERROR:
            assert isinstance(found.object, Status)
        case EventType.BOOKMARK:
            assert isinstance(found.object, PartialObjectMetadata)
            assert found.object.resource_version == "7"
        case _:
            assert isinstance(found.object, Unstructured)
            assert found.object.to_dict() == POD
    assert decoder.end() == []


@pytest.mark.virtual_time
@pytest.mark.clause("E2")
async def test_a_source_that_closes_before_its_first_event_ends_the_watch() -> None:
    body = Body()
    watch = StreamWatcher(BodyDecoder(body, WatchDecoder(decode_unstructured)))
    assert [item async for item in watch] == []
    assert body.closed.is_set()


@pytest.mark.virtual_time
@pytest.mark.clause("E2", "E6")
async def test_a_decoder_that_fails_gives_one_error_in_the_words_of_the_reporter_and_the_end() -> (
    None
):
    class Words:
        def report(self, error: Exception) -> Status:
            return Status(code=500, message=f"reported: {error}")

    decoder = ScriptDecoder(RuntimeError("test error"))
    watch = StreamWatcher(decoder, Words())
    events = [item async for item in watch]
    assert [item.type for item in events] == [EventType.ERROR]
    assert events[0].object.message == "reported: test error"
    assert decoder.closings == 1
    watch.stop()
    assert [item async for item in watch] == []


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
async def test_an_error_that_comes_when_the_watch_is_stopped_is_told_to_nobody() -> None:
    decoder = ScriptDecoder(RuntimeError("test error"))
    watch = StreamWatcher(decoder)
    await asyncio.sleep(1)
    watch.stop()
    await asyncio.sleep(1)
    assert [item async for item in watch] == []
    assert decoder.closings == 1


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
async def test_stopping_an_empty_watch_before_and_after_its_end_is_nothing() -> None:
    watch: EmptyWatch[str] = EmptyWatch()
    assert [item async for item in watch] == []
    watch.stop()
    watch.stop()
    assert [item async for item in watch] == []


@pytest.mark.virtual_time
@pytest.mark.clause("E1")
async def test_each_event_arrives_before_the_next_is_sent() -> None:
    class OneByOne(ScriptDecoder):
        async def decode(self) -> list[Event[Any]]:
            sent.append(f"sent {self.calls}")
            return await super().decode()

    sent: list[str] = []
    watch = StreamWatcher(OneByOne([event("a")], [event("b")], [event("c")], []))
    async for item in watch:
        sent += [item.object]
    assert sent == ["sent 0", "a", "sent 1", "b", "sent 2", "c", "sent 3"]
