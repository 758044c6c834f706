"""Layer five: events to one consumer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

from listwatch.api import Event, EventType

from .protocols import Decoder, Reporter
from .reporter import ClientReporter

__all__ = ["StreamWatcher"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.watch")


class StreamWatcher(Generic[T]):
    """A Watch over any Decoder.

    - It reads when it is asked, so that at most what one read brought is ahead of the consumer; the
      rest waits in the network (E1).
    - A clean end of the stream ends the iteration. So does a connection that breaks off or falls
      silent, and an end inside a frame; these are logged at debug level, and `broken` has them.
      Anything else that the Decoder raises becomes one ERROR event, then the end (E2).
    - It may be stopped from anywhere (E3).

    It belongs to the event loop in which it was made.
    """

    def __init__(self, decoder: Decoder[T], reporter: Reporter | None = None) -> None:
        self._decoder = decoder
        self._reporter = reporter or ClientReporter()
        self._loop = asyncio.get_running_loop()
        self._stopped = False
        self._closed = False
        self._ended = False
        self._reader: asyncio.Task[object] | None = None  # the task that waits in a read
        self._woken = False  # ... and that we, nobody else, cancelled out of it
        # Whether the decoder knows it better.
        self._decoder_times = hasattr(decoder, "last_read")
        self._last_read = self._loop.time()
        self.broken: Exception | None = None
        """What broke the stream off, once it has ended: None after a clean end, a stop, or an
        ERROR.
        """

    @property
    def last_read(self) -> float:
        """When anything last arrived, as time of the event loop: bytes, where the Decoder tells of
        them by a `last_read` of its own, else events. At first, when the watch was made (E4).
        """
        read: float | None = getattr(self._decoder, "last_read", None)
        return self._last_read if read is None else max(read, self._last_read)

    async def batches(self) -> AsyncIterator[list[Event[T]]]:
        try:
            while batch := await self._read():
                yield batch
        finally:
            self.stop()

    async def __aiter__(self) -> AsyncIterator[Event[T]]:
        try:
            while batch := await self._read():
                for event in batch:
                    if self._stopped:
                        return
                    yield event
        finally:
            self.stop()

    def stop(self) -> None:
        self._stopped = True
        self._ended = True
        if self._runs_here():
            self._release()
            return
        try:
            self._loop.call_soon_threadsafe(self._release)
        except RuntimeError:
            _log.debug("a watch was stopped after its event loop had been closed")
            self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _runs_here(self) -> bool:
        try:
            return asyncio.get_running_loop() is self._loop
        except RuntimeError:
            return False

    def _release(self) -> None:
        self._close()
        if self._reader not in (None, asyncio.current_task()) and not self._woken:
            # The Decoder may be slow to notice that it was closed. Cancelling its wait is sure, and
            # `_read` takes it back.
            self._woken = True
            self._reader.cancel()

    def _close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            self._decoder.close()
        except Exception:  # E6: a bug in it may not reach the consumer, who only wanted to stop
            _log.exception("closing a watch's decoder failed")

    async def _read(self) -> list[Event[T]]:
        """What the next read brings; nothing at the end, or once stopped."""
        if self._ended:
            return []
        if self._reader is not None:
            raise RuntimeError(
                "this watch is already being read by another task: a watch has one consumer"
            )
        task = asyncio.current_task()
        assert task is not None
        cancelling = task.cancelling()
        self._reader = task
        batch: list[Event[T]] = []
        try:
            batch = await self._decoder.decode()
            if not batch:
                self._ended = True
            elif not self._decoder_times:
                self._last_read = self._loop.time()
        except asyncio.CancelledError:
            self._ended = True
            if not self._woken or task.cancelling() > cancelling + 1:
                raise  # somebody else's cancellation, or theirs besides ours
        except Exception as error:
            self._ended = True
            batch = self._last_words(error)
        finally:
            self._reader = None
            if self._woken:
                task.uncancel()
        return [] if self._stopped else batch

    def _last_words(self, error: Exception) -> list[Event[T]]:
        if self._stopped:
            return []  # the noise of closing it under its reader
        if isinstance(error, ConnectionError | TimeoutError | EOFError):
            self.broken = error
            _log.debug("the watch broke off: %s", error)
            return []
        _log.warning("the watch cannot be read any further: %s", error)
        try:
            status = self._reporter.report(error)
        except (
            Exception
        ):  # E6: a bug in the reporter is no reason to lose the error it was to report
            _log.exception("reporting an error of a watch failed")
            status = ClientReporter().report(error)
        return [Event(EventType.ERROR, cast(T, status))]
