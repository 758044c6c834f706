from __future__ import annotations

import asyncio
import io
import re
import sys

import pytest

from listwatch.cli.loading import LoadingBar
from listwatch.cli.notes import note

pytestmark = pytest.mark.virtual_time


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> list[str]:
        """Each picture, and what was said meanwhile, without colours and moves."""
        plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self.getvalue())
        return [line.strip() for line in re.split(r"[\r\n]+", plain) if line.strip()]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()


def _bar(
    terminal: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, wanted: bool = True
) -> LoadingBar:
    # Not in the fixture: pytest puts a stream of its own there for each part of a test.
    monkeypatch.setattr(sys, "stderr", terminal)
    return LoadingBar(wanted=wanted)


async def test_what_is_quick_needs_no_bar(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.begin()
    await asyncio.sleep(0.4)
    bar.update(10, 5)
    bar.end()
    await asyncio.sleep(10)
    assert terminal.getvalue() == ""


async def test_a_bar_shows_how_much_has_come_of_how_much(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.begin()
    bar.update(500, 1500)
    await asyncio.sleep(0.55)
    bar.update(1500, 500)
    await asyncio.sleep(0.1)
    bar.end()
    assert re.fullmatch(r"listing [━╸╺ ]+ 500 of 2,000 0:00:0\d", terminal.shown[0])
    assert "1,500 of 2,000" in terminal.shown[-1]


async def test_where_the_total_is_not_known_it_counts(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.update(1234, None)
    await asyncio.sleep(1)
    bar.end()
    assert re.search(r" 1,234 0:00:", terminal.shown[-1])


async def test_nothing_of_it_stays(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.begin()
    await asyncio.sleep(1)
    drawn = terminal.getvalue()
    bar.end()
    bar.end()
    left = terminal.getvalue()[len(drawn) :]
    assert "\x1b[?25h" in left  # the cursor is there again
    assert "\x1b[2K" in left  # and the line is empty
    assert "listing" not in left[left.rindex("\x1b[2K") :]
    await asyncio.sleep(10)
    assert terminal.getvalue() == drawn + left


async def test_it_begins_again_with_the_next_list(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.begin()
    bar.end()
    bar.update(7, None)
    await asyncio.sleep(0.6)
    bar.end()
    assert " 7 0:00:" in terminal.shown[0]


async def test_what_is_said_meanwhile_stands_above_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = _bar(terminal, monkeypatch)
    bar.begin()
    await asyncio.sleep(1)
    note("a warning")
    await asyncio.sleep(0.2)
    bar.end()
    assert "listwatch: a warning" in terminal.shown
    assert sys.stderr is terminal


@pytest.mark.parametrize("reason", ["no terminal", "dumb", "unwanted"])
async def test_where_it_is_not_wanted_there_is_none(
    reason: str, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO() if reason == "no terminal" else terminal
    monkeypatch.setenv("TERM", "dumb" if reason == "dumb" else "xterm")
    bar = _bar(stream, monkeypatch, wanted=reason != "unwanted")
    bar.begin()
    bar.update(1, None)
    await asyncio.sleep(10)
    bar.end()
    assert stream.getvalue() == ""
