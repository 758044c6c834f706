"""A server that refuses, counts what it is asked, and at last behaves: another one behind it then
answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from types import TracebackType
from typing import Self

from .refusals import Broken, Mode, Said

__all__ = ["RefusingServer"]


class RefusingServer:
    """Refuses as `mode` says, and hands requests on to `behind` (host, port) where it is None.

    `requests` has the loop time of each request, whatever became of it. A refused connection never
    reaches a server: those are counted where they set out, by `attempted`, which is to be called
    for each (see `counting_connects`).
    """

    def __init__(self, behind: tuple[str, int], mode: Mode | None = None) -> None:
        self._behind = behind
        self._mode = mode
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.requests: list[float] = []
        self.targets: list[str] = []
        """What was asked for, one for each of `requests`."""
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        # Held all the time, so that nobody else gets the port while nobody listens on it.
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        await self.behave(self._mode)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()
        if self._socket is not None:
            self._socket.close()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def behave(self, mode: Mode | None) -> None:
        """From now on be like this. Connections that are open are cut."""
        self._mode = mode
        refusing = mode is not None and mode.lists is Broken.REFUSED
        self._cut_all()
        if refusing:
            self._close()
        elif self._server is None:
            await self._listen()

    def attempted(self) -> None:
        """Somebody has tried to connect; noted while that is refused."""
        if self._server is None:
            self._note("connect")

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", self.port, reuse_port=True
        )

    def _close(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        self._cut_all()

    def _cut_all(self) -> None:
        for writer in tuple(self._writers):
            writer.transport.abort()

    def _note(self, target: str) -> None:
        self.requests.append(asyncio.get_running_loop().time())
        self.targets.append(target)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            # A client that goes is no failure of this server.
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer_one(reader, writer):
                    pass
        finally:
            self._writers.discard(writer)
            self._tasks.discard(task)
            writer.close()

    async def _answer_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection may be used again."""
        head = await reader.readuntil(b"\r\n\r\n")
        target = head.split(b" ", 2)[1].decode()
        self._note(target)
        answer = None if self._mode is None else self._mode.answer(is_watch="watch=" in target)
        if answer is None:
            await self._pass_on(head, reader, writer)
            return False
        if isinstance(answer, Broken):
            _reset(writer)
            return False
        writer.write(_encode(answer))
        await writer.drain()
        if answer.then_reset:
            _reset(writer)
        return not answer.then_reset

    async def _pass_on(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """One request on a connection of its own, until one side is gone."""
        behind_reader, behind_writer = await asyncio.open_connection(*self._behind)
        self._writers.add(behind_writer)
        try:
            behind_writer.write(head[:-2] + b"Connection: close\r\n\r\n")
            ways = [
                asyncio.ensure_future(_copy(behind_reader, writer)),
                asyncio.ensure_future(_copy(reader, behind_writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.wait(ways)
        finally:
            self._writers.discard(behind_writer)
            behind_writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()


def _encode(answer: Said) -> bytes:
    """A body that is cut promises more than it has; a watch's comes in chunks, as from servers."""
    lines = [f"HTTP/1.1 {answer.status} Whatever"]
    lines += [f"{name}: {value}" for name, value in answer.headers.items()]
    lines += ["Transfer-Encoding: chunked", "", ""]
    body = b"%x\r\n%b\r\n" % (len(answer.body), answer.body) if answer.body else b""
    last = b"" if answer.then_reset else b"0\r\n\r\n"
    return "\r\n".join(lines).encode() + body + last


def _reset(writer: asyncio.StreamWriter) -> None:
    raw: socket.socket = writer.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
