"""What the regression guard says of figures, and that its data are the same everywhere."""

from __future__ import annotations

import hashlib
import json
import pickle
import subprocess
import sys
from pathlib import Path as File
from typing import Any, cast

import pytest

from bench import guard_data, guard_watch_paths
from bench.guard import table, verdict
from bench.guard_compare import Finding, Kind, Measure, compare
from bench.guard_path import Path
from bench.guard_paths import PATHS, paths_of
from listwatch import Event, EventType

ROOT = File(__file__).parent.parent.parent

FIGURES = {
    "instructions": 10_000.0,
    "made": 6.0,
    "kept": 0.0,
    "kept_bytes": 0.0,
    "peak_bytes": 4_000.0,
    "tracked": 0.0,
}


def figures(**changed: float) -> dict[str, dict[str, float]]:
    return {"watch": {**FIGURES, **changed}}


def test_figures_that_are_the_stored_ones_are_no_finding() -> None:
    assert compare(figures(), figures()) == []


@pytest.mark.parametrize("now", [9_001.0, 10_999.0])
def test_a_tenth_more_or_fewer_is_no_finding(now: float) -> None:
    assert compare(figures(), figures(instructions=now)) == []


def test_more_than_a_tenth_more_is_worse_and_says_by_how_much() -> None:
    [finding] = compare(figures(), figures(instructions=11_500.0))
    assert finding == Finding(Kind.WORSE, "watch", "instructions", 10_000.0, 11_500.0)
    assert str(finding) == "watch: 11,500 instructions an event, 10,000 stored: 15.0% more"
    assert finding.kind.fails


def test_more_than_a_tenth_fewer_is_said_and_fails_nothing() -> None:
    [finding] = compare(figures(), figures(instructions=8_000.0))
    assert finding.kind is Kind.BETTER
    assert str(finding) == "watch: 8,000 instructions an event, 10,000 stored: 20.0% fewer"
    assert not finding.kind.fails


def test_a_path_may_have_a_tolerance_of_its_own() -> None:
    now = figures(instructions=11_500.0)
    assert compare(figures(), now, tolerances={"watch": 0.2}) == []
    assert compare(figures(), now, tolerances={"another": 0.2})


@pytest.mark.parametrize(
    ("measure", "least"),
    [("kept", 0.2), ("kept_bytes", 20.0), ("tracked", 0.05)],
)
def test_what_was_nothing_may_be_little_but_no_more_than_that(measure: str, least: float) -> None:
    assert compare(figures(), figures(**{measure: least / 4})) == []
    [finding] = compare(figures(), figures(**{measure: least}))
    assert finding.kind is Kind.WORSE
    assert "more" in str(finding)


def test_each_measure_is_compared_by_itself() -> None:
    found = compare(figures(), figures(instructions=8_000.0, made=9.0))
    assert [(each.measure, each.kind) for each in found] == [
        ("instructions", Kind.BETTER),
        ("made", Kind.WORSE),
    ]


def test_what_may_keep_nothing_for_the_collector_fails_even_where_that_is_stored() -> None:
    tracking = figures(tracked=1.0)
    assert compare(tracking, tracking) == []
    [finding] = compare(tracking, tracking, untracked=["watch"])
    assert str(finding) == (
        "watch: 1.00 objects for the garbage collector an event, 0.00 stored: 1.00 more"
    )


def test_a_broken_rule_is_said_once() -> None:
    assert len(compare(figures(), figures(tracked=1.0), untracked=["watch"])) == 1


def test_a_path_without_stored_figures_fails() -> None:
    [finding] = compare({}, figures())
    assert (finding.kind, str(finding)) == (Kind.NEW, "watch: it has no stored figures")
    assert finding.kind.fails


def test_a_stored_path_that_is_no_more_fails_in_a_whole_run_only() -> None:
    stored = {**figures(), "gone": FIGURES}
    [finding] = compare(stored, figures())
    assert (finding.kind, str(finding)) == (Kind.GONE, "gone: it is measured no more")
    assert compare(stored, figures(), whole=False) == []


def test_without_valgrind_instructions_are_not_missed() -> None:
    memory = [measure for measure in Measure if measure is not Measure.INSTRUCTIONS]
    now = {"watch": {name: value for name, value in FIGURES.items() if name != "instructions"}}
    assert compare(figures(), now, measures=memory) == []
    [finding] = compare(figures(), now)
    assert finding.kind is Kind.GONE


def test_a_measure_that_is_not_stored_fails() -> None:
    stored = {"watch": {name: value for name, value in FIGURES.items() if name != "made"}}
    [finding] = compare(stored, figures())
    assert str(finding) == "watch: 6.00 blocks made an event, and no stored figure"


def test_the_verdict_names_the_worse_first_and_says_what_to_do() -> None:
    findings = [
        Finding(Kind.BETTER, "a", "instructions", 10_000.0, 8_000.0),
        Finding(Kind.WORSE, "b", "instructions", 10_000.0, 12_000.0),
    ]
    text = verdict(findings, 2)
    assert text.index("b: 12,000") < text.index("a: 8,000")
    assert "--update" in text
    assert verdict([], 2) == "2 paths cost what is stored, within 10%."


def test_the_table_shows_instructions_beside_the_stored_ones_and_copes_without() -> None:
    assert "+20.0%" in table(figures(instructions=12_000.0), figures())
    bare = {"watch": {name: value for name, value in FIGURES.items() if name != "instructions"}}
    assert table(bare, {}).splitlines()[1].split()[:2] == ["watch", "-"]


def test_the_names_of_paths_are_unique_and_others_are_refused() -> None:
    assert len({path.name for path in PATHS}) == len(PATHS)
    assert [path.name for path in paths_of(["informer", "import"])] == ["import", "informer"]
    with pytest.raises(ValueError, match="no path nothing; there are: import, "):
        paths_of(["nothing"])


def test_the_data_are_the_same_each_time() -> None:
    first, second = (hashlib.sha256(pickle.dumps(guard_data.make(4))).digest() for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "path",
    [path for path in guard_watch_paths.PATHS if path.name.startswith("watch-")],
    ids=lambda path: path.name,
)
def test_each_half_of_a_watch_is_as_many_events_as_it_says(path: Path) -> None:
    data = guard_data.make(4)[path.kind]
    for half in path.make(data):
        events = [event for step in half for event in cast(list[Event[Any]], step())]
        assert len(events) == path.events(data)
        assert {(event.type, event.error) for event in events} == {(EventType.MODIFIED, None)}


def test_the_worker_has_figures_of_every_path(tmp_path: File) -> None:
    (tmp_path / "data").write_bytes(pickle.dumps(guard_data.make(4)))
    names = [path.name for path in PATHS]
    worker = [sys.executable, "-m", "bench.guard_worker", "memory"]
    files = [str(tmp_path / "data"), str(tmp_path / "results")]
    subprocess.run([*worker, *files, *names], cwd=ROOT, check=True)
    found = json.loads((tmp_path / "results").read_text())
    assert list(found) == names
    for measures in found.values():
        assert set(measures) == set(Measure) - {Measure.INSTRUCTIONS}
