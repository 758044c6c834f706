"""A bar that shows how far a list has come, for people who wait for it."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from .style import is_capable

__all__ = ["LoadingBar"]

_PATIENCE = 0.5
"""Seconds that a person waits without wondering."""
_EVERY = 0.1
"""Seconds between two pictures."""


class LoadingBar:
    """On standard error, if that is a terminal, once loading takes longer than half a second. It is
    gone when loading is over.
    """

    def __init__(self, *, wanted: bool) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        self._wanted = wanted and is_capable(terminal=terminal)
        self._timer: asyncio.TimerHandle | None = None
        self._progress: Any = None
        self._count = 0
        self._remaining: int | None = None

    def begin(self) -> None:
        """Something is being loaded. Idempotent."""
        if self._wanted and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_PATIENCE, self._show)

    def update(self, count: int, remaining: int | None) -> None:
        """So many objects have come, and so many are still to come, as far as that is known."""
        self._count, self._remaining = count, remaining
        self.begin()

    def end(self) -> None:
        """Nothing is being loaded any more. Idempotent."""
        if self._timer is not None:
            self._timer.cancel()
        if self._progress is not None:
            self._progress.stop()
        self._timer = self._progress = self._remaining = None
        self._count = 0

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._progress = Progress(
            TextColumn("listing"),
            BarColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            auto_refresh=False,  # by a thread, that is
            redirect_stdout=False,  # standard error is: what is said meanwhile stands above the bar
        )
        self._progress.add_task("", total=None)
        self._draw()
        self._progress.start()

    def _draw(self) -> None:
        [task] = self._progress.task_ids
        total = None if self._remaining is None else self._count + self._remaining
        told = f"{self._count:,}" if total is None else f"{self._count:,} of {total:,}"
        self._progress.update(task, completed=self._count, total=total, description=told)
        self._progress.refresh()
        self._timer = asyncio.get_running_loop().call_later(_EVERY, self._draw)
