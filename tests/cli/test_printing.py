from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from listwatch.api import Event, EventType, Status
from listwatch.cli.printing import Printing
from listwatch.cli.sink import Sink

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


class Page(Sink):
    def __init__(self) -> None:
        self.written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)


class Initials:
    """Prints the first letter of each type."""

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return "".join(event.type[0] for event in events).encode()


def _events(*types: EventType, error: Exception | None = None) -> list[Event[str]]:
    return [Event(kind, "x", error=error) for kind in types]


def test_a_batch_is_written_at_once_and_counted() -> None:
    page = Page()
    printing = Printing(Initials(), page)
    assert printing.print(_events(ADDED, MODIFIED))
    assert printing.print(_events(DELETED, ADDED))
    assert page.written == [b"AM", b"DA"]
    assert printing.counts == Counter({ADDED: 2, MODIFIED: 1, DELETED: 1})


def test_it_stops_inside_a_batch_once_there_were_enough() -> None:
    page = Page()
    printing = Printing(Initials(), page, count=3)
    assert printing.print(_events(ADDED, MODIFIED))
    assert not printing.print(_events(DELETED, ADDED))
    assert page.written == [b"AM", b"D"]
    assert printing.counts.total() == 3


def test_it_stops_with_the_last_of_a_batch_too() -> None:
    assert not Printing(Initials(), Page(), count=1).print(_events(ADDED))


def test_of_nothing_nothing_is_written() -> None:
    page = Page()
    assert Printing(Initials(), page, count=1).print([])
    assert page.written == []


def test_an_error_is_a_failure_once_it_is_printed() -> None:
    status = Status(status="Failure", code=410, reason="Expired")
    batch: list[Event[Any]] = [*_events(ADDED), Event(EventType.ERROR, status, raw=b"{}")]
    short, whole = Printing(Initials(), Page(), count=1), Printing(Initials(), Page())
    short.print(batch)
    whole.print(batch)
    assert (short.error, short.code) == (None, 0)
    assert (whole.error, whole.code) == (status, 1)


def test_only_objects_that_were_printed_count_as_undecodable() -> None:
    printing = Printing(Initials(), Page(), count=2)
    printing.print(_events(ADDED))
    printing.print(_events(ADDED, ADDED, error=ValueError("x")))
    assert (printing.undecodable, printing.code) == (1, 1)
