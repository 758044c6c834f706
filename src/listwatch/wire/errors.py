"""What can be wrong with bytes. Framers and decoders hand these on as values, in their place among
the frames.
"""

from __future__ import annotations

from listwatch.api import ListWatchError

__all__ = [
    "EnvelopeError",
    "FrameSyntaxError",
    "FramingError",
    "ListDecodeError",
    "ObjectDecodeError",
    "ObjectTooLarge",
    "UnexpectedEOF",
    "UnsupportedContentType",
    "quote",
]

_QUOTED = 60
"""Bytes of foreign input that an error message shows: enough to see what it is, short enough for
one line.
"""


def quote(data: bytes, at: int = 0) -> str:
    """The bytes around `at` as one short printable line, for an error message."""
    start = max(0, at - 20)
    piece = data[start : start + _QUOTED]
    text = repr(piece)[1:]  # without its b
    before = "..." if start else ""
    after = "..." if start + _QUOTED < len(data) else ""
    return f"{before}{text}{after}"


class FramingError(ListWatchError):
    """The stream could not be cut into frames here."""


class UnexpectedEOF(FramingError, EOFError):
    """The stream ended inside a frame (C4). `size` is how many bytes of that frame had come."""

    def __init__(self, size: int) -> None:
        super().__init__(f"the stream ended inside a frame, {size} bytes after its start")
        self.size = size


class FrameSyntaxError(FramingError):
    """Bytes that can be no value of the stream's format (C4). `offset` counts bytes from the start
    of the stream.
    """

    def __init__(self, problem: str, offset: int, place: str) -> None:
        super().__init__(f"{problem} at byte {offset} of the stream: {place}")
        self.offset = offset


class ObjectTooLarge(FramingError):
    """A frame grew past the limit and is passed over (C5).

    `limit` and `size` are in bytes. It is reported as soon as the limit is passed; `size` goes on
    growing while the framer passes the rest of the frame over, so that it is the frame's whole size
    once the next frame is there.
    """

    def __init__(self, limit: int, size: int) -> None:
        super().__init__()
        self.limit = limit
        self.size = size

    def __str__(self) -> str:
        return f"an object of {self.size} bytes or more exceeds the limit of {self.limit} bytes"


class EnvelopeError(ListWatchError):
    """A frame that is no watch event: not `{"type": ..., "object": ...}`, or of an unknown type
    (D2).

    `malformed` says that the frame is not even one whole value of its format, as opposed to a value
    of the wrong shape; `unknown_type`, that it is an event of a type that Kubernetes does not have.
    """

    def __init__(
        self, problem: str, *, malformed: bool = False, unknown_type: bool = False
    ) -> None:
        super().__init__(problem)
        self.malformed = malformed
        self.unknown_type = unknown_type


class ObjectDecodeError(ListWatchError):
    """The decoder of one object failed (D6). `raw` is the object as it came; `key` names it, None
    where even that cannot be read.

    The decoder's own exception is the `__cause__`.
    """

    def __init__(self, key: str | None, raw: bytes, cause: Exception) -> None:
        name = (
            f"object {key}"
            if key is not None
            else f"an object whose key cannot be read: {quote(raw)}"
        )
        super().__init__(f"cannot decode {name}: {type(cause).__name__}: {cause}")
        self.key = key
        self.raw = raw
        self.__cause__ = cause


class ListDecodeError(ListWatchError):
    """The body of an answer is not the list that was asked for (D7)."""


class UnsupportedContentType(ListWatchError):
    """The answer is in a format that nobody here asked for, such as a proxy's `text/html` (B6)."""

    def __init__(self, content_type: str, supported: str) -> None:
        super().__init__(
            f"the answer has Content-Type {content_type!r}, which is not the Kubernetes API's "
            f"({supported}): is there a proxy in between, or is this the wrong address?"
        )
        self.content_type = content_type
