"""One connection of a replay server: reads requests, and plays the recordings that answer them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from listwatch.rest.transport import Headers
from listwatch.testing._http1 import BodyReader, Framing, RequestHead, parse_request
from listwatch.testing.recording import Ending, Recording

__all__ = ["Connection", "Reader", "ReplayedRequest"]

_READ = 65536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, and for no time at all


@dataclass(frozen=True, slots=True)
class ReplayedRequest:
    """A request as the server got it."""

    method: str
    target: str
    headers: Headers = field(repr=False)
    body: bytes = field(repr=False)
    time: float
    """Loop time, in seconds."""
    recording: Recording | None
    """What answered it; None where it got a 404."""


class Reader(asyncio.StreamReader):
    """A StreamReader that can be asked whether the client is gone without reading what it sent."""

    def __init__(self) -> None:
        super().__init__(limit=_READ)
        self.gone = asyncio.Event()

    def feed_eof(self) -> None:
        super().feed_eof()
        self.gone.set()

    def set_exception(self, exc: Exception) -> None:
        super().set_exception(exc)
        self.gone.set()


class Connection:
    """Serves one client until it goes, or a recording says that the server closed."""

    def __init__(
        self,
        reader: Reader,
        writer: asyncio.StreamWriter,
        *,
        speed: float | None,
        choose: Callable[[RequestHead, bytes], Recording | None],
        targets: Callable[[], list[str]],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._speed = speed
        self._choose = choose
        self._targets = targets
        # A write is done when the system has taken all of it. (With 0, TLS of asyncio would hang.)
        writer.transport.set_write_buffer_limits(high=1, low=0)

    async def run(self) -> None:
        try:
            while (request := await self._read_request()) is not None:
                head, body = request
                recording = self._choose(head, body)
                if recording is not None:
                    goes_on = await self._play(recording)
                else:
                    goes_on = await self._refuse(head)
                if not goes_on or not _asks_to_keep(head):
                    break
            self._writer.close()
            await self._writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client is gone, which is its right at any time
        finally:
            self._writer.transport.abort()
            with contextlib.suppress(OSError):  # what ended it was told above
                await self._writer.wait_closed()

    async def _read_request(self) -> tuple[RequestHead, bytes] | None:
        """The next request, or None where the client sends none, or what is none."""
        try:
            return await self._parse_request()
        except ValueError:
            await self._send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
            return None

    async def _parse_request(self) -> tuple[RequestHead, bytes] | None:
        try:
            data = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as rest:
            if not rest.partial:
                return None
            raise
        except asyncio.LimitOverrunError:
            data = b""
        head = parse_request(data)
        if head is None:
            raise ValueError(f"no request: {data[:40]!r}")
        chunked = (head.headers.get("Transfer-Encoding") or "").lower() == "chunked"
        length = int(head.headers.get("Content-Length") or 0)
        body_reader = BodyReader(Framing.CHUNKED if chunked else Framing.LENGTH, length)
        body = b""
        while not body_reader.complete:
            more = await (self._reader.readline() if chunked else self._reader.readexactly(length))
            if not more:
                raise asyncio.IncompleteReadError(body, None)
            body += body_reader.feed(more)
        return head, body

    async def _play(self, recording: Recording) -> bool:
        """Send it as it was recorded. Whether the connection is good for another request."""
        began = asyncio.get_running_loop().time()
        at = 0
        for seconds, size in recording.reads:
            if not await self._wait_until(began, seconds):
                return False
            await self._send(recording.response[at : at + size])
            at += size
        if recording.end is Ending.CLIENT:
            await self._reader.gone.wait()
            return False
        if recording.end is Ending.KEPT:
            return recording.keeps_alive
        await self._wait_until(began, recording.seconds)
        if recording.end is Ending.ABORT:
            self._abort()
        return False

    async def _refuse(self, head: RequestHead) -> bool:
        recorded = ", ".join(self._targets()) or "nothing"
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f"no recording answers {head.method} {head.target}; recorded: {recorded}",
            "reason": "NotFound",
            "code": 404,
        }
        body = json.dumps(status).encode()
        lines = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length:"
        await self._send(f"{lines} {len(body)}\r\n\r\n".encode())
        if head.method != "HEAD":
            await self._send(body)
        return True

    async def _send(self, data: bytes) -> None:
        if data:
            self._writer.write(data)
            await self._writer.drain()
            await asyncio.sleep(0)  # a reader in this very loop gets it as a read of its own

    async def _wait_until(self, began: float, seconds: float) -> bool:
        """Wait for that moment of the recording; whether the client is still there then."""
        if self._speed is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(began + seconds / self._speed):
                    await self._reader.gone.wait()
        return not self._reader.gone.is_set()

    def _abort(self) -> None:
        """Go without a goodbye: TLS without close_notify, or a TCP reset where there is no TLS."""
        if self._writer.get_extra_info("ssl_object") is None:
            tcp: socket.socket = self._writer.get_extra_info("socket")
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._writer.transport.abort()


def _asks_to_keep(head: RequestHead) -> bool:
    return head.version == "HTTP/1.1" and (head.headers.get("Connection") or "").lower() != "close"
