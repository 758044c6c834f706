"""Is the mirror frozen? Proving that it shows a recent state (K11)."""

from __future__ import annotations

import asyncio
from typing import Any, Generic, TypeVar

from listwatch.api import ListOptions, compare_resource_versions, is_newer

from ._outcomes import retry_after
from .causes import Cause
from .comparison import MetadataLister, Shown, read_identities
from .identity import Identify, for_entries
from .pager import Pager
from .reflector import Reflector
from .store import Store

__all__ = ["Freshness", "NotFresh"]

T = TypeVar("T")

_QUIET = 2.0
"""Seconds: an event that the server has is on the watch long before; where none comes, the type is
quiet.
"""
_AGAIN = 1.0
"""Seconds after a read that failed."""


class NotFresh(TimeoutError):
    """Nobody could show in time that the mirror is as recent as was asked."""


class Freshness(Generic[T]):
    """Proves, when asked, that a store shows the server's present state.

    1. A consistent read (LIST, limit 1, RV `""`) gives an RV. An event or bookmark at or past it
       proves that the store has all up to there.
    2. The RV is that of the whole server, so on a quiet type nothing may come: then the metadata of
       a consistent list is compared with the store, uid and RV of each object. If they differ for
       longer than an event takes, the mirror lists again, at once, and that is the proof.

    Whoever asks while a proof is under way shares it, if it began late enough.
    """

    def __init__(self, reflector: Reflector[T], store: Store[T], identify: Identify) -> None:
        self._reflector = reflector
        self._store = store
        self._identify = for_entries(identify)
        self._proven = float("-inf")
        self._turn = asyncio.Lock()
        self.replaced = asyncio.Event()
        """To be set when the store has been given a whole set."""
        self._failed = ""

    @property
    def proven_at(self) -> float:
        """The newest time, on the loop's clock, of whose state it is known that the store shows it
        or a later one.
        """
        return max(self._proven, self._reflector.consistent_at)

    async def prove(self, within: float, timeout: float | None) -> None:
        """Return when the store is no older than `within` seconds. Raises `NotFresh`."""
        if not within >= 0:
            raise ValueError(f"within must be 0 or more seconds, not {within}")
        loop = asyncio.get_running_loop()
        asked = loop.time()
        try:
            async with asyncio.timeout(timeout):
                while self.proven_at < asked - within:
                    async with self._turn:
                        if self.proven_at < asked - within:
                            await self._try()
        except TimeoutError:
            detail = f"; {self._failed}" if self._failed else ""
            raise NotFresh(
                f"nothing shows that the mirror is no older than {within:g} s: "
                f"{self._reflector.health}{detail}"
            ) from None

    async def _try(self) -> None:
        if not self._reflector.is_watching:
            # What it asks now is more urgent than what we would.
            await asyncio.sleep(_AGAIN)
            return
        try:
            await self._by_a_version()
        except Exception as error:
            self._failed = f"{type(error).__name__}: {error}"
            await asyncio.sleep(max(_AGAIN, retry_after(error) or 0.0))

    async def _by_a_version(self) -> None:
        ours, epoch = self._store.resource_version, self._store.epoch
        began = self._now()
        page = await self._reflector.paced_source.alist(ListOptions(limit=1))
        if self._store.epoch != epoch:
            return
        if is_newer(ours, page.resource_version):
            await self._relist(Cause.WENT_BACK)
        elif await self._seen(page.resource_version):
            self._proven = max(self._proven, began)
        else:
            await self._by_comparison()

    async def _seen(self, version: str) -> bool:
        """Whether the store gets there within the time that an event takes."""
        if compare_resource_versions(version, version) is None:
            return False
        epoch = self._store.epoch
        try:
            await self._store.at_least(version, _QUIET)
        except TimeoutError:
            return False
        return self._store.epoch == epoch

    async def _by_comparison(self) -> None:
        began, epoch = self._now(), self._store.epoch
        pager: Pager[Any] = Pager(MetadataLister(self._reflector.paced_source))
        listed = await read_identities(pager, ListOptions(), self._identify)
        shown = (
            self._shows(listed) or await self._seen(pager.resource_version) or self._shows(listed)
        )
        if self._store.epoch != epoch:
            return
        if shown:
            self._proven = max(self._proven, began)
        else:
            await self._relist(Cause.OUT_OF_DATE)

    async def _relist(self, cause: Cause) -> None:
        """Have the set read again; that it has come is the proof."""
        self.replaced.clear()
        self._reflector.relist(cause)
        await self.replaced.wait()

    def _now(self) -> float:
        return asyncio.get_running_loop().time()

    def _shows(self, listed: Shown) -> bool:
        store = self._store
        if len(listed) != len(store):
            return False
        for key, identity in listed.items():
            known = store.known(key)
            if known is None or tuple(self._identify(known)[1:]) != identity:
                return False
        return True
