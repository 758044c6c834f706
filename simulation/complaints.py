"""What nobody should see: warnings, exceptions that nobody took, errors in the log."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["complaints", "told"]


@contextmanager
def complaints(found: list[str]) -> Iterator[None]:
    """Collects warnings and logged exceptions."""
    handler = _Collector(found)
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
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.ERROR)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        told = record.getMessage()
        if record.exc_info:
            told += f": {record.exc_info[1]!r}"
        self._found.append(told)


def told(context: dict[str, Any]) -> str:
    return f"{context.get('message')}: {context.get('exception')!r}"
