"""One counter for everything that is observed, and the log that a replay prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

__all__ = ["Line", "Recorder"]


class Line(NamedTuple):
    """One line of a replay."""

    time: float
    what: str
    text: str


class Recorder:
    """Numbers what happens, in the order in which it does."""

    def __init__(self, now: Callable[[], float], numbers: Recorder | None = None) -> None:
        self.now = now
        self._numbers = self if numbers is None else numbers
        """Who counts: a recorder that says nothing may go by the numbers of another."""
        self._step = 0
        self.lines: list[Line] | None = None
        """The log, where one is wanted."""

    def step(self) -> int:
        self._numbers._step += 1
        return self._numbers._step

    def say(self, what: str, text: object) -> None:
        """Note a line. `text` becomes text only where somebody wants it."""
        if self.lines is not None:
            self.lines.append(Line(self.now(), what, str(text)))
