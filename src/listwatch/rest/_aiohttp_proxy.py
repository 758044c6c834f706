"""Connections of aiohttp's that go through a proxy.

aiohttp has proxies of its own, but would show an https proxy the client certificate that is meant
for the server, trust it by the server's authority alone, and knows no SOCKS. Here it gets a
connection that is open already; where it came from is no business of aiohttp's.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, NoReturn
from weakref import WeakSet

import aiohappyeyeballs
import aiohttp
from yarl import URL

from ._aiohttp_errors import ProxyFailed
from ._tunnel import (
    ProxyStream,
    TunnelRefused,
    basic_authorization,
    open_tunnel,
    refusal_of_user,
)
from .config import ClientConfig
from .proxy import Proxy
from .tls import TLSContexts

if TYPE_CHECKING:
    from aiohttp.client_proto import ResponseHandler

__all__ = ["ProxyConnector", "Route", "route_of"]

_HEAD_START = 0.25
"""Seconds after which the proxy's next address is tried, too: what aiohttp takes for servers."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way to one server through a proxy."""

    server: str
    proxy: Proxy
    trust: ProxyTrust | None
    """How an https proxy is verified."""

    @property
    def is_tunnel(self) -> bool:
        """Whether the proxy passes on bytes. Else it passes on requests, which must then be written
        as for a proxy: that is how HTTP does it for http servers."""
        return self.proxy.is_socks or self.server.startswith("https://")

    @property
    def arguments(self) -> dict[str, Any]:
        """What `ClientSession.request` has to be told."""
        return {} if self.is_tunnel else {"proxy": URL(self.proxy.url)}

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """To be added to each request: the user and password for the proxy, where it is the proxy
        that reads the request."""
        authorization = "" if self.is_tunnel else basic_authorization(self.proxy)
        return (("Proxy-Authorization", authorization),) if authorization else ()

    def refusal(self, status: int) -> ProxyFailed | None:
        """The error that an answer is, where it is the proxy's own and means that it will not."""
        if self.is_tunnel or status != HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            return None
        return ProxyFailed(self.proxy.url, TunnelRefused(refusal_of_user(self.proxy)))

    def __str__(self) -> str:
        return f" through the proxy {self.proxy}"


def route_of(config: ClientConfig) -> Route | None:
    """The way through the proxy of `config`; None where it has none."""
    if config.proxy_url is None:
        return None
    proxy = Proxy.parse(config.proxy_url)
    trust = ProxyTrust(config) if proxy.scheme == "https" else None
    return Route(config.server, proxy, trust)


class ProxyTrust:
    """kubectl trusts an https proxy by the authority of the cluster, and verifies it if it does the
    server; here the system's authorities do, too. The client certificate is for the server alone.
    """

    def __init__(self, config: ClientConfig) -> None:
        self._own_authority = config.ca_data is not None or config.ca_file is not None
        self._contexts = TLSContexts(
            replace(
                config,
                server="https://proxy",
                client_cert_data=None,
                client_key_data=None,
                client_cert_file=None,
                client_key_file=None,
            )
        )
        self._extended: WeakSet[ssl.SSLContext] = WeakSet()

    async def context(self) -> ssl.SSLContext | None:
        """For the next connection. Raises `ConfigError` as `TLSContexts.context` does."""
        context = await self._contexts.context(None)
        if context is not None and self._own_authority and context not in self._extended:
            context.load_default_certs()
            self._extended.add(context)
        return context

    def doubt(self) -> None:
        self._contexts.doubt()


class ProxyConnector(aiohttp.TCPConnector):
    """A connector whose connections all take one route.

    It replaces the method that a connector of aiohttp's is made to have replaced; should an aiohttp
    not call that any more, it opens no connection, rather than one past the proxy. The names of our
    own attributes are mangled, as those of aiohttp are not ours to know.
    """

    def __init__(
        self, route: Route, *, socket_factory: Callable[[Any], socket.socket], **options: Any
    ) -> None:
        super().__init__(**options, socket_factory=_refuse)
        self.__route = route
        self.__open_socket = socket_factory

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: Any, timeout: Any
    ) -> ResponseHandler:
        proxy = self.__route.proxy
        try:
            stream = await self.__reach(proxy)
        except (OSError, UnicodeError) as error:
            raise ProxyFailed(proxy.url, error) from error
        way = stream.transport
        try:
            if self.__route.is_tunnel:
                host, port = req.url.raw_host, req.url.port
                assert host is not None
                assert port is not None
                try:
                    await open_tunnel(stream, proxy, host, port)
                    way = stream.hand_on()
                except (OSError, TunnelRefused) as error:
                    raise ProxyFailed(proxy.url, error) from error
            return await self.__give(way, req)
        except BaseException:
            way.abort()
            raise

    async def __reach(self, proxy: Proxy) -> ProxyStream:
        loop = asyncio.get_running_loop()
        trust = self.__route.trust
        context = await trust.context() if trust is not None else None
        found = await loop.getaddrinfo(proxy.host, proxy.port, type=socket.SOCK_STREAM)
        opened = await aiohappyeyeballs.start_connection(
            found, happy_eyeballs_delay=_HEAD_START, loop=loop, socket_factory=self.__open_socket
        )
        try:
            _, stream = await loop.create_connection(
                ProxyStream,
                sock=opened,
                ssl=context,
                server_hostname=proxy.host if context is not None else None,
            )
        except ssl.SSLError:
            if trust is not None:
                trust.doubt()
            raise
        return stream

    async def __give(self, way: asyncio.Transport, req: aiohttp.ClientRequest) -> ResponseHandler:
        """Put aiohttp's protocol upon the connection, and TLS between them if it is for https."""
        protocol = self._factory()
        if not req.is_ssl():
            way.set_protocol(protocol)
            protocol.connection_made(way)
            return protocol
        context = req.ssl
        if not isinstance(context, ssl.SSLContext):
            context = ssl.create_default_context()
        # A full name may end with a dot, which no certificate has.
        name = (req.server_hostname or req.url.raw_host or "").rstrip(".")
        try:
            secured = await asyncio.get_running_loop().start_tls(
                way, protocol, context, server_hostname=name
            )
            if secured is None:
                raise ConnectionResetError("it closed the connection")
        except (OSError, TypeError) as error:
            # Up to Python 3.11.7 TLS inside of TLS stumbles over its own failure.
            failure = error.__context__ if isinstance(error, TypeError) else error
            if not isinstance(failure, OSError):
                raise
            raise aiohttp.ClientConnectorError(req.connection_key, failure) from failure
        protocol.connection_made(secured)
        return protocol


def _refuse(address: object) -> NoReturn:
    raise OSError(f"aiohttp {aiohttp.__version__} does not let us use a proxy")
