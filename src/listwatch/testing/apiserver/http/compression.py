"""When the real server compresses an answer, and doing so without holding the loop up (K6)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

__all__ = ["THRESHOLD", "accepts_gzip", "gzipped"]

THRESHOLD = 128 * 1024
"""Bytes of plain body from which it is compressed. A watch never is."""

_SLICE = 256 * 1024
_LEVEL = 1  # the server's, too: it is the network that it saves, not the disk
_GZIP = 16 + zlib.MAX_WBITS


def accepts_gzip(accept_encoding: str) -> bool:
    """Whether the header's value says `gzip` in the one way that the server looks for.

    It is no negotiation: with any parameter, even `gzip;q=1`, the answer is not compressed.
    """
    return any(offer.strip() == "gzip" for offer in accept_encoding.split(","))


def gzipped(body: bytes) -> Iterator[bytes]:
    """The compressed body, in pieces that each take a millisecond or two to make."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    for at in range(0, len(body), _SLICE):
        if piece := packer.compress(body[at : at + _SLICE]):
            yield piece
    yield packer.flush()
