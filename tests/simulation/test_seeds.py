"""Mirrors and informers under some hundreds of seeded runs, and under what Hypothesis draws."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulation.coverage import COLUMNS, ROWS, Coverage
from simulation.faults import KINDS, kind_of, parsed
from simulation.replay import replay
from simulation.running import scenario_of, try_scenario, try_seed
from simulation.scenario import draw

pytestmark = pytest.mark.clause(
    "E4", "G1", "G2", "H1", "H3", "H4", "H5", "H6", "H7", "H8", "H9", "H10", "H12", "H14", "H17",
    "H18", "H19", "I1", "I2", "I3", "I4", "J1", "J2", "J3", "J4", "K1", "K2", "K3", "K4", "K5",
    "K6", "K7", "K9", "K10", "K11",
)  # fmt: skip

_SEEDS = 400
_CHUNK = 20


@pytest.mark.parametrize("first", range(0, _SEEDS, _CHUNK))
def test_every_property_holds(first: int) -> None:
    for seed in range(first, first + _CHUNK):
        objections = try_seed(seed).objections
        told = "\n".join(str(objection) for objection in objections)
        assert not objections, f"python -m simulation --replay {seed}\n{told}"


@given(st.randoms(use_true_random=False))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_every_property_holds_whatever_is_drawn(rng: random.Random) -> None:
    """Hypothesis draws the scenario, so a failing one is made small."""
    scenario = draw(rng)

    assert not try_scenario(scenario).objections


def test_a_seed_is_told_the_same_way_each_time() -> None:
    seed = 7

    assert list(replay(seed)) == list(replay(seed))


def test_a_replay_tells_what_happened_and_the_verdict() -> None:
    lines = list(replay(1))

    for word in ("write", "server", "fault", "request 0", "answered 200", "note: listed", "tells"):
        assert any(word in line for line in lines), word
    assert lines[-1] == "every property holds"


def test_a_replay_of_an_informer_tells_what_each_handler_was_told() -> None:
    seed = next(
        seed
        for seed in range(100)
        if (made := scenario_of(seed).setup.informer) is not None and made.sources == "namespaces"
    )

    lines = list(replay(seed))

    for word in ("h0: from 0.000 s on", "union", "h0      add", "wait", "in-a", "in-b"):
        assert any(word in line for line in lines), word


def test_every_sort_of_informer_and_handler_is_drawn() -> None:
    scenarios = [scenario_of(seed) for seed in range(600)]
    informers = [each.setup.informer for each in scenarios if each.setup.informer is not None]
    handlers = [step for each in scenarios if each.setup.informer for step in each.handlers]

    assert 150 < len(informers) < 260
    assert any(each.setup.changes for each in scenarios)
    assert {each.sources for each in informers} == {"one", "namespaces", "selectors"}
    assert {step.queue for step in handlers} == {"unbounded", "block", "collapse"}
    assert {step.filter for step in handlers} == {"", "zone", "raising"}
    assert {step.removed_how for step in handlers if step.removed} == {
        "remove", "removed", "itself",
    }  # fmt: skip
    for wanted in ("inline", "slow", "stalls", "raises", "time", "ask", "after_the_end"):
        assert any(getattr(step, wanted) for step in handlers), wanted


def test_a_seed_is_always_the_same_scenario() -> None:
    assert scenario_of(11) == scenario_of(11)
    assert scenario_of(11) != scenario_of(12)


def test_every_kind_of_fault_is_drawn_under_its_name() -> None:
    drawn = {
        kind_of(parsed(line))
        for seed in range(1500)
        for fault in scenario_of(seed).faults
        for line in fault.lines
    }

    assert drawn >= set(KINDS)


def test_a_cell_of_the_table_that_could_be_and_is_not_is_named() -> None:
    coverage = Coverage()
    assert ("cut", "watching") in coverage.empty
    assert ("no marker", "watching") not in coverage.empty

    coverage.add((row, column) for row in ROWS for column in COLUMNS)

    assert coverage.empty == []
    assert "MISSING" not in str(coverage)


@pytest.mark.parametrize("wanted", ["mirror", "informer"])
def test_a_seed_is_told_the_same_way_by_another_process(wanted: str) -> None:
    is_informer = wanted == "informer"
    seed = next(
        seed for seed in range(100) if (scenario_of(seed).setup.informer is not None) is is_informer
    )
    told = {
        subprocess.run(
            [sys.executable, "-m", "simulation", "--replay", str(seed)],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }

    assert len(told) == 1
