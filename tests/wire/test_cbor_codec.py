"""What an object in CBOR is in JSON, and what the codec makes of events around it."""

from __future__ import annotations

import json
import sys
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import Event, EventType, ListWatchError, MalformedObject
from listwatch.wire import (
    JSON_CODEC,
    EnvelopeError,
    FrameSyntaxError,
    ObjectTooLarge,
    UnexpectedEOF,
    WatchDecoder,
    codec_for,
    decode_dict,
    decode_list,
    decode_unstructured,
)
from listwatch.wire.cbor_codec import CBOR_CODEC
from listwatch.wire.encodings import Encoding, EncodingUnavailable, codecs_of
from tests.wire.cbor_items import RANDOMS, SELF_DESCRIBED, VALUES, Writer, item, written
from tests.wire.streams import cuts, one_by_one

PLACES = st.lists(st.integers(0, 10_000), max_size=10)


def in_json(data: bytes) -> str:
    return CBOR_CODEC.object_bytes(data).decode()


def same(value: Any) -> str:
    """A value so that 1, 1.0 and True differ."""
    return json.dumps(value, sort_keys=True)


# One object


@pytest.mark.clause("B9")
@given(written())
def test_whatever_way_a_value_is_written_it_is_the_same_in_json(made: tuple[Any, bytes]) -> None:
    value, data = made
    assert same(json.loads(in_json(data))) == same(value)


@pytest.mark.clause("B9")
@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("43 616263", '"abc"'),
        ("63 616263", '"abc"'),
        ("5f 41c3 41a9 ff", '"é"'),
        ("d6 43 616263", '"YWJj"'),
        ("d6 44 fbff00ff", '"+/8A/w=="'),
        ("d5 44 fbff00ff", '"-_8A_w"'),
        ("d7 44 fbff00ff", '"fbff00ff"'),
        ("d6 5f 41fb 43ff00ff ff", '"+/8A/w=="'),
        ("d5 d6 44 fbff00ff", '"+/8A/w=="'),
        ("d6 d9d9f7 43 616263", '"YWJj"'),
        ("d6 63 616263", '"abc"'),
        ("d6 f6", "null"),
        ("d6 40", '""'),
        ("c0 54 323032362d31312d32395431393a33343a31355a", '"2026-11-29T19:34:15Z"'),
        ("d8 25 43 616263", '"abc"'),
        ("d8 1d 00", "0"),
        ("d9d9f7 d9d9f7 a0", "{}"),
        ("1b 7fffffffffffffff", "9223372036854775807"),
        ("1b ffffffffffffffff", "18446744073709551615"),
        ("3b 7fffffffffffffff", "-9223372036854775808"),
        ("18 01", "1"),
        ("f9 3c00", "1.0"),
        ("fa 3f800000", "1.0"),
        ("fb 3ff0000000000000", "1.0"),
        ("fb 3ff199999999999a", "1.1"),
        ("f9 8000", "-0.0"),
        ("f9 7bff", "65504.0"),
        ("83 f4 f5 f6", "[false,true,null]"),
        ("a2 41 61 01 61 62 02", '{"a":1,"b":2}'),
        ("bf 5f 41 61 ff 9f 01 ff ff", '{"a":[1]}'),
    ],
)
def test_what_kubernetes_means_by_it(data: str, text: str) -> None:
    assert in_json(bytes.fromhex(data)) == text


@pytest.mark.clause("B9")
@pytest.mark.parametrize("size", [0, 1, 23, 24, 255, 256, 65_535, 65_536])
def test_a_string_in_pieces_may_have_any_size(size: int) -> None:
    text = "x" * size
    assert in_json(b"\x5f" + item(text[:7]) + item(text[7:]) + b"\xff") == f'"{text}"'


