"""A source within a budget: each request waits for its place (H9)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Generic, TypeVar

from listwatch.api import ListOptions
from listwatch.watch import Watch
from listwatch.wire import ObjectList

from ._cancellations import inner_cancellations_as_errors
from ._course import Course
from .protocols import AsyncListerWatcher

__all__ = ["PacedSource"]

T = TypeVar("T")
R = TypeVar("R")

_List = Callable[[ListOptions], Awaitable[ObjectList[Any]]]
_ListShared = Callable[[ListOptions, Callable[[Any], Any]], Awaitable[ObjectList[Any]]]


class PacedSource(Generic[T]):
    """Asks `source`, and counts what it asks; later pages of a list are free.

    Raises what `source` raises, and `SourceCancelled` where that was cancelled from inside.
    """

    def __init__(self, source: AsyncListerWatcher[T], course: Course) -> None:
        self._source = source
        self._course = course

    async def alist(self, options: ListOptions, /) -> ObjectList[T]:
        return await self._list(self._source.alist, options)

    async def alist_shared(self, options: ListOptions, share: Callable[[T], T], /) -> ObjectList[T]:
        """The same for somebody who has much of it already, where the source knows how to spare him
        a second copy: see `ListWatch.alist_shared`.
        """
        shared: _ListShared | None = getattr(self._source, "alist_shared", None)
        if shared is None:
            return await self.alist(options)
        return await self._list(lambda options: shared(options, share), options)

    async def awatch(self, options: ListOptions, /) -> Watch[T]:
        sent = await self._course.permit()
        return await self._counted(sent, self._source.awatch(options))

    async def alist_metadata(self, options: ListOptions, /) -> ObjectList[Any]:
        """The metadata of the objects, where the source can give that alone; else all of them."""
        alist: _List = getattr(self._source, "alist_metadata", self._source.alist)
        return await self._list(alist, options)

    async def _list(self, alist: _List, options: ListOptions) -> ObjectList[Any]:
        if options.continue_:
            return await _answer(alist(options))
        sent = await self._course.permit()
        return await self._counted(sent, alist(options))

    async def _counted(self, sent: float, answer: Awaitable[R]) -> R:
        try:
            return await _answer(answer)
        finally:
            self._course.answered(sent)


async def _answer(answer: Awaitable[R]) -> R:
    with inner_cancellations_as_errors():
        return await answer
