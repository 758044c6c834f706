"""A source that finds out within its first request which resource it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from listwatch.api import ListOptions, NotFound, PartialObjectMetadata
from listwatch.rest import InvalidRequest, UnknownResource
from listwatch.watch import Watch
from listwatch.wire import ObjectList

from .causes import ServedElsewhere
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
    exist yet is found when it does. With each source `find` gives its address, such as
    `example.com/v1/widgets`.

    Where the server answers NotFound, the type is gone, or no longer served at this version or
    scope. The next request begins with a look: `find` is asked again, with True (forget what you
    know). As long as nothing comes of it, that is done once a minute, and the old address is asked
    in between.

    It raises what `find` raises, besides what the source does, and `ServedElsewhere` where a look
    has found another address: what was read at the old one must be read again. A source that turns
    out to make no request at all, as where a type that had namespaces has none now, is raised as
    `UnknownResource` if there was another one before: that may change back.
    """

    supports_watch_list = True

    def __init__(self, find: Callable[[bool], Awaitable[tuple[ListWatch[T], str]]]) -> None:
        self._look = find
        self._permit: Callable[[], Awaitable[None]] | None = None
        self._found: ListWatch[T] | None = None
        self._address = ""
        self._look_at = 0.0  # the loop's time
        self._gone = False
        self._worked = False
        self._moved = False

    def paced_by(self, permit: Callable[[], Awaitable[None]]) -> None:
        """Await `permit` before each request that nobody asked for in so many words."""
        self._permit = permit

    async def alist(self, options: ListOptions) -> ObjectList[T]:
        """One LIST."""
        return await self._ask(lambda source: source.alist(options))

    async def alist_shared(self, options: ListOptions, share: Callable[[T], T]) -> ObjectList[T]:
        """One LIST for somebody who has much of it already."""
        return await self._ask(lambda source: source.alist_shared(options, share), of_set=True)

    async def alist_metadata(
        self, options: ListOptions
    ) -> ObjectList[PartialObjectMetadata] | ObjectList[T]:
        """One LIST of which only metadata is wanted."""
        return await self._ask(lambda source: source.alist_metadata(options))

    async def awatch(self, options: ListOptions) -> Watch[T]:
        """Open one WATCH."""
        return await self._ask(lambda source: source.awatch(options), of_set=True)

    async def _ask(
        self, request: Callable[[ListWatch[T]], Awaitable[R]], *, of_set: bool = False
    ) -> R:
        source = await self._source()
        if of_set and self._moved:
            self._moved = False
            raise ServedElsewhere(self._address)
        try:
            answer = await request(source)
        except NotFound as error:
            self._gone = True
            error.add_note(f"nothing is served as {self._address}: is the type (CRD) gone?")
            raise
        except InvalidRequest as error:
            if not self._worked:
                raise
            self._gone = True
            raise UnknownResource(
                f"{self._address} is not what it was: {error}", text=self._address
            ) from error
        self._gone = False
        self._worked = True
        self._look_at = 0.0
        return answer

    async def _source(self) -> ListWatch[T]:
        now = asyncio.get_running_loop().time()
        if self._found is None:
            self._found, self._address = await self._find(False)
            self._look_at = now + _AFRESH
        elif self._gone and now >= self._look_at:
            self._look_at = now + _AFRESH
            self._found, address = await self._find(True)
            self._moved = self._moved or (self._worked and address != self._address)
            self._address = address
        return self._found

    async def _find(self, afresh: bool) -> tuple[ListWatch[T], str]:
        if self._permit is not None:
            for _ in range(_LOOK):
                await self._permit()
        return await self._look(afresh)
