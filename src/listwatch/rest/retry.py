"""When a request is sent again (B4, B5): a table, decided apart from any I/O.

| what came | on a WATCH | else |
|---|---|---|
| 429 or 5xx with `Retry-After: <whole seconds>` | again after that | again after that |
| the same, but it says that the RV is too large | error | error |
| any other status | error (but 200) | error (but 2xx) |
| lost before the answer, or timed out | again after 1 s; used up: an empty watch | error |
| refused, unreachable, no TLS | error | error |

This is the only place below a caller that repeats anything, but for one repeat with fresh
credentials (H15), which does not count here. A reflector sets `max_retries` to 0 and paces by
itself (H9).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from random import Random

from .errors import ConnectionLost, TransportTimeout

__all__ = [
    "DEFAULT_MAX_RETRIES",
    "GiveUp",
    "Outcome",
    "RetryPolicy",
    "SendAgain",
    "parse_retry_after",
]

DEFAULT_MAX_RETRIES = 10
"""client-go's number."""

_WATCH_DELAY = 1.0
"""Seconds before a watch whose connection was lost is opened again (B5)."""

_JITTER = 0.1

_WHOLE_SECONDS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How one attempt ended: with an answer (`status`) or without one (`error`).

    `attempt` counts from 0. `retry_after` is the header as it came; `too_large` says that the
    Status has the cause ResourceVersionTooLarge.
    """

    attempt: int
    watch: bool = False
    status: int = 0
    retry_after: str | None = None
    too_large: bool = False
    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class SendAgain:
    """Send it again, `after` so many seconds."""

    after: float


class GiveUp(Enum):
    """Do not send it again."""

    ERROR = "raise what came"
    EMPTY_WATCH = "answer with a watch that ends at once"


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """`max_retries` is how many times a request is sent again; 0 means one attempt.

    With `rng`, up to a tenth is added to each wait, so that many clients that were told the same do
    not come back together.
    """

    max_retries: int = DEFAULT_MAX_RETRIES
    rng: Random | None = None

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise ValueError(f"max_retries must be 0 or more, not {self.max_retries}")

    def decide(self, outcome: Outcome) -> SendAgain | GiveUp:
        """What to do after an attempt that did not succeed."""
        last = outcome.attempt >= self.max_retries
        if outcome.error is not None:
            if not (outcome.watch and isinstance(outcome.error, ConnectionLost | TransportTimeout)):
                return GiveUp.ERROR
            return GiveUp.EMPTY_WATCH if last else SendAgain(_WATCH_DELAY)
        wait = parse_retry_after(outcome.retry_after)
        busy = outcome.status == 429 or 500 <= outcome.status <= 599
        if last or outcome.too_large or not busy or wait is None:
            return GiveUp.ERROR
        return SendAgain(wait)

    def spread(self, seconds: float) -> float:
        """How long to wait in fact, where `SendAgain` says `seconds`."""
        return seconds * (1 + _JITTER * self.rng.random()) if self.rng is not None else seconds


def parse_retry_after(header: str | None) -> float | None:
    """The seconds of a `Retry-After` header; None where there is none, or it is a date or anything
    else but whole seconds (B4: then nothing is repeated).

    >>> parse_retry_after("5"), parse_retry_after("1.5"), parse_retry_after(None)
    (5.0, None, None)
    """
    if header is None or _WHOLE_SECONDS.fullmatch(header.strip()) is None:
        return None
    return float(header)
