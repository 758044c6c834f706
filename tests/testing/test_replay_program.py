from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from listwatch.testing import Recording
from listwatch.testing.replay.__main__ import main
from listwatch.testing.replay.commands import command_for

VECTORS = Path(__file__).parent.parent / "vectors"
URL = "http://127.0.0.1:8001"


@pytest.mark.parametrize(
    ("target", "command"),
    [
        ("/api/v1/pods", "get pods -A"),
        ("/api/v1/nodes", "get nodes"),
        ("/api/v1/namespaces", "get namespaces"),
        ("/api/v1/namespaces/a/pods?limit=5", "get pods -n a"),
        ("/api/v1/namespaces/a/pods?watch=1", "watch pods -n a --raw"),
        ("/apis/apps/v1/namespaces/a/deployments", "get apps/v1/deployments -n a"),
        ("/api/v1/watch/namespaces/a/pods/b", "watch pods -n a --raw"),
        ("/api/v1/pods?labelSelector=a%3Db,c", "get pods -A -l a=b,c"),
        (
            "/api/v1/pods?fieldSelector=spec.nodeName%21%3D",
            "get pods -A --field-selector 'spec.nodeName!='",
        ),
    ],
)
def test_the_command_line_for_a_list_or_watch(target: str, command: str) -> None:
    recording = Recording("", f"GET {target} HTTP/1.1\r\n\r\n".encode(), b"")
    assert command_for(recording, URL) == f"listwatch {command} --server {URL}"


def test_there_is_none_for_anything_else() -> None:
    assert command_for(Recording("", b"GET /version HTTP/1.1\r\n\r\n", b""), URL) is None


@pytest.mark.parametrize("missing", ["no-such-file.http", str(VECTORS)])
def test_a_file_that_cannot_be_read_is_told_in_a_line(
    missing: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([missing]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert missing in told.err
    assert told.err.count("\n") == 1


@pytest.mark.parametrize("speed", ["0", "-1", "fast"])
def test_a_speed_that_is_none_is_refused(speed: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--speed", speed])
    assert "--speed" in capsys.readouterr().err


def _heed_ctrl_c() -> None:
    """In a child: a shell that started the tests in the background may have it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


async def test_the_program_says_what_it_plays_and_ends_quietly_on_ctrl_c() -> None:
    recording = Recording.load(VECTORS / "k-list-pods-rv0.http")
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "listwatch.testing.replay"),
        *(str(VECTORS / "k-list-pods-rv0.http"), "--speed", "max", "--loop"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        preexec_fn=_heed_ctrl_c,
    )
    try:
        assert program.stdout is not None
        first = (await program.stdout.readline()).decode()
        assert first.startswith("1 recording at http://127.0.0.1:")
        port = int(first.split()[3].rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /api/v1/namespaces/rec/pods?limit=500 HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await reader.readexactly(len(recording.response)) == recording.response
        writer.close()
        await writer.wait_closed()
        program.send_signal(signal.SIGINT)
        rest, errors = await program.communicate()
    finally:
        if program.returncode is None:
            program.kill()
            await program.communicate()
    assert f"listwatch get pods -n rec --server http://127.0.0.1:{port}" in rest.decode()
    assert errors == b""
    assert program.returncode == 0
