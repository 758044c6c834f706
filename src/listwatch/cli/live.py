"""A screen that is drawn again and again while something else goes on."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeAlias

from .sink import Sink

__all__ = ["Draw", "live_screen"]

Draw: TypeAlias = Callable[[int, int], Sequence[str]]
"""The lines of a screen so wide and so high."""

_EVERY = 0.1
"""Seconds between two pictures: quick enough to be seen as motion, and slow enough to be read."""
_ENTER = b"\x1b[?1049h\x1b[?25l\x1b[2J"  # the terminal's other screen; no cursor
_LEAVE = b"\x1b[?25h\x1b[?1049l"


@asynccontextmanager
async def live_screen(sink: Sink, draw: Draw) -> AsyncIterator[None]:
    """While inside, the terminal shows what `draw` gives; after it, what it showed before.

    Raises what is raised inside, and what drawing and writing raise.
    """
    sink.draw(_ENTER)
    try:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_keep_drawing(sink, draw))
            yield
            task.cancel()
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None  # there is one at a time: the other was cancelled
    finally:
        sink.draw(_LEAVE)


async def _keep_drawing(sink: Sink, draw: Draw) -> None:
    while True:
        width, height = shutil.get_terminal_size()
        sink.draw(picture(draw(width, height)))
        await asyncio.sleep(_EVERY)


def picture(lines: Sequence[str]) -> bytes:
    """The bytes that put these lines on the screen, from the top, over what is there."""
    return ("\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J").encode()
