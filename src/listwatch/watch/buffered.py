"""A bounded buffer between a watch and a consumer that is slow at times (E5)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from listwatch.api import Event

from .ending import broken_by, last_read
from .protocols import Watch

__all__ = ["buffered"]

T = TypeVar("T")


def buffered(watch: Watch[T], size: int) -> Watch[T]:
    """The same events, of which up to `size` are read ahead from the moment that the result is
    entered or iterated.

    Stopping it stops `watch`. What had been read ahead is lost then, as are events that a stopped
    watch has not delivered. Raises `ValueError` for a size below 1.
    """
    if size < 1:
        raise ValueError(f"a buffer of {size} events: it needs at least 1")
    return _BufferedWatch(watch, size)


class _BufferedWatch(Generic[T]):
    def __init__(self, watch: Watch[T], size: int) -> None:
        self._watch = watch
        self._size = size
        self._events: deque[Event[T]] = deque()
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()  # something was put in or taken out, or the end is there
        self._pump: asyncio.Task[None] | None = None
        self._stopped = False

    @property
    def broken(self) -> Exception | None:
        return broken_by(self._watch)

    @property
    def last_read(self) -> float | None:
        return last_read(self._watch)

    async def batches(self) -> AsyncIterator[list[Event[T]]]:
        pump = self._start()
        try:
            while not self._stopped:
                if self._events:
                    batch = list(self._events)
                    self._events.clear()
                    self._changed.set()
                    yield batch
                elif pump.done():
                    pump.result()  # an error of the watch is the consumer's to see
                    return
                else:
                    await self._wait()
        finally:
            await self._finish()

    async def __aiter__(self) -> AsyncIterator[Event[T]]:
        pump = self._start()
        try:
            while not self._stopped:
                if self._events:
                    event = self._events.popleft()
                    self._changed.set()
                    yield event
                elif pump.done():
                    pump.result()
                    return
                else:
                    await self._wait()
        finally:
            await self._finish()

    def stop(self) -> None:
        self._stopped = True
        self._watch.stop()
        try:
            self._loop.call_soon_threadsafe(self._changed.set)
        except RuntimeError:
            self._events.clear()  # the loop is closed: nobody waits any more

    async def __aenter__(self) -> Self:
        self._start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._finish()

    def _start(self) -> asyncio.Task[None]:
        if self._pump is None:
            self._pump = self._loop.create_task(self._fill())
            self._pump.add_done_callback(lambda _: self._changed.set())
        return self._pump

    async def _fill(self) -> None:
        async for event in self._watch:
            while len(self._events) >= self._size and not self._stopped:
                await self._wait()
            if self._stopped:
                return
            self._events.append(event)
            self._changed.set()

    async def _wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _finish(self) -> None:
        self.stop()
        self._events.clear()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
            if not self._pump.cancelled():
                self._pump.exception()  # seen: who leaves does not want it raised
