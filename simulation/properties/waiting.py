"""Those who wait for a mirror, and what is left when it is stopped."""

from __future__ import annotations

import bisect
from collections.abc import Iterator

from simulation.heard import Audience, Heard
from simulation.history import Call, History, Observed
from simulation.truth import Truth

from .course import Course, course_of
from .expected import Due, due, settled
from .registry import law

_SLACK = 1e-3
"""Seconds by which a timer may be late."""
_NOT_FRESH = ("NotFresh", "TimeoutError", "MirrorStopped")
_AT_ONCE = 0.5
"""Seconds that a stop may take: nothing in it waits for a server."""


@law(28, "`at_least(rv)` returns only when the store has seen rv, or raises at its timeout.")
def read_your_writes(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        for call in seen.calls:
            if call.what != "at_least":
                continue
            if call.returned and call.store_rv < call.rv:
                yield f"{call.ended:.3f} the store is at {call.store_rv}, not {call.rv}"
            if not call.returned and call.error == "TimeoutError":
                if call.store_rv >= call.rv:
                    yield f"{call.ended:.3f} timed out at {call.rv}, though the store is there"
                if abs(call.ended - call.began - call.timeout) > _SLACK:
                    yield f"{call.ended:.3f} timed out after {call.ended - call.began:.3f} s"
            elif not call.returned and call.error not in ("HistoryWentBack", "MirrorStopped"):
                yield f"{call.ended:.3f} raised {call.error}"


@law(
    32,
    "`fresh(within=t)` returns only when the store shows a state of the server no older than t.",
)
def fresh_is_fresh(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth_of(seen), seen)
        for call in seen.calls:
            if call.what != "fresh":
                continue
            if call.ended - call.began > call.timeout + _SLACK:
                yield f"{call.ended:.3f} took {call.ended - call.began:.3f} s of {call.timeout} s"
            if course.at(call.step).adrift or _has_passed(history, seen, call, course):
                continue  # nobody can know that (H18)
            if call.returned and not _is_recent(history.truth_of(seen), call):
                yield (
                    f"{call.ended:.3f} the store at {call.store_rv} shows no state of the last"
                    f" {call.within:g} s"
                )
            if not call.returned and call.error not in (
                "NotFresh",
                "TimeoutError",
                "MirrorStopped",
            ):
                yield f"{call.ended:.3f} raised {call.error}"


def _has_passed(history: History, seen: Observed, call: Call, course: Course) -> bool:
    """Whether there is another history that had reached the RV of the store before the mirror had
    an answer of it.
    """
    place = course.at(call.step)
    era = history.truth_of(seen).era_at(call.step)
    if era.continues(place.era, place.rv):
        return False
    return era.rv_at_step(call.step) >= call.store_rv


def _is_recent(truth: Truth, call: Call) -> bool:
    """Whether the server had that set at some time that is recent enough, which is counted from
    when it was asked.
    """
    shown = {key: state.identity for key, state in call.set.items()}
    since = call.began - call.within - _SLACK
    for era in truth.eras:
        if era.step > call.step:
            break
        following = next(
            (other.began for other in truth.eras if other.number == era.number + 1), None
        )
        moments = [(era.began, era.base)]
        moments += [
            (change.time, found)
            for change, found in zip(era.changes, era.sets, strict=True)
            if change.step <= call.step
        ]
        for number, (_, found) in enumerate(moments):
            ended = moments[number + 1][0] if number + 1 < len(moments) else following
            if ended is not None and ended < since:
                continue
            if {key: state.identity for key, state in found.items()} == shown:
                return True
    return False


@law(
    21,
    "stop or cancel at any await ends everything in bounded time: no task, socket, thread or"
    " warning left.",
)
def clean_stop(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        end = seen.ending
        if end is None:
            continue
        if end.gone - end.asked > _AT_ONCE:
            yield f"the stop took {end.gone - end.asked:.3f} s"
        if end.tasks:
            yield f"tasks are left: {', '.join(end.tasks)}"
        if end.open_responses:
            yield f"{end.open_responses} answers are left open"
        if end.complaints:
            yield f"complaints: {'; '.join(end.complaints[:3])}"
        if end.late:
            yield f"{end.late} changes were told after the stop"


@law(
    25,
    "peak stays below the store, plus what differs in a set that replaces it, plus a constant;"
    " nothing of a page outlives it; queues are bounded or measured.",
)
def bounded_memory(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        end = seen.ending
        if end is None:
            continue
        # What the last read brought may be held by whoever waits for the next.
        last = sum(
            next((len(wrote.events) for wrote in reversed(each.wrote) if wrote.events), 0)
            for each in history.mirrors
        )
        if end.objects > end.held + last:
            yield f"{end.objects} decoded objects are alive, and {end.held} are in the store"
    if history.audience is not None:
        for heard in history.audience.handlers:
            yield from _queue(history.audience, heard)


def _queue(audience: Audience, heard: Heard) -> Iterator[str]:
    """It is measured, and bounded where that was wished for."""
    begun = [notice.step for notice in heard.notices]
    samples = [
        *((each.step, each.queued) for each in heard.notices),
        *((w.step, w.queued) for w in heard.waiting),
    ]
    if heard.is_changes:
        return
    dues = due(audience, Heard("", added=heard.added, time=heard.time))
    steps = [each.step for each in dues]
    one_by_one = not heard.filter and not audience.recreate_as_two
    for step, queued in samples:
        put, taken = bisect.bisect_left(steps, step), bisect.bisect_right(begun, step)
        if heard.removed is not None and step > heard.removed:
            if queued:
                yield f"{heard.name} was removed, and {queued} notifications wait"
        elif heard.queue == "collapse":
            keys = {each.state.key for each in dues[:put]}
            if queued > len(keys) + heard.size:
                yield f"{queued} notifications wait for {heard.name}, of {len(keys)} objects"
        elif heard.queue == "unbounded" and one_by_one:
            wanted = 0 if heard.inline else put - taken
            if queued != wanted:
                yield f"{queued} notifications wait for {heard.name}: not {wanted}"
    if heard.queue == "block" and one_by_one:
        yield from _blocked(audience, heard, dues)


def _blocked(audience: Audience, heard: Heard, dues: list[Due]) -> Iterator[str]:
    """Once more waits than may, what one read or one list of each source brings is all that comes,
    and a resync is left out.
    """
    told, _ = settled(heard, dues)
    begun = [notice.step for notice in told]
    resyncs = len(heard.notices) - len(told)
    put = more = allowed = 0
    for step in dict.fromkeys(each.step for each in dues):
        if heard.removed is not None and step > heard.removed:
            break
        # At least so much waits: what a resync has put there is not counted.
        waiting = put - bisect.bisect_left(begun, step)
        here = [each for each in dues if each.step == step]
        if here[0].is_resync:
            allowed += len(here) if waiting <= heard.size else 0
            continue
        put += len(here)
        if waiting <= heard.size:
            more = 0
            continue
        more += 1
        if more > len(audience.parts):
            yield f"{waiting} wait for {heard.name} at step {step}, and more is read"
    if resyncs > allowed:
        yield f"{heard.name} was told {resyncs} things again, and was full for all but {allowed}"
