"""What the store shows in the end, and what is in it."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.history import History, Look, Observed
from simulation.states import States
from simulation.truth import Truth

from .course import Course, Drift, course_of
from .registry import law

_CHECK = 60.0
"""Seconds that the budget of requests may hold back a check of the history (H9, H18)."""


@law(1, "once faults stop, the store equals the server's set, in bounded virtual time.")
def convergence(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        for look in seen.finals:
            if course.at(look.step).adrift:
                continue  # that is for history_may_go_back
            yield from _unlike_server(history.truth_of(seen), look)
    yield from _union(history)


def _union(history: History) -> Iterator[str]:
    """What is shown of several sources is in the end what the server has of all of them."""
    audience = history.audience
    if audience is None or audience.union is None:
        return
    courses = [course_of(history.truth_of(part), part) for part in audience.parts]
    for look in audience.union.finals:
        if not any(course.at(look.step).adrift for course in courses):
            yield from _unlike_server(history.truth, look)


@law(31, "after a restore to RVs below ours the mirror converges, within the bounds of H18.")
def history_may_go_back(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        for wrote in seen.wrote:
            if wrote.what == "replace" and wrote.rv < wrote.rv_before and not wrote.new_epoch:
                yield (
                    f"{wrote.time:.3f} a set at {wrote.rv} came, below {wrote.rv_before},"
                    " and no epoch began"
                )
        for look in seen.finals:
            if not course.at(look.step).adrift:
                continue
            drift = _last_drift(course)
            if drift is not None and not _unnoticeable(seen, drift):
                yield from _unlike_server(history.truth_of(seen), look)


def _unlike_server(truth: Truth, look: Look) -> Iterator[str]:
    era = truth.era_at(look.step)
    true = era.at(era.rv_at_step(look.step))
    unlike = _difference(look.set, true)
    if unlike:
        yield f"{look.time:.3f} the store at {look.rv} ({look.state}): {unlike}"


def _difference(shown: States, true: States) -> str:
    parts = [f"lacks {true[key]}" for key in sorted(true.keys() - shown.keys())]
    parts += [f"has {shown[key]}" for key in sorted(shown.keys() - true.keys())]
    parts += [
        f"has {shown[key]} for {true[key]}"
        for key in sorted(shown.keys() & true.keys())
        if shown[key].identity != true[key].identity
    ]
    return ", ".join(parts[:4])


def _last_drift(course: Course) -> Drift | None:
    return next((drift for drift in reversed(course.drifts) if drift.until is None), None)


def _unnoticeable(seen: Observed, drift: Drift) -> bool:
    """Whether new writes had passed the mirror's RV before it could look: the one case that H18
    leaves out.

    The mirror is due to look when the server first answers it again. It has had its chance if a
    consistent list was answered below its RV, or if it asked for none in time.
    """
    era = drift.era
    if era.base_rv >= drift.rv:
        return True
    passed = next((change.time for change in era.changes if change.rv >= drift.rv), None)
    of_the_era = [ask for ask in seen.asks if ask.answered_step >= era.step]
    if any(0 < ask.answer_rv < ask.store_rv for ask in of_the_era if not ask.rv):
        return False  # it has been told
    if passed is None:
        return False
    if passed <= drift.time:
        return True
    looks = [
        ask
        for ask in seen.asks
        if ask.kind in ("probe", "list") and not ask.rv and drift.time <= ask.time <= passed
    ]
    return bool(looks) or passed - drift.time <= _CHECK


@law(13, "an object that leaves the selection is gone from the store, and back when it returns.")
def selection(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        for look in seen.looks:
            place = course.at(look.step)
            if place.adrift or not place.segment:
                continue
            true, outside = place.era.at(look.rv), place.era.outside_at(look.step)
            for key in look.set:
                if key in outside and key not in true:
                    yield f"{look.time:.3f} the store at {look.rv} shows {look.set[key]}"


@law(26, "a transform is applied exactly once on every path.")
def one_transform(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        wanted = 1 if seen.transformed else 0
        for batch in seen.batches:
            for told in batch.deltas:
                state = told.state
                if state.readable and state.times != wanted:
                    yield f"{batch.time:.3f} {state} was transformed {state.times} times"
        for look in seen.looks:
            for state in look.set.values():
                if state.readable and state.times != wanted:
                    yield f"{look.time:.3f} {state} was transformed {state.times} times"
    if history.audience is not None:
        wanted = 1 if history.audience.parts[0].transformed else 0
        for heard in history.audience.handlers:
            for notice in heard.notices:
                state = notice.state
                if state.readable and state.times != wanted:
                    yield f"{notice.time:.3f} {heard.name}: {state}, {state.times} times"


@law(
    20,
    "a frame that cannot be read costs one paced relist, an object that cannot be decoded costs"
    " its own typed view only; both are counted and reported, and neither makes an object appear,"
    " stay or vanish wrongly.",
)
def bad_data_is_contained(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        reported = {note.key for note in seen.notes if note.kind == "error" and note.key}
        for look in seen.looks:
            raw = {key for key, state in look.set.items() if not state.readable}
            if raw != look.undecodable:
                yield f"{look.time:.3f} raw are {sorted(raw)}, named {sorted(look.undecodable)}"
            if not raw <= reported:
                yield f"{look.time:.3f} {sorted(raw - reported)} were never reported"
        bad = [ask for ask in seen.asks if ask.failure == "unreadable" and ask.kind == "watch"]
        relists = [
            note for note in seen.notes if note.kind == "listed" and note.cause == "unreadable"
        ]
        frames = [ask for ask in seen.asks if ask.failure == "unreadable"]
        if len(relists) > len(frames):
            yield f"{len(frames)} answers were unreadable, {len(relists)} relists came of them"
        for ask in bad:
            following = next(
                (other for other in seen.asks if other.step > ask.step and other.kind != "probe"),
                None,
            )
            if following is None or following.kind != "watch":
                continue
            if following.time >= (ask.failed or 0.0):
                yield f"{following.time:.3f} a watch went on after one that could not be read"
