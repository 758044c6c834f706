"""Many things that go on at the same time, one write after another.

A process is a generator. It yields seconds to wait, or a `Step` to be written; when it goes on
after a step, the step tells what became of it. The seconds are the cluster's own: whoever asks for
the steps decides how fast they pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Generator
from itertools import count
from typing import TypeAlias

from .steps import Step

__all__ = ["Process", "Task", "Timeline"]

Process: TypeAlias = Generator["float | Step", None, None]


class Task:
    """A process that is under way."""

    __slots__ = ("_alive", "_begun", "_interruption", "_process", "_turn")

    def __init__(self, process: Process) -> None:
        self._process = process
        self._alive = True
        self._begun = False
        self._turn: int | None = None
        self._interruption: Exception | None = None


class Timeline:
    """What happens next."""

    def __init__(self) -> None:
        self.now = 0.0
        """Seconds since the start, on the cluster's own clock."""
        self._turns = count()
        self._queue: list[tuple[float, int, Task]] = []

    def start(self, process: Process, after: float = 0.0) -> Task:
        task = Task(process)
        self._put(task, after)
        return task

    def interrupt(self, task: Task, reason: Exception) -> None:
        """Raise `reason` in the process where it waits: now, or once it waits."""
        if task._alive:
            task._interruption = reason
            if task._turn is not None:
                self._put(task, 0.0)

    def next(self) -> Step | None:
        """The next write; None where nothing goes on any more."""
        while self._queue:
            due, turn, task = heapq.heappop(self._queue)
            if task._turn != turn:
                continue  # it was put elsewhere since
            self.now = due
            step = self._advance(task)
            if step is not None:
                return step
        return None

    def _advance(self, task: Task) -> Step | None:
        task._turn = None
        try:
            if task._interruption is not None and task._begun:
                reason, task._interruption = task._interruption, None
                found = task._process.throw(reason)
            else:
                task._begun = True
                found = next(task._process)
        except StopIteration:
            task._alive = False
            return None
        if isinstance(found, Step):
            self._put(task, 0.0)
            return found
        self._put(task, 0.0 if task._interruption is not None else found)
        return None

    def _put(self, task: Task, after: float) -> None:
        task._turn = next(self._turns)
        heapq.heappush(self._queue, (self.now + after, task._turn, task))
