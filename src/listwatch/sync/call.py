"""Call: something that is awaited on an event loop, for a thread that waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, TypeVar

__all__ = ["TICK", "Call", "Closed"]

T = TypeVar("T")

TICK = 0.1
"""Seconds after which a thread that waits looks up. A signal that comes right before it goes to
sleep does not wake it, and on Windows none does: without this, Ctrl-C might be heard never.
"""


class Closed(RuntimeError):
    """Nothing will come of a call: its client is closed, or the background loop has ended."""


class Call(Generic[T]):
    """One of them. It is made in any thread, and `start` is called in the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        make: Callable[[], Awaitable[T]],
        closed: Callable[[], Closed],
    ) -> None:
        self._loop = loop
        self._make = make
        self._closed = closed
        self._task: asyncio.Task[T] | None = None
        self._over = False
        # Not an Event: Ctrl-C at the wrong moment turns into a RuntimeError inside of that.
        self._going_on = threading.Lock()
        self._going_on.acquire()
        self.on_end: Callable[[Call[T]], None] | None = None
        """Told in the loop's thread."""

    def start(self) -> None:
        """Begin to await it."""
        self._task = asyncio.create_task(self._awaited())
        self._task.add_done_callback(self._end)

    async def _awaited(self) -> T:
        return await self._make()

    def _end(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled():
            task.exception()  # seen: whoever waits will get it, and perhaps nobody does any more
        self.end()

    def end(self) -> None:
        """Let go of whoever waits, in the loop's thread: it has ended, or will never begin."""
        if self._over:
            return
        if self.on_end is not None:
            self.on_end(self)
        self._over = True
        self._going_on.release()

    def cancel(self) -> None:
        """Cancel it, from any thread."""
        with suppress(RuntimeError):  # the loop is closed, and nothing is left in it
            self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    def ends(self, timeout: float) -> bool:
        """Wait for its end; False if that did not come within `timeout` seconds."""
        if not self._over and self._going_on.acquire(timeout=timeout):
            self._going_on.release()  # for whoever waits besides
        return self._over

    def result(self) -> T:
        """Wait for it, and give what it gives or raise what it raises, once; `Closed` if it was
        given up.
        """
        while not self.ends(TICK):
            pass
        # An error that knew its task would be kept by it, with all that its traceback holds.
        task, self._task = self._task, None
        try:
            if task is None or not task.done() or task.cancelled():
                raise self._closed()
            return task.result()
        finally:
            del task
