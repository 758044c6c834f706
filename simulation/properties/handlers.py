"""What handlers are told, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from simulation.heard import Audience, Heard, Notice
from simulation.history import History
from simulation.states import State

from .expected import Due, difference, due, fits, initial_part, mark_of, matches, settled
from .registry import law

_SLACK = 1e-3
_OWN = 100
"""The number of what is no line of `properties.md`, but of clauses."""


def _heard(history: History) -> Iterator[tuple[Audience, Heard, list[Due]]]:
    audience = history.audience
    if audience is not None:
        for heard in audience.handlers:
            yield audience, heard, due(audience, heard)


def _exact(history: History) -> Iterator[tuple[Audience, Heard, list[Due]]]:
    """Those whose queue leaves nothing out."""
    return (found for found in _heard(history) if found[1].queue != "collapse")


def relists_told(history: History) -> Iterator[str]:
    """Where a handler was told something else of a set that replaced another."""
    for _, heard, dues in _exact(history):
        found = difference(heard, dues)
        if found is not None and found.is_relist and not heard.filter:
            yield found.detail


@law(
    10,
    "a handler added at any moment sees the set, then every change, with no gap and no repeat.",
)
def late_handlers(history: History) -> Iterator[str]:
    for _, heard, dues in _exact(history):
        found = difference(heard, dues)
        if found is not None and not found.is_relist and not heard.filter:
            yield found.detail


@law(11, "a handler is synced only when it has finished the initial set.")
def synced_means_handled(history: History) -> Iterator[str]:
    for audience, heard, dues in _heard(history):
        if heard.is_changes:
            continue
        mark = mark_of(audience)
        if mark is None:
            if heard.synced is not None or any(notice.synced for notice in heard.notices):
                yield f"{heard.name} is synced, and there is no whole set"
            continue
        for _, is_synced in heard.finals:
            if not is_synced and heard.removed is None:
                yield f"{heard.name} is not synced in the end"
        moments = [] if heard.synced is None else [heard.synced]
        moments += [notice.step for notice in heard.notices if notice.synced][:1]
        for moment in moments:
            lacking = _unfinished(heard, dues, mark, moment)
            if lacking is not None:
                yield f"{heard.name} is synced at step {moment}, and has not finished {lacking}"


def _unfinished(heard: Heard, dues: list[Due], mark: int, moment: int) -> Due | None:
    """Of the initial set, something that the handler had not done with at that step."""
    told, wanted = settled(heard, dues)
    first = initial_part(heard, wanted, mark)
    ended = [
        notice for notice in told if notice.ended_step is not None and notice.ended_step < moment
    ]
    if heard.queue != "collapse":
        return first[len(ended)] if len(ended) < len(first) else None
    # The news of one object may have become one, or none.
    after = [each for each in wanted if each.step < moment and each not in first]
    there = {each.state.key: each for each in first}
    for key, each in there.items():
        if each.what == "delete" or any(other.state.key == key for other in after):
            continue
        if not any(notice.state.identity == each.state.identity for notice in ended):
            return each
    return None


@law(22, "a handler that raises or stalls affects nobody else.")
def handlers_are_islands(history: History) -> Iterator[str]:
    for _, heard, dues in _heard(history):
        raised, logged = Counter(heard.raised), Counter(heard.logged)
        if raised - logged or (not heard.filter and logged - raised):
            yield f"{heard.name} raised for {dict(raised)}, logged is {dict(logged)}"
        if not heard.is_changes and heard.failures != len(heard.logged):
            yield f"{heard.name} failed {len(heard.logged)} times, counted are {heard.failures}"
        if heard.slow or heard.queue == "collapse" or heard.is_changes:
            continue
        told, wanted = settled(heard, dues)
        for notice, each in zip(told, wanted, strict=False):
            if not fits(notice, each):
                break  # that is for others to say
            if notice.time > each.time + _SLACK:
                yield f"{notice.time:.3f} {heard.name}: told only now {each}, of {each.time:.3f}"


@law(_OWN + 4, "what a full queue leaves out leads to the same end (K4).")
def collapsed_queues(history: History) -> Iterator[str]:
    for audience, heard, dues in _heard(history):
        if heard.queue != "collapse":
            continue
        shown: dict[str, list[State]] = {}
        everything = due(audience, Heard("", added=heard.added))
        for each in everything:
            shown.setdefault(each.state.key, []).append(each.state)
        told: dict[str, State] = {}
        places: dict[str, int] = {}
        until = [(waiting.step, waiting.time) for waiting, _ in heard.finals]
        for notice in heard.notices:
            while until and notice.step > until[0][0]:
                yield from _end(heard, dues, told, until.pop(0)[1])
            yield from _fits(heard, notice, told)
            yield from _in_order(heard, notice, shown, places)
        for _, time in until:
            yield from _end(heard, dues, told, time)


def _fits(heard: Heard, notice: Notice, told: dict[str, State]) -> Iterator[str]:
    key, there = notice.state.key, told.get(notice.state.key)
    match notice.what:
        case "add":
            fits = there is None
        case "update":
            fits = there is not None and notice.old is not None
            fits = fits and notice.old.identity == there.identity  # type: ignore[union-attr]
        case _:
            fits = there is not None
    if not fits:
        yield f"{notice.time:.3f} {heard.name}: {notice.what} {notice.state}, where {there} was"
    if notice.what == "delete":
        told.pop(key, None)
    else:
        told[key] = notice.state


def _in_order(
    heard: Heard, notice: Notice, shown: dict[str, list[State]], places: dict[str, int]
) -> Iterator[str]:
    """The states that it is told are some of those that were shown, in their order."""
    key = notice.state.key
    states = shown.get(key, [])
    since = places.get(key, 0)
    if notice.what == "delete":
        since = max(since - 1, 0)  # it may be the last state that it knows
    for place in range(since, len(states)):
        if states[place].identity == notice.state.identity:
            places[key] = place
            return
    yield f"{notice.time:.3f} {heard.name}: {notice.what} {notice.state}: it was not shown then"


def _end(heard: Heard, dues: list[Due], told: dict[str, State], time: float) -> Iterator[str]:
    """All is quiet: what it knows is what there is."""
    if heard.removed is not None:
        return
    there: dict[str, State] = {}
    for each in dues:
        if each.time >= time - _SLACK:
            break
        if each.what == "delete":
            there.pop(each.state.key, None)
        else:
            there[each.state.key] = each.state
    for key in sorted(told.keys() | there.keys()):
        mine, yours = told.get(key), there.get(key)
        if (mine and mine.identity) != (yours and yours.identity):
            yield f"{time:.3f} {heard.name} knows {mine}, where {yours} is"


@law(
    _OWN + 5,
    "a removed handler is told nothing more, and whoever waits for its end has it when its last"
    " notification is over (K5).",
)
def removal(history: History) -> Iterator[str]:
    for _, heard, _ in _heard(history):
        if heard.removed is None:
            continue
        for notice in heard.notices:
            if notice.step > heard.removed:
                yield f"{notice.time:.3f} {heard.name} was removed, and told {notice.state}"
            if heard.gone is None or heard.cut:
                continue
            if notice.ended_step is None or notice.ended_step > heard.gone:
                yield f"{notice.time:.3f} {heard.name} is gone in the middle of {notice.state}"


@law(
    _OWN + 7,
    "a filter shows what matches: what begins to is added, what stops to is deleted (K7).",
)
def filters(history: History) -> Iterator[str]:
    for _, heard, dues in _heard(history):
        if not heard.filter:
            continue
        for notice in heard.notices:
            if notice.what != "delete" and not matches(heard, notice.state):
                yield f"{notice.time:.3f} {heard.name}: {notice.what} {notice.state}: no match"
        if heard.queue != "collapse":
            found = difference(heard, dues)
            if found is not None:
                yield found.detail


@law(_OWN + 11, "a resync tells again of all that is there, as it is (H11, J1).")
def resyncs(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for batch in seen.resyncs:
            again = {told.state.key: told.state for told in batch.deltas}
            there = {key: state for key, state in batch.set.items() if state.readable}
            if again != there or len(again) != len(batch.deltas):
                yield f"{batch.time:.3f} told again are {sorted(again)}, there are {sorted(there)}"
            for told in batch.deltas:
                if told.type != "MODIFIED" or told.old != told.state:
                    yield f"{batch.time:.3f} {told.type} {told.state} from {told.old}, in a resync"
