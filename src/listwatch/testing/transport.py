"""A `Transport` without sockets: a function of the test answers each request, on loop time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlencode

from listwatch.rest.errors import ConnectionLost, TransportError, TransportTimeout
from listwatch.rest.transport import Headers, HTTPRequest
from listwatch.testing.reply import Hang, MemoryBody, Reply

__all__ = ["Handler", "MemoryTransport", "ReceivedRequest", "in_turn"]

Answer: TypeAlias = Reply | Exception | Hang
Handler: TypeAlias = Callable[[HTTPRequest], Answer | Awaitable[Answer]]
"""What answers a request: a plain or async function.

An exception, given or raised, is what `send` raises; with `HANG`, it never hears of an answer.
"""


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as the transport got it, and when."""

    request: HTTPRequest
    time: float
    """Loop time, in seconds."""

    @property
    def method(self) -> str:
        return self.request.method

    @property
    def path(self) -> str:
        return self.request.path

    @property
    def query(self) -> dict[str, str]:
        """The query by name; the last of several values of one name."""
        return dict(self.request.query)

    @property
    def headers(self) -> Mapping[str, str]:
        return self.request.headers


def in_turn(*answers: Answer) -> Handler:
    """A handler that gives these answers one after another, and objects to a request after them."""
    left = list(answers)

    def handle(request: HTTPRequest) -> Answer:
        if not left:
            raise AssertionError(
                f"no answer is left for {request.method} {_target(request)}, after {len(answers)}"
            )
        return left.pop(0)

    return handle


class MemoryTransport:
    """Answers requests by `handler`, which returns a `Reply`, an exception or `HANG`.

    It keeps what it got in `requests`, honours the time limits of each request, and counts the
    answers that somebody neither read to their end nor closed: a test ends with
    `assert transport.open_responses == 0`.

    >>> transport = MemoryTransport(lambda request: Reply.json({"kind": "PodList", "items": []}))
    >>> async def ask() -> bytes:
    ...     response = await transport.send(HTTPRequest(method="GET", path="/api/v1/pods"))
    ...     return await response.read()
    >>> asyncio.run(ask())
    b'{"kind": "PodList", "items": []}'
    """

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.requests: list[ReceivedRequest] = []
        self._closed = False
        self._responses: set[_MemoryResponse] = set()
        self._answering: set[asyncio.Task[Answer]] = set()

    @property
    def open_responses(self) -> int:
        """How many answers hold a connection now."""
        return len(self._responses)

    async def send(self, request: HTTPRequest) -> _MemoryResponse:
        if self._is_closed():
            raise TransportError("the transport is closed", url=request.path)
        loop = asyncio.get_running_loop()
        self.requests.append(ReceivedRequest(request, loop.time()))
        answering = asyncio.create_task(self._answer(request))
        self._answering.add(answering)
        try:
            async with asyncio.timeout(request.first_byte_timeout) as limit:
                answer = await answering
        except TimeoutError:
            if not limit.expired():
                raise
            raise TransportTimeout(
                f"no answer within {request.first_byte_timeout:g} s", url=request.path
            ) from None
        except asyncio.CancelledError:
            if self._is_closed() and not _being_cancelled():
                raise ConnectionLost(
                    "the transport was closed before the answer", url=request.path
                ) from None
            raise
        finally:
            self._answering.discard(answering)
        if isinstance(answer, Exception):
            raise answer
        if not isinstance(answer, Reply):
            raise TypeError(f"the handler returned {answer!r}, which is no Reply")
        return _MemoryResponse(answer, request, self._responses)

    async def close(self) -> None:
        self._closed = True
        for response in tuple(self._responses):
            response.close()
        answering = tuple(self._answering)
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)

    def _is_closed(self) -> bool:
        return self._closed

    async def _answer(self, request: HTTPRequest) -> Answer:
        answer = self.handler(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Hang):
            await asyncio.get_running_loop().create_future()
        elif isinstance(answer, Reply) and answer.delay:
            await asyncio.sleep(answer.delay)
        return answer


class _MemoryResponse:
    """One answer of a `MemoryTransport`: see `HTTPResponse` for what it does."""

    def __init__(
        self, reply: Reply, request: HTTPRequest, open_responses: set[_MemoryResponse]
    ) -> None:
        pairs = reply.headers.items() if isinstance(reply.headers, Mapping) else reply.headers
        self._status = reply.status
        self._headers = Headers(pairs)
        self._url = request.path
        self._silence = request.silence_timeout
        self._failure: TransportError | None = None
        self._ahead: bytes | None = None
        self._open = open_responses
        self._open.add(self)
        self._body: MemoryBody = reply.open_body()
        self._body.begin()
        if reply.body == b"":
            self._open.discard(self)

    @property
    def status(self) -> int:
        return self._status

    @property
    def headers(self) -> Headers:
        return self._headers

    async def receive(self) -> bytes:
        if self._failure is not None:
            raise self._failure
        try:
            async with asyncio.timeout(self._silence) as limit:
                piece = await self._body.receive()
        except asyncio.CancelledError:
            self.close()  # as a real one, which cannot know what of the answer was lost (B8)
            raise
        except Exception:
            self._open.discard(self)
            if not limit.expired():
                raise
            self.close()
            self._failure = TransportTimeout(
                f"nothing more came of the answer within {self._silence:g} s", url=self._url
            )
            raise self._failure from None
        if not piece:
            self._open.discard(self)
        return piece

    async def read(self, limit: int | None = None) -> bytes:
        body = bytearray()
        while piece := await self.receive():
            body += piece
            if limit is not None and len(body) > limit:
                self.close()
                return bytes(body[:limit])
        return bytes(body)

    def close(self) -> None:
        self._open.discard(self)
        self._body.close()


def _being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _target(request: HTTPRequest) -> str:
    return f"{request.path}?{urlencode(request.query)}" if request.query else request.path
