"""What a handler has to be told: worked out from what the store showed, by none of the library's
code.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import NamedTuple

from simulation.heard import Audience, Heard, Notice
from simulation.history import Batch, Told, Wrote
from simulation.states import State

__all__ = [
    "Due",
    "Unlike",
    "difference",
    "due",
    "fits",
    "initial_part",
    "is_resync",
    "mark_of",
    "matches",
    "settled",
]


class Due(NamedTuple):
    """One notification that is due."""

    step: int
    """Of the change."""
    time: float
    wrote: int
    """The step of the write of a source that brought it about."""
    what: str
    state: State
    old: State | None = None
    tombstone: bool = False
    initial: bool = False
    is_resync: bool = False
    is_relist: bool = False
    """It comes of a set that replaced another."""

    def __str__(self) -> str:
        marks = " (tombstone)" if self.tombstone else " (initial)" if self.initial else ""
        return f"{self.what} {self.state}{marks}"


class Unlike(NamedTuple):
    """Where a handler was first told something else."""

    is_relist: bool
    detail: str


def due(audience: Audience, heard: Heard) -> list[Due]:
    """All that the handler has to be told, if its queue leaves nothing out."""
    found: list[Due] = []
    known: dict[str, State] = {}
    joined = heard.added == 0
    for change in _changes(audience, raw=heard.is_changes):
        if not joined and change.step > heard.added:
            found += _present(heard, known)
            joined = True
        if change.what == "delete":
            known.pop(change.state.key, None)
        else:
            known[change.state.key] = change.state
        if joined:
            found += _as_heard(change, heard, two=audience.recreate_as_two)
    return found if joined else found + list(_present(heard, known))


def _present(heard: Heard, known: dict[str, State]) -> Iterator[Due]:
    """What is there when it comes."""
    for state in known.values():
        if matches(heard, state):
            yield Due(heard.added, heard.time, heard.added, "add", state, initial=True)


def matches(heard: Heard, state: State) -> bool:
    """Whether the handler's filter lets it pass. One that raises does not."""
    zone = state.serial % 3
    match heard.filter:
        case "zone":
            return zone != 1
        case "raising":
            return zone == 0
        case _:
            return True


def _as_heard(change: Due, heard: Heard, *, two: bool) -> Iterator[Due]:
    """A change, as the filter shows it (K7), and as somebody wants to hear of another object under
    the old name (K6).
    """
    state, old = change.state, change.old
    if heard.is_changes:
        yield change
        return
    if change.what == "add":
        if matches(heard, state):
            yield change
        return
    assert old is not None
    before = matches(heard, old)
    if change.what == "delete":
        if before:
            yield change
        return
    now, other = matches(heard, state), state.uid != old.uid
    if before and now and not (other and two):
        yield change
        return
    if before:
        gone = change._replace(what="delete", old=None)
        yield gone._replace(state=old, tombstone=True) if other else gone
    if now:
        yield change._replace(what="add", old=None)


def _changes(audience: Audience, *, raw: bool) -> Iterator[Due]:
    """What the set that is shown did; without `raw`, as far as it can be decoded (H10)."""
    shows = audience.shows
    wrote = sorted((each for part in audience.parts for each in part.wrote), key=_step_of)
    steps = [each.step for each in wrote]
    known: dict[str, State] = {}
    batches = [(batch, False) for batch in shows.batches]
    batches += [(batch, True) for batch in shows.resyncs]
    for batch, is_resync in sorted(batches, key=lambda found: found[0].step):
        position = bisect.bisect_left(steps, batch.step)
        by = wrote[position - 1] if position else None
        for told in batch.deltas:
            change = _due(batch, told, by, is_resync=is_resync)
            found = change if raw else _readable(change, told, known)
            if found is not None:
                yield found


def _step_of(wrote: Wrote) -> int:
    return wrote.step


def _due(batch: Batch, told: Told, by: Wrote | None, *, is_resync: bool) -> Due:
    return Due(
        batch.step,
        batch.time,
        0 if by is None else by.step,
        {"ADDED": "add", "MODIFIED": "update"}.get(told.type, "delete"),
        told.state,
        told.old,
        told.final_state_unknown,
        told.initial,
        is_resync,
        by is not None and by.what == "replace" and not is_resync,
    )


