"""Colours, for people: only on a terminal that has them, and only where NO_COLOR is not set."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["Paint", "event_style", "painter", "plain", "state_style"]

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


def painter(*, terminal: bool) -> Paint:
    """How to paint what goes to a terminal, or not to one."""
    if not terminal or os.environ.get("NO_COLOR") or os.environ.get("TERM") in ("dumb", "unknown"):
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


def state_style(header: str, cell: str) -> str:
    """The style of a cell: only a state has one."""
    if header != "STATUS":
        return ""
    if cell in _GOOD:
        return "green"
    if cell in _UNDERWAY or cell.startswith("Init:"):
        return "yellow"
    return "red"
