"""A transport that is watched: `-v` shows its requests, and what ended the last one is known."""

from __future__ import annotations

import logging
import time

from listwatch.rest import Headers, HTTPRequest, HTTPResponse, Transport, TransportError
from listwatch.rest.retry import parse_retry_after

__all__ = ["ObservedTransport"]

_log = logging.getLogger("listwatch.cli")


class ObservedTransport:
    """Does what `inner` does, and remembers the last failure.

    Requests and answers are logged without their headers: a token is in there. Of the first
    `repeats` answers that ask for patience, the user is told.
    """

    def __init__(self, inner: Transport, server: str, *, repeats: int) -> None:
        self._inner = inner
        self._server = server
        self._repeats = repeats
        self.failure: TransportError | None = None
        """What ended the last request or the last answer, if it did not end well."""

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        asked = f"{request.method} {self._server}{request.target}"
        _log.info("%s", asked)
        began = time.monotonic()
        self.failure = None
        try:
            response = await self._inner.send(request)
        except TransportError as error:
            self.failure = error
            raise
        _log.info(
            "%s -> %d, %s, after %.0f ms",
            asked,
            response.status,
            response.headers.get("Content-Type") or "no Content-Type",
            (time.monotonic() - began) * 1000,
        )
        wait = parse_retry_after(response.headers.get("Retry-After"))
        busy = response.status == 429 or response.status >= 500
        if busy and wait is not None and self._repeats:
            self._repeats -= 1
            _log.warning("the server is busy (%d), and asks to wait %g s", response.status, wait)
        return _ObservedResponse(response, self)

    async def close(self) -> None:
        await self._inner.close()


class _ObservedResponse:
    def __init__(self, inner: HTTPResponse, transport: ObservedTransport) -> None:
        self._inner = inner
        self._transport = transport
        self._closed = False

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Headers:
        return self._inner.headers

    async def receive(self) -> bytes:
        try:
            return await self._inner.receive()
        except TransportError as error:
            if not self._closed:
                self._transport.failure = error
            raise

    async def read(self, limit: int | None = None) -> bytes:
        return await self._inner.read(limit)

    def close(self) -> None:
        self._closed = True
        self._inner.close()
