"""Not asking too often: a token bucket in front of everything but a watch (B3)."""

from __future__ import annotations

import asyncio
import threading
from typing import Protocol

from ._per_loop import PerLoopLock

__all__ = ["RateLimiter", "TokenBucket"]


class RateLimiter(Protocol):
    """Holds a request back until it may be sent. A WATCH and its repeats never ask (B3)."""

    async def acquire(self) -> None:
        """Return when one request may be sent. Cancelling it uses nothing up."""
        ...


class TokenBucket:
    """`qps` requests a second on average, and up to `burst` at once after a rest.

    Who asks first goes first. client-go's numbers are 5 and 10; off is the default here, because
    the server's own priority and fairness does this better.

    >>> bucket = TokenBucket(qps=5, burst=10)

    Raises `ValueError` for a `qps` that is not above 0 or a `burst` under 1.
    """

    def __init__(self, qps: float, burst: int) -> None:
        if not qps > 0:
            raise ValueError(f"qps must be above 0, not {qps}")
        if burst < 1:
            raise ValueError(f"burst must be at least 1, not {burst}")
        self.qps = qps
        self.burst = burst
        self._tokens = float(burst)
        self._counted: float | None = None  # loop time of the last look at the bucket
        self._turn = PerLoopLock()
        self._guard = threading.Lock()  # callers may be on several loops

    async def acquire(self) -> None:
        """Return when one request may be sent. Cancelling it uses nothing up."""
        loop = asyncio.get_running_loop()
        async with self._turn.here():
            wait = self._take(loop.time())
            try:
                await asyncio.sleep(wait)
            except BaseException:
                self._give_back()
                raise

    def _take(self, now: float) -> float:
        """Take a token, and say in how many seconds it will be there."""
        with self._guard:
            if self._counted is not None:
                grown = max(0.0, now - self._counted) * self.qps
                self._tokens = min(float(self.burst), self._tokens + grown)
            self._counted = now
            self._tokens -= 1
            return max(0.0, -self._tokens / self.qps)

    def _give_back(self) -> None:
        with self._guard:
            self._tokens += 1
