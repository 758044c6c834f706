"""Events whose object is cut out by where it usually stands, and those that are laid out
otherwise: both are read the same way.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import Event, EventType, ListWatchError, MalformedObject, Unstructured
from listwatch.wire import (
    EnvelopeError,
    WatchDecoder,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)
from listwatch.wire.decoders import reads_all

from .streams import OBJECTS, cuts

POD = b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","resourceVersion":"7"}}'


def usual(kind: str, raw: bytes) -> bytes:
    return b'{"type":"%s","object":%s}' % (kind.encode(), raw)


def general(raw: bytes) -> Unstructured:
    """A decoder of which nobody knows whether it reads all."""
    return Unstructured.from_bytes(raw)


LAYOUTS = (
    usual,
    lambda kind, raw: usual(kind, raw)[:-1] + b',"more":{"a":[{}]}}',
    lambda kind, raw: usual(kind, raw)[:-1] + b',"object":' + raw + b"}",
    lambda kind, raw: b'{"more":1,' + usual(kind, raw)[1:],
    lambda kind, raw: b'{"object":%s,"type":"%s"}' % (raw, kind.encode()),
    lambda kind, raw: usual(kind, raw)[:-1] + b" }",
    lambda kind, raw: usual(kind, raw)[:-1] + b"\n}",
    lambda kind, raw: usual(kind, raw[:-1] + b"\n" + raw[-1:]),
    lambda kind, raw: usual(kind, raw).replace(b"},", b"}\n,"),
    lambda kind, raw: usual(kind, raw).replace(b":", b": "),
    lambda kind, raw: json.dumps(json.loads(usual(kind, raw)), indent=2).encode(),
    lambda kind, raw: usual(kind, raw[:-1]),
    lambda kind, raw: usual(kind, raw + b"}"),
)


def compact(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    named = st.builds(
        lambda obj, name: {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name}, **obj},
        OBJECTS,
        st.sampled_from(["a", "b", '},{"type":"ADDED","object":{']),
    )
    lines = []
    for _ in range(draw(st.integers(0, 5))):
        layout = draw(st.sampled_from((usual, *LAYOUTS)))
        kind = draw(st.sampled_from(["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "NEW"]))
        lines.append(layout(kind, compact(draw(named | OBJECTS))))
    return b"".join(line + draw(st.sampled_from([b"\n", b"\n", b"\r\n", b""])) for line in lines)


FRONT = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web", "namespace": "default", "uid": "u", "resourceVersion": "7"},
}
FRONTS = st.builds(
    lambda names, more, rest: {
        **FRONT,
        "metadata": {**FRONT["metadata"], **names, **more},  # type: ignore[dict-item]
        **rest,
    },
    st.dictionaries(
        st.sampled_from(["name", "namespace", "uid", "resourceVersion", "generateName"]),
        st.sampled_from(["b", 'q"', "\\", "é", "", "x-1.y", "\x1f"]),
    ),
    st.dictionaries(st.sampled_from(["labels", "zzz", "kind"]), OBJECTS),
    st.dictionaries(st.sampled_from(["spec", "status", "type", "object"]), OBJECTS),
)


@given(st.sampled_from(LAYOUTS[:-2]), st.lists(FRONTS, max_size=5), st.lists(st.integers(0, 4000)))
def test_an_object_that_is_told_by_its_front_is_the_one_that_is_decoded(
    layout: Any, objects: list[Any], places: list[int]
) -> None:
    data = b"".join(layout("MODIFIED", compact(obj)) + b"\n" for obj in objects)
    short, long = WatchDecoder(decode_unstructured, trust_lines=True), WatchDecoder(general)
    for piece in (*cuts(data, places), data):
        found = short.feed(piece)
        assert list(map(told, found)) == list(map(told, long.feed(piece)))
        assert all(item.object.to_dict() is not None for item in found if isinstance(item, Event))
    assert list(map(told, short.end())) == list(map(told, long.end()))


@pytest.mark.clause("D1", "D6")
def test_damage_behind_the_front_is_found_at_once_or_by_whoever_reads_the_object() -> None:
    good = usual("ADDED", compact({**FRONT, "spec": {"a": 1}}))
    bad = good.replace(b'"a":1', b'"a":}')
    stream = WatchDecoder(decode_unstructured, trust_lines=True)
    [fault] = stream.feed(bad + b"\n")  # the only one of its read
    assert not isinstance(fault, Event)
    stream = WatchDecoder(decode_unstructured, trust_lines=True)
    stream.feed(good + b"\n")
    [among, *rest] = stream.feed(bad + b"\n" + good + b"\n" + bad + b"\n")
    assert isinstance(among, Event)
    assert among.object.key == "default/web"
    with pytest.raises(MalformedObject, match="default/web"):
        among.object["spec"]
    assert [isinstance(item, Event) for item in rest] == [True, False]


@pytest.mark.clause("D2")
def test_where_envelopes_have_more_in_them_each_is_decoded() -> None:
    frame = usual("ADDED", compact(FRONT))[:-1] + b',"more":{}}\n'
    stream = WatchDecoder(decode_unstructured, trust_lines=True)
    for found in (stream.feed(frame), stream.feed(frame * 3)):
        assert [item.raw for item in found if isinstance(item, Event)] == [compact(FRONT)] * len(
            found
        )
    assert stream.unusual == 4


@pytest.mark.clause("C2")
def test_two_values_in_a_line_are_two_whatever_stands_around_them() -> None:
    one, two, three = (usual("MODIFIED", compact({**FRONT, "spec": {"n": n}})) for n in range(3))
    stream = WatchDecoder(decode_unstructured)
    stream.feed(one + b"\n")
    found = stream.feed(one + two + b"\n" + three + b"\n" + one + b"\n" + two)
    assert [item.object["spec"]["n"] for item in found if isinstance(item, Event)] == [
        0,
        1,
        2,
        0,
        1,
    ]
    assert stream.faults == 0


@pytest.mark.clause("D2")
def test_envelopes_may_begin_to_have_more_in_them_within_a_read() -> None:
    frame = usual("ADDED", compact(FRONT))
    more = usual("ADDED", POD)[:-1] + b',"more":{}}'
    stream = WatchDecoder(decode_unstructured, trust_lines=True)
    stream.feed(frame + b"\n")
    found = stream.feed(more + b"\n" + frame + b"\n" + frame + b"\n" + b"{")
    assert [item.raw for item in found if isinstance(item, Event)] == [
        POD,
        compact(FRONT),
        compact(FRONT),
    ]


@pytest.mark.clause("A3")
def test_a_namespace_behind_what_the_front_shows_is_found() -> None:
    raw = (
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","uid":"u",'
        b'"resourceVersion":"7","namespace":"default"}}'
    )
    assert Unstructured.from_front(raw) is None
    found = Unstructured.from_front(raw.replace(b',"namespace":"default"', b""))
    assert found is not None
    assert found.key == "web"


def told(item: Event[Any] | ListWatchError) -> tuple[Any, ...]:
    if isinstance(item, ListWatchError):
        return type(item), str(item)
    return item.type, item.raw, item.object, str(item.error)


@given(streams(), st.lists(st.integers(0, 4000), max_size=5))
def test_whatever_the_layout_an_event_is_the_same_as_without_the_short_way(
    data: bytes, places: list[int]
) -> None:
    short, long = WatchDecoder(decode_unstructured), WatchDecoder(general)
    for piece in cuts(data, places):
        assert list(map(told, short.feed(piece))) == list(map(told, long.feed(piece)))
        assert short.faults == long.faults
    assert list(map(told, short.end())) == list(map(told, long.end()))


@pytest.mark.clause("D1")
def test_the_usual_frame_is_read_without_decoding_its_envelope() -> None:
    stream = WatchDecoder(decode_unstructured)
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        [event] = stream.feed(usual(kind, POD) + b"\n")
        assert isinstance(event, Event)
        assert (event.type, event.raw, event.object.raw) == (EventType(kind), POD, POD)
    assert stream.unusual == 0
    stream.feed(usual("BOOKMARK", POD) + b"\n")
    assert stream.unusual == 1


@pytest.mark.clause("D1", "D6")
def test_a_decoder_that_refuses_the_object_is_asked_once() -> None:
    asked: list[bytes] = []

    class Refusing:
        reads_all = True

        def __call__(self, raw: bytes) -> str:
            asked.append(raw)
            raise ValueError("not for me")

    [event] = WatchDecoder(Refusing()).feed(usual("ADDED", POD) + b"\n")
    assert isinstance(event, Event)
    assert (event.object, event.raw, asked) == (POD, POD, [POD])
    assert "default/web" in str(event.error) or "web" in str(event.error)


@pytest.mark.clause("D2")
def test_what_a_decoder_that_reads_all_refuses_may_be_no_frame_at_all() -> None:
    # The line ends after a brace, but the value does not.
    first, second = usual("ADDED", POD).replace(b'"7"}}', b'"7"}\n}'), usual("MODIFIED", POD)
    found = WatchDecoder(decode_unstructured).feed(first + b"\n" + second + b"\n")
    assert [item.type for item in found if isinstance(item, Event)] == ["ADDED", "MODIFIED"]


@pytest.mark.clause("D2")
@pytest.mark.parametrize("decoder", [decode_dict, decode_unstructured, decode_partial_metadata])
def test_an_event_without_an_object_is_a_fault_for_every_decoder(decoder: Any) -> None:
    for frame in (b'{"type":"ADDED","object":null}\n', b'{"type":"ADDED"}\n'):
        [fault] = WatchDecoder(decoder).feed(frame)
        assert isinstance(fault, EnvelopeError)


def test_which_decoders_read_all_is_known_or_said() -> None:
    class Silent:
        def __call__(self, raw: bytes) -> bytes:
            return raw

    class Saying(Silent):
        reads_all = True

    assert reads_all(decode_unstructured)
    assert reads_all(decode_dict)
    assert reads_all(decode_partial_metadata)
    assert reads_all(msgspec.json.Decoder(dict).decode)
    assert reads_all(Saying())
    assert not reads_all(Silent())
    assert not reads_all(bytes)
    assert not reads_all(msgspec.msgpack.Decoder().decode)
