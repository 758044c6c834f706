"""JSON framing: the boundary is the end of a JSON value, not the newline (C2).

Servers write one compact value a line, so cutting at newlines is the fast path: it costs one search
and one copy a line. A line that is not `{...}` to its last byte, or that its decoder refuses
(`recut`), is cut by the general path, which looks for the ends of values and stays on for the rest
of that stream. A line over the limit goes the same way, so that it is passed over to the true end
of its value; then the fast path goes on.

Where the general path finds a pretty-printed value, the next ones are cut where a closing brace
stands alone in its line, until a decoder refuses one. That is twenty times as fast.
"""

from __future__ import annotations

from collections.abc import Sequence

from ._value_cutter import ValueCutter
from .errors import FrameSyntaxError, FramingError
from .framer import DEFAULT_LIMIT, Frames

__all__ = ["JSONFramer", "json_frame"]

_WHITESPACE = b" \t\r\n"
_OPEN, _CLOSE = b"{}"
_PRETTY_BEGIN = b"{\n"
_PRETTY_END = b"\n}\n"
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
        "_lines",
        "_lines_at",
        "_partial",
        "_partial_at",
        "_pretty",
        "_starts",
        "_values",
        "limit",
        "sure",
    )

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.limit = limit
        """Bytes that a frame may have."""
        self.sure = 0
        """See `Framer.sure`: behind the brace that ends a line, a brace on the next one can only
        begin another value.
        """
        self._fed = 0  # bytes fed so far; all offsets count from the start of the stream
        self._last = b""  # the last read: a frame cut from it may have to be cut again
        # The line that is not complete yet, without the white space before it.
        self._partial = bytearray()
        self._partial_at = 0
        # The frames of the last feed that are lines, from _lines_at on, with nothing between them:
        # usually all. Then, of each other frame, where it began, or _CERTAIN.
        self._lines: list[bytes] = []
        self._lines_at = 0
        self._starts: list[int] = []
        self._values: ValueCutter | None = None  # there while the general path is on
        # Whether values seem to end as pretty-printed ones do; None where that was wrong once.
        self._pretty: bool | None = False
        self._ended = False

    @property
    def held(self) -> int:
        """Bytes held back for the frame that is not complete yet."""
        return len(self._partial) + (self._values.held if self._values is not None else 0)

    def feed(self, data: bytes, /) -> Frames:
        self._starts, self._lines, self.sure = [], [], 0
        self._last = data
        self._fed += len(data)
        return self._cut(data)

    def end(self) -> Frames:
        self._starts, self._lines, self.sure = [], [], 0
        self._last = b""
        if self._ended:
            return []
        if self._values is None:
            self._values = ValueCutter(self._partial_at, one_giant=False)
            self._pretty = None
        frames = self._cut(self._take_partial())
        if not self._ended:
            frames += self._values.end()
        self._starts = [_CERTAIN] * len(frames)
        self._ended = True
        return frames

    def recut(self, frames: Sequence[bytes | FramingError], /) -> Frames | None:
        start = self._start_of_last(len(frames))
        first = frames[0] if frames else b""
        if start == _CERTAIN or not isinstance(first, bytes):
            return None
        # The line may have begun in an earlier read, what is behind it is all in the last one.
        behind = start + len(first) - (self._fed - len(self._last))
        self._take_partial()
        self._starts, self._lines, self.sure = [], [], 0
        self._ended = False
        self._values = ValueCutter(start, one_giant=False)
        self._pretty = None
        return self._cut(first + self._last[behind:])

    def _start_of_last(self, count: int) -> int:
        """Where the first of the last `count` frames began."""
        if not count:
            return _CERTAIN
        if count <= len(self._starts):
            return self._starts[-count]
        before = self._lines[: len(self._lines) + len(self._starts) - count]
        return self._lines_at + sum(map(len, before)) + len(before)

    def _take_partial(self) -> bytes:
        taken = bytes(self._partial)
        self._partial = bytearray()  # a new one: an emptied one may keep its memory (C6)
        return taken

    def _cut(self, data: bytes) -> Frames:
        frames: Frames = []
        while data and not self._ended:  # each way may leave a rest to another
            if self._values is not None:
                data = self._cut_values(data, frames)
            elif self._pretty:
                data = self._cut_pretty(data, frames)
            else:
                data = self._cut_lines(data, frames)
        return frames

    def _cut_lines(self, data: bytes, frames: Frames) -> bytes:
        start = self._partial_at if self._partial else self._fed - len(data)
        lines, tail = _split(data)
        if lines and self._partial:
            lines[0] = b"".join((self._partial, lines[0]))
            self._partial = bytearray()
        if not frames and self._are_frames(lines):
            frames += lines
            self._lines, self._lines_at = lines, start
            self.sure = len(lines) - (not tail.startswith(b"{"))
        elif (rest := self._cut_each(lines, start, frames)) is not None:
            return rest + tail
        if not self._partial:
            tail = tail.lstrip(_WHITESPACE)
            self._partial_at = self._fed - len(tail)
        self._partial += tail
        if self._partial and (self._partial[0] != _OPEN or len(self._partial) > self.limit):
            self._values = ValueCutter(self._partial_at, one_giant=self._partial[0] == _OPEN)
            return self._take_partial()
        return b""

    def _are_frames(self, lines: list[bytes]) -> bool:
        limit = self.limit
        for line in lines:
            if not line or line[0] != _OPEN or line[-1] != _CLOSE or len(line) > limit:
                return False
        return True

    def _cut_each(self, lines: list[bytes], start: int, frames: Frames) -> bytes | None:
        """Cut lines that are not all frames. What comes back is for the general path."""
        for number, line in enumerate(lines):
            size = len(line)
            if size and line[0] == _OPEN and line[-1] == _CLOSE and size <= self.limit:
                frames.append(line)
                self._starts.append(start)
            elif line.strip(_WHITESPACE):
                values = self._values = ValueCutter(start, one_giant=size > self.limit)
                rest = self._cut_values(line + b"\n", frames)
                if not values.giant_passed or rest.strip(_WHITESPACE):
                    return rest + b"".join([line + b"\n" for line in lines[number + 1 :]])
            start += size + 1
        return None

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
            if self._pretty is not None and _are_pretty(found):
                self._values = None
                self._pretty = True
                return data[position:]
        return b""

    def _cut_pretty(self, data: bytes, frames: Frames) -> bytes:
        """Cut where a closing brace stands alone in its line."""
        held = self._partial
        seam = bytes(held[-2:])  # an end may have begun in an earlier read
        text = seam + data
        position = 0
        start = self._partial_at if held else self._fed - len(data)
        while (end := text.find(_PRETTY_END, position)) >= 0:
            piece = text[position : end + 2]
            position = end + 3
            if held:
                piece = b"".join((held[: len(held) - len(seam)], piece))
                held = self._partial = bytearray()
            frame = piece.lstrip(_WHITESPACE)
            start += len(piece) - len(frame)
            if not frame.startswith(_PRETTY_BEGIN) or len(frame) > self.limit:
                self._values = ValueCutter(start, one_giant=False)
                return frame + text[position - 1 :]
            frames.append(frame)
            self._starts.append(start)
            start += len(frame) + 1
        tail = data if held else text[position:].lstrip(_WHITESPACE)
        if not held:
            self._partial_at = self._fed - len(tail)
        held += tail
        if held and not self._may_go_on_pretty(held):
            self._values = ValueCutter(self._partial_at, one_giant=False)
            return self._take_partial()
        return b""

    def _may_go_on_pretty(self, held: bytearray) -> bool:
        """Whether the value that is not complete yet is surely none that ends in another way, and
        would wait here for the next one.
        """
        return (
            len(held) <= self.limit
            and held.startswith(_PRETTY_BEGIN[: len(held)])
            and held[-100:].rstrip(_WHITESPACE)[-1:] not in b"}"
        )


def _are_pretty(found: Frames) -> bool:
    return any(
        isinstance(frame, bytes)
        and frame.startswith(_PRETTY_BEGIN)
        and frame.endswith(_PRETTY_END[:-1])
        for frame in found
    )


def _split(data: bytes) -> tuple[list[bytes], bytes]:
    """The lines in `data`, and what comes after the last."""
    # Not bytes.split, which looks at one byte at a time where find looks at many: for lines of some
    # KB this takes half of the time.
    lines = []
    begin = 0
    while (end := data.find(b"\n", begin)) >= 0:
        lines.append(data[begin:end])
        begin = end + 1
    return lines, data[begin:]
