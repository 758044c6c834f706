"""One run at a time of something that many wait for."""

from __future__ import annotations

import asyncio
import copy
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

__all__ = ["SingleFlight"]

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Runs a coroutine function once for all who ask while it runs, in whatever event loop.

    The run goes on when those who wait for it give up, unlike that of a `SharedRun`: what it does
    may not be done twice, such as the use of a refresh token that is good for one time. If the loop
    that runs it ends before it does, the next one who waits runs it again. `patience` is the number
    of seconds after which somebody in another loop no longer believes that the run will end: its
    loop may stand still.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, T]], *, patience: float) -> None:
        self._work = work
        self._patience = patience
        self._guard = threading.Lock()
        self._flight: Future[T] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def join(self) -> T:
        """The outcome of the run that is under way, or else of a new one. Raises a copy of what it
        raises.
        """
        while True:
            flight, is_ours = self._take_part()
            try:
                async with asyncio.timeout(None if is_ours else self._patience) as limit:
                    return await asyncio.wrap_future(flight)
            except _Abandoned:
                continue
            except TimeoutError:
                if not limit.expired():
                    raise
                self._forget(flight)
            except Exception as error:
                # Each has one of his own, which grows a traceback and perhaps notes.
                raise copy.copy(error).with_traceback(error.__traceback__) from error.__cause__

    def _take_part(self) -> tuple[Future[T], bool]:
        with self._guard:
            if self._flight is not None:
                return self._flight, False
            flight = self._flight = Future()
            flight.set_running_or_notify_cancel()  # so that no one who waits can cancel it
        task = asyncio.get_running_loop().create_task(self._run(flight))
        self._tasks.add(task)  # the loop itself would let it be collected
        task.add_done_callback(self._tasks.discard)
        return flight, True

    async def _run(self, flight: Future[T]) -> None:
        try:
            outcome = await self._work()
        except Exception as error:
            self._forget(flight)
            flight.set_exception(error)
        except BaseException:
            self._forget(flight)
            flight.set_exception(_Abandoned())
            raise
        else:
            self._forget(flight)
            flight.set_result(outcome)

    def _forget(self, flight: Future[T]) -> None:
        with self._guard:
            if self._flight is flight:
                self._flight = None


class _Abandoned(Exception):
    """The loop of the run has ended before it."""
