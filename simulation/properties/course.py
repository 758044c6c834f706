"""Where a mirror stood at each moment: in which era of the server, and whether that can be said.

When the server's history goes back behind the RV that a mirror is at, what the mirror has belongs
to no era until it has taken a whole set of the new one: it is *adrift*. It may notice (H18), or new
writes may have passed its RV before it looks, which nobody can notice. Until then nothing is
claimed of it but that it gets out of it where it can.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field

from simulation.history import Observed, Wrote
from simulation.truth import Era, Truth

__all__ = ["Course", "Drift", "Place", "course_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mirror stands from one step on."""

    step: int
    era: Era
    rv: int
    adrift: bool
    segment: int
    """Grows with each set that replaced the store."""


@dataclass(slots=True)
class Drift:
    """The history went back behind a mirror."""

    step: int
    time: float
    """When the mirror first had a set or a watch of the new history."""
    era: Era
    rv: int
    """Where the mirror was."""
    until: int | None = None
    """The step at which it had taken a whole set of that era."""
    new_epoch: bool = False


@dataclass(slots=True)
class Course:
    places: list[Place] = field(default_factory=list)
    drifts: list[Drift] = field(default_factory=list)

    def at(self, step: int) -> Place:
        """Where it stands at that step."""
        position = bisect.bisect_right(self.places, step, key=lambda place: place.step)
        return self.places[max(position - 1, 0)]

    def disturbed(self, since: int, until: int) -> bool:
        """Whether it was adrift at some time between two steps, so that they do not compare."""
        return any(
            drift.step <= until and (drift.until is None or drift.until > since)
            for drift in self.drifts
        )

    def before(self, step: int) -> Place:
        """Where it stood before what happened at that step."""
        return self.at(step - 1)


def course_of(truth: Truth, seen: Observed) -> Course:
    """The course of one mirror."""
    return _Walk(truth, seen).walk()


class _Walk:
    def __init__(self, truth: Truth, seen: Observed) -> None:
        self._truth = truth
        self._seen = seen
        self._course = Course([Place(-1, truth.eras[0], 0, False, 0)])
        self._sets = [ask for ask in seen.asks if ask.is_set and ask.is_ok]
        self._answers = [ask.answered_step for ask in self._sets]

    def walk(self) -> Course:
        things: list[tuple[int, float, Era | Wrote]] = list(self._contacts())
        things += [(wrote.step, wrote.time, wrote) for wrote in self._seen.wrote]
        for step, time, thing in sorted(things, key=lambda found: found[0]):
            if isinstance(thing, Era):
                self._turn(step, time, thing)
            else:
                self._write(thing)
        return self._course

    def _contacts(self) -> Iterator[tuple[int, float, Era]]:
        """When the mirror first had a set or a watch of each later era: until then it may still
        read what the one before had sent.
        """
        latest = 0
        for ask in sorted(self._seen.asks, key=lambda ask: ask.answered_step):
            if ask.is_ok and ask.kind != "probe":
                era = self._truth.era_at(ask.answered_step)
                if era.number > latest:
                    latest = era.number
                    yield ask.answered_step, ask.answered or 0.0, era

    def _turn(self, step: int, time: float, era: Era) -> None:
        """The server has another history."""
        place = self._course.places[-1]
        adrift = place.adrift
        if place.segment and not era.continues(place.era, place.rv):
            adrift = True
        if adrift:
            self._course.drifts.append(Drift(step, time, era, place.rv))
        self._go(Place(step, era, place.rv, adrift, place.segment))

    def _write(self, wrote: Wrote) -> None:
        place = self._course.places[-1]
        if wrote.what != "replace":
            self._go(Place(wrote.step, place.era, wrote.rv, place.adrift, place.segment))
            return
        era = place.era
        begun = self._begun_in(wrote.step)
        # A set that was begun in an earlier era holds only if that era had got no further than the
        # restored one has: else some of its pages, or its RV, are of a history that is gone.
        adrift = not era.continues(begun, wrote.rv)
        if not adrift and not wrote.new_epoch:
            adrift = self._kept_something_else(wrote, era)
        if not adrift:
            for drift in self._course.drifts:
                if drift.until is None:
                    drift.until, drift.new_epoch = wrote.step, wrote.new_epoch
        elif not any(drift.until is None for drift in self._course.drifts):
            self._course.drifts.append(Drift(wrote.step, wrote.time, era, wrote.rv))
        self._go(Place(wrote.step, era, wrote.rv, adrift, place.segment + 1))

    def _begun_in(self, step: int) -> Era:
        """The era in which the set was begun that is written at `step`."""
        position = bisect.bisect_left(self._answers, step)
        return self._truth.era_at(self._answers[position - 1]) if position else self._truth.eras[0]

    def _kept_something_else(self, wrote: Wrote, era: Era) -> bool:
        """Whether an object of another era was kept because its uid and RV are those of one of this
        era, which without a new epoch nobody can tell.
        """
        if not any(drift.until is None for drift in self._course.drifts):
            return False
        true = era.at(wrote.rv)
        return any(
            (other := true.get(key)) is not None
            and (other.uid, other.rv) == (state.uid, state.rv)
            and other.serial != state.serial
            for key, state in wrote.after.items()
        )

    def _go(self, place: Place) -> None:
        self._course.places.append(place)
