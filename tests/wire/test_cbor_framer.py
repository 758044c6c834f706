"""How a CBOR sequence is cut."""

from __future__ import annotations

import tracemalloc
from typing import Any, SupportsIndex, overload

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.wire import Frames, FrameSyntaxError, ObjectTooLarge, UnexpectedEOF
from listwatch.wire.cbor_framer import CBORFramer
from tests.wire.cbor_items import cut, item, item_end, written
from tests.wire.streams import cuts, described, one_by_one

SEQUENCES = st.lists(written().map(lambda made: made[1]), max_size=5)
PLACES = st.lists(st.integers(0, 10_000), max_size=10)
MIB = 1 << 20


@pytest.mark.clause("C1", "C3")
@given(SEQUENCES, PLACES)
def test_items_come_out_one_by_one_however_they_are_written_and_cut(
    items: list[bytes], places: list[int]
) -> None:
    stream = b"".join(items)
    assert cut([stream]) == items
    assert cut(list(cuts(stream, places))) == items
    assert cut(one_by_one(stream)) == items


def read(stream: bytes) -> list[Any]:
    """Another reading: the items, and how the stream ends."""
    found: list[Any] = []
    at = 0
    while at < len(stream):
        try:
            end = item_end(stream, at)
        except ValueError:
            return [*found, FrameSyntaxError]
        except IndexError:
            return [*found, UnexpectedEOF]
        found.append(stream[at:end])
        at = end
    return found


_LIKELY = "ff a1 9f bf 5f 7f 4161 6161 580161 d9 d9d9f7 f81f f820 1c 00 f97e00 a0 80 40 1b d8"
LIKELY = list(map(bytes.fromhex, _LIKELY.split()))


@pytest.mark.clause("C1", "C4")
@given(
    st.lists(st.sampled_from(LIKELY), max_size=12).map(b"".join) | st.binary(max_size=20), PLACES
)
def test_bytes_that_nobody_meant_are_cut_as_far_as_they_go(
    stream: bytes, places: list[int]
) -> None:
    found = cut([stream])
    kinds = [each if isinstance(each, bytes) else type(each) for each in found]
    assert kinds == read(stream)
    assert described(cut(list(cuts(stream, places)))) == described(found)
    assert described(cut(one_by_one(stream))) == described(found)


@pytest.mark.clause("C4")
@pytest.mark.parametrize(
    ("stream", "offset", "problem"),
    [
        ("01 1c", 1, "byte 0x1c, with which no item begins"),
        ("01 1f", 1, "byte 0x1f"),
        ("ff", 0, "a break where an item must come"),
        ("82 01 ff", 2, "a break"),
        ("bf 41 61 ff", 3, "a break"),
        ("9f d9 d9 f7 ff", 4, "a break"),
        ("5f 61 61 ff", 1, "where a piece of a string must come"),
        ("5f 5f ff ff", 1, "where a piece of a string must come"),
        ("f8 18", 1, "a simple value 24 in two bytes"),
    ],
)
def test_what_can_be_no_item_ends_the_stream_and_says_where(
    stream: str, offset: int, problem: str
) -> None:
    data = bytes.fromhex(stream)
    for pieces in ([data + b"\x01"], one_by_one(data + b"\x01")):
        *_, fault = cut(pieces)
        assert isinstance(fault, FrameSyntaxError)
        assert fault.offset == offset
        assert problem in str(fault)
        assert f"at byte {offset} of the stream" in str(fault)


@pytest.mark.clause("C4")
@given(written(), written())
def test_an_end_at_every_byte_but_the_last_is_told(
    first: tuple[Any, bytes], second: tuple[Any, bytes]
) -> None:
    whole, broken = first[1], second[1]
    for size in range(1, len(broken)):
        frame, fault = cut([whole + broken[:size]])
        assert frame == whole
        assert isinstance(fault, UnexpectedEOF)
        assert fault.size == size


def test_the_end_is_told_once() -> None:
    framer = CBORFramer()
    framer.feed(b"\x82")
    assert len(framer.end()) == 1
    assert framer.end() == []
    assert framer.feed(b"\x01") == []


@pytest.mark.clause("C5")
@given(SEQUENCES, written(), PLACES)
def test_a_giant_is_passed_over_to_its_end(
    items: list[bytes], made: tuple[Any, bytes], places: list[int]
) -> None:
    limit = max(map(len, [*items, made[1]]))
    giant = b"\x82" + item("x" * limit) + made[1]
    stream = b"".join([*items, giant, *items])
    found = cut(list(cuts(stream, places)), limit)
    fault = found[len(items)]
    assert found[: len(items)] == found[len(items) + 1 :] == items
    assert isinstance(fault, ObjectTooLarge)
    assert (fault.size, fault.limit) == (len(giant), limit)
    assert described(cut(one_by_one(stream), limit)) == described(found)


@pytest.mark.clause("C4", "C5")
def test_an_end_inside_a_giant_is_no_clean_end() -> None:
    assert [type(each) for each in cut([b"\x44abc"], limit=2)] == [ObjectTooLarge, UnexpectedEOF]


@pytest.mark.clause("C5", "C6")
def test_nothing_of_a_giant_is_held_nor_of_a_string_that_says_it_is_one() -> None:
    framer = CBORFramer(limit=1000)
    found = framer.feed(b"\x5b" + b"\xff" * 8)
    for _ in range(1000):
        found += framer.feed(b"x" * 1000)
        assert framer.held <= 1000
    assert [type(each) for each in found] == [ObjectTooLarge]


@pytest.mark.clause("C5", "C6")
@pytest.mark.parametrize("deeper", [b"\x81", b"\x9f", b"\xbf\x60", b"\x9b" + b"\xff" * 8])
def test_depth_is_bounded_and_costs_no_stack(deeper: bytes) -> None:
    bomb = deeper * 200_000
    tracemalloc.start()
    try:
        [fault] = cut([bomb])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert isinstance(fault, FrameSyntaxError)
    assert "more than 10000 nested arrays and maps" in str(fault)
    assert fault.offset == len(deeper) * 10_000
    assert peak < 2 * MIB
    allowed = b"\x81" * 9_999 + b"\x80"
    assert cut([allowed]) == [allowed]


@pytest.mark.clause("C6")
def test_any_number_of_tags_before_an_item_is_one_item() -> None:
    tagged = b"\xd9\xd9\xf7" * 100_000 + b"\x01"
    assert cut([tagged]) == [tagged]


class Watched(bytes):
    """Counts how often somebody looks at one of its bytes."""

    looks = 0

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice[Any, Any, Any]) -> bytes: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return Watched(super().__getitem__(key))
        Watched.looks += 1
        return super().__getitem__(key)


def looks_at(stream: bytes, size: int) -> int:
    Watched.looks = 0
    frames: Frames = cut([Watched(stream[at : at + size]) for at in range(0, len(stream), size)])
    assert frames == [stream]
    return Watched.looks


@pytest.mark.clause("C7")
def test_no_byte_is_looked_at_again_for_the_cuts() -> None:
    words = item({"a": ["some", "words", 7, -1000, 1.5, None] * 5_000})
    text = item("x" * MIB)
    assert looks_at(text, 64) == looks_at(text, len(text)) < 10
    once = looks_at(words, len(words))
    assert once < len(words)
    for size in (1, 7, 64, 4096):  # a head may be begun once more, and needs at most 9 bytes
        assert looks_at(words, size) <= once + 3 * (len(words) // size)
