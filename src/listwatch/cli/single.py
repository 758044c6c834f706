"""`listwatch watch --raw`: one WATCH, printed event by event to its end."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, cast

from listwatch.api import Event, EventType, error_for_status
from listwatch.watch import EmptyWatch, Watch
from listwatch.watch.ending import broken_by
from listwatch.wire import ObjectDecoder

from .asked import Access, Output, Selection
from .decoding import asking, decoder_for_output
from .events import event_printer
from .failures import FAILED, CommandError
from .notes import note
from .printing import Printing
from .session import Session, connect
from .sink import Sink
from .stopping import UNLIMITED, End, Limits, stopping

__all__ = ["watch_once"]


async def watch_once(
    selection: Selection,
    access: Access,
    output: Output,
    sink: Sink,
    *,
    since: str = "",
    limits: Limits = UNLIMITED,
    server_print: bool = True,
) -> int:
    """Print the events of what is selected until the watch ends; the exit code.

    It is one WATCH: nothing is repeated, and nothing is asked for but what the user did.
    """
    printer = event_printer(
        output, with_namespace=selection.all_namespaces, terminal=sink.is_terminal
    )
    printing = Printing(printer, sink, count=limits.count)
    decoder: ObjectDecoder[Any] = bytes  # JSON is printed as it came
    if output is not Output.JSON:
        decoder = decoder_for_output(output, server_print=server_print)
    async with connect(access, max_retries=0) as session:
        failure = None
        async with stopping(sink, limits) as stop:
            opened = await _open(session, selection, decoder, since)
            stop.answer()
            failure = await _follow(opened, printing, session.config.server)
        if stop.end is End.DURATION and not stop.answered:
            raise CommandError(f"{session.config.server} had not answered when --duration was over")
    return printing.code if failure is None else FAILED


async def _open(
    session: Session, selection: Selection, decoder: ObjectDecoder[Any], since: str
) -> Watch[Any]:
    resource = await session.resolve(selection.resource)
    namespace = selection.namespace_in(resource, session.config.namespace)
    request = asking(session.rest, resource, namespace, decoder)
    opened: Watch[Any] = await request.watch(selection.options(since=since))
    failure = broken_by(opened)
    if isinstance(opened, EmptyWatch) and failure is not None:
        raise failure
    return opened


async def _follow(opened: Watch[Any], printing: Printing, server: str) -> Exception | None:
    """Print all that comes, and say why no more does; what broke it off, if that was it."""
    # Every watch's iterator is a generator, and one that is left must be closed at once.
    batches = cast(AsyncGenerator[list[Event[Any]], None], opened.batches())
    more = True
    async with opened, aclosing(batches):
        async for batch in batches:
            _check_readable(batch[-1], server)
            more = printing.print(batch)
            if not more:
                break
    failure = broken_by(opened) if more else None
    events = f"{printing.counts.total()} event{'' if printing.counts.total() == 1 else 's'}"
    if printing.error is not None:
        note(f"the server ended the watch: {error_for_status(printing.error)}")
    elif failure is not None:
        note(f"the watch broke off after {events}: {failure}")
    elif more:
        note(f"the server ended the watch after {events}")
    return failure


def _check_readable(event: Event[Any], server: str) -> None:
    if event.type is EventType.ERROR and not event.raw:
        # Not from the server: the watcher's own word for what it cannot read (E2).
        problem = event.status.message if event.status is not None else "unreadable"
        raise CommandError(f"{server}: {problem}")
