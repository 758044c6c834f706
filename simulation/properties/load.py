"""What a server is asked, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from simulation.history import Ask, History, Observed

from .registry import law

_LONGEST = 300.0
"""Seconds of Retry-After that are respected in full (H9)."""
_SLACK = 1e-3
_BURST, _WINDOW = 10, 10.0
_SLOW_BURST, _SLOW_WINDOW = 4, 60.0
_IN_A_ROW = 3
"""Of 410s from the server itself: a watch, the list at its RV, and one more for a server that has
lost its history once more.
"""
_ROUND = ("list", "watch", "watch-list")
_ROUNDS_TO_THE_CAP = 12
"""Requests of rounds after which, if none made progress, the wait is at its cap: six rounds of two.
"""
_TO_THE_CAP = 190.0
"""Seconds without progress after which the wait is at its cap: 1 + 2 + ... + 16 s, each up to twice
as long, a second more after each, and one wait at the cap."""


@law(14, "410, in any form, at any point, costs one relist, and never a loop.")
def one_recovery(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        expired = [ask for ask in seen.asks if ask.failure == "expired"]
        relists = [note for note in seen.notes if note.kind == "listed" and note.cause == "expired"]
        if len(relists) > len(expired):
            yield f"{len(expired)} answers said expired, {len(relists)} relists were made for them"
        yield from _loops(seen)


def _loops(seen: Observed) -> Iterator[str]:
    """Where the server's own 410 comes again and again. Those of faults are not the mirror's."""
    streak = 0
    for ask in seen.asks:
        if ask.kind in ("probe", "page"):
            continue
        if ask.failure == "expired":
            streak += not ask.injected
        elif ask.failure or (ask.kind == "watch" and ask.is_ok):
            streak = 0
        if streak > _IN_A_ROW:
            yield f"{ask.time:.3f} the server itself said expired {streak} times in a row"
            return


@law(15, "after RV-too-large the next read is consistent.")
def fresh_when_told(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for ask, following in _one_after_another(seen):
            if ask.is_set and ask.failure == "too large" and following.is_set and following.rv:
                yield f"{following.time:.3f} {following.kind} at {following.rv} after {ask.failure}"


@law(
    16,
    "429 and refused connections cost waiting, never a relist; Retry-After is respected.",
)
def throttled(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for ask, following in _one_after_another(seen):
            held_off = ask.failure == "too many requests" or ask.error == "ConnectionRefused"
            if held_off and ask.kind == "watch" and following.kind != "watch":
                yield f"{following.time:.3f} {following.kind} after a watch that was held off"
            if held_off and ask.kind == "watch-list" and following.kind == "list":
                yield f"{following.time:.3f} list after a watch-list that was held off"
        for ask in seen.asks:
            # Those of an RV that is too large are no wish for peace (H9); a check beside a watch
            # leads to no request of its own.
            if ask.retry_after is None or ask.failure == "too large" or ask.kind == "probe":
                continue
            until = (ask.failed or 0.0) + min(ask.retry_after, _LONGEST) - _SLACK
            for other in seen.asks:
                if other.step > ask.answered_step and other.time < until and other.kind != "probe":
                    yield (
                        f"{other.time:.3f} {other.kind}, though at {ask.failed:.3f} the server"
                        f" asked for {ask.retry_after:g} s"
                    )
                    break


@law(
    17,
    "whatever the server answers, requests follow the pacing: per reflector, at most 10 in any 10 s"
    " (later pages of a list aside) and, where no round makes progress, 4 a minute in the long run;"
    " jitter spreads 1,000 reflectors.",
)
def bounded_load(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        times = [ask.time for ask in seen.asks if ask.kind != "page"]
        yield from _too_many(times, _BURST, _WINDOW)
        for begin, end in _without_progress(seen):
            rounds = [ask.time for ask in seen.asks if ask.kind in _ROUND and ask.time > begin]
            if len(rounds) <= _ROUNDS_TO_THE_CAP:
                continue
            capped = max(begin + _TO_THE_CAP, rounds[_ROUNDS_TO_THE_CAP])
            slow = [time for time in times if capped < time < end]
            yield from _too_many(slow, _SLOW_BURST, _SLOW_WINDOW)


def _too_many(times: list[float], burst: int, window: float) -> Iterator[str]:
    for first, last in zip(times, times[burst:], strict=False):
        if last - first < window - _SLACK:
            yield f"{burst + 1} requests from {first:.3f} to {last:.3f}"


def _without_progress(seen: Observed) -> Iterator[tuple[float, float]]:
    """Times in which no watch brought anything new, or stayed open for half a minute."""
    progress = [wrote.time for wrote in seen.wrote if wrote.what != "replace"]
    for ask in seen.asks:
        if ask.kind in ("watch", "watch-list") and ask.is_ok and ask.answered is not None:
            ended = float("inf") if ask.ended is None else ask.ended
            if ended - ask.answered >= 29.0:
                progress.append(ask.answered)
                progress.append(ended)
    begin = 0.0
    for time in sorted(progress):
        yield begin, time
        begin = time
    if seen.asks:
        yield begin, seen.asks[-1].time + 1.0


def _one_after_another(seen: Observed) -> Iterator[tuple[Ask, Ask]]:
    """Each request that has failed, and the next one that belongs to the same work."""
    asks = [ask for ask in seen.asks if ask.kind != "probe"]
    for ask, following in pairwise(asks):
        if ask.failed is not None and following.time >= ask.failed:
            yield ask, following
