"""`listwatch demo`: a watch to look at, without a cluster."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from listwatch.api import EventType
from listwatch.testing import Match, Recording, ReplayServer, demo_recordings

from .asked import Access, Output, Selection
from .events import Clock
from .failures import OK
from .notes import say
from .sink import Sink
from .speed import Speed
from .watch import End, Limits, Outcome, conclude, watch

__all__ = ["demo"]

_RECORDING = "k-churn-pods"
_TARGET = b"/api/v1/pods?watch=true"


async def demo(sink: Sink, *, speed: Speed, duration: float | None = None) -> int:
    """Play the recording, watch it, and sum it up; the exit code."""
    recording = _of_all_namespaces()
    server = ReplayServer([recording], speed=speed.factor, match=Match.PATH)
    async with server:
        say(
            "A recorded kube-apiserver is played; a Deployment with two pods is created, scaled to"
            f" one,\nand deleted. You see: listwatch watch pods -A --server {server.url}\n"
        )
        outcome = await watch(
            Selection.of("pods", None, all_namespaces=True),
            Access(server=server.url),
            Output.TABLE,
            sink,
            limits=Limits(duration=duration),
            clock=_clock_of(recording, speed),
        )
    say(f"\n{_summary(outcome)}")
    return conclude(outcome) if outcome.error is not None else OK


def _of_all_namespaces() -> Recording:
    """The recorded watch of one namespace, as if all had been asked for: an empty cluster's answer
    would have been the same.
    """
    [found] = [each for each in demo_recordings() if each.name == _RECORDING]
    method, _, rest = found.request.partition(b" ")
    request = b" ".join([method, _TARGET, rest.partition(b" ")[2]])
    return Recording(
        found.name, request, found.response, reads=found.reads, end=found.end, meta=found.meta
    )


def _clock_of(recording: Recording, speed: Speed) -> Clock:
    """The time of day in the recording, so that ages are those of its own day."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    start = parsedate_to_datetime(recording.headers.get("Date") or "").astimezone(UTC)

    def now() -> datetime:
        if speed.factor is None:
            return start + timedelta(seconds=recording.seconds)
        return start + timedelta(seconds=(loop.time() - began) * speed.factor)

    return now


def _summary(outcome: Outcome) -> str:
    counts = outcome.counts
    parts = ", ".join(
        f"{counts[kind]} {kind.lower()}"
        for kind in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED)
    )
    why = "The recording is over" if outcome.end is End.SERVER else "Stopped"
    return f"{why}: {outcome.total} events of pods ({parts})."
