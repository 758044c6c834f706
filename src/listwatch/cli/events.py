"""Events as text, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, TypeAlias

from listwatch.api import Event, EventType, PartialObjectMetadata, Unstructured, error_for_status

from .asked import Output
from .columns import columns_for
from .documents import compact, pretty, without_managed_fields, yaml_text
from .failures import one_line
from .layout import Layout
from .objects import reference
from .style import Paint, painter
from .table import Row, StreamTable

__all__ = ["Clock", "EventPrinter", "event_printer", "object_printer"]

Clock: TypeAlias = Callable[[], datetime]


class EventPrinter(Protocol):
    """Turns a batch of events into what is printed of it."""

    def text(self, events: Sequence[Event[Any]], /) -> bytes: ...


def _utc_now() -> datetime:
    return datetime.now(UTC)


def event_printer(
    output: Output,
    *,
    with_namespace: bool,
    terminal: bool,
    prefix: str = "",
    clock: Clock = _utc_now,
) -> EventPrinter:
    """What prints events in that form, with their types. JSON and YAML need nothing but
    `Event.raw`. `prefix`, such as `pod/`, goes in front of the names in a table.
    """
    match output:
        case Output.JSON:
            return _JSONLines()
        case Output.YAML:
            return _YAMLDocuments()
        case Output.NAME:
            return _Names()
        case Output.TABLE | Output.WIDE:
            layout = Layout(
                with_namespace=with_namespace, wide=output is Output.WIDE, prefix=prefix
            )
            return _Table(layout, clock, painter(terminal=terminal))


def object_printer(
    output: Output,
    *,
    with_namespace: bool,
    with_managed_fields: bool,
    terminal: bool,
    prefix: str = "",
    clock: Clock = _utc_now,
) -> EventPrinter:
    """What prints the objects of events alone, as kubectl does: in a table that grows, and one by
    one in JSON and YAML.
    """
    match output:
        case Output.JSON | Output.YAML:
            return _Objects(output, with_managed_fields)
        case Output.NAME:
            return _Names(with_type=False)
        case Output.TABLE | Output.WIDE:
            layout = Layout(
                with_namespace=with_namespace, wide=output is Output.WIDE, prefix=prefix
            )
            return _Table(layout, clock, painter(terminal=terminal), with_type=False)


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


class _Objects:
    """Whole objects, in JSON or YAML."""

    def __init__(self, output: Output, with_managed_fields: bool) -> None:
        self._output = output
        self._with_managed_fields = with_managed_fields
        self._begun = False

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return b"".join(self._separator() + self._document(event) for event in events)

    def _separator(self) -> bytes:
        first, self._begun = not self._begun, True
        return b"" if first or self._output is Output.JSON else b"---\n"

    def _document(self, event: Event[Any]) -> bytes:
        as_json = self._output is Output.JSON
        if event.error is not None:
            return compact(event.raw) + b"\n" if as_json else f"# {_named(event)}\n".encode()
        raw = event.raw if self._with_managed_fields else without_managed_fields(event.raw)
        return pretty(raw) if as_json else yaml_text(raw).encode()


class _Names:
    def __init__(self, *, with_type: bool = True) -> None:
        self._with_type = with_type

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        return "".join(self._line(event) for event in events).encode()

    def _line(self, event: Event[Any]) -> str:
        return f"{event.type} {_named(event)}\n" if self._with_type else f"{_named(event)}\n"


class _Table:
    """The columns are those of the objects that come: where they change, there is a new header.

    Without types it is what kubectl prints, to the byte: what there was at first lies in columns as
    wide as all of that needs, and of each change the columns take notice when it comes.
    """

    def __init__(
        self, layout: Layout, clock: Clock, paint: Paint, *, with_type: bool = True
    ) -> None:
        self._layout = layout
        self._with_type = with_type
        self._clock = clock
        self._paint = paint
        self._headers: Sequence[str] = ()
        self._like: tuple[object, ...] = (None,)
        self._like_headers: Sequence[str] = ()
        self._table: StreamTable | None = None

    def text(self, events: Sequence[Event[Any]], /) -> bytes:
        now = self._clock()
        return "".join(self._block(block, now) for block in self._blocks(events)).encode()

    def _blocks(self, events: Sequence[Event[Any]]) -> Iterator[Sequence[Event[Any]]]:
        """What is laid out together: events with the same columns."""
        block: list[Event[Any]] = []
        headers: Sequence[str] | None = None
        for event in events:
            own = self._headers_of(event)
            apart = not self._with_type and not getattr(event, "initial", False)
            if block and (apart or (own is not None and headers not in (own, None))):
                yield block
                block = []
                headers = None
            block.append(event)
            headers = own or headers
        if block:
            yield block

    def _block(self, block: Sequence[Event[Any]], now: datetime) -> str:
        headers = next(filter(None, map(self._headers_of, block)), self._headers)
        if not headers:
            headers = tuple(column.header for column in columns_for("", "", with_namespace=False))
        before = ["EVENT", "TIME"] if self._with_type else []
        if self._table is None:
            exact = not self._with_type
            self._table = StreamTable([*before, *headers], self._paint, exact=exact)
        elif headers != self._headers:
            self._table.begin([*before, *headers])
        self._headers = headers
        return self._table.lines([self._row(event, now) for event in block])

    def _headers_of(self, event: Event[Any]) -> Sequence[str] | None:
        obj = event.object
        if not isinstance(obj, Unstructured):
            return None
        # Most objects have the columns of the one before.
        like = (getattr(obj, "columns", ()), obj.kind, bool(obj.namespace))
        if like[0] is not self._like[0] or like[1:] != self._like[1:]:
            self._like, self._like_headers = like, self._layout.headers(obj)
        return self._like_headers

    def _row(self, event: Event[Any], now: datetime) -> Row:
        time = now.astimezone().strftime("%H:%M:%S")
        before = [event.type.value, time] if self._with_type else []
        gone = event.type is EventType.DELETED
        if not isinstance(event.object, Unstructured):
            return Row([*before, _named(event)], gone=gone)
        stale = bool(getattr(event, "final_state_unknown", False))
        found = self._layout.cells(event.object, now, stale=stale)
        return Row([*before, *found], gone, self._layout.has_known_states(event.object))


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
