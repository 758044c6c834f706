"""Colours, for people: only on a terminal that has them, and only where NO_COLOR is not set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Paint", "cell_style", "event_style", "is_capable", "painter", "plain"]

Paint: TypeAlias = Callable[[str, str], str]
"""A text in a style, in the words of rich: `paint("ADDED", "bold green")`."""

_EVENTS = {
    "ADDED": "bold green",
    "MODIFIED": "cyan",
    "DELETED": "bold red",
    "BOOKMARK": "dim",
    "ERROR": "bold white on red",
}

_GOOD = {"Running", "Ready", "Active", "Bound", "Complete", "Completed", "Succeeded", "Available"}
_UNDERWAY = {
    "Pending",
    "ContainerCreating",
    "PodInitializing",
    "Terminating",
    "NotReady",
    "Unknown",
}


def plain(text: str, style: str) -> str:
    """The text without any style."""
    return text


def is_capable(*, terminal: bool) -> bool:
    """Whether more can be done there than to write one line after the other."""
    return terminal and os.environ.get("TERM") not in ("dumb", "unknown")


def painter(*, terminal: bool) -> Paint:
    """How to paint what goes to a terminal, or not to one."""
    if not is_capable(terminal=terminal) or os.environ.get("NO_COLOR"):
        return plain
    from rich.color import ColorSystem
    from rich.style import Style

    def paint(text: str, style: str) -> str:
        if not style or not text:
            return text
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    return paint


def event_style(kind: str) -> str:
    """The style of an event's type."""
    return _EVENTS.get(kind, "")


def cell_style(header: str, cell: str, *, gone: bool = False) -> str:
    """The style of a cell: only an event and a state have one, and what is gone is dim."""
    if header == "EVENT":
        return event_style(cell)
    if gone:
        return "dim"
    if header != "STATUS":
        return ""
    if cell in _GOOD:
        return "green"
    if cell in _UNDERWAY or cell.startswith("Init:"):
        return "yellow"
    return "red"
