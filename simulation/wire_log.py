"""A transport that writes down what was asked, and all that came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from listwatch.rest.errors import TransportError
from listwatch.rest.transport import Headers, HTTPRequest, HTTPResponse, Transport

from .answers import kind_of_request
from .history import Ask, Piece
from .recorder import Recorder

__all__ = ["WireLog"]


class WireLog:
    """Stands between one client and the server. `standing` fills in where its mirror stands."""

    def __init__(
        self, inner: Transport, recorder: Recorder, name: str, standing: Callable[[Ask], None]
    ) -> None:
        self.asks: list[Ask] = []
        self._inner = inner
        self._recorder = recorder
        self._name = name
        self._standing = standing

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        recorder = self._recorder
        query = dict(request.query)
        ask = Ask(
            recorder.step(),
            recorder.now(),
            kind_of_request(request),
            query.get("resourceVersion", ""),
            query=query,
        )
        self._standing(ask)
        number = len(self.asks)
        self.asks.append(ask)
        if recorder.lines is not None:
            told = " ".join(f"{name}={value}" for name, value in query.items() if name != "watch")
            recorder.say(self._name, f"request {number}: {ask.kind} {told}")
        try:
            response = await self._inner.send(request)
        except (TransportError, asyncio.CancelledError) as error:
            self._answered(ask)
            ask.ended = recorder.now()
            ask.error = ask.end = type(error).__name__
            recorder.say(self._name, f"request {number}: {str(error) or ask.error}")
            raise
        self._answered(ask)
        ask.status = response.status
        ask.content_type = response.headers.get("Content-Type") or ""
        retry_after = response.headers.get("Retry-After")
        if retry_after:
            ask.retry_after = float(retry_after)
        recorder.say(self._name, f"request {number}: answered {response.status}")
        return _LoggedResponse(response, ask, recorder, f"request {number}", self._name)

    async def close(self) -> None:
        """The inner transport is closed by whoever made it."""

    def _answered(self, ask: Ask) -> None:
        ask.answered = self._recorder.now()
        ask.answered_step = self._recorder.step()


class _LoggedResponse:
    def __init__(
        self, inner: HTTPResponse, ask: Ask, recorder: Recorder, title: str, name: str
    ) -> None:
        self._inner = inner
        self._ask = ask
        self._recorder = recorder
        self._title = title
        self._name = name

    @property
    def status(self) -> int:
        return self._inner.status

    @property
    def headers(self) -> Headers:
        return self._inner.headers

    async def receive(self) -> bytes:
        try:
            data = await self._inner.receive()
        except TransportError as error:
            self._end(type(error).__name__)
            raise
        if data:
            self._ask.pieces.append(Piece(self._recorder.now(), data))
            if self._recorder.lines is not None:
                self._recorder.say(self._name, f"{self._title}: {_told(data)}")
        else:
            self._end("end")
        return data

    async def read(self, limit: int | None = None) -> bytes:
        body = bytearray()
        while piece := await self.receive():
            body += piece
            if limit is not None and len(body) > limit:
                self.close()
                return bytes(body[:limit])
        return bytes(body)

    def close(self) -> None:
        self._end("closed")
        self._inner.close()

    def _end(self, how: str) -> None:
        if self._ask.ended is None:
            self._ask.ended = self._recorder.now()
            self._ask.end = how
            self._recorder.say(self._name, f"{self._title}: {how}")


def _told(data: bytes) -> str:
    text = data.decode("utf-8", "replace").rstrip("\n")
    lines = [line if len(line) <= 150 else f"{line[:150]}..." for line in text.split("\n")]
    return f"{len(data)} bytes: " + " | ".join(lines[:6]) + (" | ..." if len(lines) > 6 else "")
