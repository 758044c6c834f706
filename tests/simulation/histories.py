"""Histories made by hand: a clean one, and its parts, to be spoilt one at a time."""

from __future__ import annotations

from collections.abc import Iterable

from simulation.history import Ask, Batch, History, Look, Note, Observed, Piece, Told, Wrote
from simulation.states import State, States
from simulation.truth import Change, Truth

A1 = State("ns/a", "uid-a", 5, 1)
A2 = State("ns/a", "uid-a", 7, 3)
A3 = State("ns/a", "uid-a", 9, 5)
B1 = State("ns/b", "uid-b", 6, 2)
B_GONE = State("ns/b", "uid-b", 8, 2)
"""The deletion of `B1`: its last state, with the RV of the deletion."""
B_AGAIN = State("ns/b", "uid-b2", 10, 6)
OUTSIDE = State("ns/c", "uid-c", 4, 9)
"""An object that is not selected."""


def truth() -> Truth:
    """A server: `a` and `b` at 6, then `a` changed, `b` deleted, `a` changed, `b` made anew."""
    found = Truth()
    era = found.begin(1, 0.0, 6, {"ns/a": A1, "ns/b": B1})
    era.unselected.append((1, "ns/c", True))
    found.change(20, 10.0, "MODIFIED", A2)
    found.change(30, 20.0, "DELETED", B_GONE)
    found.change(40, 30.0, "MODIFIED", A3)
    found.change(50, 40.0, "ADDED", B_AGAIN)
    return found


def pretend(found: Truth, rv: int, shown: States, *, known: bool = True) -> None:
    """Let the server have had that set, however wrong it is: so no rule but the one that is tested
    can object.
    """
    era = found.era
    era.changes.append(Change(1000 + rv, 1000.0 + rv, rv, "", A1))
    era.rvs.append(rv)
    era.sets.append(shown)
    if known:
        for state in shown.values():
            found._know(state)


def states(*found: State) -> States:
    return {state.key: state for state in found}


def told(kind: str, state: State, old: State | None = None, **changes: object) -> Told:
    shown = None if kind == "DELETED" else state
    given: dict[str, object] = {"shown": shown, **changes}
    return Told(kind, state, old, **given)  # type: ignore[arg-type]


def batch(step: int, rv: int, deltas: Iterable[Told], after: States, *, epoch: int = 0) -> Batch:
    return Batch(step, float(step), tuple(deltas), rv, epoch, after)


def look(step: int, rv: int, shown: States, **changes: object) -> Look:
    given: dict[str, object] = {"epoch": 0, "synced": True, "state": "watching", **changes}
    return Look(step, float(step), shown, rv, **given)  # type: ignore[arg-type]


def ask(step: int, kind: str, rv: str = "", **changes: object) -> Ask:
    """A request that was answered at once, and whose watch stays open."""
    made = Ask(step, float(step), kind, rv, answered=float(step), answered_step=step, status=200)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def pieces(*found: tuple[float, bytes]) -> list[Piece]:
    return [Piece(time, data) for time, data in found]


def replace(
    step: int, rv: int, before: States, after: States, *, rv_before: int = 0, **changes: object
) -> Wrote:
    return Wrote(
        step,
        float(step),
        "replace",
        rv,
        rv_before,
        0,
        before=before,
        after=after,
        **changes,  # type: ignore[arg-type]
    )


def apply(step: int, rv: int, *events: tuple[str, State], rv_before: int = 0) -> Wrote:
    return Wrote(step, float(step), "apply", rv, rv_before, 0, events=events)


def clean() -> History:
    """A mirror that listed at 6 and followed a watch to 10."""
    first, second = states(A1, B1), states(A2)
    third, fourth = states(A3), states(A3, B_AGAIN)
    seen = Observed(
        batches=[
            batch(5, 6, [told("ADDED", A1, initial=True), told("ADDED", B1, initial=True)], first),
            batch(22, 7, [told("MODIFIED", A2, A1)], states(A2, B1)),
            batch(32, 8, [told("DELETED", B_GONE, B1)], second),
            batch(42, 9, [told("MODIFIED", A3, A2)], third),
            batch(52, 10, [told("ADDED", B_AGAIN)], fourth),
        ],
        wrote=[
            replace(4, 6, {}, first),
            apply(21, 7, ("MODIFIED", A2), rv_before=6),
            apply(31, 8, ("DELETED", B_GONE), rv_before=7),
            apply(41, 9, ("MODIFIED", A3), rv_before=8),
            apply(51, 10, ("ADDED", B_AGAIN), rv_before=9),
        ],
        notes=[Note(6, 6.0, "listed")],
        asks=[
            ask(2, "list", "0", ended=3.0, end="end", answer_rv=6),
            ask(7, "watch", "6", store_rv=6),
        ],
        looks=[
            look(10, 6, first),
            look(33, 8, second),
            look(60, 10, fourth),
        ],
    )
    seen.finals = [seen.looks[-1]]
    return History(truth=truth(), mirrors=[seen], calm=50.0, until=70.0)
