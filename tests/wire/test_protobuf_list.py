"""A list in protobuf is cut into its items while it arrives."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from listwatch.wire import FrameSyntaxError, FramingError, ListFramer, ObjectTooLarge, UnexpectedEOF
from listwatch.wire.protobuf_list import ProtobufListFramer
from listwatch.wire.protobuf_unknown import unwrap
from tests.wire.protobuf_bytes import Value, envelope, field, message, pod_list, varint
from tests.wire.streams import cuts, one_by_one

pytestmark = pytest.mark.clause("C8")

NAMED = field(1, ((1, "v1"), (2, "PodList")))
META = field(1, ((2, "42"),))


def read(pieces: Iterable[bytes], limit: int = 1 << 20) -> tuple[list[bytes], bytes]:
    """The items, and what is outside them."""
    framer: ListFramer = ProtobufListFramer(limit)
    found = [bytes(item) for piece in pieces for item in framer.feed(piece)]
    found += [bytes(item) for item in framer.end()]
    assert framer.unusual == 0
    return found, framer.outside


def body(*members: bytes, before: bytes = NAMED, after: bytes = b"") -> bytes:
    """A list of these fields."""
    return b"k8s\0" + before + field(2, b"".join(members)) + after


ITEMS = st.lists(st.binary(max_size=300), max_size=6)
FIELDS: st.SearchStrategy[Value] = (
    st.integers(-(2**63), 2**63 - 1) | st.floats() | st.binary(max_size=200)
)
OTHERS = st.lists(st.tuples(st.sampled_from([1, 3, 15, 16, 2**29 - 1]), FIELDS), max_size=3)


@pytest.mark.clause("D7")
@given(ITEMS, OTHERS, OTHERS, st.randoms(use_true_random=False), st.lists(st.integers(0, 9999)))
def test_any_list_cut_anywhere_with_its_fields_in_any_order_is_read_as_it_is(
    items: list[bytes],
    others: list[tuple[int, Value]],
    of_envelope: list[tuple[int, Value]],
    random: object,
    places: list[int],
) -> None:
    inside: list[tuple[int, Value]] = [*((2, item) for item in items), *others]
    order = sorted(range(len(inside)), key=lambda _: random.random())  # type: ignore[attr-defined]
    items_in_order = [inside[at][1] for at in order if inside[at][0] == 2]
    the_list = message(*(inside[at] for at in order))
    the_rest = [field(number, value) for number, value in of_envelope]
    middle = len(the_rest) // 2
    before, after = b"".join(the_rest[:middle]), b"".join(the_rest[middle:])
    whole = b"k8s\0" + before + field(2, the_list) + after
    outside = (
        b"k8s\0"
        + before
        + after
        + field(2, message(*(inside[at] for at in order if inside[at][0] != 2)))
    )
    assert read([whole]) == (items_in_order, outside)
    assert read(one_by_one(whole)) == (items_in_order, outside)
    assert read(cuts(whole, places)) == (items_in_order, outside)


def test_items_come_as_soon_as_they_are_whole() -> None:
    framer = ProtobufListFramer()
    first = body(META, field(2, b"one"), field(2, b"two"))
    assert [bytes(item) for item in framer.feed(first[:-1])] == [b"one"]
    assert framer.held == len(field(2, b"two")) - 1
    assert framer.outside == body(META)
    assert [bytes(item) for item in framer.feed(first[-1:])] == [b"two"]
    assert framer.held == 0
    assert framer.end() == []


def test_a_list_of_nothing_is_whole() -> None:
    assert read([body()]) == ([], body())
    assert read([body(before=b"")]) == ([], body(before=b""))


def test_an_item_may_be_empty() -> None:
    assert read([body(field(2, b""), field(2, b""))])[0] == [b"", b""]


def test_what_is_no_list_has_no_items() -> None:
    status = envelope("v1", "Status", message((1, ()), (2, "Failure"), (6, 403)))
    items, outside = read(one_by_one(status))
    assert items == []
    assert unwrap(outside) == unwrap(status)


def test_a_list_whose_kind_comes_behind_it_has_its_items() -> None:
    late = body(META, field(2, b"one"), before=b"", after=NAMED)
    assert read(one_by_one(late)) == ([b"one"], body(META))


WHOLE = pod_list(b"\x0a\x00", b"\x0a\x00" * 100)
ENDS = {len(WHOLE) - 4, len(WHOLE) - 2}
"""Where the list ends, and a field behind it: an envelope may end there, too."""


def test_a_list_that_ends_too_early_says_how_much_there_was() -> None:
    for size in set(range(1, len(WHOLE))) - ENDS:
        for pieces in ([WHOLE[:size]], one_by_one(WHOLE[:size])):
            with pytest.raises(UnexpectedEOF) as caught:
                read(pieces)
            assert caught.value.size == size


def test_nothing_at_all_is_no_list() -> None:
    with pytest.raises(UnexpectedEOF):
        read([])


@pytest.mark.parametrize(
    ("bad", "problem", "offset"),
    [
        (b'{"kind":"PodList"}', "expected b'k8s", 0),
        (b"k8z\0", "expected b'k8s", 0),
        (b"k8s\0\x0b", "a field of wire type 3", 4),
        (b"k8s\0\x0e", "a field of wire type 6", 4),
        (b"k8s\0\x02\x00", "a field without a number", 4),
        (b"k8s\0" + b"\xff" * 10, "a number without an end", 4),
        (b"k8s\0\x0a" + b"\xff" * 10, "a number without an end", 5),
        (body() + field(2, b""), "a second list", 4 + len(NAMED) + 2),
        (body(b"\x12\x05abc"), "longer than its message", 4 + len(NAMED) + 2),
        (body(b"\x12"), "longer than its message", 4 + len(NAMED) + 2),
        (body(b"\x12\x80"), "longer than its message", 4 + len(NAMED) + 2),
        (body(b"\x09abc"), "longer than its message", 4 + len(NAMED) + 2),
        (body(META, b"\x13"), "a field of wire type 3", 4 + len(NAMED) + 2 + len(META)),
    ],
)
def test_bytes_that_can_be_no_list_say_where(bad: bytes, problem: str, offset: int) -> None:
    for pieces in ([bad], one_by_one(bad), [bad + b"more and more"], one_by_one(bad + b"more")):
        with pytest.raises(FrameSyntaxError, match=problem) as caught:
            read(pieces)
        assert caught.value.offset == offset


@pytest.mark.clause("C5")
def test_an_item_over_the_limit_is_refused_before_it_has_come() -> None:
    most = body(META, field(2, b"x" * 100), field(2, b"y" * 100))
    assert len(read([most], limit=100)[0]) == 2
    framer = ProtobufListFramer(limit=99)
    with pytest.raises(ObjectTooLarge) as caught:
        framer.feed(most[: most.index(b"x") + 1])
    assert (caught.value.limit, caught.value.size) == (99, 100)
    assert framer.outside == body(META)


@pytest.mark.clause("C5")
@pytest.mark.parametrize("where", ["the list", "the envelope", "both"])
def test_what_is_outside_the_items_has_a_limit_together(where: str) -> None:
    large = field(7, b"x" * 60)
    members = [large] * {"the list": 2, "both": 1}.get(where, 0)
    before = large * {"the envelope": 2, "both": 1}.get(where, 0)
    much = body(*members, before=before)
    assert len(read([much], limit=1000)[1]) > 120
    with pytest.raises(ObjectTooLarge):
        read([much], limit=100)
    with pytest.raises(ObjectTooLarge):
        read(one_by_one(much), limit=100)


@pytest.mark.clause("C7", "C8")
def test_a_large_list_in_small_reads_is_never_held_whole() -> None:
    item = field(2, b"x" * 50_000)
    start = b"k8s\0" + NAMED + b"\x12" + varint(2000 * len(item))
    pieces = itertools.chain([start], _reads(item, 2000))
    framer = ProtobufListFramer()
    count = 0
    tracemalloc.start()
    try:
        for piece in pieces:
            count += len(framer.feed(piece))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert framer.end() == []
    assert count == 2000
    assert peak < 400_000


def _reads(item: bytes, times: int) -> Iterable[bytes]:
    for _ in range(times):
        for at in range(0, len(item), 4096):
            yield item[at : at + 4096]


@pytest.mark.clause("C7")
def test_an_item_in_small_reads_is_looked_at_when_it_is_whole() -> None:
    """Each read costs its own bytes only: what is held is not copied, or looked at, for each."""

    class Counting(ProtobufListFramer):
        looks = 0

        def _field(self, data: bytes, position: int) -> tuple[int, int, int]:
            self.looks += 1
            return super()._field(data, position)

    framer = Counting()
    item = b"x" * 1_000_000
    start = b"k8s\0" + NAMED + b"\x12" + varint(len(field(2, item)))
    data = start + field(2, item)
    found = [piece for at in range(0, len(data), 100) for piece in framer.feed(data[at : at + 100])]
    assert list(map(bytes, found)) == [item]
    assert framer.looks <= 4  # each field of the envelope, the item as it begins, and as it is


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
@example(b"k8s\0\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x12\x00", [])
@example(b"k8s\0\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", [])
def test_garbage_is_refused_alike_however_it_is_cut(garbage: bytes, places: list[int]) -> None:
    for data in (garbage, b"k8s\0" + garbage, body(garbage), body(META, garbage)):
        assert _outcome([data]) == _outcome(one_by_one(data)) == _outcome(cuts(data, places))


def _outcome(pieces: Iterable[bytes]) -> object:
    try:
        return read(pieces, limit=1000)
    except FramingError as error:
        return type(error), vars(error).get("offset"), vars(error).get("size")
