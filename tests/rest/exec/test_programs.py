"""Exec plugins that are real programs, on loops whose time is the wall's."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from listwatch.rest.errors import CredentialsFailed
from listwatch.rest.exec.credential import ClusterInfo, ExecVersion
from listwatch.rest.exec.plugin import ExecCredentials, ExecPlugin, InteractiveMode
from tests.rest.exec.plugins import script

pytestmark = pytest.mark.clause("N2")

ANSWER = """
import json, os, sys
answer = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
def give(token):
    answer["status"] = {"token": token}
    print(json.dumps(answer))
"""

PATIENCE = 60


def made(command: Path, *args: str, **changes: Any) -> ExecCredentials:
    fields: dict[str, Any] = {
        "user": "user 'alice'",
        "command": str(command),
        "args": args,
        "version": ExecVersion.V1BETA1,
        "interactive_mode": InteractiveMode.IF_AVAILABLE,
    }
    return ExecCredentials(ExecPlugin(**fields | changes), stdin_is_terminal=lambda: False)


async def token(credentials: ExecCredentials) -> str:
    headers = await credentials.headers()
    return headers["Authorization"].removeprefix("Bearer ")


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A pipe on which a plugin can wait for the test, and the test for the plugin."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return path


async def test_it_gets_arguments_variables_and_the_cluster(tmp_path: Path) -> None:
    code = (
        ANSWER
        + "give('/'.join([*sys.argv[1:], os.environ['A'], answer['spec']['cluster']['server']]))"
    )
    plugin = script(tmp_path / "plugin", code)
    cluster = ClusterInfo(server="https://prod:6443")
    credentials = made(plugin, "x", "y", env=(("A", "1"),), cluster=cluster)
    assert await token(credentials) == "x/y/1/https://prod:6443"


async def test_each_run_gives_what_is_there_by_then(tmp_path: Path) -> None:
    plugin = script(tmp_path / "plugin", ANSWER + f"give(open({str(tmp_path / 'token')!r}).read())")
    (tmp_path / "token").write_text("a")
    credentials = made(plugin)
    assert await token(credentials) == "a"
    assert await credentials.refresh() is False
    (tmp_path / "token").write_text("b")
    assert await token(credentials) == "a"
    assert await credentials.refresh() is True
    assert await token(credentials) == "b"


async def test_a_failure_and_what_it_wrote(tmp_path: Path) -> None:
    plugin = script(tmp_path / "plugin", "import sys; sys.exit('log in first')")
    with pytest.raises(CredentialsFailed, match=r"exit code 1\. It wrote .*\nlog in first$"):
        await made(plugin).headers()


async def test_one_that_is_not_there_can_be_installed_meanwhile(tmp_path: Path) -> None:
    credentials = made(tmp_path / "plugin", install_hint="see https://x")
    with pytest.raises(
        CredentialsFailed, match=r"(?s)was not found: .* no such file\. .*https://x"
    ):
        await credentials.headers()
    script(tmp_path / "plugin", ANSWER + "give('a')")
    assert await token(credentials) == "a"


async def test_cancelled_it_is_killed_and_the_next_one_runs(tmp_path: Path) -> None:
    gates = [tmp_path / "gate1", tmp_path / "gate2"]
    for gate in gates:
        os.mkfifo(gate)
    runs = tmp_path / "runs"
    code = (
        f"{ANSWER}open({str(runs)!r}, 'a').write('x')\n"
        f"gate = {str(tmp_path)!r} + '/gate' + str(len(open({str(runs)!r}).read()))\n"
        "give(open(gate).readline())"
    )
    credentials = made(script(tmp_path / "plugin", code))
    asker = asyncio.create_task(credentials.headers())
    # A pipe that can be opened has somebody at its other end: the plugin runs.
    first = await asyncio.to_thread(open, gates[0], "w")
    asker.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asker
    asker = asyncio.create_task(credentials.headers())
    with await asyncio.to_thread(open, gates[1], "w") as second:
        second.write("a")
    assert await asker == {"Authorization": "Bearer a"}
    with pytest.raises(BrokenPipeError), first:
        first.write("a")


def test_loops_in_several_threads_share_a_run(tmp_path: Path, gate: Path) -> None:
    runs = tmp_path / "runs"
    code = ANSWER + f"open({str(runs)!r}, 'a').write('x'); give(open({str(gate)!r}).readline())"
    credentials = made(script(tmp_path / "plugin", code))
    asked = threading.Barrier(9)

    async def ask() -> str:
        asker = asyncio.create_task(token(credentials))
        await asyncio.sleep(0)
        asked.wait(PATIENCE)
        return await asker

    with ThreadPoolExecutor(8) as threads:
        answers = [threads.submit(asyncio.run, ask()) for _ in range(8)]
        asked.wait(PATIENCE)
        with gate.open("w") as writer:
            writer.write("a")
        assert [answer.result(PATIENCE) for answer in answers] == ["a"] * 8
    assert runs.read_text() == "x"


def test_the_loop_that_asked_first_may_be_gone_before_the_answer(
    tmp_path: Path, gate: Path
) -> None:
    credentials = made(
        script(tmp_path / "plugin", ANSWER + f"give(open({str(gate)!r}).readline())")
    )
    second_waits: Future[None] = Future()

    async def first() -> None:
        asker = asyncio.create_task(token(credentials))
        await asyncio.wrap_future(second_waits)
        asker.cancel()

    async def second() -> str:
        asker = asyncio.create_task(token(credentials))
        await asyncio.sleep(0)
        second_waits.set_result(None)
        return await asker

    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(asyncio.run, first())
        writer = gate.open("w")  # it runs
        two = threads.submit(asyncio.run, second())
        one.result(PATIENCE)
        with writer:
            writer.write("a")
        assert two.result(PATIENCE) == "a"


async def test_standard_input_is_not_a_terminal_in_a_pipe() -> None:
    plugin = ExecPlugin(
        user="user 'alice'",
        command=sys.executable,
        version=ExecVersion.V1,
        interactive_mode=InteractiveMode.ALWAYS,
    )
    before, (reader, writer) = os.dup(0), os.pipe()
    os.dup2(reader, 0)
    try:
        with pytest.raises(CredentialsFailed, match="not a terminal"):
            await ExecCredentials(plugin).headers()
    finally:
        os.dup2(before, 0)
        for number in (before, reader, writer):
            os.close(number)
