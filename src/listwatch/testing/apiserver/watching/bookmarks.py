"""When a watch is sent bookmarks (K15)."""

from __future__ import annotations

from random import Random

__all__ = ["BookmarkTimes"]

_BEFORE_END = 2.0  # seconds before the end of the watch at which one is wanted
_TICK = 1.0  # seconds: how exactly the real server keeps such times
_JITTER = 0.25  # of a tick: how much longer some are


class BookmarkTimes:
    """The times of one watch, on the core's clock, in seconds.

    One is wanted every `interval`, and two seconds before the end. The real server puts these times
    into buckets of a second and looks into them every 1 to 1.25 s, so bookmarks come up to a second
    early or a little late; the last one, if it is early, comes again. `rng` decides. An interval
    below ten seconds makes the buckets shorter.
    """

    __slots__ = ("_deadline", "_interval", "_phase", "_rng", "_tick", "next")

    def __init__(self, rng: Random, *, now: float, deadline: float, interval: float) -> None:
        self._rng = rng
        self._deadline = deadline
        self._interval = interval
        self._tick = min(_TICK, interval / 10)
        self._phase = rng.random() * self._tick
        self.next = self._after(now)
        """None: there are no more."""

    def passed(self, now: float) -> None:
        """`next` has come, whether or not there was anything to tell."""
        self.next = self._after(now)

    def _after(self, now: float) -> float | None:
        wanted = min(now + self._interval, self._deadline - _BEFORE_END)
        if wanted <= now:
            # Still wanted if it was sent too early.
            return None
        bucket = wanted - (wanted - self._phase) % self._tick
        if bucket <= now:
            due = now + self._tick * (1 + _JITTER * self._rng.random())
        else:
            due = bucket + self._tick * (1 + _JITTER) * self._rng.random()
        return due if due < self._deadline else None