@pytest.mark.clause("B9")
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("", "the end of an item that is not complete at byte 0"),
        ("82 01", "not complete at byte 2"),
        ("42 61", "not complete at byte 2"),
        ("58", "not complete at byte 1"),
        ("58 02 61", "not complete at byte 3"),
        ("59 00", "not complete at byte 2"),
        ("5f 42 61", "not complete at byte 3"),
        ("d6 42 61", "not complete at byte 3"),
        ("d9d9f7", "not complete at byte 3"),
        ("19 00", "not complete at byte 2"),
        ("01 01", "something behind the item at byte 1"),
        ("1c", "a byte 0x1c, with which no item begins"),
        ("ff", "a break where an item must come"),
        ("d6 ff", "a break where an item must come"),
        ("bf 41 61 ff", "a break where an item must come"),
        ("5f 61 61 ff", "a byte 0x61 where a piece of a string must come"),
        ("f9 7e00", "a number that is not finite"),
        ("fa 7f800000", "a number that is not finite"),
        ("fb fff0000000000000", "a number that is not finite"),
        ("81 f7", "a simple value (23) that is not in JSON at byte 1"),
        ("e0", "a simple value (0)"),
        ("f8 ff", "a simple value (255)"),
        ("a2 41 61 01 61 61 02", "two members of one name"),
        ("81 a2 61 61 01 61 61 02", "two members of one name"),
        ("a1 01 02", "a name that is no text"),
        ("a1 f6 02", "a name that is no text"),
        ("a1 80 02", "a name that is no text"),
        ("a1 a0 02", "a name that is no text"),
        ("41 ff", "can't decode byte 0xff"),
        ("63 eda080", "can't decode byte 0xed"),
        ("c1 00", "a time in seconds (tag 1)"),
        ("c2 41 01", "an integer of any size (tag 2)"),
        ("c3 41 01", "an integer of any size (tag 3)"),
        ("d6 81 41 61", "a list or map that is tagged as bytes are"),
    ],
)
def test_what_json_cannot_say_is_refused_by_its_name(data: str, problem: str) -> None:
    with pytest.raises(MalformedObject) as caught:
        in_json(bytes.fromhex(data))
    assert problem in str(caught.value)


@pytest.mark.clause("D6")
@pytest.mark.parametrize(
    "deeper", [b"\x81", b"\x9f", b"\xa1\x61a", b"\xbf\x61a", b"\xd9\xd9\xf7\x81"]
)
def test_depth_is_bounded(deeper: bytes) -> None:
    with pytest.raises(MalformedObject, match="more than 256 lists and maps within each other"):
        in_json(deeper * 100_000)
    close = b"\xff" if deeper[0] in b"\x9f\xbf" else b""
    assert len(in_json(deeper * 256 + b"\x01" + close * 256)) > 512


def refused(data: bytes) -> bool:
    try:
        json.loads(in_json(data))
    except MalformedObject:
        return True
    return False


@pytest.mark.clause("D6")
@given(st.binary(max_size=40) | written().map(lambda made: b"\x82" + made[1] + b"\xf7"))
def test_no_bytes_bring_anything_but_our_error_or_json(data: bytes) -> None:
    assert refused(data) or refused(data + b"\x00")


@pytest.mark.clause("D6")
@given(written(), st.data())
def test_a_value_that_was_damaged_is_refused_or_another_value(
    made: tuple[Any, bytes], data: st.DataObject
) -> None:
    body = bytearray(made[1])
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    assert refused(bytes(body)) or refused(b"\x82" + body)


def in_another_order(value: Any, random: Random) -> Any:
    if isinstance(value, list):
        return [in_another_order(each, random) for each in value]
    if not isinstance(value, dict):
        return value
    members = [(name, in_another_order(each, random)) for name, each in value.items()]
    random.shuffle(members)
    return dict(members)


@pytest.mark.clause("B9", "H4")
@given(VALUES, RANDOMS)
def test_it_is_the_same_json_whatever_order_its_maps_are_written_in(
    value: Any, random: Random
) -> None:
    shuffled = in_another_order(value, random)
    assert in_json(item(shuffled)) == in_json(item(value))


# Events

POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "7"},
}


def event(kind: str, obj: Any, **more: Any) -> bytes:
    """As kube-apiserver writes it: the event is tagged, and so is its object."""
    members = item("type") + item(kind) + item("object") + SELF_DESCRIBED + item(obj)
    members += b"".join(item(each) for pair in more.items() for each in pair)
    return SELF_DESCRIBED + bytes((0xA2 + len(more),)) + members


def read(pieces: list[bytes], limit: int = 1 << 24) -> list[Event[Any] | ListWatchError]:
    watch: WatchDecoder[Any] = WatchDecoder(decode_dict, codec=CBOR_CODEC, limit=limit)
    return [each for piece in pieces for each in watch.feed(piece)] + watch.end()


@pytest.mark.clause("C1", "D1", "D2")
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ADDED", "MODIFIED", "DELETED"]),
            st.dictionaries(st.text(max_size=5), VALUES, min_size=1),
            st.none() | st.integers(0, 1000),
        ),
        max_size=4,
    ),
    PLACES,
)
def test_events_come_out_whatever_way_they_are_written_and_cut(
    events: list[tuple[str, dict[str, Any], int | None]], places: list[int]
) -> None:
    stream = b""
    for kind, obj, seed in events:
        if seed is None:
            stream += event(kind, obj)
        else:
            stream += Writer(Random(seed)).item({"object": obj, "type": kind, "else": 1})
    wanted = [(kind, same(obj)) for kind, obj, _ in events]
    for pieces in ([stream], list(cuts(stream, places)), one_by_one(stream)):
        found = read(pieces)
        assert [
            (each.type, same(each.object)) for each in found if isinstance(each, Event)
        ] == wanted
        assert len(found) == len(wanted)


@pytest.mark.clause("D1")
def test_the_raw_object_of_an_event_is_json() -> None:
    watch = WatchDecoder(decode_unstructured, codec=CBOR_CODEC)
    [found] = watch.feed(event("MODIFIED", POD))
    assert isinstance(found, Event)
    assert found.object.to_dict() == json.loads(found.raw) == POD
    assert found.object.key == "n/a"
    assert watch.faults == 0


@pytest.mark.clause("D7", "H4")
@given(RANDOMS)
def test_an_object_from_a_list_is_byte_for_byte_the_one_of_an_event(random: Random) -> None:
    typed = {**POD, "spec": {"b": [{"d": 1, "c": 2}], "a": "x"}, "data": {}}
    bare = {name: value for name, value in typed.items() if name not in ("kind", "apiVersion")}
    body = {"kind": "PodList", "apiVersion": "v1", "items": [in_another_order(bare, random)]}
    [listed] = decode_list(item(body), decode_unstructured, codec=CBOR_CODEC)
    [found] = WatchDecoder(decode_unstructured, codec=CBOR_CODEC).feed(
        event("ADDED", in_another_order(typed, random))
    )
    assert isinstance(found, Event)
    assert listed.raw == found.object.raw == found.raw


@pytest.mark.clause("D3")
def test_an_error_has_a_status() -> None:
    status = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}
    [found] = read([event("ERROR", status)])
    assert isinstance(found, Event)
    assert found.status is not None
    assert (found.status.reason, found.status.code) == ("Expired", 410)


@pytest.mark.clause("D3")
def test_an_error_without_a_status_says_what_came_instead() -> None:
    [found] = read([event("ERROR", ["no"])])
    assert isinstance(found, Event)
    assert found.status is not None
    assert "an ERROR event whose object is no Status" in found.status.message
    assert '["no"]' in found.status.message


