"""The server core behind a port: HTTP/1.1, plain or over TLS."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable

from ..messages import Answer, ServerRequest
from ..service import Service
from .connection import Connection
from .limits import Limits
from .tls import TLSPipe

__all__ = ["HTTPFace"]

_BACKLOG = 512
_TURNS_OF_AN_ACCEPT = 3
"""Of the loop, in which what was accepted just now becomes a connection."""


class HTTPFace:
    """Listens, and serves every client by a `Connection`.

    `context` is looked at for each new connection, so that a certificate can be changed on the way.
    """

    def __init__(
        self,
        service: Service,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        context: ssl.SSLContext | None = None,
        control: Callable[[ServerRequest], Answer | None] | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.context = context
        self._service = service
        self._host = host
        self._port = port
        self._control = control
        self._limits = limits or Limits()
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._placeholder: socket.socket | None = None
        self._listening: set[asyncio.Task[None]] = set()
        self._stopped = False

    @property
    def port(self) -> int:
        """The port, once it is started."""
        return self._port

    @property
    def connections(self) -> int:
        """How many are open."""
        return len(self._connections)

    async def start(self) -> None:
        """Listen. Raises OSError where the address cannot be had."""
        self._stopped = False
        listening = self._bind()
        self._port = listening.getsockname()[1]
        await self._listen(listening)
        self._service.on_kill = self.kill_connections
        self._service.on_refuse = self._refuse

    async def stop(self) -> None:
        """End every connection, and return when they are gone. Idempotent."""
        self._service.on_kill = self._service.on_refuse = None
        if self._placeholder is not None:
            self._placeholder.close()
            self._placeholder = None
        self._stopped = True
        if self._listening:
            await asyncio.wait(self._listening)
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for _ in range(_TURNS_OF_AN_ACCEPT):
            await asyncio.sleep(0)
        while self._connections:
            connections = tuple(self._connections)
            for connection in connections:
                connection.abort()
            await asyncio.gather(*(connection.gone for connection in connections))
        if server is not None:
            await server.wait_closed()

    def kill_connections(self) -> None:
        """End every connection as the death of the server does."""
        for connection in tuple(self._connections):
            if not connection.in_control:
                connection.kill()

    def _bind(self) -> socket.socket:
        family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
        bound = socket.socket(family, socket.SOCK_STREAM)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind((self._host, self._port))
        except BaseException:
            bound.close()
            raise
        return bound

    async def _listen(self, bound: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._connect, sock=bound, backlog=_BACKLOG)

    def _connect(self) -> Connection:
        return Connection(
            self._service,
            self._make_pipe if self.context is not None else None,
            self._control,
            self._connections,
            self._limits,
            lambda: self._stopped,
        )

    def _make_pipe(self) -> TLSPipe:
        assert self.context is not None
        return TLSPipe(self.context)

    def _refuse(self, refusing: bool) -> None:
        """Have the system refuse new connections, and keep the port meanwhile."""
        if refusing and self._server is not None:
            self._server.close()
            self._server = None
            # Bound, but nobody listens: nobody else can take the port, and clients are refused.
            self._placeholder = self._bind()
        elif not refusing and self._placeholder is not None:
            bound, self._placeholder = self._placeholder, None
            self._listen_again(bound)

    def _listen_again(self, bound: socket.socket) -> None:
        bound.listen(_BACKLOG)
        task = asyncio.get_running_loop().create_task(self._listen(bound))
        self._listening.add(task)
        task.add_done_callback(self._listening.discard)
