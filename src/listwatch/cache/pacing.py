"""When a reflector may ask its server again (H9). The rules that it enforces:

1. Pacing spaces the *starts* of rounds. A round is a LIST or WatchList with the WATCH that follows,
   or a WATCH opened again. It starts no earlier than `d` times a random number in [1, 2) after the
   start of the one before, so a watch that lived long costs no wait.
2. `d` is 1 s at first. At the end of a round the first of these that applies changes it:
   - a watch that lasted 2 minutes, or that made progress and is resumed at its RV: 1 s again;
   - a relist: doubled;
   - no progress, though the watch stayed open for 30 s: halved;
   - no progress: doubled.
   Progress is an event or a bookmark past the last RV; initial events are none. `d` does not pass
   30 s, nor 15 s while the connection itself fails.
3. `Retry-After`, up to 300 s, is a floor, counted from the end of the round.
4. After an end that was not clean, a further random 0 to 1 s goes on top.
5. Whatever the reason of a request: at most 10 in any 10 s, and of those that are made while `d` is
   at its cap at most 4 in any minute. Later pages of a list are free: nobody tells of them here.

Nothing here waits or reads a clock: times are passed in, as seconds of the event loop's clock.

A server that refuses every connection, and then is back:

>>> from random import Random
>>> pacer = Pacer(Pacing(spread=0), Random(1))
>>> now = 0.0
>>> for _ in range(6):
...     pacer.start_round(now)
...     pacer.requested(now)
...     start = pacer.end_round(RoundEnd(unreachable=True), now)
...     print(f"d is {pacer.d:g} s, waits {start - now:.1f} s")
...     now = start
d is 2 s, waits 2.3 s
d is 4 s, waits 7.1 s
d is 8 s, waits 12.0 s
d is 15 s, waits 24.8 s
d is 15 s, waits 16.4 s
d is 15 s, waits 27.5 s
>>> pacer.start_round(now)
>>> pacer.requested(now)
>>> ended = now + 40  # a watch that brought events, and was cut after 40 s
>>> pacer.end_round(RoundEnd(progress=True, resumed=True, watched=40), ended) == ended
True
>>> pacer.d
1.0
"""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass, fields
from random import Random

__all__ = ["Pacer", "Pacing", "RoundEnd"]

