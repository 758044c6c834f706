"""Files that others write, read again from time to time."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from listwatch.rest.rereading import FileText

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("N2", "N3")]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(b"one")
    return tmp_path / "file"


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def remove(path: Path) -> None:
    path.unlink()


async def test_it_is_read_again_once_its_time_has_passed(path: Path) -> None:
    text = FileText(path, every=60)
    assert await text.read() == b"one"
    write(path, b"two")
    await asyncio.sleep(59)
    assert await text.read() == b"one"
    await asyncio.sleep(1)
    assert await text.read() == b"two"


async def test_a_look_reads_it_now_and_says_whether_it_is_another(path: Path) -> None:
    text = FileText(path, every=60)
    assert await text.look()
    assert not await text.look()
    write(path, b"two")
    assert await text.look()
    assert await text.read() == b"two"


async def test_in_doubt_it_is_read_again(path: Path) -> None:
    text = FileText(path, every=60)
    await text.read()
    write(path, b"two")
    text.doubt()
    assert await text.read() == b"two"


async def test_many_who_ask_at_once_cost_one_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = []
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.append(self) or read(self))
    text = FileText(path, every=60)
    assert await asyncio.gather(*(text.read() for _ in range(10))) == [b"one"] * 10
    assert len(reads) == 1


async def test_a_file_that_is_gone_is_what_it_was_and_that_is_said(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    text = FileText(path, every=60)
    await text.read()
    remove(path)
    await asyncio.sleep(60)
    with caplog.at_level(logging.WARNING, "listwatch.rest"):
        assert await text.read() == b"one"
        assert await text.read() == b"one"
    assert len(caplog.records) == 1
    assert f"{path} cannot be read any more (No such file or directory)" in caplog.text


async def test_a_file_that_never_was_is_an_error_each_time(tmp_path: Path) -> None:
    text = FileText(tmp_path / "none", every=60)
    for ask in (text.read, text.read, text.look):
        with pytest.raises(FileNotFoundError):
            await ask()
    write(tmp_path / "none", b"there")
    assert await text.read() == b"there"
