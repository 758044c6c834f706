"""What the server had, and when: the history that mirrors are measured against.

The server's history goes back when it is restored, or lost: then a new *era* begins. Within one era
RVs only grow. An era that was restored has the states of the one before up to its first RV.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from .states import State, States

__all__ = ["Change", "Era", "Truth"]


class Change(NamedTuple):
    """One write, as far as mirrors can see it."""

    step: int
    time: float
    rv: int
    type: str
    """ADDED, MODIFIED or DELETED as a watch of the selection tells it; empty if it does not."""
    state: State
    """As a watch tells it: of one that leaves the selection the old state, with the new RV."""


@dataclass(slots=True)
class Era:
    """One history of the server."""

    number: int
    step: int
    began: float
    base_rv: int
    """The revision it began at."""
    base: States
    """The selected objects at that revision."""
    parent: Era | None
    """Where the states before that revision are; None: they never were."""
    unselected: list[tuple[int, str, bool]] = field(default_factory=list)
    """Step, key, and whether the object is there without being selected from then on."""
    changes: list[Change] = field(default_factory=list)
    sets: list[States] = field(default_factory=list)
    """The selected objects after each change."""
    rvs: list[int] = field(default_factory=list)

    @property
    def rv(self) -> int:
        """Of the newest change."""
        return self.rvs[-1] if self.rvs else self.base_rv

    def at(self, rv: int) -> States:
        """The selected objects at revision `rv`."""
        if rv < self.base_rv:
            return self.parent.at(rv) if self.parent is not None else {}
        position = bisect.bisect_right(self.rvs, rv)
        return self.sets[position - 1] if position else self.base

    def between(self, after: int, until: int) -> Iterator[Change]:
        """What a watch tells of the revisions behind `after`, up to `until`."""
        if self.parent is not None and after < self.base_rv:
            yield from self.parent.between(after, min(until, self.base_rv))
        start = bisect.bisect_right(self.rvs, max(after, self.base_rv))
        for change in self.changes[start:]:
            if change.rv > until:
                return
            if change.type:
                yield change

    def continues(self, other: Era, rv: int) -> bool:
        """Whether the states of `other` up to `rv` are of this history too."""
        era: Era | None = self
        limit: float = float("inf")
        while era is not None:
            if era is other:
                return rv <= limit
            limit = min(limit, era.base_rv)
            era = era.parent
        return False

    def outside_at(self, step: int) -> frozenset[str]:
        """The keys of objects that are there and not selected, then."""
        found: set[str] = set()
        for at, key, is_outside in self.unselected:
            if at > step:
                break
            (found.add if is_outside else found.discard)(key)
        return frozenset(found)

    def rv_at_step(self, step: int) -> int:
        """How far it was then."""
        position = bisect.bisect_right(self.changes, step, key=lambda change: change.step)
        return self.rvs[position - 1] if position else self.base_rv


class Truth:
    """All eras."""

    def __init__(self) -> None:
        self.eras: list[Era] = []
        self._serials: dict[int, set[tuple[str, str, int]]] = {}

    @property
    def era(self) -> Era:
        """The present one."""
        return self.eras[-1]

    def begin(
        self,
        step: int,
        time: float,
        base_rv: int,
        base: States | None = None,
        *,
        parent: Era | None = None,
    ) -> Era:
        """A history begins."""
        era = Era(len(self.eras), step, time, base_rv, dict(base or {}), parent)
        self.eras.append(era)
        for state in era.base.values():
            self._know(state)
        return era

    def change(
        self, step: int, time: float, kind: str, state: State, *, left: bool = False
    ) -> None:
        """A write that the selection shows: `kind` is ADDED, MODIFIED or DELETED; `left` says that
        the object is still there, and selected no more.
        """
        era = self.era
        if left or kind == "ADDED":
            era.unselected.append((step, state.key, left))
        after = dict(era.sets[-1] if era.sets else era.base)
        if kind == "DELETED":
            after.pop(state.key, None)
        else:
            after[state.key] = state
        self._append(Change(step, time, state.rv, kind, state), after)
        self._know(state)

    def change_outside(self, step: int, time: float, state: State, *, there: bool = True) -> None:
        """A write that it does not show; `there` says whether the object is there after it."""
        era = self.era
        era.unselected.append((step, state.key, there))
        self._append(
            Change(step, time, state.rv, "", state), era.sets[-1] if era.sets else era.base
        )

    def era_at(self, step: int) -> Era:
        """The era that it was then."""
        return self.eras[bisect.bisect_right(self.eras, step, key=lambda era: era.step) - 1]

    def knows(self, state: State) -> bool:
        """Whether a mirror of the selection can have seen this at all."""
        return (state.key, state.uid, state.rv) in self._serials.get(state.serial, ())

    def _append(self, change: Change, after: States) -> None:
        era = self.era
        era.changes.append(change)
        era.rvs.append(change.rv)
        era.sets.append(after)

    def _know(self, state: State) -> None:
        self._serials.setdefault(state.serial, set()).add((state.key, state.uid, state.rv))
