"""Where the real server cuts an answer into chunks (K2, K20).

Go's HTTP server has a buffer of 2048 bytes in front of its chunks. What does not fit fills the
buffer, which becomes a chunk; what meets an empty buffer and is longer becomes a chunk by itself.
All cuts that were recorded follow from that, and from which pieces are written: an event at a time,
a list item by item, everything else at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["BUFFER", "Chunks", "written_pieces"]

BUFFER = 2048
"""Bytes. A body that fits has a Content-Length instead of chunks."""

_TYPED_LIST = re.compile(
    rb'\{"kind":"(?!PartialObjectMetadata|APIResource|APIGroup)[A-Za-z]+List",'
    rb'"apiVersion":"[^"]*","metadata":\{'
)
_CUSTOM_LIST = re.compile(rb'\{("apiVersion":"[^"]+"),"items":\[\{')


class Chunks:
    """The buffer: `write` gives the chunks that become full, `flush` what is left.

    >>> chunks = Chunks()
    >>> [len(chunk) for chunk in chunks.write(b"a" * 3000)]
    [3000]
    >>> chunks.write(b"b" * 100), [len(chunk) for chunk in chunks.write(b"c" * 2000)]
    ([], [2048])
    >>> [len(chunk) for chunk in chunks.flush()]
    [52]
    """

    __slots__ = ("_buffer",)

    def __init__(self) -> None:
        self._buffer = b""

    def write(self, piece: bytes) -> list[bytes]:
        buffer = self._buffer
        if len(buffer) + len(piece) <= BUFFER:
            self._buffer = buffer + piece
            return []
        if not buffer:
            return [piece]
        room = BUFFER - len(buffer)
        full, rest = buffer + piece[:room], piece[room:]
        if len(rest) <= BUFFER:
            self._buffer = rest
            return [full]
        self._buffer = b""
        return [full, rest]

    def flush(self) -> list[bytes]:
        if not self._buffer:
            return []
        last, self._buffer = self._buffer, b""
        return [last]


def written_pieces(body: bytes) -> Iterator[bytes]:
    """The pieces in which the real server writes a body: lists item by item, others whole.

    Where an item begins is told by how it begins, without parsing it. A list inside of an item that
    looks the same is cut too, which costs nothing but a chunk in another place.
    """
    begin = _item_start(body)
    at = body.find(begin) if begin else -1
    if at < 0:
        yield body
        return
    yield body[:at]
    while (following := body.find(b"," + begin, at)) >= 0:
        yield body[at:following]
        yield b","
        at = following + 1
    end = body.rfind(b"]")
    yield body[at:end]
    yield body[end:]


def _item_start(body: bytes) -> bytes:
    if _TYPED_LIST.match(body):
        return b'{"metadata":{'
    custom = _CUSTOM_LIST.match(body)
    return b"{" + custom[1] + b',"kind":"' if custom else b""