_BELOW_TWO = math.nextafter(2.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """The numbers of H9. All times are in seconds. Raises `ValueError` for what makes no sense.

    One value may serve many reflectors: each has a `Pacer` of its own.
    """

    first: float = 1.0
    """The least time between the starts of two rounds."""
    cap: float = 30.0
    """What that grows to."""
    unreachable_cap: float = 15.0
    """The same while the connection itself fails."""
    spread: float = 1.0
    """After an end that was not clean, a random time up to this is added."""
    calm: float = 30.0
    """A watch without progress that stayed open for this long halves the wait."""
    settled: float = 120.0
    """One that stayed open for this long resets it."""
    burst: int = 10
    """Requests in any `window`."""
    window: float = 10.0
    slow_burst: int = 4
    """Requests in any `slow_window` while the wait is at its cap."""
    slow_window: float = 60.0
    retry_after_cap: float = 300.0
    """The longest `Retry-After` that is obeyed in full."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not (math.isfinite(value) and value >= 0):
                raise ValueError(f"Pacing: {field.name} must be 0 or more, not {value!r}")
        for name in ("first", "burst", "slow_burst"):
            if not getattr(self, name):
                raise ValueError(f"Pacing: {name} must not be 0: nothing would pace, or run")
        for name in ("burst", "slow_burst"):
            if not isinstance(getattr(self, name), int):
                raise ValueError(f"Pacing: {name} must be a whole number of requests")
        for name in ("cap", "unreachable_cap"):
            if getattr(self, name) < self.first:
                raise ValueError(
                    f"Pacing: {name} ({getattr(self, name):g} s) is below first ({self.first:g} s)"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundEnd:
    """How a round ended. The defaults are those of one that failed without an answer."""

    progress: bool = False
    """Its watch brought an event, or a bookmark, past the last RV. Initial events are none."""
    relist: bool = False
    """The next round lists again."""
    watched: float = 0.0
    """Seconds that its watch was open."""
    resumed: bool = False
    """The next round goes on at the RV of this one's watch."""
    clean: bool = False
    """The server ended the stream in order."""
    unreachable: bool = False
    """The connection itself failed."""
    retry_after: float | None = None
    """Seconds that the server asked for. Leave out those of an RV that is too large: waiting does
    not help there.
    """


class Pacer:
    """The pace of one reflector: it says when, its caller waits.

    - Before a round, wait until the time that `end_round` gave, and call `start_round`.
    - Before each request but the later pages of a list, wait until `request_at(now)`, and call
      `requested`. Nobody else may call `requested` during that wait.
    - After the round, call `end_round`.

    Equal calls with an equal `rng` give equal times.
    """

    def __init__(self, pacing: Pacing, rng: Random) -> None:
        self._pacing = pacing
        self._rng = rng
        self._d = pacing.first
        self._cap = pacing.cap
        self._start: float | None = None
        self._requests = _Budget(pacing.burst, pacing.window)
        self._slow_requests = _Budget(pacing.slow_burst, pacing.slow_window)

    def __repr__(self) -> str:
        return f"<Pacer d={self._d:g}{' at its cap' if self.at_cap else ''}>"

    @property
    def d(self) -> float:
        """Seconds between the starts of two rounds, before the random factor."""
        return self._d

    @property
    def at_cap(self) -> bool:
        """Whether `d` is as long as it gets."""
        return self._d >= self._cap

    def start_round(self, now: float) -> None:
        """A round begins."""
        self._start = now

    def end_round(self, end: RoundEnd, now: float) -> float:
        """The time at which the next round may start: `now`, or later."""
        pacing = self._pacing
        self._cap = pacing.unreachable_cap if end.unreachable else pacing.cap
        self._d = min(self._next_d(end), self._cap)
        started = now if self._start is None else self._start
        start = max(now, started + self._d * min(1.0 + self._rng.random(), _BELOW_TWO))
        if end.retry_after is not None:
            start = max(start, now + min(end.retry_after, pacing.retry_after_cap))
        if not end.clean:
            start += pacing.spread * self._rng.random()
        return self.request_at(start)

    def _next_d(self, end: RoundEnd) -> float:
        pacing = self._pacing
        if end.watched >= pacing.settled or (end.progress and end.resumed and not end.relist):
            return pacing.first
        if end.relist:
            return self._d * 2
        if end.progress:
            return self._d
        if end.watched >= pacing.calm:
            return max(self._d / 2, pacing.first)
        return self._d * 2

    def request_at(self, now: float) -> float:
        """The time at which the budget allows one more request: `now`, or later."""
        at = max(now, self._requests.freed_at)
        return max(at, self._slow_requests.freed_at) if self.at_cap else at

    def requested(self, now: float) -> None:
        """A request goes out."""
        self._requests.add(now)
        if self.at_cap:
            self._slow_requests.add(now)

    def answered(self, sent: float, now: float) -> None:
        """The request that went out at `sent` has been answered, or failed. It counts from now on:
        it may have reached the server this late.
        """
        self._requests.move(sent, now)
        self._slow_requests.move(sent, now)


class _Budget:
    """The times of the last `burst` requests, of which there may be no more in any `window`."""

    def __init__(self, burst: int, window: float) -> None:
        self._burst = burst
        self._window = window
        self._times: list[float] = []  # sorted

    def add(self, time: float) -> None:
        insort(self._times, time)
        del self._times[: -self._burst]

    def move(self, time: float, to: float) -> None:
        if time in self._times:
            self._times.remove(time)
            insort(self._times, to)

    @property
    def freed_at(self) -> float:
        """When the oldest of them has left the window; minus infinity while there is room."""
        if len(self._times) < self._burst:
            return -math.inf
        oldest = self._times[0]
        at = oldest + self._window
        while at - oldest <= self._window:  # it is closed, and the sum may be rounded down
            at = math.nextafter(at, math.inf)
        return at
