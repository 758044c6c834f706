"""The transport over real sockets, by aiohttp."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING
from weakref import WeakSet

from .config import ClientConfig
from .errors import TLSFailed, TransportError
from .tls import TLSContexts
from .transport import HTTPRequest, HTTPResponse

if TYPE_CHECKING:
    from ._aiohttp import Connections
    from ._aiohttp_proxy import Route

__all__ = ["AiohttpTransport"]


class AiohttpTransport:
    """Sends requests to the server of `config` over HTTP/1.1.

    The event loop that sends first is its home: connections are kept there for the next request,
    until 30 s unused. A request from another loop, such as that of a sync caller, gets a connection
    of its own, which is closed with its answer. When the home loop ends (`asyncio.run` returns) its
    connections are closed with it, and the next loop to send becomes the home.

    A request is sent once, whatever happens to it; redirects are answers like any other; there are
    no cookies, and the only proxy is that of `config`: the environment is not looked at. gzip
    bodies are unpacked. Every socket probes a silent peer (E4). Each new connection uses
    certificates and authorities as they are then (`TLSContexts`); open ones stay.
    """

    def __init__(self, config: ClientConfig) -> None:
        self._config = config
        self._guard = threading.Lock()
        self._tls = TLSContexts(config)
        self._route: Route | None = None
        self._home: Connections | None = None
        self._end_of_home: AsyncGenerator[None] | None = None
        self._elsewhere: WeakSet[Connections] = WeakSet()
        self._closed = False

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        """Send, and return when the head of the answer is there. See `Transport.send`.

        Raises `ConfigError` if the certificates of the configuration cannot be used, and
        `TransportError` after `close`.
        """
        context = await self._tls.context(request.certificate)
        connections = self._here()
        try:
            return await connections.send(request, context)
        except BaseException as error:
            if not connections.pooled:
                await connections.close()
            if isinstance(error, TLSFailed):
                self._tls.doubt()
            raise

    async def close(self) -> None:
        """Close every connection and wait until those of the home loop are gone.

        Idempotent, and may be called in any loop. Those of a home loop that stands still go when it
        is shut down.
        """
        with self._guard:
            self._closed = True
            home, self._home = self._home, None
            elsewhere = list(self._elsewhere)
        for connections in elsewhere:
            _call_in(connections.loop, connections.abort)
        if home is None or home.loop.is_closed():
            return
        if home.loop is asyncio.get_running_loop():
            await self._close_home()
        elif home.loop.is_running():
            await asyncio.wrap_future(
                asyncio.run_coroutine_threadsafe(self._close_home(), home.loop)
            )

    async def _close_home(self) -> None:
        keeper, self._end_of_home = self._end_of_home, None
        if keeper is not None:
            await keeper.aclose()

    def _here(self) -> Connections:
        from ._aiohttp import Connections
        from ._aiohttp_proxy import route_of

        loop = asyncio.get_running_loop()
        with self._guard:
            if self._closed:
                raise TransportError(
                    f"the client of {self._config.server} is closed", url=self._config.server
                )
            if self._home is not None and self._home.loop is loop:
                return self._home
            if self._route is None:
                self._route = route_of(self._config)
            at_home = self._home is None or self._home.loop.is_closed()
            connections = Connections(
                self._config.server,
                self._config.tls_server_name,
                pooled=at_home,
                route=self._route,
            )
            if at_home:
                self._home = connections
                self._end_of_home = _close_with_the_loop(connections)
            else:
                self._elsewhere.add(connections)
            return connections


def _close_with_the_loop(connections: Connections) -> AsyncGenerator[None, None]:
    """A client that nobody closes leaves no socket behind when its loop ends.

    An event loop closes the asynchronous generators that are still open when it is shut down: the
    one way to hear of its end.
    """

    async def wait_for_the_end() -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            await connections.close()

    keeper = wait_for_the_end()
    # Run it up to its `yield`, which suspends nothing.
    with contextlib.suppress(StopIteration):
        keeper.asend(None).send(None)
    return keeper


def _call_in(loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
    try:
        loop.call_soon_threadsafe(what)
    except RuntimeError:
        return  # that loop is closed, and its connections with it
