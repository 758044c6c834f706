"""Events as text, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol, TypeAlias

from listwatch.api import APIResource, Event, PartialObjectMetadata, Unstructured, error_for_status

from .asked import Output
from .columns import Column, cells, columns_for
from .documents import compact, yaml_text
from .failures import one_line
from .objects import reference
from .style import Paint
from .table import StreamTable

__all__ = ["Clock", "EventPrinter", "event_printer"]

Clock: TypeAlias = Callable[[], datetime]


class EventPrinter(Protocol):
    """Turns a batch of events into what is printed of it."""

    def text(self, events: Sequence[Event[Any]], /) -> bytes: ...


def event_printer(
    output: Output, resource: APIResource, *, with_namespace: bool, clock: Clock, paint: Paint
) -> EventPrinter:
    """What prints events in that form. JSON and YAML need nothing but `Event.raw`."""
    match output:
        case Output.JSON:
            return _JSONLines()
        case Output.YAML:
            return _YAMLDocuments()
        case Output.NAME:
            return _Names()
        case Output.TABLE:
            return _Table(resource, with_namespace, clock, paint)


class _JSONLines:
    """The API's own lines, each made of the object's own bytes."""

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return b"".join(
            b'{"type":"%s","object":%s}\n' % (event.type.value.encode(), compact(event.raw))
            for event in events
        )


class _YAMLDocuments:
    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return "".join(f"---\n{self._document(event)}" for event in events).encode()

    def _document(self, event: Event[Any]) -> str:
        if event.error is not None:
            return f"# {event.type} {_named(event)}\n"
        return yaml_text(b'{"type":"%s","object":%s}' % (event.type.value.encode(), event.raw))


class _Names:
    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return "".join(f"{event.type} {_named(event)}\n" for event in events).encode()


class _Table:
    def __init__(
        self, resource: APIResource, with_namespace: bool, clock: Clock, paint: Paint
    ) -> None:
        self._resource = resource
        self._with_namespace = with_namespace and resource.namespaced
        self._clock = clock
        self._paint = paint
        self._columns: Sequence[Column] = ()
        self._table: StreamTable | None = None

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        if self._table is None:
            kind = self._resource.kind or next(
                (event.object.kind for event in events if isinstance(event.object, Unstructured)),
                "",
            )
            self._columns = columns_for(
                self._resource.group, kind, with_namespace=self._with_namespace
            )
            headers = ["EVENT", "TIME", *(column.header for column in self._columns)]
            self._table = StreamTable(headers, self._paint)
        now = self._clock()
        return self._table.lines([self._row(event, now) for event in events]).encode()

    def _row(self, event: Event[Any], now: datetime) -> list[str]:
        head = [event.type.value, now.astimezone().strftime("%H:%M:%S")]
        if isinstance(event.object, Unstructured):
            return [*head, *cells(self._columns, event.object.to_dict(), now)]
        return [*head, _named(event)]


def _named(event: Event[Any]) -> str:
    """The object of an event in a few words."""
    if event.error is not None:
        return one_line(str(event.error))
    if event.status is not None:
        return one_line(str(error_for_status(event.status)))
    match event.object:
        case Unstructured() as found:
            return reference(found)
        case PartialObjectMetadata() as mark:
            return one_line(f"resourceVersion={mark.resource_version}")
        case other:  # only where an event was made otherwise than by a decoder of ours
            return one_line(str(other))
