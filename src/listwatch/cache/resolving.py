"""A source that finds out within its first request which resource it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from listwatch.api import ListOptions, NotFound, PartialObjectMetadata
from listwatch.watch import Watch
from listwatch.wire import ObjectList

from .listwatch import ListWatch

__all__ = ["ResolvingListWatch"]

T = TypeVar("T")
R = TypeVar("R")

_AFRESH = 60.0
"""Seconds between two looks for a resource that is gone."""
_LOOK = 2
"""Requests that a look costs: `/api` and `/apis`. (On a server that knows only the old form of
discovery it is one more for each group version.)"""


class ResolvingListWatch(Generic[T]):
    """Lists and watches what `find` gives, which is asked within the first request, and again until
    it has an answer. So whoever paces the requests paces that too (H9), and a type that does not
    exist yet is found when it does.

    Where the server answers NotFound, the type is gone, or no longer served at this version: `find`
    is then asked again, with True (forget what you know), at most once a minute.

    It raises what `find` raises, besides what the source does.
    """

    supports_watch_list = True

    def __init__(self, find: Callable[[bool], Awaitable[ListWatch[T]]]) -> None:
        self._look = find
        self._permit: Callable[[], Awaitable[None]] | None = None
        self._found: ListWatch[T] | None = None
        self._looked = 0.0  # the loop's time
        self._gone = False

    def paced_by(self, permit: Callable[[], Awaitable[None]]) -> None:
        """Await `permit` before each request that nobody asked for in so many words."""
        self._permit = permit

    async def alist(self, options: ListOptions) -> ObjectList[T]:
        """One LIST."""
        return await self._ask(lambda source: source.alist(options))

    async def alist_shared(self, options: ListOptions, share: Callable[[T], T]) -> ObjectList[T]:
        """One LIST for somebody who has much of it already."""
        return await self._ask(lambda source: source.alist_shared(options, share))

    async def alist_metadata(
        self, options: ListOptions
    ) -> ObjectList[PartialObjectMetadata] | ObjectList[T]:
        """One LIST of which only metadata is wanted."""
        return await self._ask(lambda source: source.alist_metadata(options))

    async def awatch(self, options: ListOptions) -> Watch[T]:
        """Open one WATCH."""
        return await self._ask(lambda source: source.awatch(options))

    async def _ask(self, request: Callable[[ListWatch[T]], Awaitable[R]]) -> R:
        source = await self._source()
        try:
            answer = await request(source)
        except NotFound:
            self._gone = True
            raise
        self._gone = False
        return answer

    async def _source(self) -> ListWatch[T]:
        now = asyncio.get_running_loop().time()
        if self._found is None:
            self._found = await self._find(False)
            self._looked = now
        elif self._gone and now - self._looked >= _AFRESH:
            self._looked = now
            self._found = await self._find(True)
        return self._found

    async def _find(self, afresh: bool) -> ListWatch[T]:
        if self._permit is not None:
            for _ in range(_LOOK):
                await self._permit()
        return await self._look(afresh)
