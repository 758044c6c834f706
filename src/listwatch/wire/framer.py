"""Layer one: bytes, however they were cut, to whole frames (C1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .errors import FramingError

__all__ = ["DEFAULT_LIMIT", "Framer", "Frames"]

DEFAULT_LIMIT = 16 * 1024 * 1024
"""Bytes a frame may grow to (C5): client-go's own limit; etcd refuses objects over about 1.5
MiB.
"""

Frames = list[bytes | FramingError]
"""Whole frames and the faults between them, in the order of the stream."""


class Framer(Protocol):
    """Cuts a stream into frames. It holds at most one partial frame and one read, and never more of
    a frame than `limit` bytes (C5, C6).
    """

    limit: int

    @property
    def sure(self) -> int:
        """How many frames, of the last answer from its beginning, end where they were cut beyond
        doubt, provided that the stream holds values at all.
        """
        ...

    def feed(self, data: bytes, /) -> Frames:
        """The frames that `data` completes.

        A `FrameSyntaxError` ends the stream: what is fed after it is ignored. After an
        `ObjectTooLarge` the next frame comes as usual.
        """
        ...

    def end(self) -> Frames:
        """The frame that the end of the stream completes, if any, or `UnexpectedEOF` where it came
        inside one (C4).
        """
        ...

    def recut(self, frames: Sequence[bytes | FramingError], /) -> Frames | None:
        """Cut again from `frames[0]`, which its decoder found to be no whole value.

        `frames` is the last answer of `feed` from that frame on. None where cuts are never guessed,
        so that cutting again would change nothing.
        """
        ...
