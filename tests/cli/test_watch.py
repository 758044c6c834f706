"""`listwatch watch` and `get --watch`: what they print of a server to which things happen."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest
import yaml

from listwatch.testing.apiserver import EmbeddedServer
from tests.cli.clusters import change, cluster, delete, put
from tests.cli.conftest import Run
from tests.cli.servers import http, serving, silent
from tests.cli.test_process import SECONDS, running, until


class Watching:
    """The command as a process, read line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self.said: list[str] = []
        """What `next_note` has passed over."""

    def lines(self, count: int) -> list[str]:
        """The next lines of data."""
        return [_line(self._process.stdout) for _ in range(count)]

    def note(self, *words: str) -> str:
        """The next line on standard error."""
        line = _line(self._process.stderr)
        for word in words:
            assert word in line
        return line

    def end(self) -> tuple[int, str]:
        """Press Ctrl-C: the exit code, and what is said at last."""
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait(SECONDS)
        assert self._process.stderr is not None
        return code, self._process.stderr.read().decode()


def _line(stream: IO[bytes] | None) -> str:
    assert stream is not None
    return stream.readline().decode().rstrip("\n")


@contextmanager
def watching(*arguments: str) -> Iterator[Watching]:
    with running(*arguments) as process:
        yield Watching(process)


COMMAND = (sys.executable, "-m", "listwatch")
WATCH = ("watch", "configmaps", "-o", "name", "--server")


GADGETS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "gadgets", "singular": "gadget", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}
GADGET = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": {"name": "g"}}


# What is printed


def test_what_exists_comes_first_and_then_each_change(run: Run) -> None:
    with cluster("a", "b") as server, watching(*WATCH, server.url) as watch:
        assert watch.note().startswith("listwatch: listed 2 in ")
        assert watch.lines(2) == ["ADDED configmap/a", "ADDED configmap/b"]
        server.put("c")
        server.change("a", "2")
        server.delete("b")
        assert watch.lines(3) == [
            "ADDED configmap/c",
            "MODIFIED configmap/a",
            "DELETED configmap/b",
        ]
        assert watch.end() == (130, "")


def test_a_table_has_the_columns_of_the_first_object(run: Run) -> None:
    with cluster("a") as server:
        here = run("watch", "configmaps", "--count", "1", "--server", server.url)
        all_over = run("watch", "cm", "-A", "--count", "1", "--server", server.url)
        nodes = run("watch", "namespaces", "-A", "--count", "1", "--server", server.url)
    assert here.lines[0].split() == ["EVENT", "TIME", "NAME", "DATA", "AGE"]
    assert all_over.lines[0].split()[:4] == ["EVENT", "TIME", "NAMESPACE", "NAME"]
    assert nodes.lines[0].split()[:3] == ["EVENT", "TIME", "NAME"]
    assert here.code == all_over.code == nodes.code == 0


def test_json_and_yaml_are_one_document_an_event(run: Run) -> None:
    with cluster("a") as server:
        as_json = run("watch", "configmaps/a", "-o", "json", "--count", "1", "-s", server.url)
        as_yaml = run("watch", "configmaps/a", "-o", "yaml", "--count", "1", "-s", server.url)
    [line] = as_json.lines
    event = json.loads(line)
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")
    assert list(event["object"])[:2] == ["kind", "apiVersion"]
    assert list(yaml.safe_load_all(as_yaml.data)) == [event]


def test_selectors_and_names_narrow_it(run: Run) -> None:
    with cluster("a", "b") as server:
        named = run("watch", "configmaps/b", "-o", "name", "--count", "1", "-s", server.url)
        field = ["--field-selector", "metadata.name!=a"]
        selected = run("watch", "cm", *field, "-o", "name", "--count", "1", "-s", server.url)
    assert named.lines == selected.lines == ["ADDED configmap/b"]


def test_a_type_of_the_users_own_is_found_and_has_no_namespace_if_it_needs_none(run: Run) -> None:
    with cluster() as server:
        server.do(lambda server: server.core.load([GADGETS, GADGET]))
        ran = run("watch", "gadget", "-o", "name", "--count", "1", "--server", server.url)
    assert (ran.code, ran.lines) == (0, ["ADDED gadget.example.com/g"])


def test_its_time_may_be_over(run: Run) -> None:
    with cluster("a") as server:
        ran = run(*WATCH, server.url, "--duration", "1s")
    assert (ran.code, ran.lines) == (0, ["ADDED configmap/a"])
    assert ran.note.startswith("listwatch: listed 1 in ")


def test_it_is_a_failure_if_nothing_had_come_by_then(run: Run) -> None:
    with serving(silent) as url:
        ran = run(*WATCH, url, "--duration", "0.3s")
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note == f"listwatch: {url} had not been listed when --duration was over"


