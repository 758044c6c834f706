"""The server core behind a `Transport`: no sockets, no threads, all on the loop's own time.

On a `VirtualTimeLoop` a program that talks to it runs the same way every time, and an hour of it
takes no time.
"""

from __future__ import annotations

import asyncio
import zlib
from collections import deque
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from random import Random

from listwatch.rest.errors import (
    ConnectionLost,
    ConnectionRefused,
    TransportError,
    TransportTimeout,
)
from listwatch.rest.transport import Headers, HTTPRequest

from .faults.current import Faults
from .faults.effects import Stop
from .http.exchange import Exchange
from .http.heads import AnswerHead
from .messages import ServerRequest
from .service import Core, Service

__all__ = ["ServerTransport"]

_BUFFER = 64 * 1024
_GUNZIP = 32 + zlib.MAX_WBITS
_LAST_CHUNK = 5


class ServerTransport:
    """Sends requests to `core`, which has the loop's time for its clock.

    It behaves as the HTTP face does: bodies come in the same pieces, `faults` do the same things, a
    watch whose reader leaves `buffer` bytes unread is not written to. Each request has a connection
    of its own. `open_responses` counts the answers that somebody neither read to their end nor
    closed: a test ends with `assert transport.open_responses == 0`. `close` it in the end, or its
    timers are left.

    `rng` makes the ids in headers. Everything is decided by it, the core's and the faults' own.

    >>> from listwatch import ClientConfig, GroupVersionResource, RESTClient
    >>> async def names(core: Core) -> list[str]:
    ...     transport = ServerTransport(core)
    ...     config = ClientConfig(server="http://memory")
    ...     async with RESTClient(config, transport=transport) as client:
    ...         pods = await client.list(GroupVersionResource.parse("v1/pods"))
    ...         return [pod.name for pod in pods]
    """

    def __init__(
        self,
        core: Core,
        faults: Faults | None = None,
        *,
        rng: Random | None = None,
        buffer: int = _BUFFER,
    ) -> None:
        self.faults = faults if faults is not None else Faults()
        self.core = core
        self.service = Service(core, self.faults, rng=rng or Random(0), default_wall=_virtual_wall)
        self.requests = 0
        """How many were sent so far, those included that were refused."""
        self._buffer = buffer
        self._responses: dict[_Response, None] = {}
        self._started = False
        self._closed = False

    @property
    def open_responses(self) -> int:
        """How many requests hold a connection now."""
        return len(self._responses)

    def start(self) -> None:
        """Begin with what time brings: compaction, timed faults. `send` does it, too."""
        if not self._started:
            self._started = True
            self.service.start()

    async def send(self, request: HTTPRequest) -> _Response:
        """Send, and return when the head of the answer is there. See `Transport.send`."""
        if self._closed:
            raise TransportError("the transport is closed", url=request.path)
        self.start()
        self.requests += 1
        if self.service.refusing:
            raise ConnectionRefused("connection refused by a fault", url=request.path)
        response = _Response(request, self._responses, self._buffer)
        response.begin_exchange(Exchange(self.service, _server_request(request), response))
        await response.wait_for_head(request.first_byte_timeout)
        return response

    async def close(self) -> None:
        """End every answer, and all timers. Idempotent."""
        self._closed = True
        for response in tuple(self._responses):
            response.close()
        if self._started:
            self._started = False
            await self.service.close()


