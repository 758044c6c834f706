from __future__ import annotations

import re

from tests.cli.conftest import Run


def test_the_demo_shows_a_deployments_pods_come_and_go_and_ends_by_itself(run: Run) -> None:
    ran = run("demo", "--speed", "max")
    assert ran.code == 0
    rows = [re.split(r" {2,}", line) for line in ran.lines]
    assert rows[0] == [
        *("EVENT", "TIME", "NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE")
    ]
    assert [row[0] for row in rows[1:]] == ["ADDED"] * 2 + ["MODIFIED"] * 6 + ["DELETED"] + [
        *("MODIFIED", "MODIFIED", "DELETED")
    ]
    assert {row[2] for row in rows[1:]} == {"rec"}
    assert len({row[3] for row in rows[1:]}) == 2
    assert {row[5] for row in rows[1:]} == {"Pending", "Running", "Terminating"}
    assert ran.notes.splitlines()[-1] == (
        "The recording is over: 12 events of pods (2 added, 8 modified, 2 deleted)."
    )


def test_the_demo_tells_which_command_it_is(run: Run) -> None:
    ran = run("demo", "--speed", "max")
    assert "listwatch watch pods -A --server http://127.0.0.1:" in ran.notes


def test_ages_are_those_of_the_recordings_own_day(run: Run) -> None:
    ran = run("demo", "--speed", "max")
    ages = [re.split(r" {2,}", line)[7] for line in ran.lines[1:]]
    assert set(ages) == {"9s"}


def test_the_demo_can_be_shortened(run: Run) -> None:
    ran = run("demo", "--duration", "200ms")
    assert ran.code == 0
    assert ran.data == b""
    assert ran.notes.splitlines()[-1].startswith("Stopped: 0 events of pods")