@pytest.mark.clause("H10")
@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("table", "cannot decode object shop/bad"),
        ("name", "ADDED configmap/bad"),
        ("json", '{"type":"ADDED","object":{"kind":"ConfigMap"'),
        ("yaml", "# ADDED cannot decode object shop/bad"),
    ],
)
def test_an_object_that_cannot_be_read_is_shown_as_far_as_it_can(
    output: str, shown: str, run: Run
) -> None:
    bad = b'{"metadata":{"name":"bad","namespace":"shop","resourceVersion":"3"},"data":{"n":1E400}}'
    good = b'{"metadata":{"name":"good","namespace":"shop","resourceVersion":"2"}}'
    head = b'{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"}'
    listed = http(b'%s,"items":[%s,%s]}' % (head, bad, good))
    with serving(listed) as url:
        ran = run("watch", "cm", "-n", "shop", "-o", output, "--count", "2", "-s", url)
    assert shown in ran.text
    assert "good" in ran.text
    assert ran.code == (1 if output in ("table", "yaml") else 0)


# What it survives


@pytest.mark.clause("H8", "J2")
def test_a_deletion_that_was_missed_is_found_and_printed_with_the_last_known_object() -> None:
    def lose_history(server: EmbeddedServer) -> None:
        server.core.end_watches()
        delete(server, "b")
        change(server, "a", "2")
        put(server, "c")
        server.compact()
        server.restart("kept")

    arguments = ("watch", "configmaps", "-o", "json", "--server")
    with cluster("a", "b") as server, watching(*arguments, server.url) as watch:
        watch.note("listed 2 in ")
        known = [json.loads(line)["object"] for line in watch.lines(2)]
        server.do(lose_history)
        events = [json.loads(line) for line in watch.lines(3)]
        _, said = watch.end()
    told = {event["object"]["metadata"]["name"]: event for event in events}
    assert {name: event["type"] for name, event in told.items()} == {
        "a": "MODIFIED",
        "b": "DELETED",
        "c": "ADDED",
    }
    assert told["b"]["object"] == known[1]
    assert said.splitlines()[-1] == (
        "listwatch: watch expired, relisted: 1 new, 1 changed, 1 vanished"
    )


@pytest.mark.clause("H7")
def test_a_server_that_restarts_is_waited_for() -> None:
    def restart(server: EmbeddedServer) -> None:
        server.restart("kept", down=0.5)

    with cluster("a") as server, watching(*WATCH, server.url) as watch:
        watch.note("listed 1 in ")
        assert watch.lines(1) == ["ADDED configmap/a"]
        server.do(restart)
        watch.note("listwatch: watch: connection lost; watch again in ")
        server.put("b")
        assert watch.lines(1) == ["ADDED configmap/b"]
        code, said = watch.end()
    assert code == 130
    assert "relisted" not in said


@pytest.mark.clause("H18")
def test_a_history_that_went_back_is_followed() -> None:
    with cluster("a") as server, watching(*WATCH, server.url) as watch:
        watch.note("listed 1 in ")
        watch.lines(1)
        backup = server.do(lambda server: server.core.backup())
        server.put("lost")
        assert watch.lines(1) == ["ADDED configmap/lost"]
        server.do(lambda server: server.restart("back", backup=backup))
        assert watch.lines(1) == ["DELETED configmap/lost"]
        _, said = watch.end()
    assert said.splitlines()[-1] == (
        "listwatch: the server's history went back, relisted: 1 vanished"
    )


@pytest.mark.clause("H7")
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("any: answer 403, once", "the server answered 403 Forbidden: "),
        ("any: answer 200 as html, once", "is there a proxy in between"),
    ],
)
def test_a_later_refusal_is_one_line_and_waited_out(fault: str, told: str) -> None:
    with cluster("a") as server, watching(*WATCH, server.url) as watch:
        watch.note("listed 1 in ")
        assert watch.lines(1) == ["ADDED configmap/a"]
        server.add(fault)
        server.do(lambda server: server.core.end_watches())
        line = watch.note(told)
        assert line.startswith("listwatch: ")
        assert " again in " in line
        server.put("b")
        assert watch.lines(1) == ["ADDED configmap/b"]
        assert watch.end()[0] == 130


@pytest.mark.clause("H8")
def test_the_usual_end_of_a_watch_is_only_for_those_who_want_to_know() -> None:
    for options, expected in ((), 0), (("-v",), 1):
        with cluster("a") as server, watching(*WATCH, server.url, *options) as watch:
            watch.lines(1)
            server.do(lambda server: server.core.end_watches())
            server.put("b")
            assert watch.lines(1) == ["ADDED configmap/b"]
            _, said = watch.end()
        assert said.count("watch: ended by the server") == expected


