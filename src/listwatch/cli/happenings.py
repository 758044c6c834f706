"""What happens to a watch that goes on, told on standard error: one line for each thing that its
user would want to know.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from listwatch.cache.causes import HOPELESS, Cause
from listwatch.cache.decisions import Next, Phase
from listwatch.cache.notes import Listed, Note, Setback, WatchListGivenUp

from .failures import describe
from .loading import LoadingBar
from .notes import note

__all__ = ["Happenings", "setback_text"]


class Happenings:
    """Takes the notes of a mirror of `server`, and tells those that matter. While a set comes a bar
    shows how much of it; leaving the `with` ends that. A `quiet` one does neither. That a first set
    has come is told if `tell_first` says so.
    """

    def __init__(
        self,
        server: str,
        *,
        on_listed: Callable[[], None],
        quiet: bool = False,
        tell_first: bool = True,
    ) -> None:
        self._server = server
        self._on_listed = on_listed
        self._quiet = quiet
        self._tell_first = tell_first
        self._bar = LoadingBar(wanted=not quiet)
        self._withheld: list[Setback] = []
        self._listed = False

    def take(self, happened: Note) -> None:
        """A note of the mirror."""
        if isinstance(happened, Listed | Setback):
            self._bar.end()
        match happened:
            case Listed():
                self._listed = True
                known = happened.is_first and not self._tell_first
                self._tell(*(() if known else (str(happened),)))
                self._on_listed()
            case Setback() if self._may_be_the_end(happened):
                self._withheld.append(happened)
            case Setback() if not _goes_on(happened):
                self._tell(setback_text(happened, self._server))
            case WatchListGivenUp() if happened.phase is Phase.WATCH_LIST:
                # A server that is old refuses to open one: that is no news, and costs no time.
                self._tell(str(happened))
            case _:  # which the library logs, for -v
                pass

    def progress(self, count: int, remaining: int | None) -> None:
        """How much of a set has come, and how much of it has not, as far as that is known."""
        self._bar.update(count, remaining)

    def __enter__(self) -> Self:
        self._bar.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.end()
        if not isinstance(error, Exception):
            self._tell()

    def _may_be_the_end(self, setback: Setback) -> bool:
        """Whether the mirror will end if the same comes again: then that is the failure of the
        command, and told as such.
        """
        return setback.cause in HOPELESS and setback.wait is not None and not self._listed

    def _tell(self, *lines: str) -> None:
        """These, behind what was withheld: it has not been the end."""
        withheld = [setback_text(setback, self._server) for setback in self._withheld]
        self._withheld = []
        if not self._quiet:
            for line in (*withheld, *lines):
                note(line)


def _goes_on(setback: Setback) -> bool:
    """Whether it is the usual end of a watch, or whether what follows at once tells of it."""
    resumed = setback.cause is Cause.CLEAN and setback.next is Next.WATCH
    return resumed or setback.wait is None


def setback_text(setback: Setback, server: str) -> str:
    """What happened, in the words that a command which ends on it would use, and what is next."""
    cut = setback.cause is Cause.LOST and setback.phase in (Phase.WATCH, Phase.WATCH_LIST)
    if setback.error is None or cut:  # where a stream was cut, and by whom, is of no use to people
        what = f"{setback.phase}: {setback.cause}"
    else:
        what, _ = describe(setback.error, server)
    when = "" if setback.wait is None else f" in {setback.wait:.1f} s"
    return f"{what}; {setback.next}{when}"
