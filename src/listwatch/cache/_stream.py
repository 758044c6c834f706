"""One open watch of a reflector: read in batches, and looked after while it is silent (E4, H5)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from typing import Any, Generic, TypeVar

from listwatch.api import Event
from listwatch.watch import Watch, broken_by, last_read

from ._assembly import Assembly
from ._cancellations import inner_cancellations_as_errors
from ._versions import is_version
from .causes import Cause, cause_of
from .decisions import Outcome
from .liveness import IdleClock, Liveness

__all__ = ["Stream"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")

_PATIENCE = 5.0
"""Seconds after which a watch that was stopped must have noticed."""


class Stream(Generic[T]):
    """A watch, what it was asked for, and what it has brought.

    `initial` takes its initial events (WatchList); it is None in a watch, and once they are over.
    `on_silence` is called when nothing has come for too long, and again only after something has.
    """

    def __init__(
        self,
        watch: Watch[T],
        *,
        asked: str,
        timeout_seconds: int,
        liveness: Liveness,
        on_silence: Callable[[Stream[T]], None],
        initial: Assembly[T] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.watch = watch
        self.asked = asked
        self.initial = initial
        self.base = asked
        """The RV that an event must be past to be progress."""
        self.events = False
        self.progress = False
        self.replayed = is_version(asked)
        """Whether the synthetic ADDED events of a watch without an RV are over (H6)."""
        self.verdict: tuple[Cause, Exception | None] | None = None
        """Why it was stopped from our side."""
        self.successor: Stream[T] | None = None
        """The next watch, opened while this one was silent."""
        self.refusal: Outcome | None = None
        """What came of opening it, if that ends this one, too."""
        self.replacement: asyncio.Task[None] | None = None
        """The task that opens it."""
        self.bug: BaseException | None = None
        """What a task beside it has raised."""
        self.opened_at = self.watching_since = self._arrived = self._resumed = self._loop.time()
        self.last_event_at: float | None = None
        self._liveness = liveness
        self._timeout_seconds = timeout_seconds
        self._clock = IdleClock(liveness, timeout_seconds, self.opened_at)
        self._over_by: float | None = None  # when initial events must have ended (H5)
        self._on_silence = on_silence
        self._timer: asyncio.TimerHandle | None = None
        self._timer_limit: float | None = None
        """The limit of silence for which it was set; None where it may be due before."""
        self._reading = True
        self._tasks: set[asyncio.Task[None]] = set()
        self._reader: asyncio.Task[Any] | None = None
        self._deaf: asyncio.TimerHandle | None = None
        self._is_cut_off = False

    def begin_watching(self, resource_version: str) -> None:
        """The initial events are over: from now on this is a watch from that RV."""
        self.initial = None
        self.base = resource_version
        self.replayed = True
        self.watching_since = self._loop.time()
        self._timer_limit = None
        self._clock = IdleClock(self._liveness, self._timeout_seconds, self.watching_since)

    def strange(self) -> None:
        """An initial event was not the ADDED of a new key: their end is due (H5)."""
        if self._over_by is None:
            self._over_by = self._loop.time() + self._liveness.initial

    def bookmark(self) -> None:
        """A periodic bookmark came."""
        self._clock.bookmark(self._loop.time())

    @property
    def resumable(self) -> bool:
        """Whether a later watch can go on where this one was."""
        return is_version(self.base) or self.progress

    @property
    def watched(self) -> float:
        """Seconds as a watch."""
        return 0.0 if self.initial is not None else self._loop.time() - self.watching_since

    @property
    def ran_out(self) -> bool:
        """Whether it has lasted about as long as the server was asked to keep it."""
        return self._loop.time() - self.opened_at >= self._timeout_seconds - 1

    @property
    def last_byte_at(self) -> float:
        return max(self._arrived, last_read(self.watch) or 0.0)

    def stop(self, cause: Cause, error: Exception | None = None) -> None:
        """End it, for this reason. The first counts."""
        if self.verdict is None:
            self.verdict = cause, error
        self._stop_watch()

    @property
    def end(self) -> tuple[Cause, Exception | None]:
        """Why it is over, once it is."""
        if self.verdict is not None:
            return self.verdict
        broken = broken_by(self.watch)
        return (Cause.CLEAN, None) if broken is None else (cause_of(broken), broken)

    def drop(self) -> None:
        """Stop a watch that was never read."""
        try:
            self.watch.stop()
        except Exception:
            _log.exception("stopping a watch failed")

    def _stop_watch(self) -> None:
        self.drop()
        if self._deaf is None:
            self._deaf = self._loop.call_later(_PATIENCE, self._cut_off)

    def _cut_off(self) -> None:
        """The watch, somebody else's, does not heed that it was stopped."""
        if self._reading and self._reader is not None:
            self._is_cut_off = True
            self._reader.cancel()

    def spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Do this beside, for as long as the stream is read. What it raises ends the stream, and is
        the reader's to raise: only a bug does.
        """
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.bug = error
            self._stop_watch()

    def look_again(self) -> None:
        """Wait for silence anew."""
        self._look_again()

    async def batches(self) -> AsyncGenerator[list[Event[T]], None]:
        """What arrives, as it does. Leaving it ends the watch and the tasks that belong to it.

        Raises what the watch raises, and `SourceCancelled`.
        """
        batches: AsyncIterator[list[Event[T]]] = self.watch.batches()
        self._reader = reader = asyncio.current_task()
        try:
            with inner_cancellations_as_errors():
                async with self.watch:
                    self._look_again()
                    async for batch in batches:
                        now = self._arrived = self.last_event_at = self._loop.time()
                        if self.replacement is not None:
                            self.replacement.cancel()  # it speaks after all
                            self.replacement = None
                        self._reading = False
                        self._clock.paused(now)
                        yield batch
                        self._resumed = self._loop.time()
                        self._clock.resumed(self._resumed)
                        self._reading = True
                        if self._over_by is not None:
                            self._over_by += self._resumed - now
                        if (
                            self._timer is None
                            or self._clock.limit != self._timer_limit
                            or self._over_by is not None
                        ):
                            self._look_again()
        except asyncio.CancelledError:
            if reader is None or not self._is_cut_off or reader.cancelling() > 1:
                raise
            reader.uncancel()
        finally:
            self._reader = None
            for timer in (self._timer, self._deaf):
                if timer is not None:
                    timer.cancel()
            self._timer = None
            if self._tasks:
                for task in self._tasks:
                    task.cancel()
                await asyncio.wait(self._tasks)
            closing: Any = getattr(batches, "aclose", None)
            if closing is not None:
                await closing()

    def _look_again(self) -> None:
        now, due = self._loop.time(), self._due()
        if self._timer is not None:
            self._timer.cancel()
        if now < due:
            self._timer_limit = self._clock.limit
            self._timer = self._loop.call_at(due, self._look)
        else:
            self._timer = None
            self._on_silence(self)

    def _look(self) -> None:
        # The clock of a watch moves with each read, the timer only when it fires: that is cheaper
        # than a new timer for each read.
        self._timer = None
        if self._reading:
            self._look_again()

    def _due(self) -> float:
        if self.initial is None:
            return self._clock.deadline(self.last_byte_at)
        due = self._resumed + self._liveness.initial
        return due if self._over_by is None else min(due, self._over_by)
