"""A server that plays recorded exchanges over sockets, byte for byte."""

from __future__ import annotations

import asyncio
import socket
import ssl as _ssl
from collections.abc import Coroutine, Iterable
from types import TracebackType
from typing import Any, Self

from listwatch.testing._http1 import RequestHead
from listwatch.testing.recording import Recording
from listwatch.testing.replay.connection import Connection, Reader, ReplayedRequest
from listwatch.testing.replay.playlist import Match, Playlist

__all__ = ["ReplayServer"]


class ReplayServer:
    """Answers requests with recordings: the same bytes, in the same pieces, with the same end.

    `speed` is how many times as fast as it was recorded; None is as fast as it can. A request for
    which there is no recording gets a 404 that says what there is. Several recordings of one target
    are played in turn; the last of them repeats, or with `loop` they begin again. `port` 0 takes a
    free one. Leaving it ends every connection. A recording that makes no sense is a ValueError.

    >>> async def ask(recording: Recording) -> bytes:
    ...     async with ReplayServer([recording]) as server:
    ...         reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    ...         writer.write(recording.request)
    ...         answer = await reader.readexactly(len(recording.response))
    ...         writer.close()
    ...         return answer
    """

    def __init__(
        self,
        recordings: Iterable[Recording],
        *,
        speed: float | None = None,
        match: Match = Match.EXACT,
        loop: bool = False,
        host: str = "127.0.0.1",
        port: int = 0,
        ssl: _ssl.SSLContext | None = None,
    ) -> None:
        if speed is not None and speed <= 0:
            raise ValueError(f"speed must be more than 0, or None, not {speed}")
        self.requests: list[ReplayedRequest] = []
        """Every request so far, in the order of their arrival."""
        played = tuple(recordings)
        for recording in played:
            _ = recording.end  # reads it through: better now than in front of a client
        self._playlist = Playlist(played, match, loop=loop)
        self._speed = speed
        self._host = host
        self._port = port
        self._ssl = ssl
        self._listening: socket.socket | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def port(self) -> int:
        """The port it listens on. Raises RuntimeError while it does not."""
        if self._listening is None:
            raise RuntimeError("the replay server is not running")
        port: int = self._listening.getsockname()[1]
        return port

    @property
    def url(self) -> str:
        """Where it listens, such as `http://127.0.0.1:8001`; RuntimeError while it does not."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'http' if self._ssl is None else 'https'}://{host}:{self.port}"

    async def start(self) -> None:
        """Listen. Raises OSError where the address cannot be had."""
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        self._listening = socket.create_server((self._host, self._port), family=family)
        self._listening.setblocking(False)
        self._spawn(self._accept(self._listening))

    async def stop(self) -> None:
        """End every connection, and return when all of it is gone. Idempotent."""
        listening, self._listening = self._listening, None
        while self._tasks:
            tasks = tuple(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if listening is not None:
            listening.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listening)
            self._spawn(self._serve(client))

    async def _serve(self, client: socket.socket) -> None:
        # asyncio does this only for sockets that say they are TCP, not accepted ones. Without
        # it a piece waits up to 40 ms for the acknowledgement of the one before.
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Not asyncio's own server: that one does not give up a TLS handshake when it is closed.
        loop = asyncio.get_running_loop()
        reader = Reader()
        protocol = asyncio.StreamReaderProtocol(reader)
        try:
            transport, _ = await loop.connect_accepted_socket(
                lambda: protocol, client, ssl=self._ssl
            )
        except OSError:
            return  # a client that cannot agree on TLS, or is gone
        writer = asyncio.StreamWriter(transport, protocol, reader, loop)
        connection = Connection(
            reader,
            writer,
            speed=self._speed,
            choose=self._choose,
            targets=self._playlist.targets,
        )
        await connection.run()

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _choose(self, head: RequestHead, body: bytes) -> Recording | None:
        request_line = f"{head.method} {head.target} {head.version}\r\n\r\n"
        recording = self._playlist.next(Recording("", request_line.encode("latin-1"), b""))
        now = asyncio.get_running_loop().time()
        self.requests.append(
            ReplayedRequest(head.method, head.target, head.headers, body, now, recording)
        )
        return recording
