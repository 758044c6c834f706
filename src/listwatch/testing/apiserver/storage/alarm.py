"""A timer of the loop for a moment on the core's clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["Alarm"]

_RESOLUTION = 1e-6
"""Seconds. A loop fires a timer up to a nanosecond early; set again for what is left, it would fire
for ever while a virtual clock stands still.
"""

_SAME = 0.1
"""Seconds between two looks at the same clock, at the most."""


class Alarm:
    """Calls `ring` when `clock` has reached the moment set, never before it."""

    __slots__ = ("_clock", "_due", "_handle", "_ring")

    def __init__(self, clock: Callable[[], float], ring: Callable[[], None]) -> None:
        self._clock = clock
        self._ring = ring
        self._due: float | None = None
        self._handle: asyncio.TimerHandle | None = None

    def set(self, due: float | None) -> None:
        """Ring at `due` and at no other time; None: not at all."""
        if due == self._due:
            return
        self.cancel()
        self._due = due
        if due is not None:
            self._arm(due)

    def cancel(self) -> None:
        self._due = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        now = self._clock()
        # A sum could round to just before `due`, so where the clock is the loop's there is none.
        same_clock = 0 <= loop.time() - now < _SAME
        self._handle = loop.call_at(due if same_clock else loop.time() + due - now, self._fire)

    def _fire(self) -> None:
        self._handle = None
        due = self._due
        if due is None:
            return
        left = due - self._clock()
        if left > 0:
            loop = asyncio.get_running_loop()
            self._handle = loop.call_later(max(left, _RESOLUTION), self._fire)
            return
        self._due = None
        self._ring()
