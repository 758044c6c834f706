from __future__ import annotations

import asyncio
import errno
import io
import os
import sys

import pytest

from listwatch.cli.sink import OutputFailed, Sink
from tests.cli.conftest import Run


class _Full(io.RawIOBase):
    """A disk without space."""

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_is_written_is_there_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(data, 1000)))
    Sink().write(b"a")
    assert data.getvalue() == b"a"


def test_a_full_disk_is_told_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(_Full()))
    with pytest.raises(OutputFailed, match="No space left on device"):
        Sink().write(b"a")


def test_without_any_standard_output_nothing_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    sink = Sink()
    sink.write(b"a")
    sink.give_up()
    assert not sink.is_terminal


async def test_a_pipe_is_unread_when_its_other_end_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("listwatch.cli.sink._POLL_EVERY", 0.001)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr(sys, "stdout", pipe)
        waiting = asyncio.create_task(Sink().unread())
        for _ in range(5):
            await asyncio.sleep(0.001)
        assert not waiting.done()
        os.close(reading)
        await waiting


def test_a_full_disk_is_one_line_of_the_command(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("listwatch.cli.sink.Sink.write", _fail)
    ran = run("get", "pods", "--embedded")
    assert ran.code == 1
    assert ran.notes.splitlines()[-1] == "listwatch: the output cannot be written: it is full"


def _fail(sink: Sink, data: bytes) -> None:
    raise OutputFailed("the output cannot be written: it is full")
