"""The chunks that a body of unknown length travels in, taken off again (RFC 9112, 7.1). It does no
input or output.
"""

from __future__ import annotations

import re

__all__ = ["ChunkError", "Dechunker"]

_CRLF = b"\r\n"
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")
_BOUNDARY = re.compile(_CRLF + _SIZE.pattern)
"""What stands between the bytes of one chunk and those of the next: the end of the one, then size
and extensions of the other.
"""

_BEGUN = re.compile(rb"\r(?:\n(?:[0-9A-Fa-f]{1,15}[ \t]*(?:;[^\r\n]*)?\r?)?)?")
"""As much of a boundary as may be there when the rest is still under way."""

_LONGEST = 4096
"""Bytes of a boundary, extensions included; what Go allows."""

_QUOTED = 32


class ChunkError(Exception):
    """Where a chunk should begin there is something else. The message says what."""


class Dechunker:
    """Takes the body out of what a chunked answer sends behind its head, however that is cut.

    >>> body = Dechunker()
    >>> body.feed(b"4\\r\\npods\\r\\n2;why=not\\r\\n a")
    b'pods a'
    >>> body.feed(b"\\r\\n0\\r\\nX-Trailer: y\\r\\n\\r\\n")
    b''
    >>> body.rest
    b'0\\r\\nX-Trailer: y\\r\\n\\r\\n'

    What comes before a fault is given before `fault` is set to it. After the end or a fault nothing
    may be fed. The cost is linear in the bytes, and they are copied once.
    """

    __slots__ = ("_boundary", "_left", "fault", "rest")

    def __init__(self) -> None:
        self._boundary = _CRLF  # what came of one; a first chunk lacks the first half of it
        self._left = 0  # bytes of a chunk that are still to come
        self.rest: bytes | None = None
        """Once the body has ended: the last chunk, which has the size 0, and all that came with it:
        the trailers.
        """
        self.fault: ChunkError | None = None

    def feed(self, data: bytes | memoryview) -> bytes:
        """The bytes of the body that are in `data`, which the caller may keep or change."""
        before, expected = b"", _BOUNDARY
        if not data:
            return b""
        if self._boundary:
            if self._boundary == _CRLF:  # a chunk was sent by itself, as that of an event is
                before, expected = _CRLF, _SIZE
            else:
                data = self._boundary + data
            self._boundary = b""
        view = memoryview(data)
        size = len(view)
        pieces = []
        begin, end = 0, self._left
        while end < size:
            if begin < end:
                pieces.append(view[begin:end])
            boundary = expected.match(view, end)
            if boundary is None:
                self._left = 0
                self._begin_boundary(before + bytes(view[end : end + _LONGEST]))
                break
            before, expected = b"", _BOUNDARY
            begin = boundary.end()
            length = int(boundary[1], 16)
            if not length:
                self.rest = bytes(view[boundary.start(1) :])
                break
            end = begin + length
        else:
            if begin < size:
                pieces.append(view[begin:])
            self._left = end - size
        return bytes(pieces[0]) if len(pieces) == 1 else b"".join(pieces)

    def _begin_boundary(self, boundary: bytes) -> None:
        if boundary == _CRLF:
            self._boundary = boundary
        elif not _BEGUN.fullmatch(boundary):
            found = boundary.removeprefix(_CRLF)[:_QUOTED]
            missing = "a chunk's size" if boundary.startswith(_CRLF) else "the end of a chunk"
            self.fault = ChunkError(f"{found!r} stands where {missing} should")
        elif len(boundary) >= _LONGEST:
            self.fault = ChunkError(f"a chunk's size and extensions take over {_LONGEST} bytes")
        else:
            self._boundary = boundary
