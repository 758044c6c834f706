"""`listwatch watch`: changes, whatever happens to the server and on the way to it."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from listwatch.api import Unstructured
from listwatch.cache import AsyncListerWatcher, Changes, Reflector, ReflectorOptions
from listwatch.wire import ObjectDecoder

from .asked import Access, Selection
from .events import EventPrinter
from .failures import CommandError
from .happenings import Happenings
from .printing import Printing
from .session import connect
from .sink import Sink
from .stopping import UNLIMITED, End, Limits, stopping

__all__ = ["watch"]


async def watch(
    selection: Selection,
    access: Access,
    printer: EventPrinter,
    sink: Sink,
    *,
    decoder: ObjectDecoder[Unstructured],
    limits: Limits = UNLIMITED,
    initial: bool = True,
    quiet: bool = False,
) -> Printing:
    """Print every change of what is selected, and at first what there is, if `initial`; what was
    printed.

    It goes on until a limit is reached or nobody reads any more. What happens meanwhile is told on
    standard error, unless it is to be `quiet`. Raises the error by which the server refuses the
    first set, where waiting would not mend it, and `CommandError` if none had come when the time
    was over.
    """
    printing = Printing(printer, sink, count=limits.count)
    async with connect(access, max_retries=0) as session:
        server = session.config.server
        source = session.source(selection, decoder)
        async with stopping(sink, limits) as stop:
            with Happenings(server, on_listed=stop.answer, quiet=quiet) as happenings:
                changes = _changes(source, selection.resource, happenings)
                await _print(changes, printing, initial=initial)
        if stop.end is End.DURATION and not stop.answered:
            raise CommandError(f"{server} had not been listed when --duration was over")
    return printing


def _changes(
    source: AsyncListerWatcher[Unstructured], name: str, happenings: Happenings
) -> Changes[Unstructured]:
    return Changes(
        source,
        name=name,
        options=ReflectorOptions(fail_fast=True),
        on_note=happenings.take,
        on_error=_told_already,
        on_progress=happenings.progress,
    )


async def _print(changes: Changes[Unstructured], printing: Printing, *, initial: bool) -> None:
    async with changes, aclosing(changes.batches()) as batches:
        async for batch in batches:
            wanted = batch if initial else [delta for delta in batch if not delta.initial]
            if not printing.print(wanted):
                return


def _told_already(reflector: Reflector[Any], error: Exception) -> None:
    """Every error is in a note, too."""
