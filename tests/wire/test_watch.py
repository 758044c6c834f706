"""Envelopes to events."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from listwatch.api import (
    Event,
    EventType,
    ListWatchError,
    PartialObjectMetadata,
    Status,
    Unstructured,
)
from listwatch.wire import (
    EnvelopeError,
    LengthDelimitedFramer,
    ObjectDecodeError,
    ObjectTooLarge,
    StreamDecoder,
    UnexpectedEOF,
    WatchDecoder,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
    length_delimited_frame,
)

POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "default", "uid": "u-1", "resourceVersion": "7"},
    "spec": {"nodeName": "node-1"},
}


def line(**envelope: Any) -> bytes:
    return json.dumps(envelope).encode() + b"\n"


def only(found: list[Event[Any] | ListWatchError]) -> Event[Any]:
    [event] = found
    assert isinstance(event, Event)
    return event


@pytest.mark.clause("D1", "D5")
@pytest.mark.parametrize("kind", ["ADDED", "MODIFIED", "DELETED"])
def test_an_event_is_its_type_and_its_object(kind: str) -> None:
    event = only(WatchDecoder(decode_unstructured).feed(line(type=kind, object=POD)))
    assert event.type is EventType(kind)
    assert (event.object.key, event.object.resource_version) == ("default/web", "7")
    assert event.object.to_dict() == POD
    assert event.error is None


@pytest.mark.clause("D1")
def test_the_object_is_decoded_once_and_its_own_bytes_come_along() -> None:
    calls: list[bytes] = []

    def decoder(raw: bytes) -> str:
        calls.append(raw)
        return "decoded"

    event = only(WatchDecoder(decoder).feed(line(type="ADDED", object=POD)))
    assert event.object == "decoded"
    assert calls == [event.raw]
    assert json.loads(event.raw) == POD


@pytest.mark.clause("D2")
def test_the_envelopes_keys_come_in_any_order_and_strangers_are_passed_over() -> None:
    event = only(WatchDecoder(decode_dict).feed(line(object=POD, extra=[1], type="ADDED")))
    assert (event.type, event.object) == (EventType.ADDED, POD)


@pytest.mark.clause("D2")
@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (b'{"type":"ADDED"}', "without an object"),
        (b'{"type":"ADDED","object":null}', "without an object"),
        (b'{"type":"CHANGED","object":{}}', "unknown type 'CHANGED'"),
        (b'{"type":"added","object":{}}', "unknown type 'added'"),
        (b'{"object":{}}', "unknown type ''"),
        (b'{"type":5,"object":{}}', "not a watch event"),
        (b"[]", "not a watch event"),
        (b'{"type":"ADDED","object":{"a":tru}}', "at byte 30"),
    ],
)
def test_what_is_no_event_is_a_fault_that_says_so(frame: bytes, said: str) -> None:
    decoder = WatchDecoder(decode_unstructured)
    [fault] = decoder.feed(frame + b"\n")
    assert isinstance(fault, ListWatchError)
    assert said in str(fault)
    assert decoder.faults == 1


@pytest.mark.clause("D2", "C5")
def test_a_fault_keeps_its_place_among_the_events() -> None:
    decoder = WatchDecoder(decode_unstructured, limit=300)
    giant = line(type="ADDED", object={**POD, "data": "x" * 500})
    good = line(type="ADDED", object=POD)
    found = decoder.feed(good + giant + good + line(type="?", object=POD) + good)
    assert [type(item) for item in found] == [Event, ObjectTooLarge, Event, EnvelopeError, Event]
    assert decoder.faults == 2


@pytest.mark.clause("D3")
def test_an_error_carries_a_status_whatever_is_watched() -> None:
    expired = {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": "Expired",
        "code": 410,
    }
    event = only(WatchDecoder(decode_dict).feed(line(type="ERROR", object=expired)))
    assert isinstance(event.object, Status)
    assert (event.object.code, event.object.reason) == (410, "Expired")
    assert event.status is event.object


@pytest.mark.clause("D3")
@pytest.mark.parametrize("foreign", [POD, {}, "oops", 5, [1], {"kind": "Status", "code": "x"}])
def test_a_foreign_object_in_an_error_is_still_an_error(foreign: Any) -> None:
    event = only(WatchDecoder(decode_unstructured).feed(line(type="ERROR", object=foreign)))
    assert isinstance(event.object, Status)
    assert (event.object.code, event.object.reason) == (500, "InternalError")
    assert "no Status" in event.object.message


@pytest.mark.clause("D4")
@pytest.mark.parametrize(
    "bookmark",
    [
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}},
        {
            "kind": "Pod",
            "apiVersion": "v1",
            "metadata": {
                "resourceVersion": "9",
                "name": None,
                "labels": None,
                "creationTimestamp": None,
            },
            "spec": {"containers": None},
            "status": {},
        },
        {"metadata": {"resourceVersion": "9", "annotations": None}},
    ],
)
def test_a_bookmark_is_read_for_its_version_only(bookmark: dict[str, Any]) -> None:
    class Strict(msgspec.Struct):
        spec: dict[str, str]

    event = only(
        WatchDecoder(msgspec.json.Decoder(Strict).decode).feed(
            line(type="BOOKMARK", object=bookmark)
        )
    )
    assert isinstance(event.object, PartialObjectMetadata)
    assert event.object.resource_version == "9"
    assert not event.is_initial_events_end


@pytest.mark.clause("D4", "H4")
@pytest.mark.parametrize(("value", "ends"), [("true", True), ("false", False), (None, False)])
def test_the_bookmark_that_ends_the_initial_events_is_told_by_its_annotation(
    value: str | None, ends: bool
) -> None:
    meta = {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": value}}
    event = only(
        WatchDecoder(decode_unstructured).feed(line(type="BOOKMARK", object={"metadata": meta}))
    )
    assert event.is_initial_events_end is ends


@pytest.mark.clause("D6")
def test_a_decoder_that_fails_yields_the_raw_object_and_an_error_with_its_key() -> None:
    class Wanted(msgspec.Struct):
        spec: int

    event = only(
        WatchDecoder(msgspec.json.Decoder(Wanted).decode).feed(line(type="MODIFIED", object=POD))
    )
    assert isinstance(event.error, ObjectDecodeError)
    assert event.error.key == "default/web"
    assert "default/web" in str(event.error)
    assert isinstance(event.error.__cause__, msgspec.ValidationError)
    assert json.loads(event.object) == POD


@pytest.mark.clause("D6")
def test_an_object_whose_key_cannot_be_read_says_so() -> None:
    event = only(
        WatchDecoder(decode_unstructured).feed(line(type="ADDED", object={"metadata": {"name": 5}}))
    )
    assert isinstance(event.error, ObjectDecodeError)
    assert event.error.key is None


@pytest.mark.clause("D6")
@pytest.mark.parametrize("error", [KeyError("spec"), RecursionError(), RuntimeError("bug")])
def test_whatever_a_decoder_raises_is_contained(error: Exception) -> None:
    def decoder(raw: bytes) -> object:
        raise error

    decoded = WatchDecoder(decoder)
    event = only(decoded.feed(line(type="ADDED", object=POD)))
    assert isinstance(event.error, ObjectDecodeError)
    assert event.error.__cause__ is error
    assert decoded.faults == 0


@pytest.mark.clause("D6")
def test_the_shipped_decoders_agree_on_one_object() -> None:
    raw = json.dumps(POD).encode()
    lazy, partial, plain = decode_unstructured(raw), decode_partial_metadata(raw), decode_dict(raw)
    assert isinstance(lazy, Unstructured)
    assert (lazy.kind, lazy.name, lazy.uid) == (partial.kind, partial.name, partial.uid)
    assert lazy.to_dict() == plain == POD


@pytest.mark.clause("D2", "C4")
def test_an_end_inside_an_event_comes_after_the_events_before_it() -> None:
    decoder = WatchDecoder(decode_unstructured)
    whole = line(type="ADDED", object=POD)
    assert len(decoder.feed(whole + whole[:20])) == 1
    assert [type(item) for item in decoder.end()] == [UnexpectedEOF]


@pytest.mark.clause("C4")
def test_a_last_event_without_newline_is_an_event() -> None:
    decoder = WatchDecoder(decode_dict)
    assert decoder.feed(line(type="ADDED", object=POD).rstrip()) == []
    assert only(decoder.end()).object == POD


@pytest.mark.clause("C3", "C5")
def test_a_stream_decoder_works_over_any_framer() -> None:
    decoder = StreamDecoder(LengthDelimitedFramer(), bytes.decode, limit=5)
    stream = b"".join(map(length_delimited_frame, [b"one", b"far too large", b"two"]))
    first, fault, second = decoder.feed(stream)
    assert (first, second) == ("one", "two")
    assert isinstance(fault, ObjectTooLarge)


@pytest.mark.clause("D2")
def test_an_event_that_is_nested_too_deep_is_a_fault_and_the_next_one_comes() -> None:
    deep = b'{"type":"ADDED","object":{"a":' + b"[" * 9_000 + b"]" * 9_000 + b"}}\n"
    decoder = WatchDecoder(decode_unstructured)
    found = decoder.feed(deep + line(type="ADDED", object=POD))
    assert [type(item) for item in found] == [EnvelopeError, Event]
    assert "nested" in str(found[0])
