from __future__ import annotations

from listwatch.testing.apiserver.storage.timers import Timers


def test_actions_happen_in_the_order_of_their_time_then_of_their_coming() -> None:
    timers, done = Timers(), list[str]()
    for due, name in ((2.0, "c"), (1.0, "a"), (1.0, "b"), (3.0, "d")):
        timers.at(due, lambda name=name: done.append(name))  # type: ignore[misc]  # a default
    assert timers.next_due == 1.0
    timers.run_due(2.0)
    assert done == ["a", "b", "c"]
    assert timers.next_due == 3.0
    timers.clear()
    assert timers.next_due is None


def test_an_action_can_plan_another_for_now() -> None:
    timers, done = Timers(), list[float]()
    timers.at(1.0, lambda: timers.at(1.0, lambda: done.append(1.0)))
    timers.run_due(1.0)
    assert done == [1.0]
