"""Layer two: frames to values, bounded. It sets the framer's limit and mends its guesses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from listwatch.api import ListWatchError

from .errors import EnvelopeError, FramingError
from .framer import DEFAULT_LIMIT, Framer

__all__ = ["StreamDecoder"]

V = TypeVar("V")


class StreamDecoder(Generic[V]):
    """Turns a stream of bytes into values, one a frame.

    `decode` gets one frame and raises `EnvelopeError` where it is not what it should be. `limit` is
    in bytes a frame (C5).

    Faults stand in the results in their place among the values. After an `ObjectTooLarge` or an
    `EnvelopeError` the next value comes as usual; a `FrameSyntaxError` or `UnexpectedEOF` is the
    last thing that comes.
    """

    __slots__ = ("_decode", "_framer", "faults", "short")

    def __init__(
        self, framer: Framer, decode: Callable[[bytes], V], *, limit: int = DEFAULT_LIMIT
    ) -> None:
        framer.limit = limit
        self._framer = framer
        self._decode = decode
        self.short: Callable[[bytes], V | None] | None = None
        """A shorter way than `decode`, which need not look at all of the frame: it is tried for
        those whose end is no guess (`Framer.sure`). It gives None where it will not do.
        """
        self.faults = 0
        """Faults found so far, so that who gets a batch need not look at each item to know that all
        is well.
        """

    def feed(self, data: bytes, /) -> list[V | ListWatchError]:
        """The values that `data` completes."""
        return self._values(self._framer.feed(data))

    def end(self) -> list[V | ListWatchError]:
        """The value, or the fault, that the end of the stream brings."""
        return self._values(self._framer.end())

    def _values(self, frames: Sequence[bytes | FramingError]) -> list[V | ListWatchError]:
        decode, short = self._decode, self.short
        sure = 0 if short is None else self._framer.sure
        values: list[V | ListWatchError] = []
        for number, frame in enumerate(frames):
            if isinstance(frame, FramingError):
                self.faults += 1
                values.append(frame)
                continue
            if number < sure and short is not None:
                value = short(frame)
                if value is not None:
                    values.append(value)
                    continue
            try:
                values.append(decode(frame))
            except EnvelopeError as fault:
                if fault.malformed:
                    again = self._framer.recut(frames[number:])
                    if again is not None:
                        return values + self._values(again)
                self.faults += 1
                values.append(fault)
        return values
