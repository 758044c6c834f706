"""A client for measurements: as little work for an answer as there can be."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from urllib.parse import urlsplit


class Connection:
    """One kept-alive connection that asks for one thing at a time."""

    def __init__(self, url: str) -> None:
        address = urlsplit(url)
        self._host, self._port = address.hostname, address.port

    async def __aenter__(self) -> Connection:
        self._reader, self._writer = await asyncio.open_connection(
            self._host, self._port, limit=1 << 20
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):  # the server may have been the first to go
            await self._writer.wait_closed()

    async def ask(self, method: str, target: str, body: bytes = b"") -> tuple[int, bytes]:
        """Status and body."""
        headers = await self.head(method, target, body)
        status = int(headers[b""])
        if b"content-length" in headers:
            return status, await self._reader.readexactly(int(headers[b"content-length"]))
        return status, b"".join([chunk async for chunk in self.chunks()])

    async def head(self, method: str, target: str, body: bytes = b"") -> dict[bytes, bytes]:
        """The answer's headers by their names in small letters; its status by the empty name."""
        self._writer.write(
            f"{method} {target} HTTP/1.1\r\nHost: server\r\nAccept: application/json\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        text = await self._reader.readuntil(b"\r\n\r\n")
        first, *lines = text[:-4].split(b"\r\n")
        headers = {b"": first.split(b" ")[1]}
        for line in lines:
            name, _, value = line.partition(b":")
            headers[name.lower()] = value.strip()
        return headers

    async def chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self._reader.readline(), 16):
            yield await self._reader.readexactly(size)
            await self._reader.readexactly(2)
        await self._reader.readexactly(2)


class Watcher:
    """A watch whose events are counted as they come."""

    def __init__(self, url: str, collection: str) -> None:
        self._connection = Connection(url)
        self._collection = collection
        self.events = 0
        self._wanted = 0
        self._there = asyncio.Event()

    async def __aenter__(self) -> Watcher:
        connection = await self._connection.__aenter__()
        _, listed = await connection.ask("GET", f"{self._collection}?limit=1")
        version = json.loads(listed)["metadata"]["resourceVersion"]
        await connection.head("GET", f"{self._collection}?watch=1&resourceVersion={version}")
        self._task = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        await self._connection.__aexit__()

    async def _read(self) -> None:
        try:
            async for chunk in self._connection.chunks():
                self.events += chunk.count(b"\n")
                if self.events >= self._wanted:
                    self._there.set()
        finally:
            self._there.set()

    async def wait(self, count: int) -> None:
        """Until it has had that many events. Raises AssertionError when it ends before."""
        self._wanted = count
        if self.events < count and not self._task.done():
            self._there.clear()
            await self._there.wait()
        if self.events < count:
            raise AssertionError(f"a watch ended after {self.events} of {count} events")
