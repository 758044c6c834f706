"""A LIST body in CBOR that is read while it arrives: whatever its layout, and however it is cut."""

from __future__ import annotations

import json
from collections.abc import Iterable
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.api import APIError, Expired, MalformedObject, Unstructured
from listwatch.wire import (
    FramingError,
    ListDecodeError,
    ListDecoder,
    ObjectDecoder,
    ObjectList,
    ObjectTooLarge,
    decode_dict,
    decode_list,
    decode_unstructured,
)
from listwatch.wire.cbor_codec import CBOR_CODEC
from listwatch.wire.cbor_list import CBORListFramer
from tests.wire.cbor_items import RANDOMS, SELF_DESCRIBED, VALUES, Writer, item
from tests.wire.streams import cuts, one_by_one

PLACES = st.lists(st.integers(0, 10_000), max_size=10)


def read(
    pieces: Iterable[bytes], decoder: ObjectDecoder[Any] = decode_dict, limit: int = 1 << 24
) -> ObjectList[Any]:
    body: ListDecoder[Any] = ListDecoder(decoder, codec=CBOR_CODEC, limit=limit)
    found: list[Any] = []
    for piece in pieces:
        found += body.feed(piece)
    return body.whole(found + body.end())


NAMES = st.fixed_dictionaries({"name": st.text(max_size=30), "uid": st.just("u")})
TYPED: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"metadata": NAMES}, optional={"spec": VALUES, "kind": st.none()}
)
CUSTOM: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"apiVersion": st.just("e.com/v1"), "kind": st.just("Widget"), "metadata": NAMES},
    optional={"spec": VALUES, "items": st.just([{"metadata": {}}])},
)
ITEMS = st.lists(TYPED, max_size=5) | st.lists(CUSTOM, max_size=5) | st.lists(TYPED | CUSTOM)


@st.composite
def lists(draw: st.DrawFn) -> tuple[list[Any], bytes]:
    """The items as they should come out, and a body that holds them."""
    items: list[Any] = draw(ITEMS)
    members: list[tuple[str, Any]] = [
        ("kind", "PodList"),
        ("apiVersion", "v1"),
        ("metadata", {"resourceVersion": "42", "continue": "abc"}),
        ("items", items or draw(st.sampled_from([[], None]))),
    ]
    if draw(st.booleans()):
        members.append(("else", draw(VALUES)))
    writer = Writer(draw(st.none() | RANDOMS))
    body = SELF_DESCRIBED + writer.item(dict(draw(st.permutations(members))))
    typed = {"kind": "Pod", "apiVersion": "v1"}
    said = [{name: value for name, value in each.items() if value is not None} for each in items]
    return [{**each, **typed, **own} for each, own in zip(items, said, strict=True)], body


@pytest.mark.clause("C1", "C8", "D7")
@given(lists(), PLACES, st.sampled_from([decode_dict, decode_unstructured]))
def test_any_list_cut_anywhere_is_read_as_it_is(
    made: tuple[list[Any], bytes], places: list[int], decoder: ObjectDecoder[Any]
) -> None:
    items, body = made
    for pieces in ([body], list(cuts(body, places)), one_by_one(body)):
        found = read(pieces, decoder)
        plain = [each.to_dict() if isinstance(each, Unstructured) else each for each in found]
        assert plain == items
        assert not found.undecodable
        assert (found.api_version, found.kind) == ("v1", "PodList")
        assert (found.resource_version, found.continue_) == ("42", "abc")


@pytest.mark.clause("C8")
def test_an_item_comes_out_with_its_last_byte() -> None:
    body = SELF_DESCRIBED + item({"kind": "L", "items": [{"a": 1}, {"b": 2}], "metadata": {}})
    framer = CBORListFramer()
    came = [(body[: at + 1], framer.feed(body[at : at + 1])) for at in range(len(body))]
    ends = [(so_far, pieces) for so_far, pieces in came if pieces]
    assert [pieces for _, pieces in ends] == [[item({"a": 1})], [item({"b": 2})]]
    assert all(so_far.endswith(bytes(pieces[0])) for so_far, pieces in ends)
    assert framer.end() == []
    assert (
        framer.outside
        == b"\xbf" + b"".join(map(item, ["kind", "L", "items", [], "metadata", {}])) + b"\xff"
    )


