"""Those who wait for a mirror, and what is left when it is stopped."""

from __future__ import annotations

from collections.abc import Iterator

from simulation.history import Call, History
from simulation.truth import Truth

from .course import course_of
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
            elif not call.returned and call.error != "HistoryWentBack":
                yield f"{call.ended:.3f} raised {call.error}"


@law(
    32,
    "`fresh(within=t)` returns only when the store shows a state of the server no older than t.",
)
def fresh_is_fresh(history: History) -> Iterator[str]:
    for seen in history.mirrors:
        course = course_of(history.truth, seen)
        for call in seen.calls:
            if call.what != "fresh":
                continue
            if call.ended - call.began > call.timeout + _SLACK:
                yield f"{call.ended:.3f} took {call.ended - call.began:.3f} s of {call.timeout} s"
            if course.at(call.step).adrift:
                continue  # nobody can know that (H18)
            if call.returned and not _is_recent(history.truth, call):
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
        last = next((len(wrote.events) for wrote in reversed(seen.wrote) if wrote.events), 0)
        if end.objects > end.held + last:
            yield f"{end.objects} decoded objects are alive, and {end.held} are in the store"
