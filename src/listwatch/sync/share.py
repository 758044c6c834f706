"""Share: what one client has of the background loop that all of them have together."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from .background import BackgroundLoop, refuse_in_event_loop
from .call import Call, Closed

__all__ = ["Entered", "Share"]

T = TypeVar("T")

_PATIENCE = 1.0
"""Seconds for what was cancelled, or is ended at the end of the interpreter, to come to its end."""


class Entered(NamedTuple):
    """Something that a `with` has started."""

    stop: Callable[[], None]
    end: Callable[[], Awaitable[None]]
    """Waits for the end, in the loop. Raises nothing."""


class _Shared:
    """The loop, and who has a share of it."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a finalizer may come along inside of it
        self.loop: BackgroundLoop | None = None
        self.shares: set[Share] = set()


_shared = _Shared()


class Share:
    """The right to run things on the loop. The first share that is used starts it, and the last
    that is closed ends it. `close` is what its owner has to close, in the loop.
    """

    def __init__(self, close: Callable[[], Awaitable[None]] | None = None) -> None:
        self._close = close
        self._loop: BackgroundLoop | None = None
        self.closed = False
        self.entered: set[Entered] = set()
        """What is to be ended before the loop is. Changed in the loop's thread only."""

    @property
    def open(self) -> bool:
        """Whether it is used, and not closed yet."""
        return not self.closed and self._loop is not None and self._loop.usable

    def begin(self, make: Callable[[], Awaitable[T]]) -> Call[T]:
        """Await `make()` on the loop.

        Raises `RuntimeError` in the thread of an event loop, in a fork, and once it is closed.
        """
        refuse_in_event_loop()
        if self.closed:
            raise Closed("this client is closed")
        return self._own_loop().begin(make)

    def run(self, make: Callable[[], Awaitable[T]]) -> T:
        """Await `make()` on the loop, and wait for it. Raises what that raises, and as `begin`.

        Whoever is interrupted, by Ctrl-C for example, cancels it.
        """
        call = self.begin(make)
        try:
            return call.result()
        except BaseException:
            if not call.ends(0):
                call.cancel()
                call.ends(_PATIENCE)
            raise

    def close(self) -> None:
        """End all that was begun, and the loop if this was the last share. Idempotent."""
        refuse_in_event_loop()
        call = self._begin_close()
        if call is None:
            return
        try:
            call.result()
        finally:
            self._give_back()

    def _own_loop(self) -> BackgroundLoop:
        with _shared.lock:
            if self._loop is None:
                if _shared.loop is None or not _shared.loop.usable:
                    _shared.loop = BackgroundLoop()
                    _shared.shares.clear()
                self._loop = _shared.loop
                _shared.shares.add(self)
            return self._loop

    def _begin_close(self) -> Call[None] | None:
        with _shared.lock:
            if self.closed:
                return None
            self.closed = True
            loop = self._own_loop()
            return loop.begin(self._all_closed) if loop.usable else None

    async def _all_closed(self) -> None:
        for each in tuple(self.entered):
            each.stop()
        try:
            if self._close is not None:
                await self._close()
        finally:
            await asyncio.gather(*(each.end() for each in tuple(self.entered)))

    def _give_back(self, timeout: float | None = None) -> None:
        with _shared.lock:
            _shared.shares.discard(self)
            loop = self._loop
            if loop is None or (loop is _shared.loop and _shared.shares):
                return
            if loop is _shared.loop:
                _shared.loop = None
        loop.end(timeout)  # not under the lock: what ends there may want a share


@atexit.register
def _end_at_exit() -> None:
    """Close what was forgotten, but for no long time: nobody's exit hangs for it."""
    until = time.monotonic() + _PATIENCE
    closing = [(share, share._begin_close()) for share in tuple(_shared.shares)]
    for share, call in closing:
        if call is not None:
            call.ends(max(0.0, until - time.monotonic()))
        share._give_back(timeout=max(0.0, until - time.monotonic()))


def _begin_anew() -> None:
    """In a fork there is no thread of it; its memory of one must not be touched."""
    global _shared
    _inherited.append(_shared)
    _shared = _Shared()


_inherited: list[_Shared] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
