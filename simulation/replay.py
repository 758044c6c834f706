"""One seed, told step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from .properties import judge
from .running import scenario_of
from .world import run

__all__ = ["replay"]


def replay(seed: int) -> Iterator[str]:
    """The lines of a run: the time, who, and what; at the end the verdict."""
    scenario = scenario_of(seed)
    yield f"seed {seed}"
    for field in fields(scenario.setup):
        value = getattr(scenario.setup, field.name)
        if value != field.default:
            yield f"  {field.name} = {value}"
    for number, handler in enumerate(scenario.handlers):
        yield f"  h{number}: {handler}"
    for fault in scenario.faults:
        yield f"  from {fault.time:.3f} to {fault.until:.3f} s: {fault}"
    if scenario.stop is not None:
        since = f" from request {scenario.stop.ask - 1} on" if scenario.stop.ask else ""
        yield f"  {scenario.stop.how} at turn {scenario.stop.step} of the loop{since}"
    yield (
        f"  {scenario.objects} objects, {len(scenario.writes)} writes; faults end at"
        f" {scenario.calm:g} s, all must be well {scenario.patience:g} s later"
    )
    outcome = run(scenario, talk=True)
    for line in outcome.lines or ():
        yield f"{line.time:10.3f} {line.what:<7} {line.text}"
    objections = judge(outcome.history)
    yield from (str(objection) for objection in objections)
    if not objections:
        yield "every property holds"
