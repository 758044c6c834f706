"""An answer of aiohttp's, and the connection under it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import aiohttp

from ._aiohttp_errors import body_error
from .errors import ConnectionLost, TransportError, TransportTimeout
from .transport import Headers

__all__ = ["Head", "Response"]


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

    @property
    def status(self) -> int:
        return self._head.status

    @property
    def headers(self) -> Headers:
        return self._headers

    async def receive(self) -> bytes:
        """See `HTTPResponse.receive`. Cancelling it closes the connection (B8)."""
        if self._ended:
            return b""
        if self._failure is not None:
            raise self._failure
        try:
            async with asyncio.timeout(self._silence) as limit:
                data = await self._head.content.readany()
        except asyncio.CancelledError:
            self.close()
            raise
        except (aiohttp.ClientError, OSError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and not self._head.is_cut():
                raise  # two readers at once: a bug of the caller
            if limit.expired():
                failure: TransportError = TransportTimeout(
                    f"nothing more came of the answer of {self._url} within {self._silence:g} s",
                    url=self._url,
                )
            else:
                failure = body_error(error, self._url)
            failure.__cause__ = error
            first = self._fail(failure)
            if first is failure and (arrived := self._head.what_had_arrived()):
                return arrived  # the next call raises
            raise first from error
        if not data:
            self._ended = True
            self._release()
        return data

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
        if not self._ended:
            self._fail(
                ConnectionLost(f"the answer of {self._url} was closed by its reader", url=self._url)
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

    async def start(self, connection: Any) -> aiohttp.ClientResponse:
        self.pipe = connection.transport
        try:
            return await super().start(connection)
        except BaseException:
            if self.pipe is not None:
                self.pipe.abort()
            raise

    def give_up(self) -> None:
        """Close the connection at once."""
        if self.pipe is not None:
            self.pipe.abort()
        self.close()

    def is_cut(self) -> bool:
        return self.pipe is None or self.pipe.is_closing()

    def what_had_arrived(self) -> bytes:
        """What came before the connection broke, and nobody has read.

        aiohttp tells of the break before it hands out these bytes, which may be whole events.
        """
        self.content.set_exception(None)  # type: ignore[arg-type]  # as there was none
        arrived: bytes = self.content.read_nowait()
        return arrived

    def settle(self) -> None:
        """Let the connection go now rather than politely, if it is not kept for another request."""
        if self.pipe is not None and self.pipe.is_closing():
            self.pipe.abort()
        self.pipe = None
