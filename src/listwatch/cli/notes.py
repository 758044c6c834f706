"""Standard error: what people are told, beside the data on standard output."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .failures import one_line

__all__ = ["log_to_stderr", "note", "say"]


def say(text: str) -> None:
    """Write a line to standard error, if anybody reads it."""
    if sys.stderr is None:  # the program was started with it closed
        return
    with suppress(OSError, ValueError):  # nobody is left to be told that nobody listens
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def note(text: str) -> None:
    """Say something in the name of the program, on one line."""
    say(f"listwatch: {one_line(text)}")


@contextmanager
def log_to_stderr(*, verbose: bool) -> Iterator[None]:
    """While inside, the library's warnings are notes; with `verbose`, all that it logs."""
    logger = logging.getLogger("listwatch")
    before = logger.level, logger.propagate
    handler = _Notes(verbose)
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if verbose else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]


class _Notes(logging.Handler):
    def __init__(self, verbose: bool) -> None:
        super().__init__()
        self._verbose = verbose

    def emit(self, record: logging.LogRecord) -> None:
        # Why a watch ended is said by the command itself.
        if self._verbose or record.name != "listwatch.watch":
            note(record.getMessage())
