from __future__ import annotations

import pytest

from listwatch.testing.churn.steps import Step, Verb
from listwatch.testing.churn.timeline import Process, Timeline


def _step(name: str) -> Step:
    return Step(Verb.DELETE, "v1/pods", "default", name, "kubelet")


def _names(timeline: Timeline, most: int = 20) -> list[str]:
    found = []
    while len(found) < most and (step := timeline.next()) is not None:
        found.append(f"{step.name}@{timeline.now:g}")
    return found


def _every(name: str, pause: float, times: int) -> Process:
    for _ in range(times):
        yield pause
        yield _step(name)


def test_steps_come_in_the_order_of_their_time() -> None:
    timeline = Timeline()
    timeline.start(_every("a", 3, 3))
    timeline.start(_every("b", 2, 2), after=1.5)
    assert _names(timeline) == ["a@3", "b@3.5", "b@5.5", "a@6", "a@9"]
    assert timeline.next() is None


def test_what_is_due_at_the_same_time_comes_in_turn() -> None:
    timeline = Timeline()
    timeline.start(_every("a", 0, 3))
    timeline.start(_every("b", 0, 3))
    assert _names(timeline) == ["a@0", "b@0"] * 3


class _Enough(Exception):
    pass


def _patient(seen: list[str]) -> Process:
    try:
        yield 100.0
    except _Enough:
        seen.append("interrupted")
    yield _step("last")


def test_a_process_that_waits_can_be_interrupted() -> None:
    timeline, seen = Timeline(), list[str]()
    task = timeline.start(_patient(seen))
    timeline.start(_every("a", 2, 1))
    assert timeline.next() is not None
    timeline.interrupt(task, _Enough())
    assert _names(timeline) == ["last@2"]
    assert seen == ["interrupted"]


def test_one_that_has_not_begun_is_interrupted_where_it_waits_first() -> None:
    timeline, seen = Timeline(), list[str]()
    task = timeline.start(_patient(seen), after=50.0)
    timeline.interrupt(task, _Enough())
    assert _names(timeline) == ["last@0"]
    assert seen == ["interrupted"]


def test_one_that_is_running_is_interrupted_at_its_next_wait() -> None:
    timeline, seen = Timeline(), list[str]()

    def interrupting_itself() -> Process:
        yield 1.0
        timeline.interrupt(task, _Enough())
        seen.append("went on")
        yield from _patient(seen)

    task = timeline.start(interrupting_itself())
    assert _names(timeline) == ["last@1"]
    assert seen == ["went on", "interrupted"]


def test_one_that_is_over_cannot_be_interrupted() -> None:
    timeline = Timeline()
    task = timeline.start(_every("a", 1, 1))
    assert _names(timeline) == ["a@1"]
    timeline.interrupt(task, _Enough())
    assert timeline.next() is None


def test_a_bug_in_a_process_is_not_hidden() -> None:
    def broken() -> Process:
        yield 1.0
        raise LookupError("a bug")

    timeline = Timeline()
    timeline.start(broken())
    with pytest.raises(LookupError):
        timeline.next()
