"""Several things awaited at once."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

__all__ = ["all_of"]


async def all_of(waits: Iterable[Coroutine[Any, Any, object]]) -> None:
    """Await them all. The first error is raised by itself, and the others are cancelled for it."""
    try:
        async with asyncio.TaskGroup() as group:
            for wait in waits:
                group.create_task(wait)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
