"""Where a reflector stands between two requests: what is next, when, and why (H1, H7-H9, H19)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ._budget import permitted
from ._journal import Journal
from .causes import ANOTHER_HISTORY, HOPELESS, NEVER_SENT, UNREACHED, Cause
from .decisions import Decisions, Next, Outcome, Phase, Step
from .notes import Setback, WatchListGivenUp
from .pacing import Pacer, RoundEnd
from .reflector_options import ReflectorOptions

__all__ = ["Course"]

_NO_WATCH_LIST_FOR = 3600.0
"""Seconds until a source that had no WatchList is asked for it again (H19)."""

_HARMLESS = (Cause.CLEAN, Cause.EXPIRED, Cause.UNREADABLE)
"""After these the server is the same as before. (A clean end is looked at by itself; 429 is what a
server says that shuts down, too.)
"""


class Course:
    """Keeps a reflector's rounds, and what was learned in those before.

    `clock` gives the loop's time. Everything waits here, or nowhere.
    """

    def __init__(
        self, options: ReflectorOptions, rng: Random, journal: Journal, clock: Callable[[], float]
    ) -> None:
        self._options = options
        self._journal = journal
        self._now = clock
        self._pacer = Pacer(options.pacing, rng)
        self._decisions = Decisions(options.internal_error_budget)
        self.cause: Cause | None = None
        """Why the next list is needed; None for the first."""
        self.consistent = False
        """Whether it must be read at RV `""`."""
        self.suspect = False
        """Whether history may have gone back since anybody looked (H18)."""
        self.demand: Cause | None = None
        """Why somebody wants a consistent list, whatever comes of the watch."""
        self._no_watch_list_until = 0.0
        self._hopeless = 0  # refusals of the first set, in a row

    @property
    def watch_list_given_up(self) -> bool:
        return self._now() < self._no_watch_list_until

    def start_round(self) -> None:
        self._pacer.start_round(self._now())
        self._decisions.start_round()

    async def permit(self) -> float:
        """Wait until the budget has room for one more request, and take it (H9); the time of it."""
        sent = await permitted(self._pacer, self._now)
        self._journal.requests += 1
        return sent

    def answered(self, sent: float) -> None:
        """What was permitted at `sent` has an answer, or none will come."""
        self._pacer.answered(sent, self._now())

    def conclude(self, outcome: Outcome) -> tuple[Step, float | None]:
        """What is next after this end, and the time at which its round may start; None where it
        goes on in the same round.

        Raises the error of an end that no repetition mends.
        """
        step = self._decisions.decide(outcome, self._now())
        at = None if step.at_once else self._end_round(outcome, step)
        self._learn(outcome, step)
        if at is not None and self._hopeless and outcome.retry_after is None:
            # Whoever fails fast looks again after a second: a server that starts refuses, too.
            at = min(at, self._now() + self._options.pacing.first)
        self._give_up(outcome)
        self._tell(outcome, step, at)
        return step, at

    def has_set(self, *, consistent: bool) -> Cause | None:
        """A whole set has come; why it was needed, None for the first."""
        cause, self.cause = (self.demand if consistent else None) or self.cause, None
        if consistent:
            self.demand = None
            self.suspect = False
        self.consistent = False
        self._hopeless = 0
        self._decisions.synced()
        return cause

    def _end_round(self, outcome: Outcome, step: Step) -> float:
        end = RoundEnd(
            progress=outcome.progress,
            relist=step.next is not Next.WATCH,
            watched=outcome.watched,
            resumed=step.next is Next.WATCH,
            clean=outcome.cause in (Cause.CLEAN, Cause.IDLE),
            unreachable=outcome.phase is not Phase.WATCH and outcome.cause in UNREACHED,
            retry_after=outcome.retry_after,
        )
        return self._pacer.end_round(end, self._now())

    def _learn(self, outcome: Outcome, step: Step) -> None:
        cause = outcome.cause
        self.consistent = self.consistent or step.consistent
        if cause not in _HARMLESS:
            self.suspect = True
        lists = step.next is not Next.WATCH and self._journal.synced
        if lists and (self.cause is None or cause in ANOTHER_HISTORY):
            self.cause = cause  # the first counts, unless it is another history altogether
        if step.gives_up:
            self._no_watch_list_until = self._now() + _NO_WATCH_LIST_FOR
        if self._options.fail_fast and not self._journal.synced and not step.at_once:
            self._hopeless = self._hopeless + 1 if cause in HOPELESS else 0

    def _tell(self, outcome: Outcome, step: Step, at: float | None) -> None:
        cause, error = outcome.cause, outcome.error
        if error is not None:
            self._journal.fail(error, quietly=cause in (Cause.EXPIRED, Cause.CLEAN))
        wait = None if at is None else max(at - self._now(), 0.0)
        self._journal.note(
            Setback(phase=outcome.phase, cause=cause, error=error, next=step.next, wait=wait)
        )
        if step.gives_up:
            why = f"{outcome.phase}: {cause}" + (f" ({error})" if error is not None else "")
            self._journal.watch_list = why
            self._journal.note(WatchListGivenUp(phase=outcome.phase, cause=cause, why=why))

    def _give_up(self, outcome: Outcome) -> None:
        error = outcome.error
        never_sent = isinstance(error, NEVER_SENT)
        if error is not None and (never_sent or self._hopeless >= 2):
            self._journal.fail(error, quietly=True)  # whoever waits gets it
            raise error
