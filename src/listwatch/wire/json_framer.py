"""JSON framing: the boundary is the end of a JSON value, not the newline (C2).

Servers write one compact value a line, so cutting at newlines is the fast path: it costs one
`bytes.split` a read. A line that is not `{...}` to its last byte, or that its decoder refuses
(`recut`), is cut by the general path, which looks for the ends of values and stays on for the rest
of that stream. A line over the limit goes the same way, so that it is passed over to the true end
of its value; then the fast path goes on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from .errors import FrameSyntaxError, FramingError, ObjectTooLarge, UnexpectedEOF, quote
from .framer import DEFAULT_LIMIT, Frames
from .json_scanner import BadByte, ValueScanner

__all__ = ["JSONFramer", "json_frame"]

_WHITESPACE = b" \t\r\n"
_SPACE = re.compile(rb"[ \t\r\n]*+")
_OPEN, _CLOSE = b"{}"
_QUOTED_BEFORE = 40  # bytes of earlier reads that a syntax error may have to show
_CERTAIN = -1  # in place of a frame's offset: its end was looked for, not guessed


def json_frame(value: bytes) -> bytes:
    """The writer: one JSON value as a frame. A compact value (no newline in it) keeps its readers
    on their fast path.
    """
    return value + b"\n"


class JSONFramer:
    """Cuts a stream of JSON values, one a line or laid out in any other way.

    >>> framer = JSONFramer()
    >>> framer.feed(b'{"a":1}\\n{"b":')
    [b'{"a":1}']
    >>> framer.feed(b'2}\\n')
    [b'{"b":2}']
    >>> framer.end()
    []
    """

    __slots__ = (
        "_ended",
        "_fed",
        "_last",
        "_partial",
        "_partial_at",
        "_starts",
        "_values",
        "limit",
    )

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        """Bytes that a frame may have."""
        self._fed = 0  # bytes fed so far; all offsets count from the start of the stream
        self._last = b""  # the last read: a frame cut from it may have to be cut again
        # The line that is not complete yet, without the white space before it.
        self._partial = bytearray()
        self._partial_at = 0
        self._starts: list[int] = []  # where the frames of the last feed began, or _CERTAIN
        self._values: _ValueCutter | None = None  # there while the general path is on
        self._ended = False

    @property
    def held(self) -> int:
        """Bytes held back for the frame that is not complete yet."""
        return len(self._partial) + (self._values.held if self._values is not None else 0)

    def feed(self, data: bytes, /) -> Frames:
        self._starts = []
        self._last = data
        self._fed += len(data)
        return self._cut(data)

    def end(self) -> Frames:
        self._starts = []
        self._last = b""
        if self._ended:
            return []
        if self._values is None:
            self._values = _ValueCutter(self._partial_at, one_giant=False)
        frames = self._cut(self._take_partial())
        if not self._ended:
            frames += self._values.end()
        self._starts = [_CERTAIN] * len(frames)
        self._ended = True
        return frames

    def recut(self, frames: Sequence[bytes | FramingError], /) -> Frames | None:
        start = self._starts[len(self._starts) - len(frames)] if frames else _CERTAIN
        first = frames[0] if frames else b""
        if start == _CERTAIN or not isinstance(first, bytes):
            return None
        # The line may have begun in an earlier read, what is behind it is all in the last one.
        behind = start + len(first) - (self._fed - len(self._last))
        self._take_partial()
        self._starts = []
        self._ended = False
        self._values = _ValueCutter(start, one_giant=False)
        return self._cut(first + self._last[behind:])

    def _take_partial(self) -> bytes:
        taken = bytes(self._partial)
        self._partial = bytearray()  # a new one: an emptied one may keep its memory (C6)
        return taken

    def _cut(self, data: bytes) -> Frames:
        frames: Frames = []
        while data and not self._ended:  # either way may leave a rest to the other
            cut = self._cut_lines if self._values is None else self._cut_values
            data = cut(data, frames)
        return frames

    def _cut_lines(self, data: bytes, frames: Frames) -> bytes:
        limit, starts = self.limit, self._starts
        start = self._partial_at if self._partial else self._fed - len(data)
        lines = data.split(b"\n")
        tail = lines.pop()
        if lines and self._partial:
            lines[0] = self._take_partial() + lines[0]
        for number, line in enumerate(lines):
            size = len(line)
            if size and line[0] == _OPEN and line[-1] == _CLOSE and size <= limit:
                frames.append(line)
                starts.append(start)
            elif line.strip(_WHITESPACE):
                values = self._values = _ValueCutter(start, one_giant=size > limit)
                rest = self._cut_values(line + b"\n", frames)
                if not values.giant_passed or rest.strip(_WHITESPACE):
                    return rest + b"\n".join([*lines[number + 1 :], tail])
            start += size + 1
        if not self._partial:
            tail = tail.lstrip(_WHITESPACE)
            self._partial_at = self._fed - len(tail)
        self._partial += tail
        if self._partial and (self._partial[0] != _OPEN or len(self._partial) > limit):
            self._values = _ValueCutter(self._partial_at, one_giant=self._partial[0] == _OPEN)
            return self._take_partial()
        return b""

    def _cut_values(self, data: bytes, frames: Frames) -> bytes:
        values = self._values
        assert values is not None
        position = 0
        while position < len(data):
            position, found = values.cut(data, position, self.limit)
            frames += found
            self._starts += [_CERTAIN] * len(found)
            if found and isinstance(found[-1], FrameSyntaxError):
                self._ended = True
                return b""
            if values.giant_passed:
                self._values = None
                return data[position:]
        return b""


class _ValueCutter:
    """The general path: cuts at the ends of values, and holds the one that is not complete yet."""

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
