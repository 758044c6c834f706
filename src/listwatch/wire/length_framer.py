"""Length-delimited framing, as protobuf streams use it: a 4-byte big-endian length, then that many
bytes (C3).
"""

from __future__ import annotations

from collections.abc import Sequence

from .errors import FramingError, ObjectTooLarge, UnexpectedEOF
from .framer import DEFAULT_LIMIT, Frames

__all__ = ["LengthDelimitedFramer", "length_delimited_frame"]

_PREFIX = 4


def length_delimited_frame(value: bytes) -> bytes:
    """The writer: one value as a frame. Raises `OverflowError` for a value of 4 GiB or more."""
    return len(value).to_bytes(_PREFIX, "big") + value


class LengthDelimitedFramer:
    """Cuts a stream of length-delimited frames.

    >>> framer = LengthDelimitedFramer()
    >>> framer.feed(length_delimited_frame(b"abc") + b"\\0\\0")
    [b'abc']
    """

    __slots__ = ("_held", "_pass", "limit")

    sure = 0
    """See `Framer.sure`: nothing that is framed so has a shorter way yet."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        """Bytes that a frame may have, its prefix not counted."""
        self._held = bytearray()  # a partial frame with its prefix
        self._pass = 0  # bytes still to come of a frame over the limit

    @property
    def held(self) -> int:
        """Bytes held back for the frame that is not complete yet."""
        return len(self._held)

    def feed(self, data: bytes, /) -> Frames:
        frames: Frames = []
        if self._pass:
            passed = min(self._pass, len(data))
            self._pass -= passed
            data = data[passed:]
        if self._held:
            # Only a whole frame is worth joining: until then a huge one fed in small pieces costs
            # nothing but its copying.
            self._held += data
            if len(self._held) < _PREFIX:
                return frames
            size = int.from_bytes(self._held[:_PREFIX], "big")
            if size <= self.limit and len(self._held) < _PREFIX + size:
                return frames
            data, self._held = bytes(self._held), bytearray()
        position, end = 0, len(data)
        while end - position >= _PREFIX:
            size = int.from_bytes(data[position : position + _PREFIX], "big")
            body = position + _PREFIX
            if size > self.limit:
                frames.append(ObjectTooLarge(self.limit, size))
                self._pass = max(0, size - (end - body))
                position = min(end, body + size)
                continue
            if end - body < size:
                break
            frames.append(data[body : body + size])
            position = body + size
        self._held += data[position:]
        return frames

    def end(self) -> Frames:
        size, self._held = len(self._held), bytearray()
        unfinished = size or self._pass
        self._pass = 0
        return [UnexpectedEOF(size)] if unfinished else []

    def recut(self, frames: Sequence[bytes | FramingError], /) -> None:
        """None: the lengths are the server's word, so no cut is a guess."""
