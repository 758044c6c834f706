"""How long a watch may be silent (E4, H5, H18). Nothing here waits or reads a clock: times are
passed in, as seconds of the event loop's clock.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["IdleClock", "Liveness"]

_PERIODS = 2
"""Of bookmarks, that pass before their absence means something."""

_AFTER_TIMEOUT = 10.0
"""Seconds after timeoutSeconds, by which the server has ended a watch that it still knows of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """What silence is taken for, in seconds. Raises `ValueError` for what makes no sense."""

    idle: float | None = 150.0
    """A watch on which nothing arrives for so long is ended, as long as no bookmarks say more: a
    quiet type may get none. None: 10 s after the server should have ended it.
    """
    shortest: float = 75.0
    """The least that two periods of bookmarks count for."""
    initial: float = 30.0
    """The most between two initial events, and before the bookmark that ends them (H5)."""
    recheck: float = 30.0
    """After a lost connection: when a watch that is still silent is checked once more (H18)."""

    def __post_init__(self) -> None:
        for name in ("idle", "shortest", "initial", "recheck"):
            value = getattr(self, name)
            if value is None and name == "idle":
                continue
            if value is None or not value > 0:
                raise ValueError(f"Liveness: {name} must be above 0, not {value!r}")


class IdleClock:
    """When one watch has been silent for too long.

    After two periodic bookmarks that is twice the time between the last two of them. While its
    consumer does not read, time does not count.

    >>> clock = IdleClock(Liveness(), timeout_seconds=420, now=0.0)
    >>> clock.deadline(last_read=5.0)
    155.0
    >>> clock.bookmark(60.0)
    >>> clock.bookmark(120.0)
    >>> clock.deadline(last_read=120.0)
    240.0
    >>> clock.paused(121.0)
    >>> clock.resumed(151.0)
    >>> clock.deadline(last_read=120.0)
    270.0
    """

    def __init__(self, liveness: Liveness, timeout_seconds: int, now: float) -> None:
        self._shortest = liveness.shortest
        self._limit = timeout_seconds + _AFTER_TIMEOUT if liveness.idle is None else liveness.idle
        self._opened = now
        self._bookmark: float | None = None  # the last one, in time that counts
        self._paused_at: float | None = None
        self._pause = (now, now)  # the last one that is over
        self._left_out = 0.0  # what all of them took

    @property
    def limit(self) -> float:
        """The seconds of silence that end the watch."""
        return self._limit

    def bookmark(self, now: float) -> None:
        """A periodic bookmark came. The one that ends the initial events is none."""
        arrived = now if self._paused_at is None else self._paused_at
        counted = arrived - self._left_out
        if self._bookmark is not None:
            self._limit = max(self._shortest, _PERIODS * (counted - self._bookmark))
        self._bookmark = counted

    def paused(self, now: float) -> None:
        """Something came, and its consumer, which is busy with it, does not read from now on.
        Idempotent.
        """
        if self._paused_at is None:
            self._paused_at = now

    def resumed(self, now: float) -> None:
        """It reads again. Idempotent."""
        if self._paused_at is not None:
            self._pause = self._paused_at, now
            self._left_out += now - self._paused_at
            self._paused_at = None

    def deadline(self, last_read: float) -> float:
        """The time at which the watch is to be ended, where bytes last came at `last_read`. It
        moves with each read, bookmark and pause; while paused there is none (infinity).
        """
        if self._paused_at is not None:
            return math.inf
        read = max(last_read, self._opened)
        begin, end = self._pause
        return read + max(0.0, end - max(begin, read)) + self._limit
