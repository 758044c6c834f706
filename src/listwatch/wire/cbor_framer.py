"""CBOR sequences (RFC 8742): one data item after another, with nothing between them (C3)."""

from __future__ import annotations

from collections.abc import Sequence

from .cbor_heads import BadItem
from .cbor_scanner import ItemScanner
from .errors import FrameSyntaxError, FramingError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import DEFAULT_LIMIT, Frames

__all__ = ["CBORFramer"]

_QUOTED_BEFORE = 20  # bytes of earlier reads that a syntax error shows


class CBORFramer:
    """Cuts a sequence of CBOR data items. What it accepts is well-formed; what the items say is
    their decoder's business.

    >>> framer = CBORFramer()
    >>> framer.feed(bytes.fromhex("a1 6161 01  a1 61"))
    [b'\\xa1aa\\x01']
    >>> framer.feed(bytes.fromhex("62 02")) + framer.end()
    [b'\\xa1ab\\x02']
    """

    __slots__ = ("_ended", "_fed", "_giant", "_held", "_scanner", "limit")

    sure = 0
    """See `Framer.sure`: nothing that is framed so has a shorter way yet."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        """Bytes that a frame may have."""
        self._scanner = ItemScanner()
        self._held = bytearray()  # of the frame that is not complete yet
        self._giant: ObjectTooLarge | None = None  # in place of that, where it is over the limit
        self._fed = 0  # bytes before the read that is looked at
        self._ended = False

    @property
    def held(self) -> int:
        """Bytes held back for the frame that is not complete yet."""
        return len(self._held)

    def feed(self, data: bytes, /) -> Frames:
        frames: Frames = []
        position, scan = 0, self._scanner.scan
        while position < len(data) and not self._ended:
            try:
                end = scan(data, position)
            except BadItem as bad:
                fault = self._fault(bad, data)
                self._take(data[position : max(position, bad.position)], frames, whole=False)
                frames.append(fault)
                self._ended = True
                break
            reached = len(data) if end < 0 else end
            self._take(data[position:reached], frames, whole=end >= 0)
            position = reached
        self._fed += len(data)
        return frames

    def end(self) -> Frames:
        size = len(self._held) + (self._giant.size if self._giant else 0)
        unfinished = self._scanner.inside and not self._ended
        self._ended = True
        self._held = bytearray()
        return [UnexpectedEOF(size)] if unfinished else []

    def recut(self, frames: Sequence[bytes | FramingError], /) -> None:
        """None: an item says where it ends, so no cut is a guess."""

    def _take(self, piece: bytes, frames: Frames, *, whole: bool) -> None:
        if self._giant is not None:
            self._giant.size += len(piece)
            if whole:
                self._giant = None
            return
        size = len(self._held) + len(piece)
        if size > self.limit:
            self._held = bytearray()  # a new one: an emptied one may keep its memory (C6)
            fault = ObjectTooLarge(self.limit, size)
            self._giant = None if whole else fault
            frames.append(fault)
        elif not whole:
            self._held += piece
        elif self._held:
            frames.append(b"".join((self._held, piece)))
            self._held = bytearray()
        else:
            frames.append(piece)

    def _fault(self, bad: BadItem, data: bytes) -> FrameSyntaxError:
        before = bytes(self._held[-_QUOTED_BEFORE:])
        place = quote(before + data, max(len(before) + bad.position, 0))
        return FrameSyntaxError(bad.problem, self._fed + bad.position, place)
