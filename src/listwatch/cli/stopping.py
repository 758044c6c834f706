"""What ends a watch from our side: its time is over, or nobody reads what it prints."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import Enum, auto

from .sink import Sink

__all__ = ["UNLIMITED", "End", "Limits", "Stopping", "stopping"]


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop by ourselves."""

    duration: float | None = None
    """Seconds, from the start of the command."""
    from_answer: bool = False
    """Whether `duration` begins only with the answer, for which is waited as long as it takes."""
    count: int | None = None
    """Events."""


UNLIMITED = Limits()


class End(Enum):
    """What ended a watch from our side."""

    DURATION = auto()
    UNREAD = auto()
    """Nobody reads our output any more."""


class Stopping:
    """What `stopping` knows."""

    def __init__(self, limits: Limits, limit: asyncio.Timeout) -> None:
        self._limits = limits
        self._limit = limit
        self.answered = False
        self.end: End | None = None
        """Why it was stopped; None while it was not."""

    def answer(self) -> None:
        """The server has answered. Idempotent."""
        if self._limits.from_answer and not self.answered:
            self._stop_in(self._limits.duration)
        self.answered = True

    def stop(self, end: End) -> None:
        """Leave what is inside now."""
        if self.end is None:
            self.end = end
            self._stop_in(0.0)

    def _stop_in(self, seconds: float | None) -> None:
        # A timeout that has passed cannot be set to another time.
        due = self._limit.when()
        now = asyncio.get_running_loop().time()
        if seconds is not None and (due is None or due > now):
            self._limit.reschedule(now + seconds)


@asynccontextmanager
async def stopping(sink: Sink, limits: Limits) -> AsyncIterator[Stopping]:
    """What is inside is cancelled, and left without an error, when the limits or the reader of the
    output say so.
    """
    limit = asyncio.timeout(None if limits.from_answer else limits.duration)
    found = Stopping(limits, limit)
    try:
        async with limit, _looking(sink, found):
            yield found
    except TimeoutError:
        if not limit.expired():
            raise
        found.end = found.end or End.DURATION


@asynccontextmanager
async def _looking(sink: Sink, found: Stopping) -> AsyncIterator[None]:
    async def stop_when_unread() -> None:
        await sink.unread()
        found.stop(End.UNREAD)

    task = asyncio.get_running_loop().create_task(stop_when_unread())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])
