"""The part of `AiohttpTransport` that knows aiohttp. Imported when the first request is sent,
because aiohttp alone costs 0.3 s and 25 MB.

What aiohttp does of its own accord and must not do here, and how it is kept from it:

- It sends an idempotent request a second time when a kept connection breaks before the answer. A
  middleware takes the exceptions that it looks for out of its sight.
- It follows redirects, keeps cookies, asks for gzip and reads proxies from the environment:
  parameters turn that off.
- It ends a TLS connection politely and so waits up to 30 s for a peer that may be dead. Every
  connection given up here is aborted instead.
"""

from __future__ import annotations

import asyncio
import functools
import io
import logging
import socket
import ssl
from typing import Any
from weakref import WeakSet

import aiohttp
from yarl import URL

from ._aiohttp_errors import request_error, without_secrets
from ._aiohttp_proxy import ProxyConnector, Route
from ._aiohttp_response import Head, Response
from .errors import ConnectFailed, TransportTimeout
from .transport import HTTPRequest

__all__ = ["Connections"]

_log = logging.getLogger("listwatch.rest")

_READ_SIZE = 128 * 1024
"""Bytes after twice which aiohttp stops reading ahead of the consumer, of a body that it reads
itself; one read then gives all that is there.
"""

_HEADER_LIMIT = 64 * 1024
"""Bytes of one header, which may be a long `Warning`; aiohttp's own limit is 8 KiB."""

_KEEP_IDLE = 30.0
"""Seconds that an unused connection is kept. kube-apiserver closes it after 90, and load balancers
rarely before 60.
"""

_KEEPALIVE = 30
"""Seconds of silence before the first probe of the socket, and between two of them (E4)."""

_KEEPALIVE_PROBES = 3
_USER_TIMEOUT = 60
"""Seconds after which the kernel gives up on a peer that acknowledges neither data nor probes."""

_TURNS_OF_AN_ABORT = 3
"""Of the event loop, after which an aborted connection is gone: one for its socket, one for TLS,
one for TLS with a proxy."""

_TURNS_TO_SEE_AN_END = 2
"""Of the event loop, after which the end of a kept connection is seen that came while the loop was
busy: one to look at the sockets, one to read from them."""

_SWITCHING_PROTOCOLS = 101

_NOT_OURS_TO_ADD = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


