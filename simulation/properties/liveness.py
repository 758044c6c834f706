"""Streams that fall silent."""

from __future__ import annotations

import math
from collections.abc import Iterator

from simulation.history import Ask, History
from simulation.streams import events_of

from .registry import law

_INITIAL = 30.0
"""Seconds between two initial events, and before their end is told (H5)."""
_IDLE, _SHORTEST = 150.0, 75.0
"""Seconds of silence without bookmarks, and the least with them (E4)."""
_OVERLAP = 65.0
"""Seconds for which a silent watch is kept while the next is opened: the wait of a round (H9)."""
_SLACK = 1.5


@law(18, "a missing end-of-initial-events marker leads to LIST within the bound.")
def no_endless_start(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for ask in seen.asks:
            if ask.kind != "watch-list" or not ask.is_ok or ask.answered is None:
                continue
            deadline = _marker_due(ask) + seen.slow * (len(ask.pieces) + 1)
            ended = ask.ended if ask.ended is not None else float("inf")
            if deadline + _SLACK < min(ended, history.until):
                yield f"{ask.answered:.3f} an initial stream was kept until {ended:.3f}"


def _marker_due(ask: Ask) -> float:
    """When the initial events had to be over, or the stream given up; infinity if they were."""
    assert ask.answered is not None
    due = ask.answered + _INITIAL
    keys: set[str] = set()
    strange: float | None = None
    for event in events_of(ask):
        if event.is_marker or event.type == "ERROR":
            return float("inf")
        if strange is None and (event.type != "ADDED" or event.key in keys):
            strange = event.time
        keys.add(event.key)
        due = event.time + _INITIAL
    return due if strange is None else min(due, strange + _INITIAL)


@law(
    19,
    "a silent socket is replaced within its deadline, and health shows the age meanwhile.",
)
def no_frozen_cache(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        if seen.slow:
            continue  # while its consumer does not read, no silence can be told
        for ask in seen.asks:
            if ask.kind not in ("watch", "watch-list") or not ask.is_ok or ask.answered is None:
                continue
            deadline = _silent_at(ask)
            ended = ask.ended if ask.ended is not None else float("inf")
            if deadline is None or deadline + _SLACK >= min(ended, history.until):
                continue
            # It may be kept for as long as the next one cannot be opened.
            tried = [
                other
                for other in seen.asks
                if other.kind == "watch" and deadline <= other.time <= deadline + _OVERLAP + _SLACK
            ]
            if not tried and deadline + _OVERLAP + _SLACK < min(ended, history.until):
                yield f"{ask.answered:.3f} a watch, silent until {deadline:.3f}, was not replaced"
        for look in seen.looks:
            if look.state != "watching" or look.last_byte_age is None:
                continue
            # What came in the same instant may have come before the look or after it.
            heard = {
                time
                for now in (look.time, math.nextafter(look.time, 0.0))
                if (time := _last_heard(seen.asks, now)) is not None
            }
            if heard and all(abs(look.time - time - look.last_byte_age) > _SLACK for time in heard):
                yield (
                    f"{look.time:.3f} health says {look.last_byte_age:.3f} s since the last byte,"
                    f" which came at {max(heard):.3f}"
                )


def _silent_at(ask: Ask) -> float | None:
    """When it had been silent for too long; None if it never was."""
    assert ask.answered is not None
    events = [event for event in events_of(ask) if event.type == "BOOKMARK" and not event.is_marker]
    times = [ask.answered, *(piece.time for piece in ask.pieces)]
    for number, time in enumerate(times):
        following = times[number + 1] if number + 1 < len(times) else ask.ended
        marks = [event.time for event in events if event.time <= time]
        limit = _IDLE if len(marks) < 2 else max(_SHORTEST, 2 * (marks[-1] - marks[-2]))
        if following is None or following - time > limit + _SLACK:
            return time + limit
    return None


def _last_heard(asks: list[Ask], now: float) -> float | None:
    """When the newest watch that was open then last brought bytes, or was opened."""
    found = None
    for ask in asks:
        if ask.kind not in ("watch", "watch-list") or not ask.is_ok or ask.answered is None:
            continue
        if "json" not in ask.content_type:
            continue  # that is no watch
        if ask.answered <= now and (ask.ended is None or ask.ended > now):
            found = max([ask.answered, *(piece.time for piece in ask.pieces if piece.time <= now)])
    return found
