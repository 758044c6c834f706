"""A transport that is watched: `-v` shows its requests."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from listwatch.rest import HTTPRequest, HTTPResponse, Transport
from listwatch.rest.retry import parse_retry_after

__all__ = ["ObservedTransport"]

_log = logging.getLogger("listwatch.cli")


class ObservedTransport:
    """Does what `inner` does, and logs it.

    Requests and answers are logged without their headers: a token is in there. Of the first
    `repeats` answers that ask for patience, the user is told. `timeout` takes the place of the
    requests' own limits, in seconds: how long an answer may take to begin, and to go on.
    """

    def __init__(
        self, inner: Transport, server: str, *, timeout: float | None = None, repeats: int = 0
    ) -> None:
        self._inner = inner
        self._server = server
        self._timeout = timeout
        self._repeats = repeats

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        asked = f"{request.method} {self._server}{request.target}"
        _log.info("%s", asked)
        began = time.monotonic()
        response = await self._inner.send(_limited(request, self._timeout))
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
        return response

    async def close(self) -> None:
        await self._inner.close()


def _limited(request: HTTPRequest, timeout: float | None) -> HTTPRequest:
    if timeout is None:
        return request
    return replace(
        request,
        connect_timeout=min(timeout, request.connect_timeout or timeout),
        first_byte_timeout=timeout,
        # The silence of a watch says nothing: there is no limit to it.
        silence_timeout=None if request.silence_timeout is None else timeout,
    )
