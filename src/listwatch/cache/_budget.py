"""Waiting for the budget of requests: a Pacer says when, and this waits (H9)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from .pacing import Pacer

__all__ = ["pace", "permitted"]


async def permitted(pacer: Pacer, clock: Callable[[], float]) -> float:
    """Wait until there is room for one more request, and take it; the time of that."""
    # Somebody else may have taken it meanwhile.
    while (at := pacer.request_at(clock())) > clock():  # noqa: ASYNC110
        await asyncio.sleep(at - clock())
    sent = clock()
    pacer.requested(sent)
    return sent


def pace(source: object, permit: Callable[[], Awaitable[object]]) -> None:
    """Let a source that sends requests of its own, such as for discovery, ask before each."""
    paced_by = getattr(source, "paced_by", None)
    if paced_by is not None:
        paced_by(permit)