@pytest.mark.clause("D4", "D5")
def test_a_bookmark_has_its_version_and_annotations() -> None:
    metadata = {
        "resourceVersion": "7",
        "creationTimestamp": None,
        "annotations": {"k8s.io/initial-events-end": "true"},
    }
    [found] = read([event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": metadata})])
    assert isinstance(found, Event)
    assert found.type is EventType.BOOKMARK
    assert found.object.metadata.resource_version == "7"
    assert found.is_initial_events_end


@pytest.mark.clause("D2")
@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (item([1]), "not a watch event"),
        (item({"type": 7, "object": POD}), "not a watch event"),
        (item({"type": "SOON", "object": POD}), "of unknown type 'SOON'"),
        (item({"object": POD}), "of unknown type ''"),
        (item({"type": "ADDED"}), "without an object"),
        (item({"type": "ADDED", "object": None}), "without an object"),
        (b"\xa2" + item("type") + item("ADDED") + item("object") + b"\xf7", "simple value (23)"),
        (b"\xa2" + 2 * (item("type") + item("ADDED")), "two members of one name"),
        (event("ADDED", POD).replace(b"\x41n", b"\x41\xff"), "can't decode byte 0xff"),
    ],
)
def test_a_frame_that_is_no_event_is_told_and_the_next_comes(frame: bytes, problem: str) -> None:
    good = event("ADDED", POD)
    first, fault, last = read(one_by_one(good + frame + good))
    assert isinstance(first, Event)
    assert isinstance(last, Event)
    assert isinstance(fault, EnvelopeError)
    assert problem in str(fault)


@pytest.mark.clause("D6")
def test_an_object_that_its_decoder_refuses_comes_with_the_error() -> None:
    [found] = read([event("ADDED", ["no", "dict"])])
    assert isinstance(found, Event)
    assert found.error is not None
    assert found.raw == b'["no","dict"]'


@pytest.mark.clause("C4", "C5")
def test_faults_of_the_stream_come_in_their_place() -> None:
    small, giant = event("ADDED", POD), event("ADDED", {**POD, "data": "x" * 1000})
    found = read([small + giant + small + small[:-1]], limit=500)
    assert [type(each) for each in found] == [Event, ObjectTooLarge, Event, UnexpectedEOF]
    found = read([small + b'{"type":"ADDED"}' + small])
    assert type(found[0]) is Event
    assert isinstance(found[-1], UnexpectedEOF | FrameSyntaxError | EnvelopeError)


# Answers that are no stream, and who is served


@pytest.mark.clause("A5")
@pytest.mark.parametrize("body", [b"", b"\xff", b"<html>", b"\xa1\x01\x02"])
def test_an_answer_that_is_no_status_is_one_that_says_so(body: bytes) -> None:
    status = CBOR_CODEC.decode_status(body)
    assert status.code == 500
    assert "no Status" in status.message


@pytest.mark.clause("B6", "B9")
def test_it_reads_both_media_types_and_asks_for_one() -> None:
    assert CBOR_CODEC.media_type == "application/cbor"
    for content_type in ("application/cbor", "application/cbor-seq", "application/cbor; a=b"):
        assert codec_for(content_type, [CBOR_CODEC]) is CBOR_CODEC


@pytest.mark.clause("B9")
def test_it_serves_who_reads_json_but_no_tables() -> None:
    def of_cbor_only(raw: bytes) -> bytes:
        return raw

    of_cbor_only.reads = {"application/cbor"}  # type: ignore[attr-defined]
    assert CBOR_CODEC.serves(decode_dict, "")
    assert CBOR_CODEC.serves(decode_dict, "PartialObjectMetadata")
    assert not CBOR_CODEC.serves(decode_dict, "Table")
    assert not CBOR_CODEC.serves(of_cbor_only, "")


@pytest.mark.clause("B9")
def test_it_is_found_by_its_name_with_json_behind_it() -> None:
    assert codecs_of([Encoding.CBOR]) == (CBOR_CODEC, JSON_CODEC)


@pytest.mark.clause("B9")
def test_without_its_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cbor2", None)
    monkeypatch.delitem(sys.modules, "listwatch.wire.cbor_codec")
    with pytest.raises(EncodingUnavailable, match=r"pip install 'listwatch\[cbor\]'"):
        codecs_of([Encoding.CBOR])
