"""A LIST body that is read while it arrives: whatever its layout, and however it is cut."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import Expired, ListMeta, Unstructured
from listwatch.wire import (
    JSON_CODEC,
    Codec,
    ListDecodeError,
    ListDecoder,
    ListHead,
    ObjectDecoder,
    decode_dict,
    decode_list,
    decode_partial_metadata,
    decode_unstructured,
    json_items,
)
from listwatch.wire.cbor_codec import CBOR_CODEC
from tests.support.vectors import vectors
from tests.wire.cbor_items import item as cbor_item
from tests.wire.streams import VALUES, cuts, one_by_one

DECODERS: list[ObjectDecoder[Any]] = [
    decode_unstructured,
    decode_dict,
    msgspec.json.Decoder().decode,
    json.loads,  # it would take a list of two items for one with something behind it
]
ROOT = Path(__file__).parents[2]
POD_LIST = ListHead("v1", "PodList")
NAMES_OF_DECODERS = ["unstructured", "dict", "msgspec", "json"]
LAYOUTS: list[dict[str, Any]] = [
    {"separators": (",", ":")},
    {"separators": (",", ":")},
    {},
    {"indent": 1},
    {"indent": 4, "separators": (",", ": ")},
    {"separators": (" ,\t", "\r\n:")},
]


def dumps(value: Any, **layout: Any) -> bytes:
    return json.dumps(value, **(layout or LAYOUTS[0])).encode()


def read(
    pieces: Iterable[bytes], decoder: ObjectDecoder[Any] = decode_dict, limit: int = 1 << 24
) -> tuple[list[Any], ListDecoder[Any]]:
    body: ListDecoder[Any] = ListDecoder(decoder, limit=limit)
    found: list[Any] = []
    for piece in pieces:
        found += body.feed(piece)
    return found + body.end(), body


def plain(objects: list[Any]) -> list[Any]:
    return [obj.to_dict() if isinstance(obj, Unstructured) else obj for obj in objects]


def in_reads(body: bytes, size: int = 65536) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]


# Any list at all

NAMES = st.fixed_dictionaries({"name": st.text(max_size=8), "uid": st.just("u")})
LOOKALIKES = st.lists(st.fixed_dictionaries({"metadata": NAMES}), min_size=1, max_size=3)
INSIDES = VALUES | LOOKALIKES | st.sampled_from(['},{"metadata":{', '"items":[', "\\", '\\"', "]}"])
TYPED = st.fixed_dictionaries(
    {"metadata": NAMES}, optional={"spec": INSIDES, "items": LOOKALIKES, "kind": st.none()}
)
CUSTOM = st.fixed_dictionaries(
    {"apiVersion": st.just("e.com/v1"), "kind": st.just("Widget"), "metadata": NAMES},
    optional={"spec": INSIDES, "owners": st.just([{"apiVersion": "e.com/v1", "kind": "Widget"}])},
)
LATE = st.fixed_dictionaries({"spec": INSIDES, "metadata": NAMES, "kind": st.just("Late")})
ITEMS = (
    st.lists(TYPED, max_size=8)
    | st.lists(CUSTOM, max_size=8)
    | st.lists(TYPED | TYPED | CUSTOM | LATE, max_size=8)
)


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[Any], bytes]:
    """The items as they should come out, and a body that holds them."""
    items = draw(ITEMS)
    members: list[tuple[str, Any]] = [
        ("kind", "PodList"),
        ("apiVersion", "v1"),
        ("metadata", {"resourceVersion": "42", "continue": "abc"}),
        ("items", items),
    ]
    if draw(st.booleans()):
        members.append(("else", draw(INSIDES)))
    body = dumps(
        dict(draw(st.permutations(members))),
        ensure_ascii=draw(st.booleans()),
        **draw(st.sampled_from(LAYOUTS)),
    )
    space = draw(st.sampled_from([b"", b"\n", b" \r\n"]))
    typed = {"kind": "Pod", "apiVersion": "v1"}
    said = [{name: value for name, value in item.items() if value is not None} for item in items]
    wanted = [{**item, **typed, **own} for item, own in zip(items, said, strict=True)]
    return wanted, space + body + space


@pytest.mark.clause("C8", "D7")
@given(lists(), st.sampled_from(DECODERS), st.lists(st.integers(0, 10_000), max_size=12))
def test_any_list_cut_anywhere_is_read_as_it_is(
    made: tuple[list[Any], bytes], decoder: ObjectDecoder[Any], places: list[int]
) -> None:
    items, body = made
    for pieces in (cuts(body, places), one_by_one(body), [body]):
        found, whole = read(pieces, decoder)
        assert plain(found) == items
        assert whole.undecodable == []
        assert (whole.kind, whole.api_version) == ("PodList", "v1")
        assert (whole.metadata.resource_version, whole.metadata.continue_) == ("42", "abc")


@pytest.mark.clause("C8", "C4")
@given(lists(), st.integers(1, 10_000), st.sampled_from([b"", b"\n", b"]", b"}", b"x", b"\x00"]))
def test_no_list_that_is_cut_short_passes_for_one(
    made: tuple[list[Any], bytes], missing: int, behind: bytes
) -> None:
    body = made[1].rstrip()
    cut = body[: len(body) - 1 - missing % (len(body) - 1)] + behind
    with contextlib.suppress(ValueError):
        json.loads(cut)
        return  # what is missing is white space, or whole members
    for pieces in ([cut], one_by_one(cut)):
        with pytest.raises(ListDecodeError):
            read(pieces)


class AtOnce(msgspec.Struct, rename="camel"):
    """A list to a decoder that sees all of it at once."""

    metadata: ListMeta | None = None
    kind: str | None = None
    api_version: str | None = None
    items: list[msgspec.Raw] | None = None


def bare(items: list[Any]) -> list[Any]:
    return [
        {name: value for name, value in item.items() if name not in ("kind", "apiVersion")}
        if isinstance(item, dict)
        else item
        for item in items
    ]


@pytest.mark.clause("C8", "C4")
@given(lists(), st.integers(0, 10_000), st.binary(max_size=3) | st.sampled_from([b",", b'"', b"}"]))
def test_damage_is_seen_wherever_it_is(
    made: tuple[list[Any], bytes], place: int, put: bytes
) -> None:
    """Such as a bad escape or bad UTF-8 inside an item is seen by its decoder, and is that item's
    alone.
    """
    body = made[1]
    at = place % len(body)
    damaged = body[:at] + put + body[at + len(put) :]
    try:
        whole: AtOnce | None = msgspec.json.decode(damaged, type=AtOnce)
    except ValueError:
        whole = None
    if whole is not None and whole.kind and not whole.kind.endswith("List"):
        whole = None
    for pieces in ([damaged], cuts(damaged, [at, at + 1]), one_by_one(damaged)):
        try:
            found, decoder = read(pieces, msgspec.json.Decoder().decode)
        except ListDecodeError:
            assert whole is None
        else:
            sound, unsound = readable(whole.items or [] if whole is not None else [])
            assert (whole is None and decoder.undecodable) or bare(found) == bare(sound)
            assert whole is None or len(decoder.undecodable) == unsound


def readable(items: list[msgspec.Raw]) -> tuple[list[Any], int]:
    """Those that can be decoded, and how many cannot."""
    found = []
    for item in items:
        with contextlib.suppress(ValueError):
            found.append(msgspec.json.decode(item))
    return found, len(items) - len(found)


# What real servers sent


@pytest.mark.clause("C8", "D7")
def test_every_recorded_list_is_read_as_it_is() -> None:
    read_lists = 0
    for recording in vectors():
        if not recording.is_list or recording.status != 200 or b"Table" in recording.body[:200]:
            continue
        if not (recording.headers.get("Content-Type") or "").startswith("application/json"):
            continue
        wanted = json.loads(recording.body)
        item_kind = wanted["kind"].removesuffix("List")
        typed = {"kind": item_kind, "apiVersion": wanted["apiVersion"]}
        items = [{**typed, **item} for item in wanted["items"] or ()]
        for decoder in (decode_unstructured, decode_dict):
            as_recorded = itertools.accumulate(size for _, size in recording.body_reads)
            for pieces in (
                [recording.body],
                in_reads(recording.body, 1000),
                cuts(recording.body, [*as_recorded][:-1]),
            ):
                found, whole = read(pieces, decoder)
                assert plain(found) == items, recording.name
                assert whole.kind == wanted["kind"]
                assert whole.metadata.continue_ == wanted["metadata"].get("continue", "")
        read_lists += 1
    assert read_lists > 80


# Which way items are cut


def pod(number: int, size: int = 0) -> dict[str, Any]:
    metadata = {"name": f"web-{number}", "namespace": "default", "uid": f"u-{number}"}
    return {"metadata": metadata, "spec": {"x": "y" * size}}


def widget(number: int, size: int = 0) -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "kind": "Widget", **pod(number, size)}


def stateful_set(number: int) -> dict[str, Any]:
    claims = [{"metadata": {"name": name}} for name in ("data", "log", "},{")]
    return {**pod(number), "spec": {"volumeClaimTemplates": claims, "x": "y" * 300}}


def typed_list(items: list[Any]) -> dict[str, Any]:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": items}


def custom_list(items: list[Any]) -> dict[str, Any]:
    return {"apiVersion": "e.com/v1", "items": items, "kind": "WidgetList", "metadata": {}}


@pytest.mark.clause("C8")
@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
@pytest.mark.parametrize(
    ("body", "make"), [(typed_list, pod), (custom_list, widget)], ids=["typed", "custom"]
)
def test_the_items_of_servers_take_the_fast_way_in_every_layout(
    body: Callable[[list[Any]], Any], make: Callable[..., Any], layout: dict[str, Any]
) -> None:
    items = [make(number, 3000) for number in range(500)]
    found, whole = read(in_reads(dumps(body(items), **layout)), decode_unstructured)
    assert len(found) == 500
    # The last has nothing behind it by which to find its end. In some layouts what is between two
    # items has to be seen first: that takes so much as is held for one item.
    spaced = layout.get("separators", ", ")[0] != "," and "indent" not in layout
    assert whole.unusual <= (100 if spaced else 1)


@pytest.mark.clause("C8")
@pytest.mark.parametrize("cut", range(60, 130))
def test_so_they_do_wherever_the_first_read_ends(cut: int) -> None:
    """Custom objects have owners and managedFields that begin as they do."""
    of = {"apiVersion": "e.com/v1", "kind": "Gadget", "name": "x"}
    items = [
        {**widget(number, 300), "owners": [of, of], "fields": [{"apiVersion": "v1", "x": 1}] * 3}
        for number in range(20)
    ]
    body = dumps(custom_list(items))
    found, whole = read([body[:cut], *in_reads(body[cut:], 1000)])
    assert found == items
    assert whole.unusual <= 3


@pytest.mark.clause("C8")
def test_one_odd_item_slows_a_few_others_only() -> None:
    items = [pod(number, 3000) for number in range(3000)]
    items[1500] = stateful_set(1500)
    for size in (1 << 24, 65536):
        found, whole = read(in_reads(dumps(typed_list(items)), size), decode_unstructured)
        assert len(found) == 3000
        assert whole.unusual < 100


@pytest.mark.clause("C8")
def test_items_that_hold_what_looks_like_the_next_are_read_right() -> None:
    items = [stateful_set(number) for number in range(300)]
    body = dumps({"kind": "StatefulSetList", "apiVersion": "apps/v1", "items": items})
    typed = {"kind": "StatefulSet", "apiVersion": "apps/v1"}
    for size in (1 << 20, 65536, 4096, 100, 7):
        found, whole = read(in_reads(body, size))
        assert found == [{**item, **typed} for item in items]
        assert whole.undecodable == []


@pytest.mark.clause("C8")
def test_a_list_of_many_kinds_is_read_right() -> None:
    items = [[pod, widget, stateful_set][number % 3](number) for number in range(200)]
    found, _ = read(in_reads(dumps({"kind": "List", "apiVersion": "v1", "items": items}), 5000))
    assert found == [{"apiVersion": "v1", **item} for item in items]


@pytest.mark.clause("C8", "D6")
def test_a_decoder_is_never_asked_for_what_is_no_item() -> None:
    """Only those that read all of their bytes serve as the check of a guess; others could take any
    of it for an object, or do something with it.
    """
    seen: list[bytes] = []

    def first_bytes(raw: bytes) -> bytes:
        assert type(raw) is bytes
        seen.append(raw)
        return raw[:10]

    items = [stateful_set(number) for number in range(50)]
    found, _ = read([dumps(typed_list(items))], first_bytes)
    assert len(found) == 50
    typed = {"kind": "Pod", "apiVersion": "v1"}
    assert [json.loads(raw) for raw in seen] == [{**typed, **item} for item in items]
    seen.clear()
    widgets = [{**widget(number), "of": [widget(0), widget(1)]} for number in range(9)]
    read([dumps({"kind": "WidgetList", "apiVersion": "e.com/v1", "items": widgets})], first_bytes)
    assert [json.loads(raw)["metadata"]["name"] for raw in seen] == [f"web-{n}" for n in range(9)]


@pytest.mark.clause("C8", "D6")
def test_a_decoder_may_say_that_it_takes_kind_and_api_version_from_the_list() -> None:
    class Decoder:
        takes_type_meta = True

        def __call__(self, raw: Any, *, api_version: str = "", kind: str = "") -> Any:
            return json.loads(bytes(raw)), api_version, kind

    found, _ = read([dumps(typed_list([pod(1), pod(2)]))], Decoder())
    assert found == [(pod(1), "v1", "Pod"), (pod(2), "v1", "Pod")]


# Kind and apiVersion


@pytest.mark.clause("D7", "C8")
@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES_OF_DECODERS)
def test_items_wait_for_a_kind_that_comes_behind_them_and_keep_their_order(
    decoder: ObjectDecoder[Any],
) -> None:
    items = [widget(0), pod(1), widget(2), stateful_set(3)]
    for order in itertools.permutations(["apiVersion", "items", "kind"]):
        members = {"apiVersion": "v1", "items": items, "kind": "PodList"}
        body: ListDecoder[Any] = ListDecoder(decoder)
        found = body.feed(dumps({name: members[name] for name in order}))
        late = order.index("items") < 2
        assert len(found) <= (1 if late else 4)
        found += body.end()
        typed = {"apiVersion": "v1", "kind": "Pod"}
        assert plain(found) == [{**typed, **item} for item in items]


@pytest.mark.clause("C8", "D7")
@pytest.mark.parametrize("codec", [JSON_CODEC, CBOR_CODEC], ids=["json", "cbor"])
def test_items_do_not_wait_for_a_kind_that_is_expected(codec: Codec) -> None:
    written = cbor_item if codec is CBOR_CODEC else dumps
    items = [{"metadata": {"name": f"p-{number}"}} for number in range(10)]
    body = written({"items": items, "kind": "PodList", "apiVersion": "v1", "metadata": {}})
    decoder = ListDecoder(decode_dict, codec=codec, expected=POD_LIST)
    found = decoder.feed(body[: len(body) // 2])
    assert len(found) >= 4
    found += decoder.feed(body[len(body) // 2 :]) + decoder.end()
    assert found == [{"apiVersion": "v1", "kind": "Pod", **each} for each in items]
    assert (decoder.kind, decoder.api_version) == ("PodList", "v1")


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    "said", [{"kind": "GizmoList", "apiVersion": "v1"}, {"kind": "PodList", "apiVersion": "v2"}]
)
def test_where_another_kind_comes_than_was_expected_the_list_is_refused(said: Any) -> None:
    decoder = ListDecoder(decode_dict, expected=POD_LIST)
    assert len(decoder.feed(b'{"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}')) == 1
    decoder.feed(b"]," + dumps(said)[1:])
    with pytest.raises(ListDecodeError, match="a list of two kinds, PodList and"):
        decoder.end()


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    "body",
    [
        b'{"kind":"GizmoList","apiVersion":"v2","items":[{"metadata":{}},{"metadata":{}}]}',
        b'{"items":[{"kind":"Gizmo","apiVersion":"v2"},{}],"kind":"GizmoList","apiVersion":"v2"}',
    ],
    ids=["in front", "of the first item"],
)
def test_what_is_said_counts_more_than_what_is_expected(body: bytes) -> None:
    decoder = ListDecoder(decode_dict, expected=POD_LIST)
    found = decoder.feed(body) + decoder.end()
    assert [(each["kind"], each["apiVersion"]) for each in found] == [("Gizmo", "v2")] * 2
    assert decoder.kind == "GizmoList"


@pytest.mark.clause("D7", "C8")
def test_a_list_that_changes_its_kind_behind_its_items_is_refused() -> None:
    body = (
        b'{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}],"kind":"XList"}'
    )
    with pytest.raises(ListDecodeError, match="two kinds, PodList and XList"):
        read(one_by_one(body))


@pytest.mark.clause("C8")
@pytest.mark.parametrize("name", ["items", "it\\u0065ms"])
def test_the_items_may_come_once_only(name: str) -> None:
    twice = f'{{"kind":"PodList","items":[],"{name}":[{{}}]}}'.encode()
    with pytest.raises(ListDecodeError, match='a second "items" at byte'):
        read([twice])
    found, _ = read([f'{{"kind":"PodList","{name}":[{{"a":1}}]}}'.encode()])
    assert found == [{"kind": "Pod", "a": 1}]


# What is no list


@pytest.mark.clause("A5", "D7")
def test_a_status_is_its_error_however_it_is_cut() -> None:
    status = dumps(
        {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        | {"message": "too old", "reason": "Expired", "code": 410}
    )
    for pieces in ([status], one_by_one(status)):
        with pytest.raises(Expired, match="too old"):
            read(pieces)


@pytest.mark.clause("D7", "C8")
def test_a_giant_that_is_no_list_is_refused_before_it_has_come_whole() -> None:
    def rows() -> Iterator[bytes]:
        yield b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":['
        for _ in range(100):
            yield b'{"cells":["' + b"x" * 10_000 + b'"]},'
        pytest.fail("it has read on and on")

    with pytest.raises(ListDecodeError, match="as=Table"):
        read(rows(), limit=100_000)


@pytest.mark.clause("C5", "C8")
@pytest.mark.parametrize("size", [7, 500, 5000, 1 << 20])
def test_one_object_over_the_limit_is_an_error_of_the_list_and_one_at_it_is_none(
    size: int,
) -> None:
    """It cannot be passed over: it would be taken for one that is gone."""
    items = [pod(1), pod(2, 2000), pod(3, 2000), pod(4)]
    largest = max(len(dumps(item)) for item in items)
    body = dumps(typed_list(items))
    assert len(read(in_reads(body, size), limit=largest)[0]) == 4
    with pytest.raises(ListDecodeError, match=f"exceeds the limit of {largest - 1} bytes"):
        read(in_reads(body, size), limit=largest - 1)


@pytest.mark.clause("C5", "C8")
def test_what_is_around_the_items_is_limited_too() -> None:
    body = b'{"kind":"PodList","items":[],"x":"' + b"x" * 1000 + b'"}'
    assert read([body], limit=len(body))[0] == []
    with pytest.raises(ListDecodeError, match="exceeds the limit of 900 bytes"):
        read([body], limit=900)


@pytest.mark.clause("C4", "D7")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"kind":"PodList","items":[{"a":1},', 'too early, after 35 bytes: \'{"kind"'),
        (b'{"kind":"PodList","items":[{"a":1}]} {}', "expected the end at byte 37"),
        (b'{"kind":"PodList","items":[{"a":1} {"b":2}]}', "expected ',' or ']' at byte 35"),
        (b'{"kind":"PodList","items":[{"a":1},]}', "expected a value at byte 35"),
        (b'{"kind":"PodList","items":[{"a":1},{"b"}]}', "expected ':' at byte 39"),
        (b'{"kind":"PodList",}', "expected a string at byte 18"),
        (b'{"kind" "PodList"}', "expected ':' at byte 8"),
        (b'{"kind":"PodList","items":[{"a":' + b"[" * 11_000, "10000 nested"),
        (b"<html>", "expected '{' at byte 0 of the stream: '<"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(body: bytes, said: str) -> None:
    for pieces in ([body], one_by_one(body) if len(body) < 100 else in_reads(body, 999)):
        with pytest.raises(ListDecodeError) as caught:
            read(pieces)
        assert said in str(caught.value)


@pytest.mark.clause("D6")
@pytest.mark.parametrize("decoder", DECODERS, ids=NAMES_OF_DECODERS)
def test_an_item_with_a_bad_escape_costs_no_other(decoder: ObjectDecoder[Any]) -> None:
    items = [dumps(pod(n)) for n in range(5)]
    items[2] = items[2].replace(b"web-2", b"web-\\u12G4")
    body = b'{"kind":"PodList","apiVersion":"v1","items":[' + b",".join(items) + b"]}"
    for pieces in ([body], in_reads(body, 64), one_by_one(body)):
        found, whole = read(pieces, decoder)
        names = [each["metadata"]["name"] for each in plain(found)]
        assert names == ["web-0", "web-1", "web-3", "web-4"]
        [refused] = whole.undecodable
        assert b"u12G4" in refused.raw


@pytest.mark.clause("D6", "C8")
def test_a_decoder_that_fails_on_every_item_gets_each_and_stops_none() -> None:
    def fussy(raw: bytes) -> Any:
        raise LookupError("never")

    for body in (typed_list([pod(n) for n in range(40)]), custom_list([widget(0), pod(1)])):
        for size in (1 << 20, 100):
            found, whole = read(in_reads(dumps(body), size), fussy)
            assert found == []
            assert [error.key for error in whole.undecodable] == [
                f"default/web-{n}" for n in range(len(body["items"]))
            ]
            kinds = {json.loads(error.raw)["kind"] for error in whole.undecodable}
            assert kinds == {body["kind"].removesuffix("List")}


# Memory and time


def streamed(
    count: int, size: int, body: Callable[[list[Any]], Any] = typed_list
) -> Iterator[bytes]:
    """A list in reads of 64 KiB, of which never more than two are there."""
    head, tail = dumps(body([])).split(b"[]")
    buffer = head + b"["
    make = widget if body is custom_list else pod
    for number in range(count):
        buffer += (b"," if number else b"") + dumps(make(number, size))
        while len(buffer) >= 65536:
            yield buffer[:65536]
            buffer = buffer[65536:]
    yield buffer + b"]" + tail


def peak_of(work: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.clause("C8")
@pytest.mark.parametrize("body", [typed_list, custom_list])
@pytest.mark.parametrize("size", [5000, 60_000, 400_000])
def test_the_body_is_never_held(body: Callable[[list[Any]], Any], size: int) -> None:
    """25 MB, of which nobody keeps an object. In a process of its own: what other threads of this
    one take would be counted, too.
    """
    program = f"from {__name__} import *; print(*read_and_dropped({body.__name__}, {size}))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    count, peak = map(int, done.stdout.split())
    assert count == 25_000_000 // size
    assert peak < 1_500_000 + 4 * size


def read_and_dropped(body: Callable[[list[Any]], Any], size: int) -> tuple[int, int]:
    """How many objects there were in 25 MB, and the most bytes that were held meanwhile."""
    counts: list[int] = []

    def work() -> None:
        decoder = ListDecoder(decode_unstructured)
        pieces = streamed(25_000_000 // size, size, body)
        counts.extend(len(decoder.feed(piece)) for piece in pieces)
        counts.append(len(decoder.end()))

    peak = peak_of(work)
    return sum(counts), peak


@pytest.mark.clause("C8", "G4")
@pytest.mark.parametrize(
    "decoder",
    [decode_unstructured, decode_dict, decode_partial_metadata],
    ids=["unstructured", "dict", "metadata"],
)
def test_an_object_that_is_kept_keeps_nothing_else(decoder: ObjectDecoder[Any]) -> None:
    kept: list[Any] = []

    def work() -> None:
        body = ListDecoder(decoder)
        for piece in streamed(5000, 5000):
            kept.extend(body.feed(piece)[:1])

    assert peak_of(work) < 1_500_000 + len(kept) * 8_000
    assert len(kept) > 300


@pytest.mark.clause("C8", "D6")
def test_an_item_that_was_refused_keeps_no_more_than_itself() -> None:
    def fussy(raw: bytes) -> Any:
        raise ValueError(len(raw))

    def work() -> None:
        body = ListDecoder(fussy)
        for piece in streamed(2000, 5000):
            body.feed(piece)
        assert len(body.undecodable) > 1900

    assert peak_of(work) < 2000 * 5_000 * 2.5


class Scans:
    """A decoder that reads all. It counts the bytes that are looked at in C: by itself, and to find
    where an item ends.
    """

    takes_type_meta = True

    def __init__(self) -> None:
        self.bytes = 0
        self._decode = msgspec.json.Decoder().decode
        self._skip = json_items._skip

    def __call__(self, raw: Any, *, api_version: str = "", kind: str = "") -> Any:
        return self._counted(self._decode, raw)

    def skip(self, raw: Any) -> Any:
        return self._counted(self._skip, raw)

    def _counted(self, scan: Callable[[Any], Any], raw: Any) -> Any:
        end = len(raw)
        try:
            return scan(raw)
        except msgspec.DecodeError as error:
            trailing = re.search(r"byte (\d+)", str(error))
            end = int(trailing[1]) if trailing else end
            raise
        finally:
            self.bytes += end


@pytest.fixture
def scans(monkeypatch: pytest.MonkeyPatch) -> Scans:
    counting = Scans()
    monkeypatch.setattr(json_items, "_skip", counting.skip)
    return counting


@pytest.mark.clause("C7")
@pytest.mark.parametrize("size", [16, 200, 3000, 65536])
@pytest.mark.parametrize(
    ("make", "times"), [(pod, 1.1), (widget, 1.1), (stateful_set, 4)], ids=["pod", "widget", "set"]
)
def test_each_byte_is_looked_at_a_few_times_at_most_however_it_is_cut(
    make: Callable[[int], Any], times: float, size: int, scans: Scans
) -> None:
    body = dumps(typed_list([make(number) for number in range(300)]))
    found, _ = read(in_reads(body, size), scans)
    assert len(found) == 300
    assert scans.bytes < times * len(body)


@pytest.mark.clause("C7")
@pytest.mark.parametrize("size", [40, 1000, 65536])
@pytest.mark.parametrize("claims", [3000, 30_000])
def test_long_items_full_of_lookalikes_are_no_worse(claims: int, size: int, scans: Scans) -> None:
    like = [{"metadata": {"name": "x" * 10}}] * claims
    items = [{**pod(number), "spec": like} for number in range(3)]
    body = dumps(typed_list(items))
    found, _ = read(in_reads(body, size), scans)
    assert [len(item["spec"]) for item in found] == [claims] * 3
    assert scans.bytes < 5 * len(body)


def test_this_msgspec_says_where_an_object_ends() -> None:
    assert json_items._CAN_ASK


def test_another_that_does_not_is_no_worse_than_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_items, "_CAN_ASK", False)
    items = [stateful_set(number) for number in range(30)]
    body = dumps(typed_list(items))
    for size in (1 << 20, 100):
        found, _ = read(in_reads(body, size))
        assert bare(found) == items


@pytest.mark.clause("D7")
def test_decode_list_reads_a_body_that_is_there() -> None:
    found = decode_list(dumps(typed_list([pod(1)])), decode_unstructured)
    assert [each.key for each in found] == ["default/web-1"]
    assert found.kind == "PodList"


@pytest.mark.clause("D7")
def test_a_list_that_never_says_its_kind_is_what_was_expected() -> None:
    decoder = ListDecoder(decode_unstructured, expected=ListHead("v1", "PodList"))
    items = decoder.feed(b'{"metadata":{},"items":[{"metadata":{"name":"a"}}]}') + decoder.end()
    assert [(item.kind, item.name) for item in items] == [("Pod", "a")]
