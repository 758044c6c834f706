"""What controllers still have to do, in the order of its time."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from dataclasses import dataclass

__all__ = ["WorkQueue"]

_FIRST_RETRY, _LAST_RETRY = 1.0, 300.0
"""Seconds after which what failed is tried again: the first time, and at most."""


@dataclass(slots=True)
class _Entry:
    due: float
    number: int
    owner: str
    item: Hashable

    def __lt__(self, other: _Entry) -> bool:
        return (self.due, self.number) < (other.due, other.number)


class WorkQueue:
    """Items of all controllers, each at most once: a time that is later than the one it has
    already changes nothing.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._heap: list[_Entry] = []
        self._due: dict[tuple[str, Hashable], float] = {}
        self._failures: dict[tuple[str, Hashable], int] = {}
        self._count = 0

    @property
    def next_due(self) -> float | None:
        """On the core's clock, in seconds."""
        while self._heap:
            first = self._heap[0]
            if self._due.get((first.owner, first.item)) == first.due:
                return first.due
            heapq.heappop(self._heap)  # its time was brought forward
        return None

    def add(self, owner: str, item: Hashable, after: float = 0.0) -> None:
        """Have `owner` look at `item` in so many seconds."""
        due = self._clock() + after
        planned = self._due.get((owner, item))
        if planned is not None and planned <= due:
            return
        self._due[owner, item] = due
        self._count += 1
        heapq.heappush(self._heap, _Entry(due, self._count, owner, item))

    def retry(self, owner: str, item: Hashable) -> None:
        """Have it look again after a failure: after 1 s, 2 s, 4 s and so on, at most 300."""
        failures = self._failures.get((owner, item), 0)
        self._failures[owner, item] = failures + 1
        self.add(owner, item, min(_FIRST_RETRY * 2.0**failures, _LAST_RETRY))

    def forget(self, owner: str, item: Hashable) -> None:
        """It has succeeded: the next failure is the first again."""
        self._failures.pop((owner, item), None)

    def pop(self, now: float) -> tuple[str, Hashable] | None:
        """What is due first, if it is due by `now`."""
        due = self.next_due
        if due is None or due > now:
            return None
        entry = heapq.heappop(self._heap)
        del self._due[entry.owner, entry.item]
        return entry.owner, entry.item

    def clear(self) -> None:
        self._heap.clear()
        self._due.clear()
        self._failures.clear()
