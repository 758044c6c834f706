"""A value that is made by one run at a time, for all who need it meanwhile."""

from __future__ import annotations

import asyncio
import copy
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

__all__ = ["SharedRun"]

T = TypeVar("T")


class SharedRun(Generic[T]):
    """Keeps a value, and has it made where it is not there or no longer good.

    A run belongs to no event loop and to none of those who wait for it, from however many loops and
    threads: what one of them does, giving up or ending its loop included, changes nothing for the
    others. When the last one gives up, the run is stopped, and the next one begins when that has
    ended.

    `begin(report)` starts a run without waiting for it, and returns what stops it: that may be
    called in any thread, and after the end. `report` is to be called once, in any thread, with the
    value or the exception that the run ended with; the end of a run that was stopped, too.
    """

    def __init__(self, begin: Callable[[Callable[[T | Exception], None]], Callable[[], None]]):
        self._begin = begin
        self._guard = threading.RLock()  # a coroutine that is collected inside of it gives up, too
        self._value: T | None = None
        self._run: _Run[T] | None = None

    @property
    def value(self) -> T | None:
        """What the last run that succeeded has made."""
        return self._value

    async def get(self, good: Callable[[T], bool]) -> T:
        """The value if it is `good`, else that of the run under way, or of a new one. Raises what
        that run ended with: each one who waits gets a copy.
        """
        while True:
            with self._guard:
                if self._value is not None and good(self._value):
                    return self._value
                run, ours = self._run, False
                if run is None:
                    run, ours = _Run(), True
                    self._run = run
                run.askers += 1
            try:
                if ours:
                    self._start(run)
                outcome = await asyncio.wrap_future(run.end)
            finally:
                self._leave(run)
            if isinstance(outcome, _Stopped):
                continue
            if isinstance(outcome, Exception):
                raise copy.copy(outcome).with_traceback(outcome.__traceback__)
            return outcome

    def _start(self, run: _Run[T]) -> None:
        try:
            run.stop = self._begin(functools.partial(self._ended, run))
        except BaseException as error:
            # Others may have come to wait already.
            self._ended(run, error if isinstance(error, Exception) else _Stopped())
            if not isinstance(error, Exception):
                raise

    def _leave(self, run: _Run[T]) -> None:
        with self._guard:
            run.askers -= 1
            stop = not (run.askers or run.stopped or run.end.done())
            run.stopped |= stop
        if stop:
            run.stop()

    def _ended(self, run: _Run[T], outcome: T | Exception) -> None:
        with self._guard:
            if not isinstance(outcome, Exception):
                self._value = outcome
            elif run.stopped:
                outcome = _Stopped()
            self._run = None
        run.end.set_result(outcome)


class _Run(Generic[T]):
    def __init__(self) -> None:
        self.end: Future[T | Exception] = Future()
        self.end.set_running_or_notify_cancel()  # so that none of those who wait can cancel it
        self.askers = 0
        self.stopped = False
        self.stop: Callable[[], None] = lambda: None


class _Stopped(Exception):
    """The run was stopped before somebody else came, who needs another one."""
