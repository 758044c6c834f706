from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.test_process import running


def test_get_has_a_cluster_of_its_own(run: Run) -> None:
    everything = run("get", "pods", "-A", "--embedded")
    assert everything.code == 0
    assert len(everything.lines) == 61
    assert everything.note.startswith("listwatch: an embedded server with 60 pods, ")
    some = run("get", "deployments", "--embedded", "-o", "name")
    assert "deployment.apps/web" in some.lines
    other = run("get", "pods", "-n", "data", "--embedded", "-o", "json")
    assert {item["metadata"]["namespace"] for item in json.loads(other.text)["items"]} == {"data"}


def test_a_watch_has_one_in_which_things_happen(run: Run) -> None:
    ran = run("watch", "pods", "-A", "--embedded", "--count", "66", "-o", "name")
    assert ran.code == 0
    kinds = [line.split()[0] for line in ran.lines]
    said = ran.notes.splitlines()[-1]
    there = int(said.split()[2])  # a pod may have come or gone before it was listed
    assert said.startswith(f"listwatch: listed {there} in ")
    assert 55 <= there <= 65
    assert kinds[:there] == ["ADDED"] * there
    assert len(kinds) == 66


def test_things_happen_in_that_of_a_get_that_goes_on_too() -> None:
    with running("get", "pods", "-A", "-w", "--embedded", "-o", "name") as process:
        assert process.stdout is not None
        names = [process.stdout.readline() for _ in range(70)]
    assert all(name.startswith(b"pod/") for name in names)
    assert len(set(names)) < 70


@pytest.mark.parametrize(
    "other",
    [
        ["--server", "http://127.0.0.1:1"],
        ["--kubeconfig", "x"],
        ["--context", "x"],
        ["--token", "x"],
        ["--ca-file", "x"],
        ["--insecure-skip-tls-verify"],
    ],
)
def test_it_is_the_only_server(other: list[str], run: Run) -> None:
    ran = run("get", "pods", "--embedded", *other)
    assert (ran.code, ran.data) == (2, b"")
    problem = "--embedded is a server of its own: do not name another, or who you are"
    assert ran.note == f"listwatch: {problem}"