@pytest.mark.clause("C6", "C8")
def test_no_more_is_held_than_an_item_that_is_not_complete() -> None:
    framer = CBORListFramer()
    one = item({"data": "x" * 1000})
    framer.feed(b"\xa1" + item("items") + b"\x9f")
    for _ in range(100):
        for at in range(0, len(one), 64):
            framer.feed(one[at : at + 64])
            assert framer.held <= len(one)
    assert framer.held == 0
    assert len(framer.outside) < 20


@pytest.mark.clause("D7")
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty body"),
        (b'{"kind":"PodList"}', "expected a map at byte 0"),
        (item([]), "expected a map at byte 0"),
        (b"\x1c", "expected a map at byte 0"),
        (item({"kind": "PodList", "items": []}) + b"\xf6", "something behind the list at byte 21"),
        (b"\xa2" + 2 * (item("items") + b"\x80"), 'a second "items"'),
        (b"\xbf" + 2 * (item("items") + b"\xf6") + b"\xff", 'a second "items"'),
        (item({"items": {"a": 1}}), "Expected `array"),
        (item({"items": "x"}), "Expected `array"),
        (b"\xa1" + item("items") + b"\x82\xa0\xff", "a break where an item must come"),
        (b"\xa1\x41a\xff", "a break where an item must come"),
        (item({"kind": "Pod", "metadata": {}}), "a Pod where a list was expected"),
        (item({"kind": "Table", "rows": []}), "do not ask for as=Table"),
        (item({}), "an object without items"),
        (b"\xa1" + item("kind") + b"\x61\xff", "can't decode byte 0xff"),
        (b"\xa2" + 2 * (item("kind") + item("L")), "two members of one name"),
        (b"\xa1\x01\x02", "a name that is no text"),
    ],
)
def test_what_is_no_list_is_told(body: bytes, problem: str) -> None:
    for pieces in ([body] if body else [], one_by_one(body)):
        with pytest.raises(ListDecodeError) as caught:
            read(pieces)
        assert problem in str(caught.value)


@pytest.mark.clause("C4", "D7")
@settings(max_examples=20, deadline=None)
@given(lists())
def test_a_body_that_ends_early_is_told_and_never_taken_for_a_shorter_list(
    made: tuple[list[Any], bytes],
) -> None:
    _, body = made
    for size in range(1, len(body)):
        with pytest.raises(ListDecodeError, match=f"ends too early, after {size} bytes"):
            read([body[:size]])


@pytest.mark.clause("A5", "D7")
def test_a_status_in_the_place_of_a_list_is_its_error() -> None:
    status = {"kind": "Status", "status": "Failure", "reason": "Expired", "code": 410}
    with pytest.raises(Expired):
        read([SELF_DESCRIBED + item(status)])


@pytest.mark.clause("C5")
@pytest.mark.parametrize("member", ["items", "else"])
def test_an_item_or_surroundings_over_the_limit_are_told(member: str) -> None:
    body = item({"kind": "PodList", member: [{"a": "x" * 100}]})
    for pieces in ([body], one_by_one(body)):
        with pytest.raises(ListDecodeError, match="exceeds the limit of 50 bytes") as caught:
            read(pieces, limit=50)
        assert isinstance(caught.value.__cause__, ObjectTooLarge)


@pytest.mark.clause("C5")
def test_each_item_has_the_limit_for_itself_to_the_byte() -> None:
    one = {"a": "x" * 60}
    body = item({"kind": "PodList", "apiVersion": "v1", "items": [one] * 5})
    assert len(read(one_by_one(body), limit=len(item(one)))) == 5
    with pytest.raises(ListDecodeError, match="exceeds the limit"):
        read(one_by_one(body), limit=len(item(one)) - 1)


