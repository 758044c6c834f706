"""Python's garbage collector, in a process that is a server and little else."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collecting_seldom"]

_THRESHOLDS = (5_000, 4, 5_000)
"""Of the three generations. By default a server of thousands of objects looks through all of them
again and again, for as long as half a second each time, in which nobody is answered. What is stored
holds no cycles; those of a broken connection or an exception go with the young, in some
milliseconds.
"""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """What is there now is looked through no more, and all else seldom, until the end.

    For commands only: in the process of a library's user this is not ours to decide.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
