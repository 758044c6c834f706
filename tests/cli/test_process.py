"""The command as a process of its own: signals, pipes, and what it needs to run at all."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tests.cli.servers import STREAM, http, replaying, serving, silent, streaming
from tests.support.vectors import vector

EVENT = b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"a"}}}\n'
SECONDS = 30
"""More than any of these takes, on a slow machine too."""


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "error", **more}


@contextmanager
def running(
    *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE, program: tuple[str, ...] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """The command, in an interpreter whose warnings are errors."""
    with subprocess.Popen(
        [sys.executable, *(program or ("-m", "listwatch")), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env=_environment(),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _end(process: subprocess.Popen[bytes]) -> tuple[int, str]:
    """Its exit code, and what it said on standard error."""
    code = process.wait(SECONDS)
    assert process.stderr is not None
    return code, process.stderr.read().decode()


def _line(stream: IO[bytes] | None) -> bytes:
    assert stream is not None
    return stream.readline()


def test_it_runs_as_a_module() -> None:
    with running("--version") as process:
        assert _line(process.stdout).startswith(b"listwatch ")
        assert _end(process) == (0, "")


def test_ctrl_c_ends_a_watch_quietly_and_closes_its_connection() -> None:
    closed = threading.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await streaming(EVENT)(reader, writer)
        closed.set()

    with (
        serving(answer) as url,
        running("watch", "--raw", "pods", "-o", "json", "--server", url) as process,
    ):
        assert _line(process.stdout) == EVENT
        assert not closed.is_set()
        process.send_signal(signal.SIGINT)
        assert _end(process) == (130, "")
        assert closed.wait(SECONDS)


def test_ctrl_c_ends_a_wait_for_the_answer() -> None:
    with serving(silent) as url, running("get", "pods", "-v", "--server", url) as process:
        asked = _line(process.stderr)
        process.send_signal(signal.SIGINT)
        assert _end(process) == (130, "")
    assert asked.startswith(b"listwatch: GET http://")


def test_ctrl_c_ends_it_while_nobody_reads_what_it_writes() -> None:
    big = b'{"type":"ADDED","object":{"kind":"Pod","metadata":{"name":"%s"}}}\n' % (b"x" * 100_000)
    with (
        serving(streaming(*[big] * 20)) as url,
        running("watch", "--raw", "pods", "-o", "json", "--server", url) as process,
    ):
        assert process.stdout is not None
        process.stdout.read(1)  # it writes, and the pipe is full soon
        process.send_signal(signal.SIGINT)
        assert _end(process) == (130, "")


def test_ctrl_c_ends_the_replay_server() -> None:
    with running("replay", "--speed", "max") as process:
        said = [_line(process.stderr).decode() for _ in range(2)]
        process.send_signal(signal.SIGINT)
        assert _end(process)[0] == 130
    assert "recordings at http://127.0.0.1:" in said[0]
    assert said[1].startswith("  listwatch watch apps/v1/deployments -n rec ")


def test_sigterm_ends_it_as_it_ends_anything() -> None:
    with (
        serving(streaming(EVENT)) as url,
        running("watch", "--raw", "pods", "-o", "json", "--server", url) as process,
    ):
        _line(process.stdout)
        process.terminate()
        assert _end(process) == (-signal.SIGTERM, "")


def test_a_closed_pipe_ends_a_busy_watch_without_a_word() -> None:
    with (
        serving(streaming(*[EVENT] * 5000)) as url,
        running("watch", "--raw", "pods", "-o", "json", "--server", url) as process,
    ):
        assert _line(process.stdout) == EVENT
        assert process.stdout is not None
        process.stdout.close()
        assert _end(process) == (0, "")


def test_a_closed_pipe_ends_a_quiet_watch_too() -> None:
    with (
        serving(streaming(EVENT)) as url,
        running("watch", "--raw", "pods", "-o", "json", "--server", url) as process,
    ):
        assert _line(process.stdout) == EVENT
        assert process.stdout is not None
        process.stdout.close()
        assert _end(process) == (0, "")


def test_a_closed_pipe_ends_a_get() -> None:
    items = b",".join(b'{"metadata":{"name":"p%d"}}' % number for number in range(20_000))
    body = b'{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[%s]}' % items
    with (
        serving(http(body)) as url,
        running("get", "pods", "-o", "name", "--server", url) as process,
    ):
        assert _line(process.stdout) == b"pod/p0\n"
        assert process.stdout is not None
        process.stdout.close()
        assert _end(process) == (0, "")


def test_a_pipe_that_was_closed_before_it_began_is_no_fault_of_ours() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe, running("--help", stdout=pipe) as process:
        assert _end(process) == (0, "")


def test_an_end_by_the_server_leaves_nothing_open() -> None:
    with replaying([vector("k-churn-pods")]) as server:
        arguments = ("watch", "pods", "-n", "rec", "-o", "json", "--raw")
        with running(*arguments, "--server", server.url) as process:
            assert process.stdout is not None
            data = process.stdout.read()
            code, said = _end(process)
    assert len(data.splitlines()) == 12
    assert (code, said) == (0, "listwatch: the server ended the watch after 12 events\n")


def test_a_terminal_has_colours() -> None:
    ours, theirs = pty.openpty()
    try:
        with (
            serving(STREAM + EVENT) as url,
            running("watch", "--raw", "pods", "--server", url, stdout=theirs) as process,
        ):
            code, _ = _end(process)
        shown = os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    assert code == 0
    assert b"\x1b[1;32mADDED" in shown


def until(descriptor: int, *texts: bytes) -> bytes:
    """Read a terminal until all of these were shown."""
    shown = b""
    while not all(text in shown for text in texts):
        shown += os.read(descriptor, 65536)
    return shown


def test_on_a_terminal_the_demo_is_a_screen_that_goes_at_ctrl_c() -> None:
    ours, theirs = pty.openpty()
    try:
        with running("demo", stdout=theirs) as process:
            shown = until(ours, b"60 pods", b"MODIFIED", b"shop/web")
            process.send_signal(signal.SIGINT)
            left = until(ours, b"\x1b[?25h\x1b[?1049l")
            code, said = _end(process)
    finally:
        os.close(ours)
        os.close(theirs)
    assert shown.startswith(b"\x1b[?1049h\x1b[?25l")
    assert b"\x1b[?1049l" not in shown
    assert left.endswith(b"\x1b[?25h\x1b[?1049l")
    assert code == 130
    assert " events of pods (" in said
    assert "listwatch serve --load" in said


def test_the_demos_screen_goes_when_its_time_is_over() -> None:
    ours, theirs = pty.openpty()
    try:
        with running("demo", "--duration", "2s", stdout=theirs) as process:
            until(ours, b"\x1b[?1049l")
            code, said = _end(process)
    finally:
        os.close(ours)
        os.close(theirs)
    assert code == 0
    assert " events of pods (" in said


def test_without_the_extra_it_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['typer'] = None; from listwatch.cli import main; sys.exit(main())"
    )
    with running("get", "pods", program=("-c", program)) as process:
        assert _end(process) == (
            1,
            "listwatch: the command needs typer, which is not installed:"
            " pip install 'listwatch[cli]'\n",
        )


def test_importing_it_imports_nothing_heavy() -> None:
    program = (
        "import sys, listwatch.cli; "
        "print(sorted({'typer', 'rich', 'aiohttp', 'yaml', 'click'} & set(sys.modules)))"
    )
    with running(program=("-c", program)) as process:
        assert _line(process.stdout) == b"[]\n"
        assert _end(process) == (0, "")