class Connections:
    """The connections to one server from one event loop: the running one, in which it is made.

    A `pooled` set keeps connections for the next request. Without it, each is closed with its
    answer.
    """

    def __init__(
        self, server: str, server_name: str | None, *, pooled: bool, route: Route | None = None
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._server = server
        self._server_name = server_name
        self._route = route
        self._detour = str(route or "")
        self.pooled = pooled
        self._responses: WeakSet[Response] = WeakSet()
        traces = aiohttp.TraceConfig()
        traces.on_request_headers_sent.append(_request_is_sent)
        kind: Any = (
            aiohttp.TCPConnector if route is None else functools.partial(ProxyConnector, route)
        )
        connector: aiohttp.TCPConnector = kind(
            limit=0,  # a watch holds its connection for as long as it lives
            force_close=not pooled,
            keepalive_timeout=_KEEP_IDLE if pooled else None,
            resolver=aiohttp.ThreadedResolver(),  # the system's: search domains, /etc/hosts
            use_dns_cache=False,
            socket_factory=_open_socket,
        )
        _take_bodies(connector)
        self._session = aiohttp.ClientSession(
            connector=connector,
            response_class=Head,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(),  # each step has a limit of its own, below
            skip_auto_headers=_NOT_OURS_TO_ADD,
            trace_configs=[traces],
            middlewares=(_send_once,),
            read_bufsize=_READ_SIZE,
            auto_decompress=False,  # it would unpack all of what has come at once
            max_line_size=_HEADER_LIMIT,
            max_field_size=_HEADER_LIMIT,
        )

    async def send(self, request: HTTPRequest, context: ssl.SSLContext | None) -> Response:
        """Send by a connection that was opened with the TLS settings of `context`."""
        if self.pooled:
            for _ in range(_TURNS_TO_SEE_AN_END):
                await asyncio.sleep(0)
        url = f"{self._server}{request.path}"
        step = _Step(request.first_byte_timeout)
        more_headers, more_arguments = request.more_headers, {}
        if self._route is not None:
            more_headers += self._route.headers
            more_arguments = self._route.arguments
        try:
            async with asyncio.timeout(request.connect_timeout) as step.limit:
                head = await self._session.request(
                    request.method,
                    URL(f"{self._server}{request.target}", encoded=True),
                    headers=(*request.headers.items(), *more_headers),
                    ssl=context if context is not None else True,
                    # aiohttp warns of bytes that are longer than 1 MiB, but not of a file of them.
                    data=None if request.body is None else io.BytesIO(request.body),
                    allow_redirects=False,
                    server_hostname=self._server_name,
                    trace_request_ctx=step,
                    **more_arguments,
                )
        except TimeoutError as error:
            failure: Exception = error
            if step.limit.expired():
                raise step.too_slow(request, self._server + self._detour, url) from None
        except _Failed as error:
            failure = error.cause
        except (aiohttp.ClientError, OSError) as error:
            failure = error
        else:
            return self._response(head, request, url)
        # Out here, so that the error of aiohttp is not the context of ours.
        raise request_error(failure, url, self._detour) from without_secrets(failure)

    def _response(self, head: aiohttp.ClientResponse, request: HTTPRequest, url: str) -> Response:
        assert isinstance(head, Head)
        refusal = self._route.refusal(head.status) if self._route is not None else None
        if refusal is not None:
            head.give_up()
            raise request_error(refusal, url)
        if head.status == _SWITCHING_PROTOCOLS:
            head.give_up()
            raise ConnectFailed(
                f"{self._server} answered 101: it changed to a protocol that nobody asked for",
                url=url,
            )
        response = Response(head, url, request.silence_timeout, self._forget)
        self._responses.add(response)
        return response

    def abort(self) -> None:
        """Give up every answer that is still open."""
        for response in tuple(self._responses):
            response.close()

    async def close(self) -> None:
        """Close every connection, and return when all are gone."""
        self.abort()
        await self._session.close()
        for _ in range(_TURNS_OF_AN_ABORT):
            await asyncio.sleep(0)

    def _forget(self, response: Response) -> None:
        self._responses.discard(response)
        if not self.pooled and not self._session.closed:
            # Its only connection is closed, so there is nothing that it could wait for.
            self._session.detach()


class _Step:
    """Which limit runs: that for connecting, then that for the first byte of the answer (B11)."""

    def __init__(self, first_byte: float | None) -> None:
        self.limit: asyncio.Timeout = asyncio.timeout(None)
        self.sent = False
        self._first_byte = first_byte

    def request_is_sent(self) -> None:
        self.sent = True
        now = asyncio.get_running_loop().time()
        self.limit.reschedule(None if self._first_byte is None else now + self._first_byte)

    def too_slow(self, request: HTTPRequest, server: str, url: str) -> TransportTimeout:
        if self.sent:
            asked = f"{request.method} {request.path}"
            message = f"{server} did not answer {asked} within {self._first_byte:g} s"
        else:
            message = (
                f"cannot connect to {server}: no connection within {request.connect_timeout:g} s"
            )
        return TransportTimeout(message, url=url)


class _Failed(Exception):
    """Carries an error past aiohttp's own repetition, which looks for the classes of aiohttp and
    for `OSError`.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


async def _send_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    try:
        return await handler(request)
    except (aiohttp.ClientError, OSError) as error:
        raise _Failed(error) from error


async def _request_is_sent(session: object, context: Any, parameters: object) -> None:
    context.trace_request_ctx.request_is_sent()


def _take_bodies(connector: aiohttp.BaseConnector) -> None:
    """Leave to aiohttp no more of an answer than its head, if it lets us."""
    try:
        from ._aiohttp_protocol import take_bodies

        taken = take_bodies(connector)
    except (ImportError, TypeError):  # what that leans on is private to aiohttp, and has changed
        taken = False
    if not taken:
        _log.debug("aiohttp %s reads the bodies of answers itself", aiohttp.__version__)


def _open_socket(address: Any) -> socket.socket:
    family, kind, protocol = address[:3]
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", _KEEPALIVE),
        ("TCP_KEEPALIVE", _KEEPALIVE),  # what macOS calls the same
        ("TCP_KEEPINTVL", _KEEPALIVE),
        ("TCP_KEEPCNT", _KEEPALIVE_PROBES),
        ("TCP_USER_TIMEOUT", _USER_TIMEOUT * 1000),  # Linux; in milliseconds
    ):
        option = getattr(socket, name, None)
        if option is not None:
            opened.setsockopt(socket.IPPROTO_TCP, option, value)
    return opened
