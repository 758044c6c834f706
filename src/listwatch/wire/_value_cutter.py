"""Cuts at the ends of JSON values that were looked for: the general path of the JSON framer."""

from __future__ import annotations

import re

from .errors import FrameSyntaxError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import Frames
from .json_scanner import BadByte, ValueScanner

__all__ = ["ValueCutter"]

_SPACE = re.compile(rb"[ \t\r\n]*+")
_QUOTED_BEFORE = 40  # bytes of earlier reads that a syntax error may have to show


class ValueCutter:
    """Cuts at the ends of values, and holds the one that is not complete yet."""

    def __init__(self, offset: int, *, one_giant: bool) -> None:
        self._offset = offset  # of the first byte that `cut` has not seen
        self._scanner = ValueScanner()
        self._held = bytearray()
        self._giant: ObjectTooLarge | None = None
        self._one_giant = one_giant
        self.giant_passed = False
        """The giant for which the fast path was left is behind us, so it can go on."""

    @property
    def held(self) -> int:
        return len(self._held)

    def cut(self, data: bytes, position: int, limit: int) -> tuple[int, Frames]:
        """Look at `data` from `position` for the end of one value; where it got to, and the frame
        or the faults found.
        """
        if not self._scanner.inside:
            match = _SPACE.match(data, position)
            begin, position = position, match.end() if match else position
            self._offset += position - begin
            if position == len(data):
                return position, []
        try:
            end = self._scanner.scan(data, position)
        except BadByte as bad:
            before = bytes(self._held[-_QUOTED_BEFORE:])
            place = quote(before + data[position:], len(before) + max(bad.position - position, 0))
            fault = FrameSyntaxError(bad.problem, self._offset + bad.position - position, place)
            return len(data), [*self._take(data[position : bad.reached], limit, whole=False), fault]
        reached = len(data) if end < 0 else end
        self._offset += reached - position
        return reached, self._take(data[position:reached], limit, whole=end >= 0)

    def _take(self, piece: bytes, limit: int, *, whole: bool) -> Frames:
        if self._giant is not None:
            self._giant.size += len(piece)
            if whole:
                self._giant = None
                self.giant_passed = self._one_giant
            return []
        size = len(self._held) + len(piece)
        if size > limit:
            self._held = bytearray()
            fault = ObjectTooLarge(limit, size)
            if whole:
                self.giant_passed = self._one_giant
            else:
                self._giant = fault
            return [fault]
        if not whole:
            self._held += piece
            return []
        self._one_giant = False  # a smaller value shared the line: lines are no frames here
        frame = b"".join((self._held, piece)) if self._held else piece
        self._held = bytearray()
        return [frame]

    def end(self) -> Frames:
        """What the end of the stream completes, or the fault that it is."""
        size = len(self._held) + (self._giant.size if self._giant else 0)
        if not self._scanner.inside:
            return []
        try:
            whole = self._scanner.finish()
        except BadByte as bad:
            return [
                FrameSyntaxError(bad.problem, self._offset + bad.position, quote(bytes(self._held)))
            ]
        if not whole:
            return [UnexpectedEOF(size)]
        return [] if self._giant is not None else [bytes(self._held)]
