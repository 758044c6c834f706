"""What has arrived of a body and was not read yet."""

from __future__ import annotations

import asyncio

__all__ = ["Inbox"]

_AHEAD = 128 * 1024
"""Bytes that may wait for the reader before no more are taken from the network (E1)."""


class Inbox:
    """Stands between a connection, which puts in what arrives, and the one reader of a body.

    With more than 128 KiB unread the connection reads no further. Everything that arrived is
    delivered before a failure is told.
    """

    __slots__ = (
        "_ended",
        "_failure",
        "_loop",
        "_pieces",
        "_reader",
        "_size",
        "_source",
        "_stopped",
    )

    def __init__(self, source: asyncio.ReadTransport, loop: asyncio.AbstractEventLoop) -> None:
        self._source = source
        self._loop = loop
        self._pieces: list[bytes] = []
        self._size = 0
        self._reader: asyncio.Future[None] | None = None
        self._stopped = False  # the source is
        self._ended = False
        self._failure: Exception | None = None

    @property
    def is_ended(self) -> bool:
        """Whether the body is complete."""
        return self._ended

    def put(self, data: bytes) -> None:
        self._pieces.append(data)
        self._size += len(data)
        self._wake()
        if self._size > _AHEAD and not self._stopped and not self._source.is_closing():
            self._stopped = True
            self._source.pause_reading()

    def end(self) -> None:
        """The body is complete."""
        self._ended = True
        self._go_on()  # the connection may be used again, and its end must be seen
        self._wake()

    def fail(self, failure: Exception) -> None:
        """Nothing more will come, because of `failure`. Only the first one counts, and none after
        the end.
        """
        if not self._ended and self._failure is None:
            self._failure = failure
            self._wake()

    async def receive(self) -> bytes:
        """All that is there, or the next that comes; `b""` at the end. Raises the failure."""
        while not self._pieces:
            if self._ended:
                return b""
            if self._failure is not None:
                raise self._failure
            await self._arrival()
        return self.take()

    def take(self) -> bytes:
        """All that is there."""
        pieces = self._pieces
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        pieces.clear()
        self._size = 0
        self._go_on()
        return data

    async def _arrival(self) -> None:
        if self._reader is not None:
            raise RuntimeError("this body is already being read by another task")
        self._reader = self._loop.create_future()
        try:
            await self._reader
        finally:
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)

    def _go_on(self) -> None:
        if self._stopped:
            self._stopped = False
            if not self._source.is_closing():
                self._source.resume_reading()
