"""What a handler is told, event by event."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import NamedTuple

from simulation.heard import Audience
from simulation.history import Batch, History, Observed, Told
from simulation.states import State
from simulation.truth import Truth

from .course import Course, course_of
from .registry import law


@law(2, "for one object, the states seen are a subsequence of its states on the server, in order.")
def order(history: History) -> Iterator[str]:
    for seen, course, truths in tellers(history):
        last: dict[str, tuple[Batch, Told]] = {}  # by key
        for batch, told in _told(seen.batches):
            state = told.state
            if truths[0].eras and not any(truth.knows(state) for truth in truths):
                yield f"{batch.time:.3f} {told.type} {state}: the server never had that"
            before = last.get(state.key)
            last[state.key] = batch, told
            if before is None or before[0].epoch != batch.epoch:
                continue
            if course.disturbed(before[0].step, batch.step):
                continue
            older = before[1]
            if told.type == "DELETED" or older.type == "DELETED":
                continue  # that is for no_resurrection
            if state.serial < older.state.serial:
                yield f"{batch.time:.3f} {told.type} {state} after {older.state}"


@law(
    3,
    "within an epoch, a deleted object does not come back, and a key's RV never falls, late writes"
    " included.",
)
def no_resurrection(history: History) -> Iterator[str]:
    for seen, course, truths in tellers(history):
        gone: dict[str, tuple[Batch, int]] = {}  # by key: since when, and the RV it is gone at
        for batch, told in _told(seen.batches):
            key, rv = told.state.key, told.state.rv
            if told.type == "DELETED":
                # What a relist found to be gone was gone at the RV of that list.
                gone[key] = batch, batch.rv if told.final_state_unknown else rv
                continue
            since, at = gone.pop(key, (batch, 0))
            if since.epoch != batch.epoch or course.disturbed(since.step, batch.step):
                continue
            # What moves from one source to another is gone from the one by the write that brings it
            # to the other.
            if rv < at or (rv == at and len(truths) == 1):
                yield f"{batch.time:.3f} {told.type} {told.state}: it was gone at {at}"
        shown: dict[str, int] = {}
        epoch = step = 0
        for look in seen.looks:
            if look.epoch != epoch or course.disturbed(step, look.step):
                shown.clear()
            epoch, step = look.epoch, look.step
            for key, state in look.set.items():
                if state.rv < shown.get(key, 0):
                    yield f"{look.time:.3f} the store shows {state}, and had {shown[key]}"
                shown[key] = state.rv


@law(4, "resuming delivers no event twice.")
def no_repeat(history: History) -> Iterator[str]:
    for seen, course, _ in tellers(history):
        told_already: dict[tuple[int, str, str, int], int] = {}
        for batch, told in _told(seen.batches):
            if told.final_state_unknown:
                continue
            what = (batch.epoch, told.type, told.state.key, told.state.rv)
            before = told_already.get(what)
            if before is not None and not course.disturbed(before, batch.step):
                yield f"{batch.time:.3f} {told.type} {told.state} was told before"
            told_already[what] = batch.step
        for ask in seen.asks:
            if ask.kind == "watch" and ask.rv.isdigit() and int(ask.rv) < ask.store_rv:
                yield f"{ask.time:.3f} a watch from {ask.rv}, though the store is at {ask.store_rv}"
        if not course.drifts:
            for look in seen.looks:
                if look.late_writes:
                    yield f"{look.time:.3f} {look.late_writes} events were late"
                    break


@law(
    5,
    "an event is missed only across a relist, and a relist is always reported with its reason.",
)
def no_silent_gap(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        for wrote in seen.wrote:
            place = course.before(wrote.step)
            if wrote.what == "replace" or place.adrift or not place.segment:
                continue
            came = [(kind, *state.identity) for kind, state in wrote.events]
            true = [
                (change.type, *change.state.identity)
                for change in place.era.between(place.rv, wrote.rv)
            ]
            if came != true:
                lacking = [event for event in true if event not in came]
                strange = [event for event in came if event not in true]
                yield (
                    f"{wrote.time:.3f} {wrote.what} from {place.rv} to {wrote.rv}:"
                    f" lacks {lacking}, has {strange} besides"
                )
        relists = [wrote for wrote in seen.wrote if wrote.what == "replace"][1:]
        reported = [note for note in seen.notes if note.kind == "listed"]
        named = [note for note in reported if note.cause]
        if len(named) != len(relists):
            yield f"{len(relists)} relists, and {len(named)} reported with a reason"
        told = sum(len(batch.deltas) for batch in seen.batches)
        if not told and any(wrote.events for wrote in seen.wrote):
            yield "nobody was told of anything"


@law(7, "a new uid under an old key can be told from an update.")
def recreation_is_visible(history: History) -> Iterator[str]:
    for seen, *_ in tellers(history):
        last: dict[str, str] = {}
        for batch, told in _told(seen.batches):
            state = told.state
            if told.type == "MODIFIED":
                other = last.get(state.key, state.uid) != state.uid
                if told.recreated != other:
                    yield f"{batch.time:.3f} {state}: recreated is {told.recreated}"
                if other and (told.old is None or told.old.uid != last[state.key]):
                    yield f"{batch.time:.3f} {state}: the old object is {told.old}"
            if told.type == "DELETED":
                last.pop(state.key, None)
            else:
                last[state.key] = state.uid


@law(9, "when a handler is told, store and indexes already show that state or a later one.")
def store_first(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for batch, told in _told(seen.batches):
            shown, state = told.shown, told.state
            if told.type == "DELETED":
                behind = shown is not None and shown.serial <= state.serial
            else:
                behind = shown is not None and shown.serial < state.serial
                # One batch may tell of an object and of its end.
                behind = behind or (shown is None and not _ends_later(batch, told))
            if behind:
                yield f"{batch.time:.3f} {told.type} {state}: the store shows {shown}"
            if not told.indexed:
                yield f"{batch.time:.3f} {told.type} {state}: the index does not fit the store"
    for seen, *_ in tellers(history):
        for look in seen.looks:
            if not look.index_is_right:
                yield f"{look.time:.3f} the index does not fit the store"
    if history.audience is not None:
        yield from _handlers_after_the_store(history.audience)


def _handlers_after_the_store(audience: Audience) -> Iterator[str]:
    changes = [(batch.step, told) for batch in audience.shows.batches for told in batch.deltas]
    steps: dict[str, list[int]] = {}
    states: dict[str, list[State | None]] = {}
    first: dict[tuple[str, str, int, int], int] = {}
    for step, told in changes:
        key = told.state.key
        steps.setdefault(key, []).append(step)
        states.setdefault(key, []).append(None if told.type == "DELETED" else told.state)
        first.setdefault(told.state.identity, step)
    for heard in audience.handlers:
        for notice in heard.notices:
            key = notice.state.key
            position = bisect.bisect_left(steps.get(key, []), notice.step)
            there = states[key][position - 1] if position else None
            if notice.shown != there:
                yield (
                    f"{notice.time:.3f} {heard.name}: {notice.what} {notice.state}: the store"
                    f" shows {notice.shown}, where {there} is"
                )
            if first.get(notice.state.identity, notice.step) >= notice.step:
                yield f"{notice.time:.3f} {heard.name}: {notice.state} was never shown before"
            if not notice.indexed:
                yield f"{notice.time:.3f} {heard.name}: the index does not fit {notice.state}"


@law(12, "RVs of bookmarks never fall, and no later event is at or below one.")
def bookmarks(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        last = 0
        for wrote in seen.wrote:
            if wrote.what == "replace":
                last = 0
            elif wrote.what == "bookmark":
                if wrote.rv < last:
                    yield f"{wrote.time:.3f} a bookmark at {wrote.rv} after one at {last}"
                last = wrote.rv
            else:
                for kind, state in wrote.events:
                    if state.rv <= last:
                        yield f"{wrote.time:.3f} {kind} {state} after a bookmark at {last}"


class Teller(NamedTuple):
    """Somebody who tells of changes: a mirror; or what several sources are together."""

    seen: Observed
    course: Course
    truths: tuple[Truth, ...]
    """What the server had, as each source saw it."""


def tellers(history: History) -> Iterator[Teller]:
    """All of them. Several sources together are disturbed where one of them is."""
    courses = {}
    for seen in history.mirrors:
        truth = history.truth_of(seen)
        course = courses[seen.name] = course_of(truth, seen)
        yield Teller(seen, course, (truth,))
    audience = history.audience
    if audience is not None and audience.union is not None:
        drifts = [drift for part in audience.parts for drift in courses[part.name].drifts]
        truths = tuple(history.truth_of(part) for part in audience.parts)
        yield Teller(audience.union, Course(drifts=drifts), truths)


def _told(batches: list[Batch]) -> Iterator[tuple[Batch, Told]]:
    for batch in batches:
        for told in batch.deltas:
            yield batch, told


def _ends_later(batch: Batch, told: Told) -> bool:
    after = batch.deltas[batch.deltas.index(told) + 1 :]
    return any(other.type == "DELETED" and other.state.key == told.state.key for other in after)
