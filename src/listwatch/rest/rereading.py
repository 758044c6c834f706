"""A file that others write: read again from time to time, and off the event loop."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from ._per_loop import PerLoopLock

__all__ = ["FileText"]

_log = logging.getLogger("listwatch.rest")


class FileText:
    """The content of `path`, no older than `every` seconds of the event loop's clock.

    A file that cannot be read any more is what it was, and said in the log: who rotates it may be
    at it. There is no lock on the file, so that what is read may be half of what is being written:
    who uses it checks it.
    """

    def __init__(self, path: Path, *, every: float) -> None:
        self.path = path
        self._every = every
        self._content: bytes | None = None
        self._looked_at: float | None = None
        self._turn = PerLoopLock()

    async def read(self) -> bytes:
        """The content. Raises `OSError` where there never was any."""
        if not self._is_fresh():
            async with self._turn.here():
                if not self._is_fresh():  # else somebody has looked while we waited
                    await self._look()
        assert self._content is not None
        return self._content

    async def look(self) -> bool:
        """Read it now, and say whether it has changed. Raises as `read` does."""
        async with self._turn.here():
            return await self._look()

    def doubt(self) -> None:
        """Let the next `read` look, however short a time ago the last one was."""
        self._looked_at = None

    def _is_fresh(self) -> bool:
        if self._content is None or self._looked_at is None:
            return False
        # The clock of another loop may be behind.
        return 0 <= asyncio.get_running_loop().time() - self._looked_at < self._every

    async def _look(self) -> bool:
        before = self._content
        try:
            self._content = await asyncio.to_thread(self.path.read_bytes)
        except OSError as error:
            if before is None:
                raise
            _log.warning(
                "%s cannot be read any more (%s): going on with what it was",
                self.path,
                error.strerror,
            )
        self._looked_at = asyncio.get_running_loop().time()
        return self._content != before

    def __repr__(self) -> str:
        return f"FileText({str(self.path)!r})"
