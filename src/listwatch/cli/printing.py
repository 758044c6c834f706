"""Batches of events on their way to standard output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from listwatch.api import Event, EventType, Status

from .events import EventPrinter
from .failures import FAILED, OK
from .sink import Sink

__all__ = ["Printing"]


class Printing:
    """Prints events, `count` of them at most, and keeps count."""

    def __init__(self, printer: EventPrinter, sink: Sink, *, count: int | None = None) -> None:
        self._printer = printer
        self._sink = sink
        self._count = count
        self.counts: Counter[EventType] = Counter()
        self.undecodable = 0
        self.error: Status | None = None
        """What the last ERROR event says."""

    @property
    def code(self) -> int:
        """The exit code that this comes to."""
        return FAILED if self.undecodable or self.error is not None else OK

    def print(self, events: Sequence[Event[Any]]) -> bool:
        """Print them; whether more may follow."""
        if self._count is not None:
            events = events[: self._count - self.counts.total()]
        if events:
            self._sink.write(self._printer.text(events))
        self.counts.update(event.type for event in events)
        self.undecodable += sum(event.error is not None for event in events)
        self.error = next((event.status for event in events if event.status), self.error)
        return self._count is None or self.counts.total() < self._count