def _readable(change: Due, told: Told, known: dict[str, State]) -> Due | None:
    key = change.state.key
    before = known.get(key)
    if change.what == "delete":
        known.pop(key, None)
        if before is None:
            return None
        if not change.state.readable:
            return change._replace(state=before, old=before, tombstone=True)
        return change._replace(old=before)
    if not change.state.readable:
        return None
    known[key] = change.state
    if before is None:
        return change._replace(what="add", old=None, initial=told.initial)
    return change._replace(what="update", old=before)


# What was told, against that


def settled(heard: Heard, dues: list[Due]) -> tuple[list[Notice], list[Due]]:
    """Both without resyncs, where the queue may leave those out."""
    if heard.queue == "unbounded":
        return heard.notices, dues
    wanted = [each for each in dues if not each.is_resync]
    told: list[Notice] = []
    for notice in heard.notices:
        # One that comes back as it was, from not being decodable, looks like a resync.
        is_due = len(told) < len(wanted) and fits(notice, wanted[len(told)])
        if is_due or not is_resync(notice):
            told.append(notice)
    return told, wanted


def is_resync(notice: Notice) -> bool:
    return notice.what == "update" and notice.old == notice.state


def difference(heard: Heard, dues: list[Due]) -> Unlike | None:
    """The first thing that a handler was told otherwise, or not told, or told besides. For one
    whose queue leaves nothing out.
    """
    told, wanted = settled(heard, dues)
    count = sum(1 for each in wanted if heard.added and each.step == heard.added)
    wanted = _as_told(told[:count], wanted[:count]) + wanted[count:]
    for notice, each in zip(told, wanted, strict=False):
        if not fits(notice, each):
            text = f"told {_told(notice)}, not {each}"
            return Unlike(each.is_relist, f"{notice.time:.3f} {heard.name}: {text}")
        if notice.step < each.step:
            text = f"{heard.name}: told {each} before it was so"
            return Unlike(each.is_relist, f"{notice.time:.3f} {text}")
    if len(told) > len(wanted):
        notice = told[len(wanted)]
        return Unlike(False, f"{notice.time:.3f} {heard.name}: told {_told(notice)} besides")
    if heard.removed is not None:
        return None
    for waiting, _ in heard.finals:
        ready = sum(1 for notice in told if (notice.ended_step or waiting.step) < waiting.step)
        so_far = [each for each in wanted if each.time < waiting.time - 1e-3]
        if ready < len(so_far):
            lacking = so_far[ready]
            return Unlike(lacking.is_relist, f"{lacking.time:.3f} {heard.name}: not told {lacking}")
    return None


def _as_told(told: list[Notice], present: list[Due]) -> list[Due]:
    """What was there when it came, in the order in which it was told: nobody has promised one."""
    by_key = {each.state.key: each for each in present}
    found = [by_key.pop(notice.state.key, None) for notice in told]
    return [each for each in found if each is not None] + list(by_key.values())


def fits(notice: Notice, each: Due) -> bool:
    """Whether that is what was due."""
    return _said(notice) == _wanted(each)


def _said(notice: Notice) -> tuple[object, ...]:
    old = None if notice.old is None or notice.what != "update" else notice.old.identity
    return notice.what, notice.state.identity, old, notice.tombstone, notice.initial


def _wanted(each: Due) -> tuple[object, ...]:
    old = None if each.old is None or each.what != "update" else each.old.identity
    return each.what, each.state.identity, old, each.tombstone, each.initial


def _told(notice: Notice) -> str:
    return str(Due(0, 0.0, 0, notice.what, notice.state, None, notice.tombstone, notice.initial))


# The initial set


def mark_of(audience: Audience) -> int | None:
    """The write by which the set became whole: of all sources but the optional ones."""
    firsts = [
        next((wrote.step for wrote in part.wrote if wrote.what == "replace"), None)
        for part in audience.parts
        if part.name not in audience.optional
    ]
    steps = [first for first in firsts if first is not None]
    return max(steps, default=0) if len(steps) == len(firsts) else None


def initial_part(heard: Heard, dues: list[Due], mark: int) -> list[Due]:
    """What a handler must have been told to be synced."""
    if heard.added > mark:
        return [each for each in dues if each.step == heard.added]
    return [
        each for each in dues if each.wrote <= mark and (each.step < mark or not each.is_resync)
    ]
