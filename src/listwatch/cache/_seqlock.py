"""A sequence lock: one writer, who waits for nobody, and readers, who look again (I1)."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import get_ident
from typing import TypeVar

__all__ = ["Seqlock"]

R = TypeVar("R")


def _give_way() -> None:
    time.sleep(0)  # lets the writer's thread run; the writer is a few microseconds from its end


class Seqlock:
    """Readers see what one `with` block of the writer changes either whole or not at all.

    The version is odd while the writer is inside. A reader that finds it odd, or changed when it
    has looked, looks again. A `with` block must call nobody's code.
    """

    __slots__ = ("_pause", "_version", "_writer")

    def __init__(self, pause: Callable[[], None] = _give_way) -> None:
        self._pause = pause
        self._version = 0
        self._writer = 0

    @property
    def version(self) -> int:
        """Grows with each write."""
        return self._version

    def read(self, look: Callable[[], R]) -> R:
        """What `look` returns when no write fell into it; what it raises then is raised."""
        while True:
            version = self._version
            if version & 1 and self._writer != get_ident():
                self._pause()
                continue
            # An odd version in the writer's own thread is a finalizer or signal handler that the
            # interpreter ran inside of the block: it would wait for itself.
            try:
                found = look()
            except Exception:
                if self._version == version:
                    raise
                continue  # it met something half changed
            if self._version == version:
                return found

    def __enter__(self) -> None:
        self._writer = get_ident()
        self._version += 1

    def __exit__(self, *exc: object) -> None:
        self._version += 1
