"""An event loop whose clock jumps to the next timer, so that a test of ten minutes takes none.

The rules of its clock:

1. While something is ready to run, the clock stands still.
2. When nothing is ready and nobody outside could still do something, it jumps to the next timer.
3. While a call in an executor is under way (or `outside_work` is held), the loop waits for it, and
   the clock stands still. A timer fires in between only when the call has outlasted it in real
   time, so that a call which waits for what that timer does cannot hang.
4. While a reader or a writer is registered (a socket, a pipe), the clock runs as the wall's: nobody
   can know what a peer will send.
5. When nothing is ready, scheduled, under way or registered, the program waits for something that
   nobody will do: `Deadlock` is raised out of `run_until_complete`, instead of hanging. A thread
   that is alive could still call `call_soon_threadsafe`: with one, the loop waits a real second
   first.

A program without sockets and threads therefore runs the same way every time. Only the loop's clock
is virtual: `time.monotonic()` is not.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import selectors
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple

__all__ = ["Deadlock", "VirtualTimeLoop"]

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")

_ASYNCIO = os.path.dirname(asyncio.__file__)

_DEADLOCK_GRACE = 1.0
"""Real seconds that a live thread is given to wake the loop before rule 5 is applied."""


class Deadlock(RuntimeError):
    """The program waits for something that nobody will do.

    The message says where each task waits. It is no `ListWatchError`: it tells of the test, and
    nothing should catch it.
    """


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An asyncio event loop on virtual time, which begins at `start` (seconds).

    >>> import asyncio
    >>> async def program() -> float:
    ...     await asyncio.sleep(3600)
    ...     return asyncio.get_running_loop().time()
    >>> with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
    ...     runner.run(program())
    3600.0
    """

    def __init__(self, *, start: float = 0.0) -> None:
        self._now = start
        self._outside = 0  # calls under way that will wake the loop when they are done
        super().__init__(_Clockwork(self))

    def time(self) -> float:
        """The virtual time, in seconds."""
        return self._now

    @contextlib.contextmanager
    def outside_work(self) -> Iterator[None]:
        """Say that a thread of the test's own will wake this loop: inside, rule 3 holds."""
        self._outside += 1
        try:
            yield
        finally:
            self._outside -= 1

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Ts], _T], *args: *_Ts
    ) -> asyncio.Future[_T]:
        """Like any loop's; the clock waits until the future is done or cancelled (rule 3)."""
        self._outside += 1
        try:
            future = super().run_in_executor(executor, func, *args)
        except BaseException:
            self._outside -= 1
            raise
        future.add_done_callback(self._outside_call_done)
        return future

    async def shutdown_default_executor(self, *args: Any, **kwargs: Any) -> None:
        """Like any loop's: a helper thread joins the workers, and the clock waits for it."""
        with self.outside_work():
            await super().shutdown_default_executor(*args, **kwargs)

    def _outside_call_done(self, _future: asyncio.Future[Any]) -> None:
        self._outside -= 1

    def _next_timer(self) -> float | None:
        # The loop has just taken cancelled timers off the head of this heap. It is in no stub, and
        # has been the same since Python 3.4.
        scheduled: list[asyncio.TimerHandle] = self._scheduled  # type: ignore[attr-defined]
        return scheduled[0].when() if scheduled else None


class _Clockwork(selectors.BaseSelector):
    """The loop's selector: the one place where a loop waits, so the one that can move its clock."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._loop = loop
        self._selector = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(0)
        if ready or timeout == 0:
            return ready
        due = self._loop._next_timer()
        if self._io_registered():
            return self._at_the_pace_of_the_wall(timeout, due)
        if self._loop._outside:
            ready = self._selector.select(timeout)
        elif due is None:
            ready = self._deadlock()
        if not ready and due is not None:
            self._loop._now = max(self._loop._now, due)
        return ready

    def _io_registered(self) -> bool:
        # One of them is the loop's own, by which other threads wake it.
        return len(self._selector.get_map()) > 1

    def _at_the_pace_of_the_wall(
        self, timeout: float | None, due: float | None
    ) -> list[tuple[selectors.SelectorKey, int]]:
        began = time.monotonic()
        ready = self._selector.select(timeout)
        now = self._loop._now + time.monotonic() - began
        if due is not None:
            # Exactly the timer's time where that ended the wait; never past a timer not yet fired.
            now = due if not ready else min(now, due)
        self._loop._now = now
        return ready

    def _deadlock(self) -> list[tuple[selectors.SelectorKey, int]]:
        if threading.active_count() > 1:
            ready = self._selector.select(_DEADLOCK_GRACE)
            if ready:
                return ready
        raise Deadlock(_describe_deadlock(self._loop))

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.modify(fileobj, events, data)

    def get_map(self) -> Any:
        return self._selector.get_map()

    def close(self) -> None:
        self._selector.close()


def _describe_deadlock(loop: VirtualTimeLoop) -> str:
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: task.get_name())
    return "\n".join(
        [
            f"the program waits for something that nobody will do: at {loop.time():g} s nothing is"
            " ready, no timer is set, no call in an executor is under way and no socket is open",
            *(f"  {task.get_name()} waits at {_where(task)}" for task in tasks),
        ]
    )


def _where(task: asyncio.Task[Any]) -> str:
    """The innermost line at which a task waits, those of asyncio itself left out."""
    awaited: Any = task.get_coro()
    place = repr(awaited)
    while awaited is not None:
        frame = next(
            (
                frame
                for name in ("cr_frame", "gi_frame", "ag_frame")
                if (frame := getattr(awaited, name, None)) is not None
            ),
            None,
        )
        if frame is not None and not frame.f_code.co_filename.startswith(_ASYNCIO):
            place = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
        awaited = getattr(awaited, "cr_await", None) or getattr(awaited, "gi_yieldfrom", None)
    return place
