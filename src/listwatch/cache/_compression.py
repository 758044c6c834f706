"""Compression with a dictionary: zlib, which is always there, and zstd where it is."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

__all__ = ["Algorithm", "Codec", "Compression", "StandardZstd", "Zlib", "Zstandard", "compression"]

Algorithm: TypeAlias = Literal["zstd", "zlib"]


class Codec(NamedTuple):
    """One dictionary's pair of functions."""

    compress: Callable[[bytes], bytes]
    """From one thread at a time."""
    decompress: Callable[[bytes], bytes]
    """From any threads at once."""


class Compression(Protocol):
    """A way to compress."""

    @property
    def reach(self) -> int:
        """The bytes of a dictionary that are of use."""
        ...

    def codec(self, dictionary: bytes) -> Codec:
        """For data like that in `dictionary`; an empty one is none."""
        ...


class Zlib:
    """zlib without header and checksum, at level 3: of pods of 7 KB the next level takes half as
    long again for a twentieth less.
    """

    reach = 32 * 1024  # deflate's window

    def codec(self, dictionary: bytes) -> Codec:
        # Copies of a prepared one are a third quicker than new ones.
        packer = zlib.compressobj(3, wbits=-15, zdict=dictionary)
        unpacker = zlib.decompressobj(-15, zdict=dictionary)

        def compress(data: bytes) -> bytes:
            one = packer.copy()
            return one.compress(data) + one.flush()

        def decompress(data: bytes) -> bytes:
            return unpacker.copy().decompress(data)

        return Codec(compress, decompress)


class Zstandard:
    """zstd by the `zstandard` package, at level 3.

    Its dictionary is one of content, as zlib's is: training one blocks for a tenth of a second and
    more, to gain a thirtieth (measured on the pods of bench/data.py). Beyond 64 KiB there is as
    little to be had.
    """

    reach = 64 * 1024

    def __init__(self, module: Any) -> None:
        self._zstd = module

    def codec(self, dictionary: bytes) -> Codec:
        zstd = self._zstd
        # One for each way: that for compressing takes a megabyte, and is not wanted for so long.
        packing, known = self._dictionary(dictionary), self._dictionary(dictionary)
        if packing is not None:
            packing.precompute_compress(level=3)
        unpackers: list[Any] = []

        def decompress(data: bytes) -> bytes:
            # One is for one thread at a time, and to make one costs as much as to use it.
            try:
                one = unpackers.pop()
            except IndexError:
                one = zstd.ZstdDecompressor(dict_data=known)
            found: bytes = one.decompress(data)
            unpackers.append(one)
            return found

        return Codec(zstd.ZstdCompressor(level=3, dict_data=packing).compress, decompress)

    def _dictionary(self, content: bytes) -> Any:
        zstd = self._zstd
        if not content:
            return None
        return zstd.ZstdCompressionDict(content, dict_type=zstd.DICT_TYPE_RAWCONTENT)


class StandardZstd:
    """zstd by Python's own module, which is there from 3.14 on; see `Zstandard`."""

    reach = Zstandard.reach

    def __init__(self, module: Any) -> None:
        self._zstd = module

    def codec(self, dictionary: bytes) -> Codec:
        zstd = self._zstd
        known = zstd.ZstdDict(dictionary, is_raw=True).as_digested_dict if dictionary else None
        packer = zstd.ZstdCompressor(level=3, zstd_dict=known)

        def compress(data: bytes) -> bytes:
            packed: bytes = packer.compress(data, packer.FLUSH_FRAME)
            return packed

        def decompress(data: bytes) -> bytes:
            found: bytes = zstd.decompress(data, zstd_dict=known)
            return found

        return Codec(compress, decompress)


def compression(algorithm: Algorithm | None = None) -> Compression:
    """The one that is named; without a name zstd where it is there, else zlib.

    Raises `ImportError` for zstd that is not there, and `ValueError` for another name.
    """
    if algorithm not in (None, "zstd", "zlib"):
        raise ValueError(f"compression is by zstd or zlib, not {algorithm!r}")
    if algorithm == "zlib":
        return Zlib()
    found = _zstd()
    if found is None and algorithm == "zstd":
        raise ImportError(
            "there is no zstd here: Python 3.14 has it, and before that the package zstandard"
            " (pip install listwatch[compact])"
        )
    return found or Zlib()


def _zstd() -> Compression | None:
    try:
        import zstandard
    except ImportError:
        pass  # it is an extra
    else:
        return Zstandard(zstandard)
    if sys.version_info >= (3, 14):
        from compression import zstd

        return StandardZstd(zstd)
    return None
