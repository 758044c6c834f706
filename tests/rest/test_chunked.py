"""Chunks, however they are cut; no sockets here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from listwatch.rest._chunked import Dechunker

END = b"0\r\n\r\n"


def fed(*pieces: bytes) -> tuple[bytes, Dechunker]:
    """What comes out of all the pieces, up to the end or a fault."""
    body = Dechunker()
    found = b""
    for piece in pieces:
        found += body.feed(memoryview(bytearray(piece)))
        if body.rest is not None or body.fault is not None:
            break
    return found, body


def cut(data: bytes, places: Iterable[int]) -> Iterator[bytes]:
    begin = 0
    for end in [*sorted({place % len(data) for place in places} - {0}), len(data)]:
        yield data[begin:end]
        begin = end


@st.composite
def chunks(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """One chunk as it may travel, and what is in it."""
    data = draw(st.binary(min_size=1, max_size=40))
    size = f"{len(data):{draw(st.sampled_from('xX'))}}".rjust(draw(st.integers(1, 15)), "0")
    extension = draw(st.sampled_from(["", " ", ";a=b", '\t;a="b;c"; d', ";" + "x" * 60]))
    return f"{size}{extension}\r\n".encode() + data + b"\r\n", data


TRAILERS = st.sampled_from([b"", b"X-Y: z\r\n", b"X-Y: z\r\nZ: 0\r\n"])
CUTS = st.lists(st.integers(0, 10_000), max_size=12)


@given(st.lists(chunks(), max_size=6), TRAILERS, CUTS)
def test_any_chunks_in_any_cuts_give_the_body_and_what_is_behind_it(
    parts: list[tuple[bytes, bytes]], trailers: bytes, cuts: list[int]
) -> None:
    behind = b"0\r\n" + trailers + b"\r\n"
    sent = b"".join(travelled for travelled, _ in parts) + behind
    for pieces in (list(cut(sent, cuts)), [sent], [sent[n : n + 1] for n in range(len(sent))]):
        found, body = fed(*pieces)
        assert found == b"".join(data for _, data in parts)
        assert body.fault is None
        assert body.rest is not None
        assert body.rest in behind
        assert body.rest[:1] == b"0"


@given(st.binary(max_size=60), CUTS)
@example(b"", [])
def test_a_fault_is_found_at_the_same_place_in_any_cuts_and_what_came_before_it_is_given(
    junk: bytes, cuts: list[int]
) -> None:
    sent = b"3\r\nabc\r\n" + b"g" + junk
    found, body = fed(*cut(sent, cuts))
    assert found == b"abc"
    assert body.fault is not None
    assert body.rest is None


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        (b"\r\n", "b'\\r\\n' stands where a chunk's size should"),
        (b"x5\r\n", "b'x5\\r\\n' stands where a chunk's size should"),
        (b"0x5\r\nabcde\r\n", "0x5"),
        (b"-1\r\n", "-1"),
        (b"+1\r\na\r\n", "+1"),
        (b"1_0\r\n", "1_0"),
        (b" 5\r\nabcde", "' 5"),
        (b"5\nabcde", "5"),
        (b"5 5\r\n", "5 5"),
        (b"1234567890abcdef\r\n", "1234567890abcdef"),
        (b"3\r\nabcd\r\n", "b'd\\r\\n' stands where the end of a chunk should"),
        (b"3\r\nabc\n0\r\n\r\n", "the end of a chunk"),
        (b"3\r\nabc\rx", "the end of a chunk"),
        (b"\xff" * 5000, "b'\\xff"),
        (b"5;" + b"x" * 4096, "over 4096 bytes"),
        (b"<html>" * 30, "b'<html><html><html><html><html><h' stands"),
    ],
)
def test_what_is_no_chunk_is_said_in_words(sent: bytes, says: str) -> None:
    for pieces in ([sent], [sent[n : n + 1] for n in range(len(sent))]):
        _, body = fed(*pieces)
        assert body.fault is not None
        said = str(body.fault)
        if len(pieces) == 1:
            assert says in said
        assert len(said) < 200


def test_a_piece_that_may_still_become_a_chunk_is_no_fault() -> None:
    for begun in (b"", b"1", b"1f", b"1f ;", b"1f;a", b"1f\r", b"1\r\na", b"1\r\na\r", END[:-1]):
        _, body = fed(b"5\r\nabcde\r\n", *([begun] if begun else []))
        assert body.fault is None


def test_a_chunk_of_any_size_is_given_as_it_comes() -> None:
    body = Dechunker()
    assert body.feed(b"7fffffffffff\r\nab") == b"ab"
    assert body.feed(b"c" * 1000) == b"c" * 1000


def test_what_was_given_does_not_change_with_the_buffer_it_came_in() -> None:
    buffer = bytearray(b"3\r\nabc\r\n2\r\nde")
    body = Dechunker()
    found = body.feed(memoryview(buffer))
    again = bytearray(b"\r\n4\r\nfghi")
    more = body.feed(memoryview(again))
    buffer[:] = b"x" * len(buffer)
    again[:] = b"x" * len(again)
    assert (found, more) == (b"abcde", b"fghi")