# What it does not


@pytest.mark.parametrize(
    ("code", "reason"),
    [(400, "BadRequest"), (401, "Unauthorized"), (403, "Forbidden"), (404, "NotFound")],
)
@pytest.mark.parametrize("command", ["watch", "get --watch"])
def test_a_first_refusal_for_good_is_a_failure_in_one_line(
    code: int, reason: str, command: str, run: Run
) -> None:
    with cluster("a", faults=[f"any: answer {code}"]) as server:
        ran = run(*command.split(), "configmaps", "--server", server.url)
    assert (ran.code, ran.data) == (1, b"")
    assert ran.note.startswith(f"listwatch: the server answered {code} {reason}")


def test_a_first_refusal_that_is_none_the_second_time_is_told_and_waited_out() -> None:
    faults = ["any: answer 403, once"]
    with cluster("a", faults=faults) as server, watching(*WATCH, server.url) as watch:
        assert watch.lines(1) == ["ADDED configmap/a"]
        watch.note("the server answered 403 Forbidden: ", "; list again in 1.0 s")
        watch.note("listed 1 in ")


def test_a_server_that_is_not_there_yet_is_waited_for(run: Run) -> None:
    with watching("watch", "pods", "--server", "http://127.0.0.1:1") as watch:
        told = "listwatch: cannot connect to http://127.0.0.1:1: connection refused; list again in"
        assert watch.note().startswith(told)
        assert watch.note().startswith(told)
        assert watch.end() == (130, "")


@pytest.mark.parametrize(
    "arguments", [["watch", "pods", "--limit", "3"], ["get", "pods", "-w", "--limit", "3"]]
)
def test_a_page_of_changes_makes_no_sense(arguments: list[str], run: Run) -> None:
    ran = run(*arguments, "--server", "http://127.0.0.1:1")
    assert (ran.code, ran.data) == (2, b"")
    assert "--limit" in ran.note


# get --watch


def test_get_prints_a_table_first_and_then_what_changes() -> None:
    with (
        cluster("a", "b") as server,
        watching("get", "configmaps", "-w", "--server", server.url) as watch,
    ):
        header, *rows = watch.lines(3)
        assert header.split() == ["NAME", "DATA", "AGE"]
        assert [row.split()[:2] for row in rows] == [["a", "1"], ["b", "1"]]
        watch.note("listed 2 in ")
        server.change("a", "2")
        server.delete("b")
        assert [row.split()[0] for row in watch.lines(2)] == ["a", "b"]
        assert watch.end() == (130, "")


def test_get_can_print_only_what_changes() -> None:
    with (
        cluster("a", "b") as server,
        watching("get", "cm", "--watch-only", "-o", "name", "-s", server.url) as watch,
    ):
        watch.note("listed 2 in ")
        server.delete("b")
        assert watch.lines(1) == ["configmap/b"]


def test_get_prints_one_object_after_the_other_in_json_and_yaml() -> None:
    arguments = ("get", "configmaps", "-w", "-s")
    with cluster("a") as server:
        with watching(*arguments, server.url, "-o", "json") as watch:
            first = [*watch.lines(1)]
            while first[-1] != "}":
                first += watch.lines(1)
            assert json.loads("\n".join(first))["metadata"]["name"] == "a"
        with watching(*arguments, server.url, "-o", "yaml") as watch:
            assert watch.lines(1) == ["kind: ConfigMap"]
            server.change("a", "2")
            rest = watch.lines(1)
            while rest[-1] != "---":
                rest += watch.lines(1)
            assert watch.lines(1) == ["kind: ConfigMap"]


# Who looks on


def test_a_bar_shows_a_long_list_to_people_and_goes() -> None:
    ours, theirs = pty.openpty()
    try:
        with (
            cluster("a", faults=["any: delay 1s"]) as server,
            subprocess.Popen(
                [*COMMAND, *WATCH, server.url, "--count", "1"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=theirs,
                env={**os.environ, "TERM": "xterm", "COLUMNS": "80"},
            ) as process,
        ):
            data, _ = process.communicate(timeout=SECONDS)
        shown = until(ours, b"listed 1 in ")
    finally:
        os.close(ours)
        os.close(theirs)
    assert data == b"ADDED configmap/a\n"
    bar, _, rest = shown.partition(b"listwatch: listed 1 in ")
    assert b"listing " in bar
    assert bar.endswith(b"\x1b[2K")  # its line is empty again
    assert b"listing " not in rest


def test_a_quiet_watch_ends_when_nobody_reads() -> None:
    with cluster("a") as server, running(*WATCH, server.url) as process:
        assert _line(process.stdout) == "ADDED configmap/a"
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(SECONDS) == 0
