from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.cli.live import picture
from listwatch.cli.screen import Frame, frame
from listwatch.cli.style import plain
from listwatch.cli.tally import Tally
from tests.cli.test_tally import Clock, event, pod

ABOUT = Frame(title="a title", footer="a long footer with a command", footer_short="short")
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _tally() -> tuple[Tally, Clock]:
    clock = Clock()
    tally = Tally(lambda: NOW, clock)
    for app in range(12):
        tally.text([event("ADDED", pod(f"app{app}-{at}")) for at in range(app % 4 + 1)])
    clock.seconds += 65
    tally.text([event("MODIFIED", pod("app1-0", ready=False)), event("DELETED", pod("app2-0"))])
    clock.seconds += 1
    return tally, clock


def _lines(width: int, height: int) -> list[str]:
    tally, clock = _tally()
    return frame(tally, ABOUT, now=clock(), width=width, height=height, paint=plain)


def test_the_screen_of_a_usual_terminal() -> None:
    lines = _lines(80, 24)
    assert len(lines) == 24
    assert lines[0] == " a title".ljust(74) + "01:06 "
    assert lines[1].rstrip() == " 29 pods    ■ 28 ready  ▣ 1 unready"
    assert lines[2].startswith(" 32 events  ADDED 30  MODIFIED 1  DELETED 1   0/s ")
    assert lines[3] == "── pods of each app ".ljust(80, "─")
    assert lines[4].split() == ["shop/app0", "■", "shop/app2", "■■", "shop/app6", "■■■"]
    assert lines[5].split()[:2] == ["shop/app1", "▣■"]
    events = lines.index("── events, as they come ".ljust(80, "─"))
    assert lines[-1] == " a long footer with a command"
    shown = [line.split() for line in lines[events + 1 : -1] if line]
    assert shown[-2:] == [
        ["MODIFIED", "shop/app1-0", "1/1", "→", "0/1", "ready"],
        ["DELETED", "shop/app2-0", "gone", "after", "60m"],
    ]


def test_a_wide_one_has_the_time_and_the_node_too() -> None:
    last = _lines(140, 40)
    found = [line.split() for line in last if "DELETED" in line][-1]
    assert found[0].count(":") == 2
    assert found[-1] == "worker-1"


def test_a_map_that_is_too_large_says_so() -> None:
    lines = _lines(40, 18)
    assert any(line.startswith(" … 8 more lines") for line in lines)
    assert any(line.startswith(" DELETED") for line in lines)


@given(st.integers(1, 200), st.integers(1, 60))
def test_it_fits_into_any_terminal(width: int, height: int) -> None:
    lines = _lines(width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width


def test_before_the_first_event_there_is_a_screen_too() -> None:
    tally = Tally(lambda: NOW, Clock())
    lines = frame(tally, ABOUT, now=100.0, width=80, height=24, paint=plain)
    assert len(lines) == 24
    assert lines[1].startswith(" 0 pods")


def test_a_pod_that_has_just_changed_stands_out() -> None:
    tally, clock = _tally()
    painted: list[tuple[str, str]] = []

    def paint(text: str, style: str) -> str:
        painted.append((text, style))
        return text

    frame(tally, ABOUT, now=clock() - 0.9, width=80, height=24, paint=paint)
    assert ("▣", "bright_yellow reverse") in painted
    painted.clear()
    frame(tally, ABOUT, now=clock(), width=80, height=24, paint=paint)
    assert ("▣", "bright_yellow") in painted


@pytest.mark.parametrize("lines", [[], ["a"], ["a", "b"]])
def test_a_picture_covers_what_was_there(lines: list[str]) -> None:
    data = picture(lines).decode()
    assert data.startswith("\x1b[H")
    assert data.endswith("\x1b[K\x1b[J")
    assert data.count("\r\n") == max(0, len(lines) - 1)
