"""The outcomes of requests and streams."""

from __future__ import annotations

from typing import Any

from listwatch.api import APIError, ResourceVersionTooLarge

from ._stream import Stream
from ._versions import is_version
from .causes import Cause, cause_of
from .decisions import Outcome, Phase

__all__ = ["ended", "refused", "retry_after"]


def refused(phase: Phase, error: Exception, asked: str) -> Outcome:
    """A request that failed."""
    return Outcome(
        phase=phase,
        cause=cause_of(error),
        error=error,
        asked=asked,
        retry_after=retry_after(error),
        resumable=is_version(asked),
    )


def ended(stream: Stream[Any], cause: Cause, error: Exception | None) -> Outcome:
    """A stream that is over."""
    return Outcome(
        phase=Phase.WATCH if stream.initial is None else Phase.WATCH_LIST,
        cause=cause,
        error=error,
        asked=stream.asked,
        watched=stream.watched,
        events=stream.events,
        progress=stream.progress,
        retry_after=retry_after(error),
        resumable=stream.resumable,
    )


def retry_after(error: Exception | None) -> float | None:
    """Seconds that the server asks us to wait; not where the RV is too large, which waiting does
    not mend (H9).
    """
    if not isinstance(error, APIError) or isinstance(error, ResourceVersionTooLarge):
        return None
    return error.retry_after
