"""Each command must print what it printed, exit as it exited, and do what it did."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from conformance.binaries import BinariesUnavailable
from conformance.clients.place import Place
from conformance.kubectl import Kubectl, find_kubectl
from conformance.kubectl_commands.stage import APP, WIDGET_K, Stage
from conformance.kubectl_commands.table import COMMANDS, Command
from conformance.waiting import until

INPUTS = {"app": APP, "widget": WIDGET_K}


@pytest.fixture
def stage(place: Place) -> Iterator[Stage]:
    stage = Stage(place)
    yield stage
    more = f"/api/v1/namespaces/{place.namespace}-more"
    if place.server.request("GET", more).status == 200:
        _remove_namespace(place, more)


@pytest.fixture
def kubectl(place: Place, tmp_path: Path) -> Kubectl:
    try:
        program = find_kubectl()
    except BinariesUnavailable as unavailable:
        pytest.skip(str(unavailable))
    return Kubectl(program, place.kubeconfig(), tmp_path)


def test_the_table_has_all_of_them() -> None:
    assert len(COMMANDS) == 101


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command(name: str, stage: Stage, kubectl: Kubectl) -> None:
    command = COMMANDS[name]
    if command.node:
        stage.add_node()
    try:
        _check(command, stage, kubectl)
    finally:
        if command.node:
            stage.remove_node()


def _check(command: Command, stage: Stage, kubectl: Kubectl) -> None:
    for act in command.before:
        act(stage)
    if command.first:
        run, _, given = command.first.partition(" <")
        kubectl(*_words(run, stage), stdin=INPUTS.get(given, command.stdin))
    if command.lines:
        out = _watched(command, stage, kubectl)
    else:
        done = _done(command, stage, kubectl)
        out = done.stdout
        assert done.returncode == command.exit, done.stdout + done.stderr
        assert re.search(_filled(command.err, stage), done.stderr), done.stderr
    assert re.match(_filled(command.out, stage), out), out
    if command.after is not None:
        assert command.after(stage)


def _done(command: Command, stage: Stage, kubectl: Kubectl) -> subprocess.CompletedProcess[str]:
    arguments = _words(command.run, stage)
    if command.during is None:
        with pytest.MonkeyPatch.context() as patch:
            for variable, value in command.environment.items():
                patch.setitem(kubectl._environment, variable, value)
            return kubectl(*arguments, stdin=command.stdin, check=False)
    started = kubectl.start(*arguments)
    _until_it_watches(started, stage)
    command.during(stage)
    out, _ = started.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, started.returncode, out, "")


def _until_it_watches(started: subprocess.Popen[str], stage: Stage) -> None:
    """A moment in which it has asked at least once. What comes too early it sees all the same."""
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(timeout=1)


def _watched(command: Command, stage: Stage, kubectl: Kubectl) -> str:
    """What one prints that runs on, until it has as many lines as it must have."""
    started = kubectl.start(*_words(command.run, stage))
    assert started.stdout is not None
    assert command.during is not None
    pipe = started.stdout.fileno()
    os.set_blocking(pipe, False)
    printed = b""

    def read() -> int:
        nonlocal printed
        with suppress(BlockingIOError):  # there is nothing yet
            printed += os.read(pipe, 65536)
        return printed.count(b"\n")

    try:
        _until_it_watches(started, stage)
        command.during(stage)
        until(lambda: read() >= command.lines, what=f"{command.lines} lines")
    finally:
        started.terminate()
        started.wait()
        started.stdout.close()
    return printed.decode()


def _words(text: str, stage: Stage) -> list[str]:
    words = text.split() if "{" in text else shlex.split(text)
    return [_filled(word, stage) for word in words]


def _filled(text: str, stage: Stage) -> str:
    return text.replace("$ns", stage.place.namespace).replace("$node", stage.node)


def _remove_namespace(place: Place, path: str) -> None:
    place.server.request("DELETE", path)
    found = place.server.request("GET", path)
    if found.status == 200:
        place.server.request("PUT", f"{path}/finalize", {**found.json(), "spec": {}})
