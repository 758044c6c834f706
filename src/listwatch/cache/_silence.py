"""What becomes of a watch on which nothing comes (E4, H5)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Generic, TypeVar

from ._course import Course
from ._outcomes import ended
from ._stream import Stream
from .causes import Cause, NoEndMarker
from .decisions import TABLE, Next, Outcome

__all__ = ["Silence"]

T = TypeVar("T")


class Silence(Generic[T]):
    """Replaces silent watches. `open_watch` opens one at the RV where the target is; `initial` is
    for how many seconds the end of the initial events was waited for.
    """

    def __init__(
        self,
        open_watch: Callable[[], Awaitable[Stream[T] | Outcome]],
        initial: float,
        *,
        course: Course,
        clock: Callable[[], float],
    ) -> None:
        self._open_watch = open_watch
        self._initial = initial
        self._course = course
        self._now = clock

    def at(self, stream: Stream[T]) -> None:
        """Nothing has come of this stream for too long."""
        if stream.initial is not None:
            stream.stop(Cause.NO_MARKER, NoEndMarker(self._initial))
        elif stream.resumable:
            stream.replacement = stream.spawn(self._replace(stream))
        else:
            stream.stop(Cause.IDLE)

    async def _replace(self, silent: Stream[T]) -> None:
        """Open the next watch, and only then drop the silent one (E4). It is kept while it may be
        the better one: where the next is refused for a time, or it speaks again after all.
        """
        heard = silent.last_byte_at
        outcome = ended(silent, Cause.IDLE, None)
        while True:
            _, at = self._course.conclude(outcome)
            await asyncio.sleep(0 if at is None else at - self._now())
            self._course.start_round()
            opened = await self._open_watch()
            if isinstance(opened, Stream):
                break
            if TABLE[opened.phase][opened.cause].next is not Next.WATCH:
                silent.refusal = opened
                silent.stop(opened.cause)
                return
            outcome = replace(opened, watched=silent.watched)
        if silent.last_byte_at != heard:
            opened.drop()
            silent.look_again()
            return
        silent.successor = opened
        silent.stop(Cause.IDLE)
