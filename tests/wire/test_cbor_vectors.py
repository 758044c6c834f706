"""Recorded LISTs and WATCHes in CBOR: as another reading has them, and as the same server says the
same objects in JSON.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api import Event, EventType, Unstructured
from listwatch.testing.recording import Recording
from listwatch.wire import (
    EnvelopeError,
    ListDecoder,
    ObjectList,
    UnexpectedEOF,
    WatchDecoder,
    codec_for,
    decode_dict,
    decode_unstructured,
)
from listwatch.wire.cbor_codec import CBOR_CODEC
from tests.support import expected
from tests.support.vectors import vector, vectors
from tests.wire.cbor_items import sequence
from tests.wire.streams import cuts, one_by_one

DECODERS = pytest.mark.parametrize(
    "decoder", [decode_dict, decode_unstructured], ids=["dict", "lazy"]
)


def _is_cbor(recording: Recording) -> bool:
    return recording.status == 200 and recording.media_type.startswith("application/cbor")


WATCHES = [each.name for each in vectors() if _is_cbor(each) and each.is_watch]
LISTS = [each.name for each in vectors() if _is_cbor(each) and each.is_list]


def test_there_are_vectors_of_both_kinds() -> None:
    assert len(WATCHES) >= 8
    assert len(LISTS) >= 7


@pytest.mark.clause("B6", "B9")
@pytest.mark.parametrize("name", [*WATCHES, *LISTS])
def test_the_content_type_of_each_is_ours(name: str) -> None:
    assert codec_for(vector(name).headers.get("Content-Type"), [CBOR_CODEC]) is CBOR_CODEC


def plain(item: Any) -> tuple[Any, ...]:
    """An event in the form of `expected.watch_events`."""
    assert isinstance(item, Event), item
    assert item.error is None, item.error
    if item.type is EventType.BOOKMARK:
        metadata = item.object.metadata
        return item.type.value, metadata.resource_version, dict(metadata.annotations)
    if item.status is not None:
        return item.type.value, item.status.code, item.status.reason, item.status.message
    found = item.object
    return item.type.value, found.to_dict() if isinstance(found, Unstructured) else found


def events(pieces: Iterable[bytes], decoder: Callable[[bytes], Any]) -> list[tuple[Any, ...]]:
    watch = WatchDecoder(decoder, codec=CBOR_CODEC)
    found = [each for piece in pieces for each in watch.feed(piece)] + watch.end()
    return [plain(each) for each in found]


def as_recorded(name: str) -> list[bytes]:
    return [piece for _, piece in vector(name).pieces()]


@cache
def expected_events(name: str) -> list[tuple[Any, ...]]:
    return expected.watch_events(json_lines(name))


@cache
def json_lines(name: str) -> bytes:
    """What the body would be in JSON."""
    return "\n".join(map(json.dumps, sequence(vector(name).body))).encode()


@pytest.mark.clause("C1", "C3", "D1", "D2", "D3", "D4", "D5")
@DECODERS
@pytest.mark.parametrize("name", WATCHES)
def test_a_watch_gives_the_events_that_its_bytes_say(
    name: str, decoder: Callable[[bytes], Any]
) -> None:
    body = vector(name).body
    for pieces in ([body], as_recorded(name), one_by_one(body)):
        assert events(pieces, decoder) == expected_events(name)


@pytest.mark.clause("C1")
@settings(deadline=None)
@given(st.sampled_from(WATCHES), st.lists(st.integers(0, 10_000), max_size=20))
def test_a_watch_gives_the_same_events_wherever_it_is_cut(name: str, places: list[int]) -> None:
    assert events(cuts(vector(name).body, places), decode_dict) == expected_events(name)


@pytest.mark.clause("C4")
@pytest.mark.parametrize("name", WATCHES)
def test_a_watch_that_is_cut_off_at_any_byte_gives_the_events_before_and_says_so(
    name: str,
) -> None:
    body = vector(name).body
    watch = WatchDecoder(decode_dict, codec=CBOR_CODEC)
    ends = {0}
    for at in range(1, len(body) + 1):
        if watch.feed(body[at - 1 : at]):
            ends.add(at)
    for at in range(0, len(body), 13):
        watch = WatchDecoder(decode_dict, codec=CBOR_CODEC)
        found = watch.feed(body[:at])
        assert [plain(each) for each in found] == expected_events(name)[: len(found)]
        assert [type(each) for each in watch.end()] == ([] if at in ends else [UnexpectedEOF])


def read(pieces: Iterable[bytes], decoder: Callable[[bytes], Any]) -> ObjectList[Any]:
    body = ListDecoder(decoder, codec=CBOR_CODEC)
    found = [each for piece in pieces for each in body.feed(piece)]
    return body.whole(found + body.end())


@pytest.mark.clause("C1", "C8", "D7")
@DECODERS
@pytest.mark.parametrize("name", LISTS)
def test_a_list_gives_the_items_that_its_bytes_say(
    name: str, decoder: Callable[[bytes], Any]
) -> None:
    body = vector(name).body
    for pieces in ([body], as_recorded(name), one_by_one(body)):
        found = read(pieces, decoder)
        assert not found.undecodable
        assert expected.object_list(json_lines(name)) == {
            "apiVersion": found.api_version,
            "kind": found.kind,
            "resourceVersion": found.resource_version,
            "continue": found.continue_,
            "remainingItemCount": found.remaining_item_count,
            "items": [each if isinstance(each, dict) else each.to_dict() for each in found],
        }


Known = tuple[str, ...]


def identity(found: Any) -> Known:
    metadata = found["metadata"]
    return found["apiVersion"], found["kind"], metadata["uid"], metadata["resourceVersion"]


def objects_in(recording: Recording) -> Iterator[Any]:
    """The objects of a recording in JSON that have a UID."""
    if recording.is_watch:
        found = [each[1] for each in expected.watch_events(recording.body) if len(each) == 2]
    elif recording.is_list and b'"kind":"Table"' not in recording.body:
        found = expected.object_list(recording.body)["items"]
    else:
        found = []
    return (each for each in found if "uid" in each.get("metadata", ()))


@cache
def in_json() -> dict[Known, set[str]]:
    """Every recorded object as the server said it in JSON."""
    known = defaultdict(set)
    for recording in vectors():
        if recording.status == 200 and recording.media_type == "application/json":
            for found in objects_in(recording):
                known[identity(found)].add(json.dumps(found, sort_keys=True))
    return known


@pytest.mark.clause("B9", "D1")
def test_an_object_in_cbor_is_the_same_that_the_server_says_in_json() -> None:
    compared = set()
    for name in WATCHES:
        for event in events([vector(name).body], decode_dict):
            if event[0] not in ("BOOKMARK", "ERROR"):
                compared.add(compare(event[1]))
    for name in LISTS:
        compared.update(map(compare, read([vector(name).body], decode_dict)))
    assert {each[1] for each in compared if each} == {
        "ConfigMap",
        "Node",
        "PartialObjectMetadata",
        "Pod",
        "Widget",
    }
    assert len(compared) > 10


def compare(found: Any) -> Known | None:
    said = in_json().get(identity(found))
    if said is None:
        return None
    assert json.dumps(found, sort_keys=True) in said
    return identity(found)


@pytest.mark.clause("B9")
def test_an_answer_that_is_one_object_is_the_same_in_json() -> None:
    found = decode_dict(CBOR_CODEC.object_bytes(vector("k-cbor-get-configmap").body))
    assert found["data"] == {"key": "value 0 é\u2028 <&>"}
    assert compare(found) is not None


@pytest.mark.clause("A5", "B9")
def test_the_status_of_a_refused_request_is_read() -> None:
    status = CBOR_CODEC.decode_status(vector("k-cbor-get-missing").body)
    assert (status.code, status.reason) == (404, "NotFound")
    assert status.message == 'configmaps "nope" not found'
    assert status.details is not None
    assert (status.details.kind, status.details.name) == ("configmaps", "nope")


@pytest.mark.clause("B6", "D2")
def test_a_recorded_watch_in_json_is_no_sequence_of_events_in_cbor() -> None:
    watch = WatchDecoder(decode_dict, codec=CBOR_CODEC)
    found = watch.feed(vector("5-cbor-watch-json").body) + watch.end()
    assert not any(isinstance(each, Event) for each in found)
    assert isinstance(found[0], EnvelopeError | UnexpectedEOF)
