"""`listwatch demo`: a cluster to look at, without having one."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime

from listwatch.api import EventType

from .asked import Access, Output, Selection
from .decoding import decode_readable
from .durations import age_text
from .embedded import Cluster, Contents, embedded
from .events import EventPrinter, event_printer
from .live import live_screen
from .notes import say
from .printing import Printing
from .screen import Frame, frame
from .sink import Sink
from .stopping import Limits
from .style import is_capable, painter
from .tally import Tally
from .watch import watch

__all__ = ["demo"]


async def demo(sink: Sink, *, rate: float, seed: int = 0, duration: float | None = None) -> int:
    """Watch a made-up cluster until Ctrl-C, or for so many seconds; the exit code.

    On a terminal it is a screen that moves; else it is what `listwatch watch pods -A` prints.
    """
    async with embedded(Cluster.lively(churn=rate, seed=seed)) as contents:
        access = Access(server=contents.server.url)
        limits = Limits(duration=duration, from_answer=True)
        if is_capable(terminal=sink.is_terminal):
            printed = await _show(contents, access, sink, limits)
        else:
            say(
                f"A made-up cluster: {contents}.\n"
                f"You see: listwatch watch pods -A --server {access.server}"
            )
            printer = event_printer(Output.TABLE, with_namespace=True, terminal=sink.is_terminal)
            printed = await _watch(access, printer, sink, limits)
            say(f"{_summary(printed.counts)}.")
    return printed.code


async def _show(contents: Contents, access: Access, sink: Sink, limits: Limits) -> Printing:
    """The screen, drawn from nothing but what the watch tells."""
    loop = asyncio.get_running_loop()
    tally = Tally(lambda: datetime.now(UTC), loop.time)
    url = contents.server.url
    about = Frame(
        title=f"listwatch demo: a made-up cluster, watched over {url}",
        footer=f"Ctrl-C ends it.  Try too:  kubectl -s {url} get pods -A -w",
        footer_short="Ctrl-C ends it.",
    )
    paint = painter(terminal=True)

    def draw(width: int, height: int) -> list[str]:
        return frame(tally, about, now=loop.time(), width=width, height=height, paint=paint)

    try:
        async with live_screen(sink, draw):
            return await _watch(access, tally, sink, limits)
    finally:  # the screen is gone by now, so something has to stay
        say(_farewell(tally, loop.time() - tally.began))


async def _watch(access: Access, printer: EventPrinter, sink: Sink, limits: Limits) -> Printing:
    pods = Selection.of("pods", None, all_namespaces=True)
    return await watch(
        pods, access, printer, sink, decoder=decode_readable, limits=limits, quiet=True
    )


def _summary(counts: Counter[EventType]) -> str:
    parts = ", ".join(
        f"{counts[kind]} {kind.lower()}"
        for kind in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED)
    )
    return f"{counts.total()} events of pods ({parts})"


def _farewell(tally: Tally, seconds: float) -> str:
    return (
        f"{_summary(tally.counts)} in {age_text(seconds)}, {tally.size / 1e6:.1f} MB.\n"
        "To go on:\n"
        "  listwatch watch pods -A --embedded            the same cluster, event by event\n"
        "  listwatch serve --load pods=200 --churn 20/s  a server for your own program"
    )
