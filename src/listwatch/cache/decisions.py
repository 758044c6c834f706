"""What a reflector does next (H1, H4, H7, H8, H10): a table, and the few rules that need a memory.

| what ended | how | next |
|---|---|---|
| LIST | expired, RV too large | list again at once at RV "" (once a round) |
| | older than what is there, served elsewhere | list again at once at RV "" (once a round) |
| | cut | list again at RV "", from the page it had reached |
| | anything else | list again |
| WatchList, opening it | not supported, bad request, not found | LIST at once; remembered |
| | expired, RV too large, at RV "" | LIST at RV "" at once; remembered |
| | the same at another RV | again at once at RV "" (once a round) |
| | served elsewhere | again at once at RV "" (once a round) |
| | no connection, 401, 403, 429, unknown resource | again |
| | anything else | again; after two, LIST at RV "" at once; remembered |
| WatchList, its stream | expired, RV too large, at RV "" | LIST at RV "" at once; remembered |
| | the same at another RV | again at once at RV "" (once a round) |
| | older than what is there | again at once at RV "" (once a round) |
| | 429 | again |
| | any other error event | LIST at once; remembered |
| | no end marker in time (H5) | LIST at once; remembered |
| | cut, or a clean end | again at RV ""; after two, LIST at RV "" at once; remembered |
| | unreadable | LIST at RV "" |
| WATCH, opening it | no connection, 429, a clean end | watch again at the same RV |
| | expired | list at once (once a round) |
| | served elsewhere | list at once at RV "" (once a round) |
| | RV too large | list again at RV "" |
| | anything else | list again |
| WATCH, its stream | a clean end, cut, silent, 429 | watch again at the last RV |
| | the same, three times in a row, within a second and without an event | list again |
| | expired | list at once (once a round) |
| | internal error | watch again while the budget lasts, else list again |
| | history went back, out of date | list at once at RV "" (once a round) |
| | RV too large | list again at RV "" |
| | anything else | list again |
| | whatever, with no RV to go on from | list again where it says watch again |

What is not "at once" is a new round, which Pacing spaces (H9), and so is whatever the server asked
to wait for (`Retry-After`). A watch that expires once more in
one round, without progress, makes the next list consistent (at RV "").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from .causes import UNREACHED, Cause

__all__ = ["TABLE", "Decisions", "Next", "Outcome", "Phase", "Step"]


class Phase(StrEnum):
    """What was under way."""

    LIST = "list"
    OPENING_WATCH_LIST = "opening the watch-list"
    WATCH_LIST = "watch-list"
    OPENING_WATCH = "opening the watch"
    WATCH = "watch"


class Next(StrEnum):
    """What to do."""

    WATCH = "watch again"
    SET = "list again"
    """By WatchList where that is in use."""
    LIST = "list instead of watch-list"


@dataclass(frozen=True, slots=True)
class Step:
    """The next request."""

    next: Next
    at_once: bool = False
    """In the same round (H9)."""
    consistent: bool = False
    """At RV `""`."""
    gives_up: bool = False
    """WatchList is not tried again for a while (H19)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How something ended."""

    phase: Phase
    cause: Cause
    error: Exception | None = None
    asked: str = ""
    """The RV that was asked for."""
    watched: float = 0.0
    """Seconds that the watch was open, initial events aside."""
    events: bool = False
    """Whether the watch brought any."""
    progress: bool = False
    """Whether it brought an event or a bookmark past the last RV (H9)."""
    retry_after: float | None = None
    resumable: bool = True
    """Whether there is an RV from which a watch could go on. A source may give none."""


_AGAIN = Step(Next.SET)
_WATCH = Step(Next.WATCH)
_LIST_NOW = Step(Next.LIST, at_once=True, gives_up=True)
_SET_NOW = Step(Next.SET, at_once=True)
_CONSISTENT = Step(Next.SET, consistent=True)
_CONSISTENT_NOW = Step(Next.SET, at_once=True, consistent=True)

_CUT = (Cause.LOST, Cause.TIMED_OUT)
_KEPT_OUT = (*UNREACHED, Cause.UNAUTHORIZED, Cause.FORBIDDEN, Cause.TOO_MANY, Cause.UNKNOWN)
_KEPT_OUT_OF = {Phase.OPENING_WATCH_LIST: _KEPT_OUT, Phase.WATCH_LIST: (Cause.TOO_MANY,)}
"""What says nothing of whether a server has WatchList."""
_REFUSALS = (Cause.UNSUPPORTED, Cause.BAD_REQUEST, Cause.NOT_FOUND)

TABLE: dict[Phase, dict[Cause, Step]] = {
    Phase.LIST: {
        **dict.fromkeys(Cause, _AGAIN),
        **dict.fromkeys(_CUT, _CONSISTENT),
        Cause.EXPIRED: _CONSISTENT_NOW,
        Cause.TOO_LARGE: _CONSISTENT_NOW,
        Cause.WENT_BACK: _CONSISTENT_NOW,
        Cause.MOVED: _CONSISTENT_NOW,
    },
    Phase.OPENING_WATCH_LIST: {
        **dict.fromkeys(Cause, _AGAIN),
        **dict.fromkeys(_REFUSALS, _LIST_NOW),
        Cause.EXPIRED: _CONSISTENT_NOW,
        Cause.TOO_LARGE: _CONSISTENT_NOW,
        Cause.MOVED: _CONSISTENT_NOW,
    },
    Phase.WATCH_LIST: {
        **dict.fromkeys(Cause, _LIST_NOW),
        **dict.fromkeys((Cause.CLEAN, *_CUT), _CONSISTENT),
        Cause.TOO_MANY: _AGAIN,
        Cause.EXPIRED: _CONSISTENT_NOW,
        Cause.TOO_LARGE: _CONSISTENT_NOW,
        Cause.WENT_BACK: _CONSISTENT_NOW,
        Cause.UNREADABLE: Step(Next.LIST, consistent=True),
    },
    Phase.OPENING_WATCH: {
        **dict.fromkeys(Cause, _AGAIN),
        **dict.fromkeys((*UNREACHED, Cause.TOO_MANY, Cause.CLEAN), _WATCH),
        Cause.EXPIRED: _SET_NOW,
        Cause.MOVED: _CONSISTENT_NOW,
        Cause.TOO_LARGE: _CONSISTENT,
    },
    Phase.WATCH: {
        **dict.fromkeys(Cause, _AGAIN),
        **dict.fromkeys((*_CUT, Cause.CLEAN, Cause.IDLE, Cause.TOO_MANY), _WATCH),
        Cause.EXPIRED: _SET_NOW,
        Cause.TOO_LARGE: _CONSISTENT,
        Cause.WENT_BACK: _CONSISTENT_NOW,
        Cause.OUT_OF_DATE: _CONSISTENT_NOW,
    },
}
"""The next step after each cause in each phase, what the memory says aside."""

_QUICK = 1.0
"""Seconds: a watch that ends earlier, without an event, is very short (client-go's number)."""
_QUICK_ENDS = 3
_LIVED = 30.0
"""Seconds after which a watch was not in vain, though it brought nothing."""
_UNFINISHED = 2


class Decisions:
    """Decides after each end. It remembers what the table cannot know: what this round has had, and
    how often the same has happened in a row.

    `internal_error_budget` is for how many seconds a watch that ends in internal errors is opened
    again before it is given up for a list (H8).
    """

    def __init__(self, internal_error_budget: float = 0.0) -> None:
        self._budget = internal_error_budget
        self._relisted = False
        self._reread = False
        self._unfinished = 0  # initial streams in a row that ended without their marker
        self._quick = 0  # very short watches in a row
        self._internal_since: float | None = None

    def start_round(self) -> None:
        """What a round may have once, it may have again."""
        self._relisted = self._reread = False

    def synced(self) -> None:
        """A whole set has come."""
        self._unfinished = 0

    def decide(self, outcome: Outcome, now: float) -> Step:
        """The next step after this end, at `now` (seconds of any clock)."""
        step = self._by_memory(outcome, TABLE[outcome.phase][outcome.cause], now)
        if step.at_once and outcome.retry_after is not None:
            step = replace(step, at_once=False)
        if step.at_once and step.next is Next.SET:
            step = self._once_a_round(outcome, step)
        return step

    def _by_memory(self, outcome: Outcome, step: Step, now: float) -> Step:
        phase, cause = outcome.phase, outcome.cause
        if not outcome.resumable:
            step = _AGAIN if step.next is Next.WATCH else step
        match phase:
            case Phase.OPENING_WATCH_LIST | Phase.WATCH_LIST:
                if cause in (Cause.EXPIRED, Cause.TOO_LARGE) and not outcome.asked:
                    return replace(_LIST_NOW, consistent=True)
                if step.next is Next.SET and not step.at_once and cause not in _KEPT_OUT_OF[phase]:
                    self._unfinished += 1
                    if self._unfinished >= _UNFINISHED:
                        self._unfinished = 0
                        return replace(_LIST_NOW, consistent=True)
            case Phase.WATCH:
                quick = outcome.watched < _QUICK and not outcome.events
                self._quick = self._quick + 1 if quick else 0
                if self._quick >= _QUICK_ENDS and cause in (Cause.CLEAN, *_CUT):
                    return _AGAIN
                if cause is Cause.INTERNAL:
                    return self._after_internal_error(outcome, now)
                self._internal_since = None
        return step

    def _after_internal_error(self, outcome: Outcome, now: float) -> Step:
        lived = outcome.progress or outcome.watched >= _LIVED
        if self._internal_since is None or lived:
            self._internal_since = now
        if now - self._internal_since < self._budget and outcome.resumable:
            return _WATCH
        self._internal_since = None
        return _AGAIN

    def _once_a_round(self, outcome: Outcome, step: Step) -> Step:
        if outcome.phase in (Phase.OPENING_WATCH, Phase.WATCH):
            had, self._relisted = self._relisted, True
            # A list that is watched in vain was itself too old.
            brought = outcome.progress or outcome.watched >= _LIVED
            vain = step.consistent or not brought
            return replace(step, at_once=False, consistent=vain) if had else step
        had, self._reread = self._reread, True
        return replace(step, at_once=False) if had else step
