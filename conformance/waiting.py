"""Waiting for a server to be in some state: the only place of the harness that sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable

_INTERVAL = 0.02


class TookTooLong(AssertionError):
    """What was waited for did not come about in time."""


def until(condition: Callable[[], object], *, what: str, timeout: float = 30) -> None:
    """Ask again and again until ``condition`` holds; raises TookTooLong at the deadline."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise TookTooLong(f"waited {timeout:g} s for {what}")
        time.sleep(_INTERVAL)
