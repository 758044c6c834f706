"""How a stream of length-delimited frames is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.wire import (
    Frames,
    LengthDelimitedFramer,
    ObjectTooLarge,
    UnexpectedEOF,
    length_delimited_frame,
)

from .streams import cuts, described, one_by_one

FRAMES = st.lists(st.binary(max_size=20), max_size=6)


def cut(pieces: list[bytes], limit: int = 1 << 24) -> Frames:
    framer = LengthDelimitedFramer(limit)
    found: Frames = []
    for piece in pieces:
        found += framer.feed(piece)
    return found + framer.end()


@pytest.mark.clause("C1", "C3")
@given(frames=FRAMES, places=st.lists(st.integers(0, 1000), max_size=8))
def test_what_the_writer_writes_the_framer_reads_however_it_is_cut(
    frames: list[bytes], places: list[int]
) -> None:
    stream = b"".join(length_delimited_frame(frame) for frame in frames)
    assert cut(list(cuts(stream, places))) == frames
    assert cut(one_by_one(stream)) == frames


@pytest.mark.clause("C3")
def test_the_prefix_is_four_bytes_the_highest_first() -> None:
    assert length_delimited_frame(b"abc") == b"\x00\x00\x00\x03abc"


@pytest.mark.clause("C4")
@pytest.mark.parametrize("stream", [b"\x00", b"\x00\x00\x00\x03ab", b"\x00\x00\x00\x01a\x00\x00"])
def test_an_end_inside_a_frame_or_its_prefix_is_told(stream: bytes) -> None:
    assert isinstance(cut([stream])[-1], UnexpectedEOF)
    assert isinstance(cut(one_by_one(stream))[-1], UnexpectedEOF)


@pytest.mark.clause("C5")
@given(frames=FRAMES, places=st.lists(st.integers(0, 1000), max_size=8))
def test_a_giant_is_passed_over_unread(frames: list[bytes], places: list[int]) -> None:
    giant = b"x" * 100
    stream = b"".join(map(length_delimited_frame, [*frames, giant, *frames]))
    found = cut(list(cuts(stream, places)), limit=50)
    assert found[: len(frames)] == frames
    fault = found[len(frames)]
    assert isinstance(fault, ObjectTooLarge)
    assert (fault.size, fault.limit) == (100, 50)
    assert found[len(frames) + 1 :] == frames
    assert described(cut(one_by_one(stream), limit=50)) == described(found)


@pytest.mark.clause("C4", "C5")
def test_an_end_inside_a_giant_is_no_clean_end() -> None:
    assert [type(item) for item in cut([b"\x00\x00\x01\x00abc"], limit=10)] == [
        ObjectTooLarge,
        UnexpectedEOF,
    ]


@pytest.mark.clause("C6")
def test_nothing_of_a_giant_is_held() -> None:
    framer = LengthDelimitedFramer(limit=1000)
    framer.feed(b"\x7f\xff\xff\xff")
    for _ in range(1000):
        framer.feed(b"x" * 1000)
        assert framer.held == 0
