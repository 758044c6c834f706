"""Churn at a steady rate: who owns the time."""

from __future__ import annotations

import asyncio
import logging
from types import TracebackType
from typing import Self

from listwatch.testing.apiserver import APIServer
from listwatch.testing.apiserver.storage.log import Write, WriteKind

from .carry_out import carry_out
from .churn import Churn

__all__ = ["ChurnDriver", "Pace"]

_log = logging.getLogger(__name__)
_SLICE = 0.02
"""Seconds that steps may take at a time; then others have their turn."""
_EPSILON = 1e-6
"""Of a step: a sum of times may be a little less than what it is of."""
_LATE = 1.0
"""Seconds of steps that are made up for after a delay; more are let go."""


class Pace:
    """When steps are due: `rate` of them a second from `start` on. A delay is made up for, but not
    a long one.
    """

    def __init__(self, rate: float, start: float) -> None:
        self._rate = rate
        self._start = start
        self.done = 0
        """Steps, to be counted by whoever does them."""

    def due(self, now: float) -> int:
        """How many steps there are to do."""
        due = int((now - self._start) * self._rate + _EPSILON) - self.done
        if due > _LATE * self._rate + 1:
            self._start, self.done, due = now - 1 / self._rate, 0, 1
        return due

    def wait(self, now: float) -> float:
        """Seconds until the next one is due."""
        return max(0.0, self._start + (self.done + 1) / self._rate - now)


class ChurnDriver:
    """While entered, carries out the steps of `churn` on `core`, `rate` of them a second.

    What others do to its pods does not go unnoticed: one that is deleted ends, and is replaced.
    Leaving raises what went wrong with it, if anything did.
    """

    def __init__(self, core: APIServer, churn: Churn, *, rate: float) -> None:
        if rate <= 0:
            raise ValueError("a rate must be above 0")
        self._core = core
        self._churn = churn
        self._rate = rate
        self._task: asyncio.Task[None] | None = None
        self._ours = False
        self.steps = 0
        """How many were carried out."""
        self.refused = 0
        """How many of them the server would not have."""

    async def __aenter__(self) -> Self:
        self._core.state.log.listeners.append(self._written)
        self._task = asyncio.get_running_loop().create_task(self._run(), name="churn")
        self._task.add_done_callback(_tell)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        task = self._task
        assert task is not None
        self._core.state.log.listeners.remove(self._written)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled() and error is None:
            task.result()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        pace = Pace(self._rate, loop.time())
        while True:
            now = loop.time()
            until = now + _SLICE
            for _ in range(pace.due(now)):
                step = next(self._churn, None)
                if step is None:
                    return
                self._ours = True
                try:
                    carry_out(self._core, step)
                finally:
                    self._ours = False
                pace.done += 1
                self.steps += 1
                self.refused += step.refused
                if loop.time() >= until:
                    break
            await asyncio.sleep(pace.wait(loop.time()))

    def _written(self, write: Write) -> None:
        if self._ours or write.storage != "pods":
            return
        metadata = write.new.metadata
        if write.kind is WriteKind.DELETED or "deletionTimestamp" in metadata:
            self._churn.deleted(*write.new.key, metadata["uid"])


def _tell(task: asyncio.Task[None]) -> None:
    """Who looks at the cluster should know why nothing happens in it any more."""
    if not task.cancelled() and (error := task.exception()) is not None:
        _log.error("the churn has ended: %s: %s", type(error).__name__, error)
