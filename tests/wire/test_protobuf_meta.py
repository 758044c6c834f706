"""The metadata of objects in protobuf, as the JSON that the server writes of the same objects."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import Event, MalformedObject, PartialObjectMetadata
from listwatch.testing.recording import Recording
from listwatch.wire import ListDecoder, WatchDecoder
from listwatch.wire.protobuf_codec import PROTOBUF_CODEC, ProtobufCodec
from listwatch.wire.protobuf_meta import metadata_json, metadata_of
from tests.support.vectors import vector
from tests.wire.protobuf_bytes import Value, field, message
from tests.wire.protobuf_pairs import PAIRS, is_metadata, json_metadata, json_objects

pytestmark = pytest.mark.clause("B9")

METADATA = PROTOBUF_CODEC.for_decoder(PartialObjectMetadata.from_bytes)
"""The codec that gives the metadata of whatever comes."""


def copied(raw: bytes) -> bytes:
    """A decoder that gives what decoders are given."""
    return raw


def objects(recording: Recording, codec: ProtobufCodec = PROTOBUF_CODEC) -> list[bytes]:
    """What a decoder of metadata gets of a recording, other than of bookmarks and errors."""
    if recording.is_watch:
        watch: WatchDecoder[Any] = WatchDecoder(copied, codec=codec)
        events = [item for item in watch.feed(recording.body) if isinstance(item, Event)]
        return [event.object for event in events if isinstance(event.object, bytes)]
    if recording.is_list:
        body = ListDecoder(copied, codec=codec)
        return body.feed(recording.body) + body.end()
    return [codec.object_bytes(recording.body)]


def of(*metadata: tuple[int, Value]) -> bytes:
    """The JSON metadata of an object that has these fields in its own."""
    raw = metadata_json("v1", "Pod", message((1, metadata), (2, ((1, "a spec"),))))
    before, after = b'{"kind":"Pod","apiVersion":"v1","metadata":', b"}"
    assert raw.startswith(before)
    assert raw.endswith(after)
    return raw[len(before) : -len(after)]


def test_there_are_pairs_of_every_kind() -> None:
    assert sum(vector(name).is_list for name, _ in PAIRS) > 15
    assert sum(vector(name).is_watch for name, _ in PAIRS) > 3


@pytest.mark.clause("D7")
@pytest.mark.parametrize(("name", "in_json"), PAIRS)
def test_metadata_is_byte_for_byte_what_the_server_writes_in_json(name: str, in_json: str) -> None:
    there = [raw for raw in json_objects(vector(in_json)) if b'"name":' in json_metadata(raw)]
    found = objects(vector(name), METADATA)
    assert list(map(json_metadata, found)) == list(map(json_metadata, there))
    if "metadata" in name:
        assert found == there
        assert found == objects(vector(name))
        assert all(map(is_metadata, found))


def test_what_is_empty_is_omitted() -> None:
    assert of((1, ""), (2, ""), (4, ""), (7, 0), (8, b"")) == b"{}"
    assert of() == b"{}"


def test_members_come_in_the_order_of_the_server_and_maps_in_that_of_their_keys() -> None:
    assert of(
        (17, ((8, "status"), (6, "FieldsV1"), (2, "Apply"), (1, "a"), (7, ((1, '{"f:x":{}}'),)))),
        (14, "x.io/b"),
        (14, "x.io/a"),
        (12, ((1, "b"), (2, "2"))),
        (12, ((1, "é"), (2, "3"))),
        (12, ((1, "a"), (2, "1"))),
        (13, ((7, 0), (6, 1), (5, "apps/v1"), (4, "u"), (3, "rs"), (1, "ReplicaSet"))),
        (13, ((1, "Pod"),)),
        (10, 0),
        (9, ((1, 5), (2, 7))),
        (8, ((1, 0), (2, 0))),
        (7, -1),
        (6, "9"),
        (4, "/api"),
        (2, "web-"),
    ) == (
        b'{"generateName":"web-","selfLink":"/api","resourceVersion":"9","generation":-1,'
        b'"creationTimestamp":"1970-01-01T00:00:00Z","deletionTimestamp":"1970-01-01T00:00:05Z",'
        b'"deletionGracePeriodSeconds":0,'
        b'"annotations":{"a":"1","b":"2","\xc3\xa9":"3"},'
        b'"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"u",'
        b'"controller":true,"blockOwnerDeletion":false},'
        b'{"apiVersion":"","kind":"Pod","name":"","uid":""}],"finalizers":["x.io/b","x.io/a"],'
        b'"managedFields":[{"manager":"a","operation":"Apply","fieldsType":"FieldsV1",'
        b'"fieldsV1":{"f:x":{}},"subresource":"status"}]}'
    )


def test_texts_are_escaped_as_go_does_it() -> None:
    said = of((12, ((1, "a"), (2, '<b>&"\\ \u2028\u2029\x1f\x7f\n\té😀'))))
    written = rb'"\u003cb\u003e\u0026\"\\ \u2028\u2029\u001f' + b"\x7f" + rb"\n\t"
    assert said == b'{"annotations":{"a":%b"}}' % (written + "é😀".encode())
    assert of((17, ((7, ((1, '{"f:<":{}}'),)),))) == (
        rb'{"managedFields":[{"fieldsV1":{"f:\u003c":{}}}]}'
    )


@pytest.mark.parametrize(
    ("seconds", "written"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_795_980_855, "2026-11-29T19:34:15Z"),
        (-1, "1969-12-31T23:59:59Z"),
        (-62_135_596_799, "0001-01-01T00:00:01Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ],
)
def test_times_are_in_seconds_and_utc(seconds: int, written: str) -> None:
    raw = of((8, ((1, seconds), (2, 999_999_999))))
    assert json.loads(raw) == {"creationTimestamp": written}


def test_a_time_that_is_none_is_null_where_only_a_time_that_is_set_has_a_place() -> None:
    zero = ((1, -62_135_596_800),)
    assert of((8, zero)) == b"{}"
    assert of((9, zero)) == of((9, b"")) == b'{"deletionTimestamp":null}'
    assert of((17, ((4, b""), (7, b"")))) == b'{"managedFields":[{"time":null,"fieldsV1":null}]}'


@pytest.mark.parametrize("seconds", [253_402_300_800, -62_135_596_801, 2**63 - 1, -(2**63)])
def test_a_time_in_no_year_is_refused(seconds: int) -> None:
    with pytest.raises(MalformedObject, match="in no year"):
        of((8, ((1, seconds),)))


@pytest.mark.parametrize("number", [1, 3, 5, 6])
def test_a_name_that_is_no_utf8_is_refused(number: int) -> None:
    with pytest.raises(MalformedObject, match=r"no UTF-8: '\\xff'"):
        of((number, b"\xff"))


def test_other_text_that_is_no_utf8_has_a_sign_for_each_byte_as_in_the_servers_json() -> None:
    said = of((11, ((1, b"\xff"), (2, b"a\xe2\x82b\xed\xa0\x80"))), (14, b"\xf0"))
    there = "\ufffd"
    assert json.loads(said) == {
        "labels": {there: f"a{2 * there}b{3 * there}"},
        "finalizers": [there],
    }


@pytest.mark.parametrize("fields", [b"{", b"[]", b'{"a":1},"b":{', b"{}{}", b"\xff", b"[" * 5000])
def test_managed_fields_that_are_no_json_object_are_refused(fields: bytes) -> None:
    with pytest.raises(MalformedObject, match="managedFields that are no JSON"):
        of((17, ((7, ((1, fields),)),)))


def test_what_a_newer_server_adds_is_passed_over() -> None:
    named = ((1, "web"), (15, "gone"), (99, ((1, 1),)), (98, 2.5), (97, 7))
    known = ((2, b""), (6, b""), (99, "new"))
    assert of(*named, (17, ((1, "m"), (5, "gone"), (9, "new"))), (13, known)) == (
        b'{"name":"web","ownerReferences":[{"apiVersion":"","kind":"","name":"","uid":""}],'
        b'"managedFields":[{"manager":"m"}]}'
    )


def test_a_field_in_parts_is_one() -> None:
    """Protobuf says so: the last of a text counts, and messages are joined."""
    parts = field(1, message((1, "a"), (3, "ns"))) + field(1, message((1, "b"), (7, 3)))
    assert json.loads(metadata_json("", "", parts)) == {
        "metadata": {"name": "b", "namespace": "ns", "generation": 3}
    }


def test_an_object_that_does_not_say_what_it_is_has_neither_kind_nor_api_version() -> None:
    assert metadata_json("", "", b"") == b'{"metadata":{}}'
    assert metadata_json("v1", "", b"") == b'{"apiVersion":"v1","metadata":{}}'


def test_the_metadata_is_the_same_as_of_json() -> None:
    [raw] = objects(vector("k-get-pods-protobuf"), METADATA)
    [there] = json_objects(vector("k-get-pods-metadata"))
    assert metadata_of(message((1, ((1, "x"),)))).name == "x"
    found = PartialObjectMetadata.from_bytes(raw)
    assert found.kind == "Pod"
    assert found.metadata == PartialObjectMetadata.from_bytes(there).metadata


TEXTS = st.text(max_size=5)


@given(
    labels=st.dictionaries(TEXTS, TEXTS, max_size=4),
    finalizers=st.lists(TEXTS, max_size=3),
    name=TEXTS,
    seconds=st.none() | st.integers(0, 1 << 32),
    grace=st.none() | st.integers(0, 100),
)
def test_any_metadata_is_json_that_says_it(
    labels: dict[str, str],
    finalizers: list[str],
    name: str,
    seconds: int | None,
    grace: int | None,
) -> None:
    fields: list[tuple[int, Value]] = [(1, name)]
    fields += [(11, ((1, key), (2, value))) for key, value in labels.items()]
    fields += [(14, finalizer) for finalizer in finalizers]
    fields += [(9, ((1, seconds),))] if seconds is not None else []
    fields += [(10, grace)] if grace is not None else []
    raw = of(*fields)
    found = json.loads(raw)
    assert found.get("name", "") == name
    assert found.get("labels", {}) == labels
    assert list(found.get("labels", {})) == sorted(labels)
    assert found.get("finalizers", []) == finalizers
    assert ("deletionTimestamp" in found) == (seconds is not None)
    assert found.get("deletionGracePeriodSeconds") == grace
    assert not set(b"<>&") & set(raw)
