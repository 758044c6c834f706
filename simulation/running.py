"""Many seeds, on several processes."""

from __future__ import annotations

import gc
import multiprocessing
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from .properties import Objection, judge
from .scenario import Scenario, draw
from .world import Met, run

__all__ = ["Verdict", "run_seeds", "scenario_of", "try_scenario", "try_seed"]

_CHUNK = 20


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one seed."""

    seed: int
    objections: tuple[Objection, ...]
    met: tuple[Met, ...]


def scenario_of(seed: int) -> Scenario:
    """What a seed stands for."""
    return draw(Random(seed), seed)


def try_seed(seed: int) -> Verdict:
    """Run a seed and judge it. What breaks the run itself is an objection, too."""
    return try_scenario(scenario_of(seed))


def try_scenario(scenario: Scenario) -> Verdict:
    """Run a scenario and judge it."""
    try:
        outcome = run(scenario)
        found = judge(outcome.history)
    except Exception as error:
        detail = "".join(traceback.format_exception(error)).strip().replace("\n", "\n    ")
        broken = Objection("crash", "the run itself must not fail.", detail)
        return Verdict(scenario.seed, (broken,), ())
    return Verdict(scenario.seed, tuple(found), tuple(outcome.met))


def run_seeds(seeds: range, workers: int = 1) -> Iterator[Verdict]:
    """The verdicts, in the order of the seeds."""
    if workers <= 1:
        yield from map(try_seed, seeds)
        return
    context = multiprocessing.get_context("spawn")
    with context.Pool(workers, initializer=gc.freeze) as pool:
        yield from pool.imap(try_seed, seeds, chunksize=_CHUNK)
