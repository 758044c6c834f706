"""A list, page by page (G)."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from listwatch.api import APIError, ListMeta, ListOptions, ListWatchError
from listwatch.wire import ObjectList

from .protocols import AsyncLister

__all__ = ["Page", "Pager", "PagerError"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")

_PAGE_SIZE = 500
"""client-go's number (G1)."""

_EMPTY_PAGES = 10
"""In a row, after which a list is taken for endless (H9)."""


class PagerError(ListWatchError):
    """The server's pages come to no end."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One answer of the server."""

    list: ObjectList[T]
    number: int
    """From 1."""
    restarted: bool = False
    """The pages before are void: the list began anew (G2)."""


class Pager(Generic[T]):
    """Follows a list over its pages, and hands each on as it arrives.

        pager = Pager(source)
        async for page in pager.pages(ListOptions()):
            store.extend(page.list)
            del page  # or it is held until the next one is there
        print(pager.resource_version)

    - `page_size` is the `limit` of each request; None sends none. Only `continue` says whether
      there is more: a page may hold fewer objects, even none (G3).
    - The first request is made with the options as given; later ones without resourceVersion and
      resourceVersionMatch (G1).
    - Where `continue` has expired, on the second page or later, the list is begun anew, once,
      without a limit (G2).
    - Raises what the source raises, and `PagerError` for a `continue` that was there before, or ten
      empty pages in a row. After a failure `resume` goes on where it was.
    - `progress` gets the objects so far and how many remain, None where the server does not say
      (G5).

    Nothing of a page is kept here (G4). One Pager follows one list at a time.
    """

    def __init__(
        self,
        source: AsyncLister[T],
        *,
        page_size: int | None = _PAGE_SIZE,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> None:
        if page_size is not None and page_size < 1:
            raise ValueError(f"a page of {page_size} objects: it needs at least 1, or None")
        self._source = source
        self._page_size = page_size
        self._progress = progress
        self._begin(ListOptions())

    resource_version: str
    """That of the first page: the state that the whole list shows. `""` before it."""
    continue_: str
    """The `continue` that has been reached; `""` before the first page and after the last."""
    paged: bool
    """Whether the server answers in pages."""

    def _begin(self, options: ListOptions) -> None:
        self._options = options
        self._number = 0
        self._count = 0
        self._empty = 0
        self._seen: set[str] = set()
        self._restarted = False
        self.resource_version = ""
        self.continue_ = ""
        self.paged = False

    def pages(self, options: ListOptions) -> AsyncGenerator[Page[T], None]:
        """The pages of a list, from the first."""
        self._begin(options)
        return self._pages()

    def resume(self) -> AsyncGenerator[Page[T], None]:
        """The pages that are still missing after one could not be had (H9).

        Raises `RuntimeError` where there is no `continue_` to go on from.
        """
        if not self.continue_:
            raise RuntimeError("no page was reached from which this list could go on")
        return self._pages()

    async def list(self, options: ListOptions) -> ObjectList[T]:
        """The whole list, with the RV of its first page."""
        whole: ObjectList[T] = ObjectList([], ListMeta())
        async for page in self.pages(options):
            found = page.list
            if page.restarted or page.number == 1:
                whole = ObjectList([], ListMeta(), found.api_version, found.kind)
            whole.items.extend(found.items)
            whole.undecodable.extend(found.undecodable)
            del page, found
        whole.metadata = ListMeta(resource_version=self.resource_version)
        return whole

    async def _pages(self) -> AsyncGenerator[Page[T], None]:
        # No variable here holds a page: it would live on while the next one arrives (G4).
        yield await self._next()
        while self.continue_:
            yield await self._next()

    async def _next(self) -> Page[T]:
        if not self.continue_:
            return self._page(
                await self._source.alist(self._options.replace(limit=self._page_size))
            )
        later = self._options.replace(
            limit=self._page_size,
            continue_=self.continue_,
            resource_version="",
            resource_version_match=None,
        )
        try:
            return self._page(await self._source.alist(later))
        except APIError as error:
            if not error.is_expired or self._restarted:
                raise
            _log.info("page %d of a list had expired; listing in one piece", self._number + 1)
        self._begin(self._options)
        self._restarted = self.paged = True
        found = await self._source.alist(self._options.replace(limit=None))
        return self._page(found, restarted=True)

    def _page(self, found: ObjectList[T], *, restarted: bool = False) -> Page[T]:
        self._number += 1
        if self._number == 1:
            self.resource_version = found.resource_version
        self._follow(found.continue_, len(found.items) + len(found.undecodable))
        self._report(found.remaining_item_count if self.continue_ else 0)
        return Page(found, self._number, restarted)

    def _follow(self, token: str, count: int) -> None:
        self._count += count
        self._empty = 0 if count else self._empty + 1
        if token in self._seen:
            raise PagerError(
                f"the server sent the same continue token on page {self._number} "
                "as on a page before: the list would have no end"
            )
        if token and self._empty >= _EMPTY_PAGES:
            raise PagerError(
                f"the server sent {self._empty} empty pages in a row and says that there are more"
            )
        if token:
            self._seen.add(token)
            self.paged = True
        self.continue_ = token

    def _report(self, remaining: int | None) -> None:
        if self._progress is None:
            return
        try:
            self._progress(self._count, remaining)
        except Exception:  # it only looks on: the list is worth more than its display
            _log.exception("a progress callback failed")
