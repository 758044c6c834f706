"""Who waits for an RV to arrive, in whatever event loop (I3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from listwatch.api import ListWatchError, compare_resource_versions

__all__ = ["Arrivals", "HistoryWentBack"]


class HistoryWentBack(ListWatchError, TimeoutError):
    """The server's history went back while somebody waited for an RV (H18).

    RVs from before say nothing any more: the write they came from may be lost. Read the object
    again.
    """

    def __init__(self, wanted: str) -> None:
        super().__init__(
            f"the server's history went back (restored from a backup?) while RV {wanted} was "
            "waited for: the write may be lost; read the object again"
        )


class Arrivals:
    """The waiters of one store.

    `now` gives epoch and RV. `moved` is called by the writer after each move; it takes no lock: a
    waiter enters itself first and looks at the RV then, so that one of the two sees the other.
    """

    __slots__ = ("_now", "_waiters")

    def __init__(self, now: Callable[[], tuple[int, str]]) -> None:
        self._now = now
        self._waiters: dict[asyncio.Future[bool], tuple[int, str]] = {}

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiters)

    async def wait(self, wanted: str, timeout: float | None) -> None:
        if compare_resource_versions(wanted, wanted) is None:
            raise ValueError(
                f"RV {wanted!r} cannot be waited for: only decimal ones can be compared"
            )
        epoch, version = self._now()
        if _has_come(wanted, version):
            return
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = (epoch, wanted)
        try:
            self.moved()
            async with asyncio.timeout(timeout):
                came = await waiter
        except TimeoutError:
            seen = self._now()[1]
            if _has_come(wanted, seen) and self._now()[0] == epoch:
                return
            raise TimeoutError(
                f"RV {wanted} has not arrived within {timeout} s; the store is at "
                f"{seen or 'no RV yet'}"
            ) from None
        finally:
            self._waiters.pop(waiter, None)
        if not came:
            raise HistoryWentBack(wanted)

    def moved(self) -> None:
        """Wake those whose RV has come, and those whose epoch is over."""
        if not self._waiters:
            return
        now, version = self._now()
        for waiter, (epoch, wanted) in list(self._waiters.items()):
            if epoch != now:
                self._wake(waiter, False)
            elif _has_come(wanted, version):
                self._wake(waiter, True)

    def _wake(self, waiter: asyncio.Future[bool], came: bool) -> None:
        if self._waiters.pop(waiter, None) is None:
            return
        loop = waiter.get_loop()
        if loop is _running_loop():
            _settle(waiter, came)
        elif not loop.is_closed():
            with suppress(RuntimeError):  # closed since: nobody waits there any more
                loop.call_soon_threadsafe(_settle, waiter, came)


def _has_come(wanted: str, version: str) -> bool:
    return compare_resource_versions(version, wanted) in (0, 1)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _settle(waiter: asyncio.Future[bool], came: bool) -> None:
    if not waiter.done():
        waiter.set_result(came)
