"""Histories of informers, made by hand: clean ones, to be spoilt."""

from __future__ import annotations

from collections.abc import Iterable

from simulation.heard import Audience, Heard, Notice, Waiting
from simulation.history import History, Note, Observed
from simulation.states import State
from simulation.truth import Truth
from tests.simulation.histories import (
    A1,
    A2,
    A3,
    B1,
    B_AGAIN,
    B_GONE,
    ask,
    clean,
    look,
    replace,
    truth,
)

_MOMENTS = (5, 22, 25, 32, 42, 52)
"""When something changed, or a handler came."""


def notice(
    step: int, what: str, state: State, old: State | None = None, **changes: object
) -> Notice:
    """A call that was over at once, of a handler for which nothing else waited."""
    given: dict[str, object] = {
        "shown": None if what == "delete" else state,
        "synced": step > 9,
        "ended_step": step,
        **changes,
    }
    time = float(max(moment for moment in _MOMENTS if moment <= step))
    return Notice(step, time, what, state, old, **given)  # type: ignore[arg-type]


def changes_after_the_set() -> list[Notice]:
    """What the mirror of `clean` does after 22."""
    return [
        notice(33, "delete", B_GONE),
        notice(43, "update", A3, A2),
        notice(53, "add", B_AGAIN),
    ]


def from_the_start(**changes: object) -> Heard:
    """A handler that was told all of it."""
    return _heard(
        [
            notice(6, "add", A1, initial=True, queued=1),
            notice(7, "add", B1, initial=True),
            notice(23, "update", A2, A1),
            *changes_after_the_set(),
        ],
        synced=9,
        **changes,
    )


def added_late(**changes: object) -> Heard:
    """One that came after 22."""
    return _heard(
        [
            notice(26, "add", A2, initial=True, queued=1, synced=False),
            notice(27, "add", B1, initial=True, synced=False),
            *changes_after_the_set(),
        ],
        added=25,
        time=25.0,
        synced=29,
        **changes,
    )


def filtered(**changes: object) -> Heard:
    """One that does not see the first state of `a`."""
    return _heard(
        [
            notice(7, "add", B1, initial=True),
            notice(23, "add", A2),
            *changes_after_the_set(),
        ],
        filter="zone",
        synced=9,
        **changes,
    )


def collapsing(**changes: object) -> Heard:
    """One that is told late, and less: `b` has gone and come meanwhile."""
    return _heard(
        [
            notice(6, "add", A1, initial=True, queued=1),
            notice(7, "add", B1, initial=True),
            notice(55, "update", A3, A1, queued=1),
            notice(56, "update", B_AGAIN, B1),
        ],
        queue="collapse",
        size=1,
        slow=60.0,
        synced=9,
        **changes,
    )


def _heard(notices: Iterable[Notice], **changes: object) -> Heard:
    finals = [(Waiting(61, 60.0, 0), True)]
    return Heard("h", notices=list(notices), finals=finals, **changes)  # type: ignore[arg-type]


def heard_by(*handlers: Heard) -> History:
    """An informer over one source, with these handlers."""
    history = clean()
    history.audience = Audience(list(history.mirrors), handlers=list(handlers))
    return history


def of_two_sources() -> History:
    """An informer over two sources, of which the second has nothing, and no handlers."""
    history = clean()
    one = history.mirrors[0]
    one.name, one.truth = "one", truth()
    nothing = Truth()
    nothing.begin(1, 0.0, 6, {})
    two = Observed(
        "two",
        truth=nothing,
        wrote=[replace(3, 6, {}, {})],
        notes=[Note(3, 3.0, "listed")],
        asks=[
            ask(2, "list", "0", ended=3.0, end="end", answer_rv=6),
            ask(3, "watch", "6", store_rv=6),
        ],
        looks=[look(each.step, each.rv, {}) for each in one.looks],
    )
    two.finals = [two.looks[-1]]
    union = Observed("union", batches=list(one.batches), looks=list(one.looks))
    union.finals = [union.looks[-1]]
    history.mirrors.append(two)
    history.audience = Audience([one, two], union)
    return history
