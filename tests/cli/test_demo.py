from __future__ import annotations

import re

from tests.cli.conftest import Run


def test_elsewhere_than_on_a_terminal_it_is_a_watch_of_all_pods(run: Run) -> None:
    ran = run("demo", "--duration", "1s", "--rate", "60/s")
    assert ran.code == 0
    rows = [re.split(r" {2,}", line) for line in ran.lines]
    assert rows[0] == [
        *("EVENT", "TIME", "NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "NODE")
    ]
    kinds = [row[0] for row in rows[1:]]
    assert kinds[:55] == ["ADDED"] * 55  # a pod may have come or gone before it was listed
    assert "MODIFIED" in kinds[55:]
    assert {"shop", "data", "payments"} <= {row[2] for row in rows[1:]}


def test_it_tells_which_command_it_is_and_sums_it_up(run: Run) -> None:
    ran = run("demo", "--duration", "1s")
    first, command, summary = ran.notes.splitlines()
    assert first.startswith("A made-up cluster: 60 pods, ")
    assert command.startswith("You see: listwatch watch pods -A --server http://127.0.0.1:")
    found = re.fullmatch(
        r"(\d+) events of pods \((\d+) added, (\d+) modified, (\d+) deleted\)\.", summary
    )
    assert found is not None
    assert int(found[1]) == len(ran.lines) - 1 == sum(map(int, found.groups()[1:]))


def test_the_same_seed_is_the_same_cluster(run: Run) -> None:
    def names(seed: str) -> set[str]:
        lines = run("demo", "--duration", "1s", "--rate", "1/h", "--seed", seed).lines
        return {re.split(r" {2,}", line)[3] for line in lines[1:]}

    assert names("1") == names("1")
    assert names("1") != names("2")
