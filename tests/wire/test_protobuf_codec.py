"""Watches, lists and single objects in protobuf."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api import (
    APIError,
    Event,
    EventType,
    Expired,
    ListWatchError,
    MalformedObject,
    PartialObjectMetadata,
    error_for_status,
)
from listwatch.cache import MetadataObject, metadata_only
from listwatch.testing.recording import Recording
from listwatch.wire import (
    Codec,
    EnvelopeError,
    ListDecodeError,
    ListDecoder,
    ListHead,
    ObjectDecodeError,
    ObjectDecoder,
    ObjectList,
    ObjectTooLarge,
    UnexpectedEOF,
    WatchDecoder,
    codec_for,
    decode_list,
    decode_partial_metadata,
    decode_unstructured,
    length_delimited_frame,
)
from listwatch.wire.decoders import reads_of
from listwatch.wire.encodings import Encoding, codecs_of
from listwatch.wire.protobuf_codec import PROTOBUF_CODEC
from listwatch.wire.protobuf_object import decode_protobuf
from tests.support import expected
from tests.support.vectors import vector, vectors
from tests.wire.protobuf_bytes import Value, envelope, event, field, message, pod, pod_list
from tests.wire.protobuf_pairs import PAIRS, PROTOBUF
from tests.wire.streams import cuts, one_by_one

pytestmark = pytest.mark.clause("B9")

JSON_CODEC = codecs_of([])[0]
METADATA_OF_ALL = PROTOBUF_CODEC.for_decoder(metadata_only())


def _names(choose: Callable[[Recording], bool]) -> list[str]:
    return [each.name for each in vectors() if each.media_type == PROTOBUF and choose(each)]


WATCHES = _names(lambda each: each.is_watch and each.status == 200)
LISTS = _names(lambda each: each.is_list and each.status == 200)
EXPIRED = [name for name in WATCHES if "expired" in name or "restart" in name]
REFUSALS = _names(lambda each: each.status >= 400)


def test_there_are_recordings_of_every_kind() -> None:
    assert len(WATCHES) > 10
    assert len(LISTS) > 20
    assert len(EXPIRED) >= 4
    assert len(REFUSALS) > 4


def events(
    pieces: Iterable[bytes],
    decoder: ObjectDecoder[Any] = decode_protobuf,
    codec: Codec = PROTOBUF_CODEC,
    limit: int = 1 << 24,
) -> list[Event[Any] | ListWatchError]:
    watch: WatchDecoder[Any] = WatchDecoder(decoder, codec=codec, limit=limit)
    return [item for piece in pieces for item in watch.feed(piece)] + watch.end()


def plain(item: Event[Any] | ListWatchError) -> tuple[object, ...]:
    """All that is to be seen of it: objects are equal by what names them only."""
    if not isinstance(item, Event):
        return type(item), str(item)
    found = item.object
    raw = getattr(found, "raw", None)
    return item.type, found, raw, item.raw, str(item.error)


def frames(*each: bytes) -> bytes:
    return b"".join(map(length_delimited_frame, each))


def reader_of(name: str) -> ObjectDecoder[Any]:
    """What would have been asked for."""
    return metadata_only() if "metadata" in name or "pom" in name else decode_protobuf


# Recordings


@pytest.mark.clause("C1", "C3")
@pytest.mark.parametrize("name", WATCHES)
def test_a_watch_gives_the_same_events_however_it_is_cut(name: str) -> None:
    recording, decoder = vector(name), reader_of(name)
    whole = list(map(plain, events([recording.body], decoder)))
    types = [
        kind.decode()
        for frame in expected.length_delimited(recording.body)
        for kind in [frame[2 : 2 + frame[1]]]
    ]
    assert [each[0] for each in whole] == types
    assert all(each[-1] == "None" for each in whole)
    as_recorded = [piece for _, piece in recording.pieces()]
    assert list(map(plain, events(as_recorded, decoder))) == whole
    assert list(map(plain, events(one_by_one(recording.body), decoder))) == whole


@pytest.mark.clause("C1")
@settings(deadline=None)
@given(st.sampled_from(WATCHES), st.lists(st.integers(0, 9999), max_size=20))
def test_a_watch_may_be_cut_anywhere(name: str, places: list[int]) -> None:
    body, decoder = vector(name).body, reader_of(name)
    assert [plain(item) for item in events(cuts(body, places), decoder)] == [
        plain(item) for item in events([body], decoder)
    ]


def listed(
    pieces: Iterable[bytes],
    decoder: ObjectDecoder[Any] = decode_protobuf,
    codec: Codec = PROTOBUF_CODEC,
    limit: int = 1 << 24,
) -> ObjectList[Any]:
    body: ListDecoder[Any] = ListDecoder(decoder, codec=codec, limit=limit)
    items = [item for piece in pieces for item in body.feed(piece)]
    return body.whole(items + body.end())


def said(found: ObjectList[Any]) -> tuple[object, ...]:
    raws = [item.raw for item in found]
    return found.api_version, found.kind, found.metadata, raws, found.undecodable


@pytest.mark.clause("C8", "D7")
@pytest.mark.parametrize("name", LISTS)
def test_a_list_gives_the_same_items_however_it_is_cut(name: str) -> None:
    recording, decoder = vector(name), reader_of(name)
    whole = listed([recording.body], decoder)
    assert whole.kind.endswith("List")
    assert not whole.undecodable
    as_recorded = [piece for _, piece in recording.pieces()]
    assert said(listed(as_recorded, decoder)) == said(whole)
    if len(recording.body) < 200_000:
        assert said(listed(one_by_one(recording.body), decoder)) == said(whole)


@settings(deadline=None)
@given(st.sampled_from(LISTS), st.lists(st.integers(0, 9999), max_size=20))
def test_a_list_may_be_cut_anywhere(name: str, places: list[int]) -> None:
    body, decoder = vector(name).body, reader_of(name)
    assert said(listed(cuts(body, places), decoder)) == said(listed([body], decoder))


@pytest.mark.clause("D4", "D7")
@pytest.mark.parametrize(
    ("name", "in_json"), [pair for pair in PAIRS if not vector(pair[0]).path.endswith("/web-00")]
)
@pytest.mark.parametrize("managed_fields", [False, True])
def test_metadata_objects_are_the_same_from_protobuf_and_from_json(
    name: str, in_json: str, managed_fields: bool
) -> None:
    ours, theirs = vector(name), vector(in_json)
    keep = metadata_only(managed_fields=managed_fields)
    if ours.is_watch:
        found = events([ours.body], keep, METADATA_OF_ALL)
        there = events([theirs.body], keep, JSON_CODEC)
    else:
        found_list = listed([ours.body], keep, METADATA_OF_ALL)
        there_list = listed([theirs.body], keep, JSON_CODEC)
        remaining = there_list.remaining_item_count
        assert found_list.remaining_item_count == remaining
        found = [Event(EventType.ADDED, item) for item in found_list]
        there = [Event(EventType.ADDED, item) for item in there_list]
    assert len(found) == len(there)
    for one, other in zip(found, there, strict=True):
        assert isinstance(one, Event)
        assert isinstance(other, Event)
        assert one.type == other.type
        if one.type == "BOOKMARK":
            assert one.object.metadata.annotations == other.object.metadata.annotations
        elif one.status is not None:
            assert one.object == other.object
        else:
            assert isinstance(one.object, MetadataObject)
            assert one.object.metadata == other.object.metadata
            assert (one.object.key, one.object.uid) == (other.object.key, other.object.uid)
            if "metadata" in name:
                assert one.object.raw == other.object.raw


@pytest.mark.clause("D3")
@pytest.mark.parametrize("name", EXPIRED)
def test_a_watch_that_expired_is_the_error_that_the_server_sent(name: str) -> None:
    [item] = events([vector(name).body])
    assert isinstance(item, Event)
    assert item.status is not None
    assert isinstance(error_for_status(item.status), Expired)
    assert item.status.code == 410
    assert "too old" in item.status.message


@pytest.mark.clause("A5")
def test_an_error_body_is_a_status() -> None:
    missing = PROTOBUF_CODEC.decode_status(vector("k-get-pods-missing-protobuf").body)
    assert (missing.code, missing.reason) == (404, "NotFound")
    assert (missing.details.name, missing.details.kind) == ("nope", "pods")
    assert missing.message == 'pods "nope" not found'
    for name in REFUSALS:
        status = PROTOBUF_CODEC.decode_status(vector(name).body)
        assert (status.status, status.code) == ("Failure", vector(name).status)


# What is read, and by whom


def test_whole_objects_are_for_decoders_of_protobuf_and_metadata_for_those_of_json() -> None:
    serves = PROTOBUF_CODEC.serves
    assert serves(decode_protobuf, "")
    assert not serves(decode_protobuf, "PartialObjectMetadata")
    assert serves(metadata_only(), "PartialObjectMetadata")
    assert serves(decode_partial_metadata, "PartialObjectMetadata")
    assert not serves(decode_unstructured, "")
    assert not serves(decode_unstructured, "Table")
    assert not serves(decode_protobuf, "Table")


def test_it_is_found_by_its_name_and_by_its_content_type() -> None:
    codecs = codecs_of([Encoding.PROTOBUF])
    assert codecs[0] is PROTOBUF_CODEC
    for recording in map(vector, [*WATCHES, *LISTS, *REFUSALS]):
        assert codec_for(recording.headers.get("Content-Type"), codecs) is PROTOBUF_CODEC


@pytest.mark.clause("D1", "D7")
def test_an_object_is_the_same_from_get_list_and_watch() -> None:
    """Byte for byte, so that stores may compare them."""
    got = decode_protobuf(PROTOBUF_CODEC.object_bytes(vector("k-get-pods-protobuf").body))
    [first, *_] = listed([vector("k-list-pods-protobuf").body])
    assert got == first
    assert got.raw == first.raw
    [added] = events([frames(event("ADDED", got.raw))])
    assert isinstance(added, Event)
    assert added.object.raw == added.raw == got.raw


def test_a_whole_object_for_a_decoder_of_json_shows_its_metadata_under_its_own_kind() -> None:
    """As from a server that does not know the form that was asked for."""
    keep = metadata_only()
    [first, *_] = listed([vector("k-list-pods-protobuf").body], keep)
    assert (first.kind, first.api_version, first.key) == ("Pod", "v1", "rec/web-00")
    assert first.metadata.labels["app"] == "web"
    [added, *_] = events([vector("k-watchlist-nodes-protobuf").body], keep, METADATA_OF_ALL)
    assert isinstance(added, Event)
    assert (added.object.kind, added.object.key) == ("Node", "node-0")
    assert PROTOBUF_CODEC.for_decoder(decode_protobuf) is PROTOBUF_CODEC
    body = vector("k-get-pods-protobuf").body
    assert json.loads(METADATA_OF_ALL.object_bytes(body))["kind"] == "Pod"


def test_metadata_for_a_decoder_of_whole_objects_is_an_error_that_says_so() -> None:
    name = "k-list-pods-metadata-protobuf"
    found = listed([vector(name).body], decode_protobuf)
    assert not found.items
    assert len(found.undecodable) == 2
    assert "metadata alone" in str(found.undecodable[0])
    assert found.undecodable[0].key == "rec/web-00"
    first = events([vector("k-watch-pods-crud-metadata-protobuf").body], decode_protobuf)[0]
    assert isinstance(first, Event)
    assert isinstance(first.error, ObjectDecodeError)
    assert "metadata alone" in str(first.error)


def test_a_decoder_of_ones_own_gets_whole_objects() -> None:
    class Spec:
        reads = frozenset({PROTOBUF})

        def __call__(self, raw: bytes) -> str:
            return decode_protobuf(raw).message.rpartition(b"a spec")[1].decode()

    assert reads_of(Spec()) == {PROTOBUF}
    item = pod("a") + field(2, ((1, "a spec"),))
    assert listed([pod_list(item)], Spec()).items == ["a spec"]
    [added] = events([frames(event("ADDED", envelope("v1", "Pod", item)))], Spec())
    assert isinstance(added, Event)
    assert added.object == "a spec"


# Watches


@pytest.mark.clause("D4")
def test_a_bookmark_is_read_whatever_the_kind_of_its_object() -> None:
    marks = [("k8s.io/initial-events-end", "true"), ("b", "")]
    annotations: list[tuple[int, Value]] = [(12, ((1, key), (2, value))) for key, value in marks]
    metadata: tuple[tuple[int, Value], ...] = ((6, "7"), *annotations, (8, b""), (17, b""))
    content = message((1, metadata), (2, ((1, "anything"),)), (3, 9))
    for kind in ("Pod", "PartialObjectMetadata"):
        for decoder in (decode_protobuf, metadata_only()):
            [found] = events([frames(event("BOOKMARK", envelope("v1", kind, content)))], decoder)
            assert isinstance(found, Event)
            assert isinstance(found.object, PartialObjectMetadata)
            assert (found.object.kind, found.object.resource_version) == (kind, "7")
            assert found.object.metadata.annotations == dict(marks)


@pytest.mark.clause("D3")
def test_an_error_carries_its_status_with_all_that_it_says() -> None:
    causes: tuple[tuple[int, Value], ...] = ((1, "R"), (2, "m"), (3, "spec.f"))
    details: tuple[tuple[int, Value], ...] = (
        (1, "web"),
        (2, "apps"),
        (3, "deployments"),
        (4, causes),
        (4, ()),
        (5, 3),
        (6, "u"),
    )
    content = message(
        (1, ((2, "5"), (3, "next"), (4, 0))), (2, "Failure"), (3, b"a\xff"), (5, details), (6, 504)
    )
    [found] = events([frames(event("ERROR", envelope("v1", "Status", content)))])
    assert isinstance(found, Event)
    status = found.status
    assert status is not None
    assert (status.metadata.resource_version, status.metadata.continue_) == ("5", "next")
    assert status.metadata.remaining_item_count == 0
    assert (status.code, status.message, status.reason) == (504, "a\ufffd", "")
    about = status.details
    assert (about.name, about.group, about.kind, about.uid) == ("web", "apps", "deployments", "u")
    assert about.retry_after_seconds == 3
    assert [(cause.reason, cause.message, cause.field) for cause in about.causes] == [
        ("R", "m", "spec.f"),
        ("", "", ""),
    ]


@pytest.mark.clause("D3")
@pytest.mark.parametrize(
    "raw", [envelope("v1", "Pod", pod("a")), envelope("v1", "Status", b"\xff"), b"{}", b"k8s\0\xff"]
)
def test_an_error_whose_object_is_no_status_is_an_error_nevertheless(raw: bytes) -> None:
    [found] = events([frames(event("ERROR", raw))])
    assert isinstance(found, Event)
    assert found.status is not None
    assert found.status.code == 500
    assert "no Status" in found.status.message or "no valid protobuf" in found.status.message


@pytest.mark.clause("D2")
@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (b"", "of unknown type ''"),
        (event("FOO", envelope("v1", "Pod", pod("a"))), "of unknown type 'FOO'"),
        (message((1, b"\xff")), "no UTF-8"),
        (message((1, "ADDED")), "without an object"),
        (message((1, "ADDED"), (2, b"")), "without an object"),
        (message((1, "ADDED"), (2, ((1, b""),))), "without an object"),
        (b"\xff\xff", "not a watch event"),
        (b'{"type":"ADDED","object":{}}', "not a watch event"),
        (event("BOOKMARK", b"{}"), "a bookmark that cannot be read"),
        (event("BOOKMARK", envelope("v1", "Pod", b"\xff")), "a bookmark that cannot be read"),
        (
            event("BOOKMARK", envelope("v1", "Pod", message((1, ((6, b"\xff"),))))),
            "a bookmark that cannot be read",
        ),
    ],
)
def test_a_frame_that_is_no_event_is_a_fault_in_its_place(frame: bytes, problem: str) -> None:
    good = event("ADDED", envelope("v1", "Pod", pod("a")))
    before, fault, after = events([frames(good, frame, good)])
    assert isinstance(fault, EnvelopeError)
    assert problem in str(fault)
    assert plain(before) == plain(after)


@pytest.mark.clause("D6")
@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"kind":"Pod"}', "JSON"),
        (b"abc", "begins with"),
        (b"k8s\0\xff", "the envelope"),
        (envelope("v1", "Pod", b"\xff"), "the object"),
        (envelope("v1", "Pod", message((1, ((1, b"\xff"),)))), "no UTF-8"),
        (b"k8s\0" + message((1, ((2, "Pod"),)), (2, pod("a")), (3, "gzip")), "'gzip'"),
        (b"k8s\0" + message((2, pod("a")), (4, "application/json")), "'application/json'"),
        (b"k8s\0" + message((1, ((2, b"\xff"),)), (2, pod("a"))), "no UTF-8"),
    ],
)
def test_an_object_that_cannot_be_read_costs_no_other(raw: bytes, problem: str) -> None:
    good = event("ADDED", envelope("v1", "Pod", pod("a")))
    before, bad, after = events([frames(good, event("MODIFIED", raw), good)])
    assert plain(before) == plain(after)
    assert isinstance(bad, Event)
    assert isinstance(bad.error, ObjectDecodeError)
    assert problem in str(bad.error)
    assert bad.object == raw
    with pytest.raises(MalformedObject):
        decode_protobuf(raw)


@pytest.mark.clause("D6")
def test_metadata_that_cannot_be_read_costs_no_other() -> None:
    broken = message((1, ((1, b"\xff"),)))
    good = pod("a")
    wrapped = [envelope("meta.k8s.io/v1", "PartialObjectMetadata", one) for one in (good, broken)]
    found = events([frames(*(event("ADDED", raw) for raw in wrapped))], metadata_only())
    assert isinstance(found[0], Event)
    assert isinstance(found[1], Event)
    assert found[0].error is None
    assert isinstance(found[1].error, ObjectDecodeError)
    partial = pod_list(
        good, broken, good, kind="PartialObjectMetadataList", api_version="meta.k8s.io/v1"
    )
    objects = listed([partial], metadata_only())
    assert [item.key for item in objects] == ["default/a", "default/a"]
    assert "no UTF-8" in str(objects.undecodable[0])


@pytest.mark.clause("C4")
def test_a_watch_that_ends_inside_a_frame_says_so() -> None:
    body = vector("k-watch-pods-crud-protobuf").body
    ends = {0}
    for frame in expected.length_delimited(body):
        ends.add(max(ends) + 4 + len(frame))
    for size in range(0, len(body), 7):
        found = events([body[:size]])
        assert isinstance(found[-1] if found else None, UnexpectedEOF) == (size not in ends)
        assert len(found) - (size not in ends) == sum(end <= size for end in ends) - 1


@pytest.mark.clause("C5")
def test_an_event_over_the_limit_is_passed_over() -> None:
    small, large = (event("ADDED", envelope("v1", "Pod", pod("a" * size))) for size in (1, 5000))
    first, giant, last = events(one_by_one(frames(small, large, small)), limit=1000)
    assert isinstance(giant, ObjectTooLarge)
    assert giant.size == len(large)
    assert plain(first) == plain(last)


# Lists


@pytest.mark.clause("D7")
def test_items_have_the_kind_of_their_list_even_where_it_comes_behind_them() -> None:
    whole = pod_list(pod("a"), pod("b"))
    named = field(1, ((1, "v1"), (2, "PodList")))
    late = whole.replace(named, b"") + named
    for body in (whole, late):
        found = listed(one_by_one(body))
        assert [(item.kind, item.api_version, item.key) for item in found] == [
            ("Pod", "v1", "default/a"),
            ("Pod", "v1", "default/b"),
        ]
        assert [item.raw for item in found] == [envelope("v1", "Pod", pod(name)) for name in "ab"]
        assert found.resource_version == "42"
    assert [item.kind for item in listed(one_by_one(late), metadata_only())] == ["Pod", "Pod"]


@pytest.mark.clause("D7")
def test_a_list_that_never_says_what_it_is_has_no_items() -> None:
    body = pod_list(pod("a"), kind="", api_version="")
    found = listed([body])
    assert not found.items
    assert "does not say what it is" in str(found.undecodable[0])


@pytest.mark.clause("A5", "D7")
def test_a_status_in_place_of_a_list_is_its_error() -> None:
    status = message((1, ()), (2, "Failure"), (3, "too old"), (4, "Expired"), (6, 410))
    body = envelope("v1", "Status", status)
    for pieces in ([body], one_by_one(body)):
        with pytest.raises(Expired, match="too old"):
            listed(pieces)


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "an empty body"),
        (envelope("v1", "Pod", pod("a")), "a Pod where a list was expected"),
        (pod_list(pod("a"))[:-20], "it ends too early"),
        (b'{"kind":"PodList","items":[]}', "expected b'k8s"),
        (envelope("v1", "PodList", b"\x12\x05abc"), "longer than its message"),
        (envelope("v1", "PodList", field(1, b"\xff")), "no valid protobuf"),
        (b"k8s\0" + message((1, b"\xff"), (2, b"")), "no valid protobuf"),
    ],
)
def test_what_is_no_list_is_said(body: bytes, problem: str) -> None:
    for pieces in ([body], one_by_one(body)):
        with pytest.raises(ListDecodeError, match=problem):
            listed(pieces)


@pytest.mark.clause("C5", "C8")
def test_an_item_over_the_limit_ends_the_list() -> None:
    body = pod_list(pod("a"), pod("b" * 2000))
    with pytest.raises(ListDecodeError, match="exceeds the limit of 1000 bytes"):
        listed([body], limit=1000)


@pytest.mark.clause("D6")
def test_an_item_that_its_decoder_refuses_is_there_as_it_came() -> None:
    class Refusing:
        reads = frozenset({PROTOBUF})

        def __call__(self, raw: bytes) -> object:
            raise RuntimeError("a bug")

    found = listed([pod_list(pod("a"))], Refusing())
    assert [each.raw for each in found.undecodable] == [envelope("v1", "Pod", pod("a"))]


def test_no_item_says_of_itself_what_it_is() -> None:
    assert not PROTOBUF_CODEC.is_typed(pod("a"))
    item = PROTOBUF_CODEC.item_decoder(bytes, ListHead())(memoryview(pod("a")))
    assert item == pod("a")


# Anything


DECODERS: list[ObjectDecoder[Any]] = [decode_protobuf, metadata_only(), decode_unstructured]
CODECS = [PROTOBUF_CODEC, METADATA_OF_ALL]


@st.composite
def damaged(draw: st.DrawFn, names: list[str]) -> bytes:
    """A recording with some bytes of it changed."""
    body = bytearray(vector(draw(st.sampled_from(names))).body[:3000])
    for _ in range(draw(st.integers(1, 5))):
        body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    return bytes(body)


def read_all(found: Iterable[object]) -> None:
    """What is decoded when it is read may fail later, by our errors as well."""
    for item in found:
        obj = item.object if isinstance(item, Event) else item
        try:
            getattr(obj, "metadata", None)
        except MalformedObject:
            continue


@settings(deadline=None)
@given(
    damaged(WATCHES) | st.binary(max_size=100),
    st.sampled_from(DECODERS),
    st.sampled_from(CODECS),
)
def test_nothing_in_a_watch_raises(body: bytes, decoder: ObjectDecoder[Any], codec: Codec) -> None:
    found = events([body, length_delimited_frame(body)], decoder, codec, limit=5000)
    found += events([length_delimited_frame(body)], decoder, codec)
    found += events([frames(event("ADDED", body), event("ERROR", body))], decoder, codec)
    read_all(found)


@settings(deadline=None)
@given(
    damaged(LISTS) | st.binary(max_size=100),
    st.sampled_from(DECODERS),
    st.sampled_from(CODECS),
)
def test_nothing_in_a_list_raises_but_our_errors(
    body: bytes, decoder: ObjectDecoder[Any], codec: Codec
) -> None:
    for each in (body, pod_list(body), envelope("v1", "PodList", body)):
        try:
            read_all(listed([each], decoder, codec, limit=5000))
        except (ListDecodeError, APIError):
            continue


@settings(deadline=None)
@given(damaged([*LISTS, "k-get-pods-protobuf", *REFUSALS]) | st.binary(max_size=100))
def test_nothing_in_an_answer_raises_but_our_errors(body: bytes) -> None:
    assert PROTOBUF_CODEC.decode_status(body).code is not None
    for codec in CODECS:
        try:
            raw = codec.object_bytes(body)
        except MalformedObject:
            continue
        assert isinstance(raw, bytes)


def test_it_is_a_codec() -> None:
    codec: Codec = PROTOBUF_CODEC
    assert codec.media_type == PROTOBUF
    [found] = decode_list(pod_list(pod("a")), decode_protobuf, codec=codec)
    assert found == decode_protobuf(envelope("v1", "Pod", pod("a")))


@pytest.mark.parametrize("nested", [b"\x0b" * 3000, b"\x0b" * 3000 + b"\x0c" * 3000])
def test_what_is_nested_without_end_is_refused_by_our_errors(nested: bytes) -> None:
    """The runtime comes in two builds, of which each has its own opinion of such bytes."""
    for raw in (b"k8s\0" + nested, envelope("v1", "Pod", nested)):
        [bad] = events([frames(event("ADDED", raw))])
        assert isinstance(bad, Event)
        assert isinstance(bad.error, ObjectDecodeError)
