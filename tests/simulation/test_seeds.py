"""The mirror under some hundreds of seeded runs, and under schedules that Hypothesis draws."""

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
    "H18", "H19", "I1", "I2", "I3", "I4", "J2", "J3", "K10", "K11",
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


def test_a_seed_is_told_the_same_way_by_another_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-m", "simulation", "--replay", "3"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }

    assert len(told) == 1
