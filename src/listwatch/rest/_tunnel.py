"""A way through a proxy: what is said to it before the connection is the server's (RFC 9110,
`CONNECT`; RFC 1928 and 1929, SOCKS5).

A library would have to leave three things to us that the ones there are do not: the options of the
socket, the name that the server's certificate must carry, and the protocol that reads the answers.
"""

from __future__ import annotations

import asyncio
import base64
import ipaddress
import re
from http import HTTPStatus
from typing import cast

from .proxy import Proxy, encoded
from .user_agent import user_agent

__all__ = [
    "ProxyStream",
    "TunnelRefused",
    "basic_authorization",
    "open_tunnel",
    "refusal_of_user",
]

_LONGEST_HEAD = 64 * 1024
"""Bytes of the head of an answer to CONNECT."""

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(.*)")

_SOCKS = 5
_CONNECT = 1
_NOTHING, _PASSWORD, _NONE_WILL_DO = 0x00, 0x02, 0xFF
_IPV4, _NAME, _IPV6 = 1, 3, 4
_REFUSED_BY_SERVER = 5
_SOCKS_ANSWERS = {
    1: "general failure",
    2: "its rules do not allow it",
    3: "network unreachable",
    4: "host unreachable",
    _REFUSED_BY_SERVER: "connection refused",
    6: "it took too many hops",
    7: "it does not know CONNECT",
    8: "it does not know this kind of address",
}


class TunnelRefused(Exception):
    """The proxy is there, and opens no way to the server. The message says why, and names neither.

    `by_server`: the proxy says that nobody listens there.
    """

    def __init__(self, problem: str, *, by_server: bool = False) -> None:
        super().__init__(problem)
        self.by_server = by_server


class ProxyStream(asyncio.Protocol):
    """The connection to the proxy, until it is handed on.

    Reads raise `ConnectionResetError`, or whatever has broken the connection, where it ends.
    """

    def __init__(self) -> None:
        self._arrived = bytearray()
        self._end: BaseException | None = None
        self._change: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # those of uvloop are none

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        self._wake()

    def eof_received(self) -> bool:
        self.connection_lost(None)
        return False

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._end is None:
            self._end = exc or ConnectionResetError("it closed the connection")
        self._wake()

    def write(self, data: bytes) -> None:
        self.transport.write(data)

    async def exactly(self, size: int) -> bytes:
        """The next `size` bytes."""
        while len(self._arrived) < size:
            await self._more()
        return self._take(size)

    async def until(self, end: bytes, *, limit: int) -> bytes:
        """All up to `end`, and that with it."""
        while (position := self._arrived.find(end)) < 0:
            if len(self._arrived) > limit:
                raise TunnelRefused(f"it answers with more than {limit} bytes")
            await self._more()
        return self._take(position + len(end))

    def hand_on(self) -> asyncio.Transport:
        """The connection, for another protocol. Nothing that came is lost: there must be nothing.

        Raises as the reads do.
        """
        if self._arrived:
            raise TunnelRefused("it went on after its answer, before anybody asked the server")
        if self._end is not None:
            raise self._end
        return self.transport

    def _take(self, size: int) -> bytes:
        taken = bytes(self._arrived[:size])
        del self._arrived[:size]
        return taken

    async def _more(self) -> None:
        if self._end is not None:
            raise self._end
        self._change = asyncio.get_running_loop().create_future()
        try:
            await self._change
        finally:
            self._change = None

    def _wake(self) -> None:
        if self._change is not None and not self._change.done():
            self._change.set_result(None)


async def open_tunnel(stream: ProxyStream, proxy: Proxy, host: str, port: int) -> None:
    """Have the proxy connect to the server; what is then written goes there.

    Raises `TunnelRefused`, and OSError where the connection breaks.
    """
    if proxy.is_socks:
        await _open_by_socks(stream, proxy, host, port)
    else:
        await _open_by_connect(stream, proxy, host, port)


def basic_authorization(proxy: Proxy) -> str:
    """What `Proxy-Authorization` says of user and password; empty without any."""
    if not (proxy.user or proxy.password):
        return ""
    pair = encoded(f"{proxy.user}:{proxy.password}")
    return f"Basic {base64.b64encode(pair).decode('ascii')}"


def refusal_of_user(proxy: Proxy) -> str:
    """The words for a 407."""
    if proxy.user or proxy.password:
        return "it does not accept the user and password in its URL (407)"
    return "it wants a user and a password: give them in its URL (407)"


async def _open_by_connect(stream: ProxyStream, proxy: Proxy, host: str, port: int) -> None:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    lines = [f"CONNECT {where} HTTP/1.1", f"Host: {where}", f"User-Agent: {user_agent()}"]
    if authorization := basic_authorization(proxy):
        lines.append(f"Proxy-Authorization: {authorization}")
    stream.write("\r\n".join([*lines, "", ""]).encode())
    status, reason = await _status(stream)
    while status < 200:
        status, reason = await _status(stream)
    if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
        raise TunnelRefused(refusal_of_user(proxy))
    if status >= 300:
        raise TunnelRefused(" ".join(f"it answers {status} {reason}".split())[:300])


async def _status(stream: ProxyStream) -> tuple[int, str]:
    """Status and reason of the next answer that is no more than a head."""
    head = await stream.until(b"\r\n\r\n", limit=_LONGEST_HEAD)
    match = _STATUS_LINE.match(head)
    if match is None:
        raise TunnelRefused("it does not answer in HTTP: is the address right?")
    return int(match[1]), match[2].decode("utf-8", "replace")


async def _open_by_socks(stream: ProxyStream, proxy: Proxy, host: str, port: int) -> None:
    methods = bytes([_NOTHING, _PASSWORD] if proxy.user else [_NOTHING])
    stream.write(bytes([_SOCKS, len(methods)]) + methods)
    version, method = await stream.exactly(2)
    if version != _SOCKS:
        raise TunnelRefused("it does not speak SOCKS5: is the address right?")
    if method == _PASSWORD and proxy.user:
        user, password = encoded(proxy.user), encoded(proxy.password)
        stream.write(bytes([1, len(user)]) + user + bytes([len(password)]) + password)
        if (await stream.exactly(2))[1] != 0:
            raise TunnelRefused("it does not accept the user and password in its URL")
    elif method != _NOTHING:
        raise TunnelRefused(
            "it does not accept the user and password in its URL"
            if proxy.user and method == _NONE_WILL_DO
            else "it wants a user and a password: give them in its URL"
        )
    stream.write(bytes([_SOCKS, _CONNECT, 0]) + _socks_address(host) + port.to_bytes(2, "big"))
    _, answer, _, kind = await stream.exactly(4)
    if answer != 0:
        problem = _SOCKS_ANSWERS.get(answer, f"error {answer}")
        raise TunnelRefused(problem, by_server=answer == _REFUSED_BY_SERVER)
    # The address from which it connects, of which we have no use.
    size = {_IPV4: 4, _IPV6: 16}.get(kind)
    if size is None:
        if kind != _NAME:
            raise TunnelRefused("it breaks the rules of SOCKS5")
        size = (await stream.exactly(1))[0]
    await stream.exactly(size + 2)


def _socks_address(host: str) -> bytes:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        name = host.encode("ascii")  # as it stands in a URL that is sent
        if len(name) > 255:
            raise TunnelRefused("the server's name is too long for SOCKS5") from None
        return bytes([_NAME, len(name)]) + name
    return bytes([_IPV4 if address.version == 4 else _IPV6]) + address.packed
