"""Every recorded LIST and WATCH decodes to what another reading of it says, however it is cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api import Event, EventType, ListWatchError, Unstructured, error_for_response
from listwatch.testing.recording import Recording
from listwatch.wire import (
    JSON_CODEC,
    FramingError,
    LengthDelimitedFramer,
    ListDecodeError,
    UnexpectedEOF,
    UnsupportedContentType,
    WatchDecoder,
    codec_for,
    decode_dict,
    decode_list,
    decode_unstructured,
)
from tests.support import expected
from tests.support.vectors import vector, vectors

LARGE = 200_000
"""Bytes of a body beyond which one way of cutting it byte by byte is enough."""


def _names(choose: Callable[[Recording], bool]) -> list[str]:
    return [recording.name for recording in vectors() if choose(recording)]


def _is_json(recording: Recording) -> bool:
    return recording.media_type == "application/json"


JSON_WATCHES = _names(lambda each: each.is_watch and each.status == 200 and _is_json(each))
JSON_LISTS = _names(lambda each: each.is_list and each.status == 200 and _is_json(each))
PROTOBUF_WATCHES = _names(
    lambda each: (
        each.is_watch
        and each.status == 200
        and each.media_type == "application/vnd.kubernetes.protobuf"
    )
)
READABLE_ERRORS = _names(
    lambda each: each.status >= 400 and each.media_type in ("application/json", "text/plain")
)
OTHER_FORMATS = _names(
    lambda each: (
        each.status == 200 and each.media_type not in ("application/json", "text/plain", "")
    )
)


def test_there_are_vectors_of_every_kind() -> None:
    assert len(JSON_WATCHES) > 150
    assert len(JSON_LISTS) > 150
    assert len(PROTOBUF_WATCHES) > 10
    assert len(READABLE_ERRORS) > 100
    assert len(OTHER_FORMATS) > 40


def whole(body: bytes) -> list[bytes]:
    return [body]


def byte_by_byte(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


def cut_at(body: bytes, places: Iterable[int]) -> list[bytes]:
    edges = [0, *sorted(places), len(body)]
    return [body[start:end] for start, end in pairwise(edges)]


def as_recorded(recording: Recording) -> list[bytes]:
    return [piece for _, piece in recording.pieces()]


def _plain(item: Event[Any] | ListWatchError) -> tuple[Any, ...]:
    """An event in the form of `expected.watch_events`."""
    if isinstance(item, UnexpectedEOF):
        return expected.CUT
    assert isinstance(item, Event), item
    assert item.error is None, item.error
    if item.type is EventType.BOOKMARK:
        metadata = item.object.metadata
        return item.type.value, metadata.resource_version, dict(metadata.annotations)
    if item.status is not None:
        return item.type.value, item.status.code, item.status.reason, item.status.message
    found = item.object
    return item.type.value, found.to_dict() if isinstance(found, Unstructured) else found


def _decode(pieces: Iterable[bytes], decoder: Callable[[bytes], Any]) -> list[tuple[Any, ...]]:
    stream = WatchDecoder(decoder)
    items = [item for piece in pieces for item in stream.feed(piece)] + stream.end()
    return [_plain(item) for item in items]


@cache
def _expected_events(name: str) -> list[tuple[Any, ...]]:
    return expected.watch_events(vector(name).body)


@pytest.mark.clause("C1", "C2", "C4", "D1", "D2", "D3", "D4", "D5")
@pytest.mark.parametrize("decoder", [decode_dict, decode_unstructured], ids=["dict", "lazy"])
@pytest.mark.parametrize("name", JSON_WATCHES)
def test_a_watch_gives_the_events_that_its_bytes_say(
    name: str, decoder: Callable[[bytes], Any]
) -> None:
    recording = vector(name)
    events = _expected_events(name)
    assert _decode(whole(recording.body), decoder) == events
    assert _decode(as_recorded(recording), decoder) == events
    if decoder is decode_dict or len(recording.body) < LARGE:
        assert _decode(byte_by_byte(recording.body), decoder) == events


@pytest.mark.clause("C1")
@settings(deadline=None)
@given(data=st.data())
def test_a_watch_gives_the_same_events_wherever_it_is_cut(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(JSON_WATCHES))
    body = vector(name).body
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=40))
    assert _decode(cut_at(body, places), decode_dict) == _expected_events(name)


@pytest.mark.clause("D7")
@pytest.mark.parametrize("decoder", [decode_dict, decode_unstructured], ids=["dict", "lazy"])
@pytest.mark.parametrize("name", JSON_LISTS)
def test_a_list_gives_the_items_that_its_bytes_say(
    name: str, decoder: Callable[[bytes], Any]
) -> None:
    body = vector(name).body
    read = expected.object_list(body)
    if read["kind"] == "Table":
        with pytest.raises(ListDecodeError, match="Table"):
            decode_list(body, decoder)
        return
    found = decode_list(body, decoder)
    assert not found.undecodable
    assert read == {
        "apiVersion": found.api_version,
        "kind": found.kind,
        "resourceVersion": found.resource_version,
        "continue": found.continue_,
        "remainingItemCount": found.remaining_item_count,
        "items": [item if isinstance(item, dict) else item.to_dict() for item in found],
    }


@pytest.mark.clause("A5", "B6")
@pytest.mark.parametrize("name", READABLE_ERRORS)
def test_a_refused_list_or_watch_is_the_error_that_its_bytes_say(name: str) -> None:
    recording = vector(name)
    content_type = recording.headers.get("Content-Type")
    error = error_for_response(recording.status, content_type, recording.body)
    if recording.body.startswith(b"{"):  # one is labelled as text, and is a Status nevertheless
        [found] = expected.json_values(recording.body)
        assert (error.code, error.reason, error.message) == expected.status(found)
    else:
        assert error.message == recording.body.decode().strip()
    assert error.code == recording.status


@pytest.mark.clause("C1", "C3")
@pytest.mark.parametrize("name", PROTOBUF_WATCHES)
def test_a_protobuf_watch_is_cut_into_its_frames(name: str) -> None:
    recording = vector(name)
    frames = expected.length_delimited(recording.body)
    for pieces in (
        whole(recording.body),
        as_recorded(recording),
        byte_by_byte(recording.body),
    ):
        assert _frames(pieces) == frames


@pytest.mark.clause("C1", "C3")
@settings(deadline=None)
@given(data=st.data())
def test_a_protobuf_watch_gives_the_same_frames_wherever_it_is_cut(data: st.DataObject) -> None:
    body = vector(data.draw(st.sampled_from(PROTOBUF_WATCHES))).body
    places = data.draw(st.lists(st.integers(0, len(body)), max_size=40))
    assert _frames(cut_at(body, places)) == expected.length_delimited(body)


def _frames(pieces: Iterable[bytes]) -> list[bytes | FramingError]:
    framer = LengthDelimitedFramer()
    return [frame for piece in pieces for frame in framer.feed(piece)] + framer.end()


@pytest.mark.clause("B6")
@pytest.mark.parametrize("name", OTHER_FORMATS)
def test_a_format_that_nobody_asked_for_is_refused_by_its_name(name: str) -> None:
    recording = vector(name)
    with pytest.raises(UnsupportedContentType, match=recording.media_type):
        codec_for(recording.headers.get("Content-Type"), [JSON_CODEC])
