"""BackgroundLoop: an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

from .call import TICK, Call, Closed

__all__ = ["BackgroundLoop", "refuse_in_event_loop"]

T = TypeVar("T")


class BackgroundLoop:
    """Runs from when it is made until `end`. Its thread is a daemon: who forgets to end it gets out
    of the interpreter all the same.
    """

    def __init__(self) -> None:
        # The factory keeps the Runner from making this the event loop of the thread we are in.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._enough = asyncio.Event()
        self._calls: set[Call[Any]] = set()
        self._process = os.getpid()
        self._ending = False
        self._failure: BaseException | None = None
        """What ended it, where nobody called `end`: `SystemExit` in a callback, for example."""
        self._thread = _LoopThread(target=self._run, name="listwatch loop", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._runner.close()
            raise

    @property
    def usable(self) -> bool:
        """Whether it runs, and in this process: of a fork, only the parent has the thread."""
        return not (self._ending or self.inherited)

    @property
    def inherited(self) -> bool:
        """Whether it was made before this process was forked off."""
        return self._process != os.getpid()

    def begin(self, make: Callable[[], Awaitable[T]]) -> Call[T]:
        """Await `make()` on it. Any thread; the caller's context variables go along.

        Raises `Closed`, and `RuntimeError` where nothing could ever come of it: in a fork.
        """
        if self.inherited:
            raise RuntimeError(
                "this client was used before the process forked, and its thread is in the parent: "
                "make a client in each process"
            )
        call = Call(self._loop, make, self._closed)
        call.on_end = self._calls.discard
        self._calls.add(call)  # first: what the loop never starts is let go of when it has ended
        try:
            self._loop.call_soon_threadsafe(self._start, call)
        except RuntimeError:
            self._calls.discard(call)
            raise self._closed() from self._failure
        return call

    def _start(self, call: Call[Any]) -> None:
        if self._ending:
            call.end()  # what is left has been cancelled already: nobody would end this
        else:
            call.start()

    def _closed(self) -> Closed:
        ended = "the background event loop has ended"
        closed = Closed(ended if self._ending else "the call was cancelled")
        closed.__cause__ = self._failure
        return closed

    def end(self, timeout: float | None = None) -> None:
        """Cancel what is left in it, and wait for the end of the thread, at most `timeout` seconds.
        Idempotent.
        """
        if self.inherited:
            return
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._enough.set)
        if timeout is not None:
            self._thread.join(timeout)
        while timeout is None and self._thread.is_alive():
            self._thread.join(TICK)

    def _run(self) -> None:
        try:
            with self._runner:
                try:
                    self._runner.run(self._enough.wait())
                except BaseException as error:
                    self._failure = error
                    raise
                finally:
                    self._ending = True
        except SystemExit:
            pass  # which ends a thread without a word; whoever waits gets it as the cause
        finally:
            while self._calls:
                self._calls.pop().end()


def refuse_in_event_loop() -> None:
    """Raise `RuntimeError` in the thread of an event loop, which would stand still meanwhile; that
    of the background loop would wait for itself.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    in_background = isinstance(threading.current_thread(), _LoopThread)
    raise RuntimeError(_IN_BACKGROUND if in_background else _IN_A_LOOP)


class _LoopThread(threading.Thread):
    """To be known by."""


_IN_BACKGROUND = (
    "a blocking call in the thread of the background event loop would wait for itself: "
    "make it in another thread, such as that of a handler that is neither async nor inline"
)
_IN_A_LOOP = (
    "a blocking call inside a running event loop would stop everything in it: "
    "use listwatch.Client there, or make the call in a thread (asyncio.to_thread)"
)
