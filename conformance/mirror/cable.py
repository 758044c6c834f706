"""The way between a mirror and its server, to be unplugged or to go dead."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

from conformance.streams import address_of


class Cable:
    """Passes bytes on to ``server``, TLS and all. It listens at `url` while it is plugged in."""

    def __init__(self, server: str) -> None:
        self._address = address_of(server)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._frozen: set[asyncio.Task[None]] = set()
        self._port = 0

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._port}"

    async def __aenter__(self) -> Self:
        await self.plug()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.unplug()

    async def plug(self) -> None:
        """From now on connections are made."""
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]

    async def unplug(self) -> None:
        """Connections are cut, and new ones refused."""
        if self._server is not None:
            self._server.close()
            self._server = None
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def freeze(self) -> int:
        """Nothing passes any more over the connections that are open, which stay so; new ones are
        as ever. How many there were.
        """
        fresh = self._tasks - self._frozen
        self._frozen |= fresh
        return len(fresh)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._pass_on(task, reader, writer)
        except OSError:
            pass  # the server is not there, or either side has gone: so is this connection
        except asyncio.CancelledError:
            pass  # unplugged; nobody waits for this task but `unplug`
        finally:
            self._tasks.discard(task)
            self._frozen.discard(task)
            writer.transport.abort()

    async def _pass_on(
        self,
        task: asyncio.Task[None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        behind_reader, behind_writer = await asyncio.open_connection(*self._address)
        ways = [
            asyncio.ensure_future(self._copy(task, behind_reader, writer)),
            asyncio.ensure_future(self._copy(task, reader, behind_writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait(ways)
            behind_writer.transport.abort()

    async def _copy(
        self,
        task: asyncio.Task[None],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                if task in self._frozen:
                    continue  # read, so that neither side notices anything, and passed to nobody
                writer.write(data)
                await writer.drain()
