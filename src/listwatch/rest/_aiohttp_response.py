"""An answer of aiohttp's, and the connection under it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import aiohttp

from ._aiohttp_errors import body_error
from ._chunked import ChunkError
from .errors import ConnectionLost, TransportError, TransportTimeout
from .inflate import InflateError, Inflater, inflater_for
from .transport import Headers

if TYPE_CHECKING:
    from ._inbox import Inbox

__all__ = ["Head", "Response"]

_STRETCH = 1024 * 1024
"""Bytes that are unpacked before others have a turn of the event loop: one read may hold a thousand
times as much as it is long.
"""


class Response:
    """An `HTTPResponse` of aiohttp's."""

    def __init__(
        self, head: Head, url: str, silence: float | None, on_end: Callable[[Response], None]
    ) -> None:
        self._head = head
        self._url = url
        self._silence = silence
        self._on_end = on_end
        self._ended = False
        self._failure: TransportError | None = None
        self._headers = Headers(head.headers.items())
        inbox = head.inbox
        self._next = inbox.receive if inbox is not None else head.content.readany
        self._encoding = self._headers.get("Content-Encoding")
        self._inflater: Inflater | None = None
        self._at_a_stretch = 0  # bytes unpacked since others had their turn

    @property
    def status(self) -> int:
        return self._head.status

    @property
    def headers(self) -> Headers:
        return self._headers

    async def receive(self) -> bytes:
        """See `HTTPResponse.receive`. Cancelling it closes the connection (B8)."""
        if self._encoding is None:
            return await self._arriving()
        try:
            return await self._unpacked(self._encoding)
        except asyncio.CancelledError:
            self.close()
            raise
        except InflateError as error:
            self._inflater = None
            kind = ConnectionLost if error.cut else TransportError
            told = f"the answer of {self._url} cannot be unpacked: {error}"
            raise self._fail(kind(told, url=self._url)) from error

    async def read(self, limit: int | None = None) -> bytes:
        body = bytearray()
        try:
            while limit is None or len(body) <= limit:
                piece = await self.receive()
                if not piece:
                    return bytes(body)
                body += piece
        except BaseException:
            self.close()
            raise
        self.close()
        return bytes(body[:limit])

    def close(self) -> None:
        self._inflater = None
        if not self._ended:
            self._fail(
                ConnectionLost(f"the answer of {self._url} was closed by its reader", url=self._url)
            )

    async def _unpacked(self, encoding: str) -> bytes:
        if self._at_a_stretch >= _STRETCH:
            self._at_a_stretch = 0
            await asyncio.sleep(0)
        while True:
            if self._inflater is not None and (piece := self._inflater.read()):
                self._at_a_stretch += len(piece)
                return piece
            packed = await self._arriving()
            if not packed:
                if self._inflater is not None:
                    self._inflater.end()
                return b""
            if self._inflater is None:
                self._inflater = inflater_for(encoding)
            if self._inflater is None:
                return packed
            self._inflater.feed(packed)

    async def _arriving(self) -> bytes:
        """The next piece as it travelled."""
        if self._failure is not None:
            raise self._failure
        if self._ended:
            return b""
        late = False
        try:
            if self._silence is None:
                data = await self._next()
            else:
                try:
                    async with asyncio.timeout(self._silence) as limit:
                        data = await self._next()
                except TimeoutError:
                    late = limit.expired()
                    raise
        except asyncio.CancelledError:
            self.close()
            raise
        except (aiohttp.ClientError, OSError, RuntimeError, ChunkError) as error:
            if isinstance(error, RuntimeError) and not self._head.is_cut():
                raise  # two readers at once: a bug of the caller
            failure = self._too_late() if late else body_error(error, self._url)
            failure.__cause__ = error
            first = self._fail(failure)
            if first is failure and (arrived := self._head.what_had_arrived()):
                return arrived  # the next call raises
            raise first from error
        if not data:
            self._ended = True
            self._release()
        return data

    def _too_late(self) -> TransportError:
        return TransportTimeout(
            f"nothing more came of the answer of {self._url} within {self._silence:g} s",
            url=self._url,
        )

    def _fail(self, failure: TransportError) -> TransportError:
        """Give the connection up because of `failure`, and say which one came first."""
        if self._failure is None:
            self._failure = failure
            self._head.close()  # wakes a read that waits
            self._release()
        return self._failure

    def _release(self) -> None:
        self._head.settle()
        self._on_end(self)


class Head(aiohttp.ClientResponse):
    """Remembers its connection, which aiohttp lets go of with the last byte."""

    pipe: asyncio.Transport | None = None
    inbox: Inbox | None = None
    """Where the body arrives if it is not aiohttp that reads it."""

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        self.pipe = connection.transport
        protocol = connection.protocol
        try:
            response = await super().start(connection)
        except BaseException:
            if self.pipe is not None:
                self.pipe.abort()
            raise
        # Now, since the body may have ended, and the connection may have another answer soon.
        self.inbox = getattr(protocol, "inbox", None)
        return response

    def give_up(self) -> None:
        """Close the connection at once."""
        if self.pipe is not None:
            self.pipe.abort()
        self.close()

    def close(self) -> None:
        super().close()
        if self.inbox is not None:
            self.inbox.fail(aiohttp.ClientConnectionError("Connection closed"))

    def is_cut(self) -> bool:
        return self.pipe is None or self.pipe.is_closing()

    def what_had_arrived(self) -> bytes:
        """What came before the connection broke, and nobody has read.

        aiohttp tells of the break before it hands out these bytes, which may be whole events.
        """
        if self.inbox is not None:
            return self.inbox.take()
        self.content.set_exception(None)  # type: ignore[arg-type]  # as there was none
        arrived: bytes = self.content.read_nowait()
        return arrived

    def settle(self) -> None:
        """Let the connection go now rather than politely, if it is not kept for another request."""
        if self.pipe is not None and self.pipe.is_closing():
            self.pipe.abort()
        self.pipe = None
