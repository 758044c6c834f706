"""A client of bytes, for what an HTTP library would hide."""

from __future__ import annotations

import asyncio
import re
import ssl
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from listwatch.testing.apiserver.embedded import EmbeddedServer

_SIZE = re.compile(rb"([0-9a-f]+)\r\n")


@dataclass
class WireAnswer:
    status_line: str
    headers: list[tuple[str, str]]
    body: bytes = b""
    chunks: list[bytes] = field(default_factory=list)

    @property
    def status(self) -> int:
        return int(self.status_line.split(" ")[1])

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.headers]

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


class WireClient:
    """One connection to a server."""

    def __init__(self, server: EmbeddedServer, *, tls: ssl.SSLContext | None = None) -> None:
        self._port = server.port
        self._tls = tls

    async def __aenter__(self) -> Self:
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self._port, ssl=self._tls, limit=1 << 26
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.writer.transport.abort()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def ask(
        self, target: str, *lines: str, method: str = "GET", version: str = "1.1"
    ) -> WireAnswer:
        """Send a request without a body, and read the whole answer."""
        head = [f"{method} {target} HTTP/{version}", "Host: x", *lines, "", ""]
        self.send("\r\n".join(head).encode())
        return await self.answer(method)

    async def head(self) -> WireAnswer:
        data = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        status_line, *lines = data.removesuffix("\r\n\r\n").split("\r\n")
        headers = []
        for line in lines:
            name, _, value = line.partition(": ")
            headers.append((name, value))
        return WireAnswer(status_line, headers)

    async def chunk(self) -> bytes:
        """The next chunk; empty is the last."""
        size = int((await self.reader.readuntil(b"\r\n"))[:-2], 16)
        data = await self.reader.readexactly(size + 2)
        assert data.endswith(b"\r\n")
        return data[:-2]

    async def answer(self, method: str = "GET") -> WireAnswer:
        answer = await self.head()
        length = answer.header("Content-Length")
        if method == "HEAD" or answer.status in (204, 304):
            return answer
        if answer.header("Transfer-Encoding") == "chunked":
            while chunk := await self.chunk():
                answer.chunks.append(chunk)
            answer.body = b"".join(answer.chunks)
        elif length is not None:
            answer.body = await self.reader.readexactly(int(length))
        else:
            answer.body = await self.reader.read()
        return answer

    async def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        return await self.reader.read()

    @property
    def local_port(self) -> int:
        port: int = self.writer.get_extra_info("sockname")[1]
        return port
