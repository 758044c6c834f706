"""Things to do later, on a clock that somebody else reads."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable

__all__ = ["Timers"]


class Timers:
    """Actions in the order of their time; of the same time, in the order in which they came."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()

    @property
    def next_due(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def at(self, due: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (due, next(self._count), action))

    def run_due(self, now: float) -> None:
        """Do what is due, and what that puts off to no later than `now`."""
        while self._heap and self._heap[0][0] <= now:
            _, _, action = heapq.heappop(self._heap)
            action()

    def clear(self) -> None:
        self._heap.clear()
