"""The demo's screen: a tally as lines of a terminal. Nothing here draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from listwatch.api import EventType

from .style import Paint, event_style
from .tally import Look, Seen, Tally, Told

__all__ = ["Frame", "frame"]

_BARS = "▁▂▃▄▅▆▇█"
_FRESH = 0.8
"""Seconds for which a pod that has changed stands out."""
_SAMPLES = 30
_LEAST_EVENTS = 7
"""Lines of events, which the map of the apps has to leave."""

Segment: TypeAlias = tuple[str, str]
"""A text and its style."""
Line: TypeAlias = Sequence[Segment]


@dataclass(frozen=True, slots=True)
class Frame:
    """What stays the same while the screen changes."""

    title: str
    footer: str
    footer_short: str


def frame(
    tally: Tally, about: Frame, *, now: float, width: int, height: int, paint: Paint
) -> list[str]:
    """The lines of the screen, `height` of them at most, none wider than `width`."""
    lines: list[Line] = [_title(about, now - tally.began, width), _pods(tally, width)]
    lines.append(_events(tally, width))
    footer: list[Line] = [_footer(about, width)]
    left = height - len(lines) - len(footer)
    apps = _apps(tally, now, width)
    room = max(0, left - 2 - _LEAST_EVENTS)
    if apps and room:
        lines.append(_rule("pods of each app", width))
        lines += apps[:room] if len(apps) <= room else [*apps[: room - 1], _more(apps, room)]
    left = height - len(lines) - len(footer)
    if left >= 2:
        lines.append(_rule("events, as they come", width))
        lines += _log(tally, width, left - 1)
    lines += [()] * (height - len(lines) - len(footer))
    return [_painted(line, width, paint) for line in (*lines, *footer)][:height]


def _title(about: Frame, seconds: float, width: int) -> Line:
    clock = f"{int(seconds) // 60:02}:{int(seconds) % 60:02} "
    left = f" {about.title}"[: width - len(clock) - 1]
    return [(left.ljust(width - len(clock)) + clock, "bold white on blue")]


def _pods(tally: Tally, width: int) -> Line:
    looks = tally.looks()
    line: list[Segment] = [(f" {len(tally.pods)} pods ".ljust(12), "bold")]
    for look in Look:
        if looks[look] or look is Look.READY:
            line += [(f"{look.sign} {looks[look]}", look.style), (f" {look.words}  ", "")]
    return line


def _events(tally: Tally, width: int) -> Line:
    counts = tally.counts
    line: list[Segment] = [(f" {counts.total()} events ".ljust(12), "bold")]
    for kind in (EventType.ADDED, EventType.MODIFIED, EventType.DELETED):
        line += [(f"{kind} ", event_style(kind)), (f"{counts[kind]}  ", "")]
    rates = tally.rates(_SAMPLES)
    recent = rates[1:][-5:]  # in the first second came all that was there before
    rate = f" {sum(recent) / len(recent):.0f}/s " if recent else ""
    line += [(rate, "bold")]
    room = width - sum(len(text) for text, _ in line) - 1
    size = f" {tally.size / 1e6:.1f} MB"
    bars = _bars(rates[-max(0, min(_SAMPLES, room - len(size))) :])
    line += [(bars, "cyan"), (size, "dim")]
    if room - len(bars) - len(size) > 24:
        line.append((f"   resourceVersion {tally.resource_version}", "dim"))
    return line


def _bars(rates: Sequence[int]) -> str:
    most = max([*rates[1:], 1])  # what was there before must not make the others small
    top = len(_BARS) - 1
    return "".join(_BARS[min(top, round(rate * top / most))] for rate in rates)


def _apps(tally: Tally, now: float, width: int) -> list[Line]:
    """The map: a sign for each pod, app by app, in as many columns as there is room for."""
    apps = tally.apps()
    if not apps:
        return []
    names = {key: f"{key[0]}/{key[1]}" for key in apps}
    longest = max(map(len, names.values()))
    signs = max(8, max(map(len, apps.values())))
    cell = longest + 1 + signs + 2
    columns = max(1, (width - 1) // cell)
    rows = -(-len(apps) // columns)
    cells = [_app(names[key], pods, longest, cell, now) for key, pods in apps.items()]
    return [
        [(" ", ""), *(segment for one in cells[row::rows] for segment in one)]
        for row in range(rows)
    ]


def _app(name: str, pods: Sequence[Seen], longest: int, width: int, now: float) -> list[Segment]:
    room = width - longest - 3  # a space before the signs, two behind them
    line: list[Segment] = [(name.ljust(longest + 1), "")]
    shown = pods if len(pods) <= room else pods[: room - 1]
    for pod in shown:
        fresh = " reverse" if now - pod.changed < _FRESH else ""
        line.append((pod.look.sign, pod.look.style + fresh))
    if len(shown) < len(pods):
        line.append(("+", "dim"))
    used = longest + 1 + min(len(pods), room)
    return [*line, (" " * (width - used), "")]


def _more(apps: Sequence[Line], room: int) -> Line:
    return [(f" … {len(apps) - room + 1} more lines in a higher terminal", "dim")]


def _log(tally: Tally, width: int, height: int) -> list[Line]:
    """The newest events, the last one at the bottom."""
    told = list(tally.told)[-height:]
    names = [len(_name(event)) for event in tally.told]
    longest = min(max([*names, 30]), 44)
    return [_event(event, longest, width) for event in told]


def _event(event: Told, longest: int, width: int) -> Line:
    gone = event.type is EventType.DELETED
    line: list[Segment] = [(" ", "")]
    if width >= 96:
        line.append((event.time.astimezone().strftime("%H:%M:%S  "), "dim"))
    line.append((f"{event.type:<8}  ", event_style(event.type)))
    line.append((f"{_name(event):<{longest}}  ", "dim" if gone else ""))
    change = "dim" if gone else event.pod.look.style
    if width >= 120:
        line += [(f"{event.change:<40}  ", change), (event.pod.node, "dim")]
    else:
        line.append((event.change, change))
    return line


def _name(event: Told) -> str:
    return f"{event.pod.namespace}/{event.pod.name}"


def _rule(words: str, width: int) -> Line:
    return [(f"── {words} ".ljust(width, "─"), "dim")]


def _footer(about: Frame, width: int) -> Line:
    text = about.footer if len(about.footer) + 2 <= width else about.footer_short
    return [(f" {text}", "dim")]


def _painted(line: Line, width: int, paint: Paint) -> str:
    """Cut to the width, and painted."""
    parts = []
    for text, style in line:
        if width <= 0:
            break
        parts.append(paint(text[:width], style))
        width -= len(text)
    return "".join(parts)
