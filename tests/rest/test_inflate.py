"""Packed bodies: whatever is in them, unpacking takes a bounded piece of memory."""

from __future__ import annotations

import gzip
import tracemalloc
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.rest.inflate import PIECE, InflateError, Inflater, inflater_for

pytestmark = pytest.mark.clause("B10")


def unpacked(pieces: Iterable[bytes], encoding: str = "gzip") -> bytes:
    inflater = inflater_for(encoding)
    assert inflater is not None
    found = b""
    for piece in pieces:
        inflater.feed(piece)
        while part := inflater.read():
            assert len(part) <= PIECE
            found += part
    inflater.end()
    return found


def in_reads(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def bare_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


@given(
    st.binary() | st.binary(min_size=1, max_size=9).map(lambda part: part * 30_000),
    st.sampled_from([1, 2, 100, 16 * 1024, 16 * 1024 + 1, 1 << 20]),
    st.integers(0, 9),
)
def test_what_was_packed_comes_out_however_it_is_cut(data: bytes, size: int, level: int) -> None:
    packed = gzip.compress(data, level)
    assert unpacked(in_reads(packed, max(size, len(packed) // 500))) == data


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", " GZIP "])
def test_gzip_by_its_names(encoding: str) -> None:
    assert unpacked([gzip.compress(b"pods")], encoding) == b"pods"


@pytest.mark.parametrize("size", [1, 1000])
@pytest.mark.parametrize("pack", [zlib.compress, bare_deflate])
def test_deflate_in_both_forms(pack: object, size: int) -> None:
    assert callable(pack)
    assert unpacked(in_reads(pack(b"pods" * 100), size), "deflate") == b"pods" * 100


@pytest.mark.parametrize("encoding", [None, "", "identity", "Identity "])
def test_nothing_is_to_be_unpacked(encoding: str | None) -> None:
    assert inflater_for(encoding) is None


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "nonsense"])
def test_an_encoding_that_nobody_asked_for_is_named(encoding: str) -> None:
    with pytest.raises(InflateError, match=f"Content-Encoding '{encoding}'"):
        inflater_for(encoding)


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_a_body_of_several_members(size: int) -> None:
    packed = gzip.compress(b"a" * 1000) + gzip.compress(b"") + gzip.compress(b"b" * 1000)
    assert unpacked(in_reads(packed, size)) == b"a" * 1000 + b"b" * 1000


@pytest.mark.parametrize("size", [1, 1 << 20])
@pytest.mark.parametrize("garbage", [b"\0", b"HTTP/1.1 400", b"\x1f\x8bxx"])
def test_something_else_behind_the_body_is_an_error(garbage: bytes, size: int) -> None:
    with pytest.raises(InflateError, match=r"something else follows|damaged"):
        unpacked(in_reads(gzip.compress(b"pods") + garbage, size))


def test_a_body_that_was_cut_says_so_and_one_that_is_empty_does_not() -> None:
    packed = gzip.compress(b"pods" * 1000)
    for end in range(1, len(packed)):
        with pytest.raises(InflateError, match="ends too early") as caught:
            unpacked([packed[:end]])
        assert caught.value.cut
    assert unpacked([]) == b""


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_damage_is_an_error_in_words(encoding: str) -> None:
    packed = bytearray(gzip.compress(b"pods" * 1000) if encoding == "gzip" else zlib.compress(b"x"))
    packed[-6 if encoding == "gzip" else -2] ^= 1  # in the checksum
    with pytest.raises(InflateError, match=f"the {encoding} body of the answer is damaged") as bad:
        unpacked([bytes(packed)], encoding)
    assert not bad.value.cut


def test_what_came_before_the_damage_is_not_lost() -> None:
    packed = bytearray(gzip.compress(bytes(range(256)) * 1000, 0))
    packed[200_000:200_010] = b"\xff" * 10
    packed[-8] ^= 1
    inflater = Inflater("gzip")
    inflater.feed(bytes(packed))
    found = [inflater.read() for _ in range(10)]
    assert sum(map(len, found)) > 100_000
    with pytest.raises(InflateError):
        list(iter(inflater.read, b""))


def test_a_bomb_of_100_mb_in_one_read_costs_a_piece_at_a_time() -> None:
    packer = zlib.compressobj(wbits=31)
    zeros = b"\0" * (1 << 20)
    bomb = b"".join(packer.compress(zeros) for _ in range(100)) + packer.flush()
    assert len(bomb) < 400_000
    inflater = Inflater("gzip")
    tracemalloc.start()
    try:
        inflater.feed(bomb)
        sizes = [len(piece) for piece in iter(inflater.read, b"")]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    inflater.end()
    assert sum(sizes) == 100 << 20
    assert peak < 1 << 20


def test_what_was_fed_before_it_was_read_is_kept() -> None:
    packed = gzip.compress(bytes(range(256)) * 100)
    inflater = Inflater("gzip")
    for piece in in_reads(packed, 50):
        inflater.feed(piece)
    assert b"".join(iter(inflater.read, b"")) == bytes(range(256)) * 100
