"""Proxies on loopback: HTTP (CONNECT, and requests in absolute form), with or without TLS, and
SOCKS5."""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]

KINDS = ["http", "https", "socks5", "socks5h"]


@dataclass
class LoopbackProxy:
    """Passes on what it is asked to, and remembers what that was."""

    kind: str = "http"
    """`http`, `https` or `socks5`."""
    ssl: ssl.SSLContext | None = None
    user: str = ""
    password: str = ""
    hosts: dict[str, str] = field(default_factory=dict)
    """The addresses of names that only it can resolve."""
    answer: bytes | None = None
    """What it says in the place of its own answer; it then closes the connection, unless that
    begins with a success."""
    asked: list[str] = field(default_factory=list)
    """Such as `CONNECT host:port`, `GET http://host/path` or `SOCKS5 host:port`."""
    heads: list[str] = field(default_factory=list)
    """What else came with that in HTTP."""
    certificates: list[object] = field(default_factory=list)
    """What clients showed, where the context asks for it."""
    silent: bool = False
    """Whether it takes connections and says nothing."""

    def __post_init__(self) -> None:
        self.busy = asyncio.Event()
        """Set when a client has said something."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._failures: list[Exception] = []

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, "127.0.0.1", 0, ssl=self.ssl, limit=1 << 20
        )
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.close()
        self.cut()
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()
        if error is None and self._failures:
            raise self._failures[0]

    @property
    def url(self) -> str:
        login = f"{self.user}:{self.password}@" if self.user else ""
        return f"{self.kind}://{login}127.0.0.1:{self.port}"

    @property
    def shown_url(self) -> str:
        return f"{self.kind}://127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        return len(self._tasks)

    def cut(self) -> None:
        """End every connection without another word."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serve = self._socks if self.kind.startswith("socks") else self._http
        task = asyncio.get_running_loop().create_task(self._converse(serve, (reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _converse(self, serve: Callable[[Pair], Awaitable[None]], client: Pair) -> None:
        _, writer = client
        self._writers.add(writer)
        tls = writer.get_extra_info("ssl_object")
        if tls is not None:
            self.certificates.append(tls.getpeercert(binary_form=True))
        try:
            if self.silent:
                await client[0].readexactly(1)
                self.busy.set()
                await asyncio.Event().wait()
            await serve(client)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client went away
        except Exception as error:
            self._failures.append(error)
        finally:
            writer.close()

    async def _http(self, client: Pair) -> None:
        reader, writer = client
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        line, _, headers = head.partition("\r\n")
        method, target, _ = line.split(" ")
        self.asked.append(f"{method} {target}")
        self.heads.append(headers)
        self.busy.set()
        wanted = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if self.answer is not None:
            writer.write(self.answer)
            await writer.drain()
            return
        if self.user and f"\r\nProxy-Authorization: Basic {wanted}\r\n" not in f"\r\n{headers}":
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            await writer.drain()
            return
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            server = await self._open(host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n")
        else:
            url = urlsplit(target)
            assert url.hostname is not None
            server = await self._open(url.hostname, url.port or 80)
            path = target.partition("://")[2].partition("/")[2]
            # One request a connection, so that no head has to be looked for in what follows.
            kept = [
                text
                for text in headers.strip().split("\r\n")
                if not text.lower().startswith(("proxy-authorization:", "connection:"))
            ]
            lines = [f"{method} /{path} HTTP/1.1", *kept, "Connection: close", "", ""]
            server[1].write("\r\n".join(lines).encode())
        await self._pass_on(client, server)

    async def _socks(self, client: Pair) -> None:
        reader, writer = client
        version, count = await reader.readexactly(2)
        assert version == 5
        methods = await reader.readexactly(count)
        self.busy.set()
        if self.answer is not None and self.answer[:2] not in (b"\x05\x00", b"\x05\x02"):
            writer.write(self.answer)
            await writer.drain()
            return
        method = 2 if self.user else 0
        if method not in methods:
            writer.write(b"\x05\xff")
            await writer.drain()
            return
        writer.write(bytes([5, method]))
        if method == 2:
            assert await reader.readexactly(1) == b"\x01"
            user = await reader.readexactly((await reader.readexactly(1))[0])
            password = await reader.readexactly((await reader.readexactly(1))[0])
            right = (user.decode(), password.decode()) == (self.user, self.password)
            writer.write(b"\x01\x00" if right else b"\x01\x01")
            if not right:
                await writer.drain()
                return
        assert await reader.readexactly(3) == b"\x05\x01\x00"
        kind = (await reader.readexactly(1))[0]
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = str(ipaddress.ip_address(await reader.readexactly({1: 4, 4: 16}[kind])))
        port = int.from_bytes(await reader.readexactly(2), "big")
        self.asked.append(f"SOCKS5 {host}:{port}")
        if self.answer is not None:
            writer.write(self.answer[2:])
            await writer.drain()
            return
        try:
            server = await self._open(host, port)
        except ConnectionRefusedError:
            writer.write(b"\x05\x05\x00\x01" + bytes(6))
            await writer.drain()
            return
        # A name for its own address, since a client has to get over each kind.
        writer.write(b"\x05\x00\x00\x03\x05proxy\x04\x38")
        await self._pass_on(client, server)

    async def _open(self, host: str, port: int) -> Pair:
        return await asyncio.open_connection(self.hosts.get(host, host), port)

    async def _pass_on(self, client: Pair, server: Pair) -> None:
        """Until one side is done: what it had said has then gone to the other."""
        self._writers.add(server[1])
        pumps = [
            asyncio.ensure_future(_pump(client[0], server[1])),
            asyncio.ensure_future(_pump(server[0], client[1])),
        ]
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            await asyncio.wait(pumps)
            server[1].close()


async def _pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    except OSError:
        sink.transport.abort()


MakeProxy = Callable[..., LoopbackProxy]
