"""Looking whether a server is where it was, and whether two ways give one set (H16, H18)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from listwatch.api import ListOptions, ResourceVersionMatch, is_newer

from ._course import Course
from ._journal import Journal
from ._outcomes import retry_after
from ._paced_source import PacedSource
from ._sets import Sets
from ._stream import Stream
from .causes import Cause, HistoryIsBehind
from .comparison import MetadataLister, SetsDiffer, Shown, differing, read_identities
from .identity import Identify
from .pager import Pager
from .target import ReflectorTarget

__all__ = ["History"]

T = TypeVar("T")


class History(Generic[T]):
    """Asks the server beside a watch that is open."""

    def __init__(
        self,
        source: PacedSource[T],
        target: ReflectorTarget[T],
        identify: Identify,
        recheck: float,
        *,
        course: Course,
        sets: Sets[T],
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._target = target
        self._identify = identify
        self._recheck = recheck
        self._course = course
        self._sets = sets
        self._journal = journal
        self._now = clock

    async def check(self, stream: Stream[T]) -> None:
        """End the watch if history went back, which itself would never show it: now, and once more
        if nothing comes; again until the server answers (H18).
        """
        patience = await self._ask(stream)
        while True:
            await asyncio.sleep(max(self._recheck, patience))
            if stream.last_event_at is not None and not self._course.suspect:
                return
            patience = await self._ask(stream)
            if not self._course.suspect:
                return

    async def _ask(self, stream: Stream[T]) -> float:
        """See where the server is; how many seconds it asks to be left alone."""
        ours, began = self._target.resource_version, self._now()
        try:
            page = await self._source.alist(ListOptions(limit=1))
        except Exception as error:
            self._journal.fail(error)
            return retry_after(error) or 0.0
        if is_newer(ours, page.resource_version):
            stream.stop(Cause.WENT_BACK, HistoryIsBehind(ours, page.resource_version))
            return 0.0
        self._course.suspect = False
        if page.resource_version == self._target.resource_version:
            self._sets.consistent_at = began
        return 0.0

    async def compare(self, shown: Shown, resource_version: str) -> None:
        """Report if a LIST at this RV shows another set than a watch has brought (H16)."""
        pager = Pager(MetadataLister(self._source))
        options = ListOptions(
            resource_version=resource_version, resource_version_match=ResourceVersionMatch.EXACT
        )
        try:
            listed = await read_identities(pager, options, self._identify)
        except Exception as error:
            self._journal.fail(error)
            return
        if keys := differing(shown, listed):
            what = f"LIST and WatchList at resourceVersion {resource_version}"
            self._journal.fail(SetsDiffer(keys, what))
