"""Whole sets: how a LIST is read, and how a target gets a set (H1, H2, H14, G)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import Generic, Protocol, TypeVar

from listwatch.api import ListOptions, ResourceVersionMatch, is_newer
from listwatch.wire import ObjectList

from ._assembly import Assembly
from ._course import Course
from ._intake import Intake
from ._journal import Journal
from ._outcomes import refused
from .causes import ANOTHER_HISTORY, Cause, HistoryIsBehind
from .decisions import Outcome, Phase
from .identity import Identify
from .notes import Listed
from .pager import Pager
from .reflector_options import ReflectorOptions
from .target import ReflectorTarget

__all__ = ["Sets"]

T = TypeVar("T")

_CHUNK = 500
"""client-go's page size, for what is read from the server's storage (H2)."""

_NOT_RESUMED = (Cause.EXPIRED, Cause.TOO_LARGE, Cause.UNREADABLE, Cause.SOURCE)
"""After these a list begins anew, from its first page."""


class SharingLister(Protocol[T]):
    """Lists, and need not hold what whoever asks has already."""

    async def alist_shared(
        self, options: ListOptions, share: Callable[[T], T], /
    ) -> ObjectList[T]: ...


class _Sharing(Generic[T]):
    """A lister for a Pager, whose lists hold what `share` makes of their objects."""

    def __init__(self, source: SharingLister[T], share: Callable[[T], T]) -> None:
        self._source = source
        self._share = share

    async def alist(self, options: ListOptions, /) -> ObjectList[T]:
        return await self._source.alist_shared(options, self._share)


class Sets(Generic[T]):
    """Brings whole sets into `target`."""

    def __init__(
        self,
        source: SharingLister[T],
        target: ReflectorTarget[T],
        options: ReflectorOptions,
        identify: Identify,
        *,
        course: Course,
        intake: Intake[T],
        journal: Journal,
        clock: Callable[[], float],
    ) -> None:
        self._source = source
        self._target = target
        self._options = options
        self._identify = identify
        self._course = course
        self._intake = intake
        self._journal = journal
        self._now = clock
        self._began = 0.0  # when the set was asked for, that is on its way
        self._paged = False  # the first came in pages, so later ones are asked for in pages (H2)
        self._cut: tuple[Pager[T], Assembly[T], str] | None = None
        self.consistent_at = float("-inf")
        """When the newest consistent read began that the target has taken in (K11)."""

    @property
    def can_resume(self) -> bool:
        """Whether a list was cut that can go on where it was (H9)."""
        return self._cut is not None

    @property
    def known_rv(self) -> str:
        """What a set must not be older than; `""` for a consistent read."""
        return "" if self._course.consistent else self._target.resource_version

    def begin(self) -> Assembly[T]:
        """A set is asked for now."""
        self._began = self._now()
        return Assembly(self._target.known, self._identify)

    async def list(self) -> Outcome | None:
        """LIST, from the page where the last one was cut if it was. None: the target has it."""
        cut, self._cut = self._cut, None
        if cut is not None:
            pager, assembly, asked = cut
            pages = pager.resume()
        else:
            asked = self.known_rv or ("" if self._course.consistent else "0")
            assembly = self.begin()
            pager = Pager(
                _Sharing(self._source, assembly.share),
                page_size=self._page_size(asked),
                progress=self._journal.progress,
            )
            pages = pager.pages(_options(asked))
        try:
            async with aclosing(pages):
                async for page in pages:
                    self._intake.page(assembly, page)
                    del page  # or it would live on while the next one arrives (G4)
        except Exception as error:
            outcome = refused(Phase.LIST, error, asked)
            if pager.continue_ and outcome.cause not in _NOT_RESUMED:
                self._cut = pager, assembly, asked
            return outcome
        if asked == "0":
            self._paged = pager.paged
        if self.replace(assembly, pager.resource_version, asked, "list"):
            return None
        return self.too_old(Phase.LIST, pager.resource_version, asked)

    def too_old(self, phase: Phase, resource_version: str, asked: str) -> Outcome:
        """A set that `replace` did not take."""
        ours = self._target.resource_version
        return refused(phase, HistoryIsBehind(ours, resource_version), asked)

    def _page_size(self, asked: str) -> int | None:
        if self._options.page_size is not None:
            return self._options.page_size
        return _CHUNK if asked in ("", "0") or self._paged else None

    def replace(self, assembly: Assembly[T], resource_version: str, asked: str, via: str) -> bool:
        """Give the target a whole set. False for one that is older than what is there and was not
        read consistently: it proves nothing.
        """
        went_back = is_newer(self._target.resource_version, resource_version)
        if went_back and asked:
            return False
        # A set that has an older state of an object than we had is of another history, too.
        known = not ANOTHER_HISTORY.isdisjoint((self._course.cause, self._course.demand))
        went_back = went_back or assembly.is_older or known
        replaced = self._target.replace(
            assembly.objects, resource_version, new_epoch=went_back, report=self._journal.fail
        )
        if not asked:
            self.consistent_at = self._began
        cause = self._course.has_set(consistent=not asked)
        if went_back and cause is not Cause.MOVED:
            cause = Cause.WENT_BACK
        self._journal.synced = True
        if cause is not None:
            self._journal.relists[cause] += 1
        self._journal.note(
            Listed(
                cause=cause,
                via=via,
                count=replaced.total,
                added=replaced.added,
                changed=replaced.changed,
                vanished=replaced.vanished,
                seconds=self._now() - self._began,
                resource_version=resource_version,
                new_epoch=went_back,
            )
        )
        return True


def _options(asked: str) -> ListOptions:
    if asked in ("", "0"):
        return ListOptions(resource_version=asked)
    # Without the match, a server takes an RV with a limit for the exact state, however old.
    return ListOptions(
        resource_version=asked, resource_version_match=ResourceVersionMatch.NOT_OLDER_THAN
    )