class _Response:
    """One answer: the client's `HTTPResponse` and the server's `Outlet` in one."""

    def __init__(
        self, request: HTTPRequest, open_responses: dict[_Response, None], buffer: int
    ) -> None:
        self._url = request.path
        self._silence = request.silence_timeout
        self._open = open_responses
        self._buffer = buffer
        self._exchange: Exchange | None = None
        self._head: AnswerHead | None = None
        self._headers = Headers()
        self._pieces: deque[bytes] = deque()
        self._unread = 0
        self._paused = False
        self._sent = 0  # bytes of the connection
        self._left: int | None = None
        self._cut_at: tuple[int, Stop] | None = None
        self._ended = False
        self._failure: TransportError | None = None
        self._gunzip: zlib._Decompress | None = None
        self._waiter: asyncio.Future[None] | None = None
        open_responses[self] = None

    # The client's side

    @property
    def status(self) -> int:
        assert self._head is not None
        return self._head.status

    @property
    def headers(self) -> Headers:
        return self._headers

    async def receive(self) -> bytes:
        """See `HTTPResponse.receive`."""
        while True:
            if self._pieces:
                piece = self._pieces.popleft()
                self._unread -= len(piece)
                if self._paused and self._unread <= self._buffer // 4:
                    self._paused = False
                    if self._exchange is not None:
                        self._exchange.resume()
                self._give_up_if_read()
                plain = self._gunzip.decompress(piece) if self._gunzip is not None else piece
                if plain:
                    return plain
                continue
            if self._failure is not None:
                raise self._failure
            if self._ended:
                return b""
            await self._wait(self._silence, "nothing more came of the answer")

    async def read(self, limit: int | None = None) -> bytes:
        body = bytearray()
        while piece := await self.receive():
            body += piece
            if limit is not None and len(body) > limit:
                self.close()
                return bytes(body[:limit])
        return bytes(body)

    def close(self) -> None:
        if not self._ended or self._pieces:
            self._fail(ConnectionLost("the answer was closed by its reader", url=self._url))
        self._pieces.clear()
        self._open.pop(self, None)

    def begin_exchange(self, exchange: Exchange) -> None:
        self._exchange = exchange
        exchange.start()

    async def wait_for_head(self, seconds: float | None) -> None:
        while self._head is None:
            if self._failure is not None:
                raise self._failure
            await self._wait(seconds, "no answer")

    async def _wait(self, seconds: float | None, what: str) -> None:
        waiter = self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds) as limit:
                await waiter
        except TimeoutError:
            if not limit.expired():
                raise
            late = TransportTimeout(f"{what} within {seconds:g} s", url=self._url)
            self._fail(late)
            self._open.pop(self, None)
            raise late from None
        except asyncio.CancelledError:
            self.close()  # as a real one, which cannot know what of the answer was lost (B8)
            raise
        finally:
            self._waiter = None

    # The server's side

    @property
    def writable(self) -> bool:
        self._paused = self._paused or self._unread >= self._buffer
        return not self._paused

    def begin(self, head: AnswerHead) -> None:
        if not self._spend(len(head.encode(minor=1, keep_alive=True))):
            return
        self._head = head
        length = () if head.length is None else (("Content-Length", str(head.length)),)
        self._headers = Headers((*head.headers, *length))
        self._left = head.length if head.has_body else None
        if self._headers.get("Content-Encoding") == "gzip":
            self._gunzip = zlib.decompressobj(_GUNZIP)
        self._wake()

    def send(self, chunks: Sequence[bytes]) -> None:
        for chunk in chunks:
            framing = 0 if self._left is not None else len(b"%x\r\n\r\n" % len(chunk))
            if not self._spend(len(chunk) + framing, chunk):
                return
            if self._left is not None:
                self._left -= len(chunk)
            self._put(chunk)
        self._wake()

    def finish(self) -> None:
        self._exchange = None
        if self._failure is not None or not self._spend(
            0 if self._left is not None else _LAST_CHUNK
        ):
            return
        if self._left:
            self._fail(ConnectionLost("the answer was cut off", url=self._url))
            return
        self._ended = True
        self._give_up_if_read()
        self._wake()

    def cut(self, chunk: bytes, keep: int, *, reset: bool) -> None:
        if keep:
            self._put(chunk[:keep])
        if reset:
            self._pieces.clear()  # a reset takes away what was not read yet
        words = "reset by the server" if reset else "closed by the server"
        self._fail(ConnectionLost(f"the connection was {words}", url=self._url))

    def cut_at(self, size: int, stop: Stop) -> None:
        self._cut_at = (size, stop)
        self._spend(0)

    def _spend(self, size: int, chunk: bytes = b"") -> bool:
        """Let so many bytes travel. False if a fault cuts the connection within them."""
        if self._failure is not None:
            return False
        before = self._sent
        self._sent += size
        if self._cut_at is not None and self._sent >= self._cut_at[0]:
            limit, stop = self._cut_at
            self._cut_at = None
            if stop.why():
                begun = len(b"%x\r\n" % len(chunk)) if self._left is None else 0
                keep = min(max(limit - before - begun, 0), len(chunk))
                self.cut(chunk, keep, reset=getattr(stop.what, "reset", False))
                return False
        return True

    def _put(self, piece: bytes) -> None:
        if piece:
            self._pieces.append(piece)
            self._unread += len(piece)

    def _fail(self, failure: TransportError) -> None:
        """The connection is gone, for this reason unless there is one already."""
        if self._failure is None and not self._ended:
            self._failure = failure
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lost()
        self._give_up_if_read()
        self._wake()

    def _give_up_if_read(self) -> None:
        if (self._ended or self._failure is not None) and not self._pieces:
            self._open.pop(self, None)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _server_request(request: HTTPRequest) -> ServerRequest:
    headers = {name.lower(): value for name, value in request.headers.items()}
    return ServerRequest(
        method=request.method,
        path=request.path,
        query=request.query,
        headers=headers,
        body=request.body or b"",
    )


def _virtual_wall() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=asyncio.get_running_loop().time())
