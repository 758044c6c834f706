"""Whose cancellation it is: the reader's, or one inside of the source that it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["SourceCancelled", "inner_cancellations_as_errors"]


class SourceCancelled(RuntimeError):
    """Something that the source waited for was cancelled."""


@contextmanager
def inner_cancellations_as_errors() -> Iterator[None]:
    """Raises `SourceCancelled` in place of a cancellation that nobody asked this task for.

    Such as of a task of the source's own. Let through, it would end whoever reads the source, as
    quietly as if that had been told to stop. The task must be one that takes no cancellation back
    by halves: its `cancelling()` is 0 until it is to end.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise SourceCancelled("the source was cancelled from inside") from error