@pytest.mark.clause("D6")
@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        (b"\xa1\x41a\xf9\x7e\x00", "a number that is not finite"),
        (b"\xa1\x41a\x41\xff", "can't decode byte 0xff"),
        (b"\xa2\x41a\x01\x61a\x02", "two members of one name"),
        (b"\xa1\x01\x01", "a name that is no text"),
        (b"\x81" * 300 + b"\x80", "more than 256 lists and maps"),
        (b"\x01", "this is no Kubernetes object"),
    ],
)
def test_an_item_that_json_cannot_say_costs_no_other(broken: bytes, problem: str) -> None:
    good = item({"metadata": {"name": "a"}})
    start = b"\xa3" + b"".join(map(item, ["kind", "PodList", "apiVersion", "v1", "items"]))
    found = read(one_by_one(start + b"\x83" + good + broken + good), decode_unstructured)
    assert [each.name for each in found] == ["a", "a"]
    [refused] = found.undecodable
    assert refused.key is None
    assert refused.raw == broken
    assert isinstance(refused.__cause__, MalformedObject)
    assert problem in str(refused)


@pytest.mark.clause("D6", "D7")
def test_an_item_that_its_decoder_refuses_is_kept_in_json() -> None:
    def refuse(raw: bytes) -> Any:
        raise RuntimeError("no")

    pod = {"metadata": {"name": "a", "namespace": "n"}}
    found = read([item({"items": [pod], "kind": "PodList", "apiVersion": "v1"})], refuse)
    [refused] = found.undecodable
    assert refused.key == "n/a"
    assert decode_dict(refused.raw) == {"kind": "Pod", "apiVersion": "v1", **pod}


@pytest.mark.clause("C1", "C4")
@given(st.data())
def test_no_bytes_bring_anything_but_our_errors(data: st.DataObject) -> None:
    _, body = data.draw(lists())
    at = data.draw(st.integers(0, len(body)))
    size = data.draw(st.integers(0, 4))
    garbage = data.draw(st.binary(max_size=4))
    body = body[:at] + garbage + body[at + size :]
    said = []
    for pieces in ([body], one_by_one(body)):
        try:
            found = read(pieces)
            said.append(repr((found.items, found.metadata, found.kind, found.undecodable)))
        except (ListDecodeError, APIError) as error:
            said.append(type(error).__name__)
    assert said[0] == said[1]


@pytest.mark.clause("C1", "C4")
@given(st.binary(max_size=30), PLACES)
def test_the_framer_of_a_list_raises_framing_errors_only(data: bytes, places: list[int]) -> None:
    framer = CBORListFramer()
    try:
        for piece in cuts(b"\xbf\x45items\x9f" + data, places):
            framer.feed(piece)
        framer.end()
    except FramingError:
        assert framer.outside.startswith(b"\xbf")


def test_a_whole_body_is_read_at_once() -> None:
    body = Writer(Random(1)).item({"kind": "PodList", "apiVersion": "v1", "items": [{"a": 1.0}]})
    [pod] = decode_list(body, decode_dict, codec=CBOR_CODEC)
    assert pod == {"kind": "Pod", "apiVersion": "v1", "a": 1.0}
    assert isinstance(pod["a"], float)


@pytest.mark.clause("D6", "H10")
@pytest.mark.parametrize("bad", [b"\x41\xff", b"\xf9\x7e\x00", b"\xf7"])
@pytest.mark.parametrize("tagged", [b"", SELF_DESCRIBED])
def test_of_an_item_that_json_cannot_say_there_is_still_what_names_it(
    bad: bytes, tagged: bytes
) -> None:
    metadata = {"name": "bad", "namespace": "d", "uid": "u", "resourceVersion": "3"}
    broken = b"\xa2" + item("spec") + bad + item("metadata") + item(metadata)
    endless = b"\xbf" + item("metadata") + item(metadata) + item("spec") + bad + b"\xff"
    head = item({"kind": "PodList", "apiVersion": "v1"})
    items = b"\x83" + tagged + broken + item({"metadata": {"name": "good"}}) + tagged + endless
    found = read([b"\xa3" + head[1:] + item("items") + items])
    assert [each["metadata"]["name"] for each in found] == ["good"]
    assert [error.key for error in found.undecodable] == ["d/bad"] * 2
    assert [json.loads(error.raw) for error in found.undecodable] == [{"metadata": metadata}] * 2
