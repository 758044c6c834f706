"""A lock for each event loop: asyncio's own belongs to the first loop that waits for it, and a
client may be used from several (a sync caller runs its own).
"""

from __future__ import annotations

import asyncio
import threading
from weakref import WeakKeyDictionary

__all__ = ["PerLoopLock"]


class PerLoopLock:
    """`here()` is the running loop's own `asyncio.Lock`, fair in the order of asking."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._locks: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = (
            WeakKeyDictionary()
        )

    def here(self) -> asyncio.Lock:
        loop = asyncio.get_running_loop()
        with self._guard:
            lock = self._locks.get(loop)
            if lock is None:
                lock = self._locks[loop] = asyncio.Lock()
            return lock
