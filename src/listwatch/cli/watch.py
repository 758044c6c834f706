"""`listwatch watch`: one WATCH, printed event by event."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum, auto
from typing import Any, cast

from listwatch.api import Event, EventType, Status, error_for_status
from listwatch.watch import EmptyWatch, StreamWatcher, Watch
from listwatch.wire import ObjectDecoder, decode_unstructured

from .asked import Access, Output, Selection
from .decoding import decode_readable
from .events import EventPrinter, event_printer
from .failures import FAILED, OK, CommandError
from .notes import note
from .session import connect
from .sink import Sink
from .style import painter

__all__ = ["End", "Limits", "Outcome", "conclude", "follow", "watch"]

_DECODERS: Mapping[Output, ObjectDecoder[Any]] = {
    Output.JSON: bytes,  # which prints the object's own bytes
    Output.NAME: decode_unstructured,
    Output.TABLE: decode_readable,
    Output.YAML: decode_readable,
}


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When to stop by ourselves."""

    duration: float | None = None
    """Seconds, from the start of the command."""
    from_answer: bool = False
    """Whether `duration` begins only with the answer, for which is waited as long as it takes."""
    count: int | None = None
    """Events."""
    at_error: bool = True
    """At an ERROR event. Else only where the stream ends, as curl would."""


class End(Enum):
    """What ended a watch."""

    SERVER = auto()
    COUNT = auto()
    DURATION = auto()
    UNREAD = auto()
    """Nobody reads our output any more."""


@dataclass
class Outcome:
    """What came of a watch."""

    end: End = End.SERVER
    counts: Counter[EventType] = field(default_factory=Counter)
    undecodable: int = 0
    error: Status | None = None
    """What the last ERROR event says."""
    unreadable: str = ""
    """What is wrong with a stream that nobody can read any further."""
    failure: Exception | None = None
    """What broke the stream off, if the server did not end it in good order."""

    @property
    def total(self) -> int:
        return self.counts.total()


def _now() -> datetime:
    return datetime.now(UTC)


async def watch(
    selection: Selection,
    access: Access,
    output: Output,
    sink: Sink,
    *,
    since: str = "",
    printer: EventPrinter | None = None,
    limits: Limits = Limits(),
) -> Outcome:
    """Print the events of what is selected until the watch ends, or give them to `printer`.

    It is one WATCH: nothing is repeated, and nothing is asked for but what the user did.
    """
    loop = asyncio.get_running_loop()

    def deadline_from_now() -> float | None:
        return None if limits.duration is None else loop.time() + limits.duration

    deadline = None if limits.from_answer else deadline_from_now()
    async with connect(access, max_retries=0) as session:
        try:
            async with asyncio.timeout_at(deadline) as limit:
                resource = await session.resolve(selection.resource)
                opened: Watch[Any] = await session.client.watch(
                    resource,
                    namespace=selection.namespace_in(resource, session.config.namespace),
                    options=selection.options(since=since),
                    decoder=_DECODERS[output],
                )
        except TimeoutError:
            if not limit.expired():
                raise
            raise CommandError(
                f"{session.config.server} had not answered when --duration was over"
            ) from None
        if isinstance(opened, EmptyWatch) and session.transport.failure is not None:
            raise session.transport.failure
        if limits.from_answer:
            deadline = deadline_from_now()
        outcome = await follow(
            opened,
            printer
            or event_printer(
                output,
                resource,
                with_namespace=selection.all_namespaces,
                clock=_now,
                paint=painter(terminal=sink.is_terminal),
            ),
            sink,
            limits,
            deadline,
        )
        outcome.failure = session.transport.failure or outcome.failure
        if outcome.unreadable:
            raise CommandError(f"{session.config.server}: {outcome.unreadable}")
        return outcome


async def follow(
    opened: Watch[Any],
    printer: EventPrinter,
    sink: Sink,
    limits: Limits = Limits(),
    deadline: float | None = None,
) -> Outcome:
    """Print events until the watch ends, a limit is reached, the loop's clock is at `deadline`, or
    nobody reads any more.
    """
    loop = asyncio.get_running_loop()
    outcome = Outcome()

    def stop(end: End) -> None:
        outcome.end = end
        opened.stop()

    async def stop_when_unread() -> None:
        await sink.unread()
        stop(End.UNREAD)

    timer = None if deadline is None else loop.call_at(deadline, stop, End.DURATION)
    looking = loop.create_task(stop_when_unread())
    try:
        # Every watch's iterator is a generator, and one that is left must be closed at once.
        batches = cast(AsyncGenerator[list[Event[Any]], None], opened.batches())
        async with opened, aclosing(batches):
            async for batch in batches:
                if end := _print(batch, printer, sink, limits, outcome):
                    outcome.end = end
                    break
    finally:
        if timer is not None:
            timer.cancel()
        looking.cancel()
        await asyncio.wait([looking])
    outcome.failure = opened.broken if isinstance(opened, StreamWatcher) else None
    return outcome


def _print(
    batch: list[Event[Any]], printer: EventPrinter, sink: Sink, limits: Limits, outcome: Outcome
) -> End | None:
    """Print a batch as far as the limits allow; why it was not all, or was the last."""
    end = None
    shown: list[Event[Any]] = []
    for event in batch:
        if event.type is EventType.ERROR and not event.raw:
            # Not from the server: the watcher's own word for what it cannot read (E2).
            outcome.unreadable = event.status.message if event.status is not None else "unreadable"
            end = End.SERVER
            break
        shown.append(event)
        if event.type is EventType.ERROR:
            outcome.error = event.status
            if limits.at_error:
                end = End.SERVER
                break
        if outcome.total + len(shown) == limits.count:
            end = End.COUNT
            break
    if shown:
        sink.write(printer.text(shown))
    outcome.counts.update(event.type for event in shown)
    outcome.undecodable += sum(event.error is not None for event in shown)
    return end


def conclude(outcome: Outcome) -> int:
    """Say why the watch ended, unless the user knows; the exit code."""
    if outcome.error is not None:
        note(f"the server ended the watch: {error_for_status(outcome.error)}")
        return FAILED
    if outcome.end is End.SERVER:
        events = f"{outcome.total} event{'' if outcome.total == 1 else 's'}"
        if outcome.failure is not None:
            note(f"the watch broke off after {events}: {outcome.failure}")
            return FAILED
        note(f"the server ended the watch after {events}")
    return FAILED if outcome.undecodable else OK
