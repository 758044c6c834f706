"""Reads of a revision that is not there yet: an answer when it comes, a 504 when it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..messages import Answer, WatchStream
from ..statuses import Refused, failure

if TYPE_CHECKING:
    from .state import State

__all__ = ["FutureRead", "too_large"]

Reached = Callable[[], Answer | WatchStream]


class FutureRead:
    """A `Later` that waits for a revision (K13).

    `reached` makes the answer when it is there, and may raise `Refused`; `missed` the one when time
    is up, by default a 504.
    """

    def __init__(
        self, state: State, rv: int, *, reached: Reached, missed: Reached | None = None
    ) -> None:
        self._state = state
        self._rv = rv
        self._reached = reached
        self._missed = missed or self._too_large
        self._due = state.clock() + state.settings.future_rv_wait
        self.wake: Callable[[], None] | None = None
        state.caches.wait(rv, self._due, self._wake)

    @property
    def due(self) -> float:
        return self._due

    def tick(self) -> Answer | WatchStream | None:
        try:
            if self._state.log.revision >= self._rv:
                return self._reached()
            if self._state.clock() >= self._due:
                return self._missed()
        except Refused as refused:
            return refused.answer
        return None

    def close(self) -> None:
        self.wake = None

    def _too_large(self) -> Answer:
        return too_large(self._rv, self._state.log.revision, retry_after=1)

    def _wake(self) -> None:
        if self.wake is not None:
            self.wake()


def too_large(rv: int, current: int, *, retry_after: int | None = None) -> Answer:
    """The 504 of a revision that the server has not got to. `retry_after` is in seconds."""
    details: dict[str, Any] = {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    }
    headers: tuple[tuple[str, str], ...] = ()
    if retry_after is not None:
        details["retryAfterSeconds"] = retry_after
        headers = (("Retry-After", str(retry_after)),)
    message = f"Timeout: Too large resource version: {rv}, current: {current}"
    return failure(504, "Timeout", message, details=details, headers=headers)
