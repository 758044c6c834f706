"""What nobody should see: warnings, exceptions that nobody took, errors in the log."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

__all__ = ["Disliked", "Failure", "complaints", "told"]

_FAILED = re.compile(r"handler (\S+) failed on [A-Z]+ (\S+)")


class Disliked(Exception):
    """What a handler of the simulation raises."""


class Failure(NamedTuple):
    """That it did, as it was logged."""

    handler: str
    key: str


@contextmanager
def complaints(found: list[str], failures: list[Failure]) -> Iterator[None]:
    """Collects warnings and logged exceptions; what handlers raise goes to `failures`."""
    handler = _Collector(found, failures)
    log = logging.getLogger("listwatch")
    asyncio_log = logging.getLogger("asyncio")
    level, propagate = log.level, log.propagate
    log.setLevel(logging.ERROR)
    log.propagate = False
    log.addHandler(handler)
    asyncio_log.addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield
        found.extend(str(warning.message) for warning in caught)
    finally:
        log.removeHandler(handler)
        asyncio_log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


class _Collector(logging.Handler):
    def __init__(self, found: list[str], failures: list[Failure]) -> None:
        super().__init__(logging.ERROR)
        self._found = found
        self._failures = failures

    def emit(self, record: logging.LogRecord) -> None:
        told = record.getMessage()
        failed = _FAILED.match(told)
        if failed is not None and record.exc_info and isinstance(record.exc_info[1], Disliked):
            self._failures.append(Failure(failed[1], failed[2]))
            return
        if record.exc_info:
            told += f": {record.exc_info[1]!r}"
        self._found.append(told)


def told(context: dict[str, Any]) -> str:
    return f"{context.get('message')}: {context.get('exception')!r}"
