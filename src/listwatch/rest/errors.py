"""What can go wrong on the way to the server and back, before any Status is there to say so.

Every transport raises these and nothing else, so that nobody above needs to know which HTTP library
is in use. Each is also the built-in exception that a reader would expect, so `except
ConnectionError` and `except TimeoutError` work. No message holds a credential: it names scheme,
host, port and path.
"""

from __future__ import annotations

from listwatch.api import ListWatchError
from listwatch.wire import UnsupportedContentType

__all__ = [
    "ConfigError",
    "ConnectFailed",
    "ConnectionLost",
    "ConnectionRefused",
    "CredentialsFailed",
    "InvalidRequest",
    "TLSFailed",
    "TransportError",
    "TransportTimeout",
    "UnexpectedContent",
]


class TransportError(ListWatchError):
    """No whole answer could be had from the server.

    `url` is where the request went, without user, password and query.
    """

    def __init__(self, message: str, *, url: str = "") -> None:
        super().__init__(message)
        self.url = url


class ConnectionRefused(TransportError, ConnectionRefusedError):
    """Nobody listens at that address. An error at once, on a WATCH too (B5)."""


class ConnectFailed(TransportError, ConnectionError):
    """No connection: the name does not resolve, the host or network cannot be reached, or what
    answers does not speak HTTP.
    """


class TLSFailed(TransportError, ConnectionError):
    """The two sides do not agree on TLS: a certificate that does not verify, or no TLS at all."""


class ConnectionLost(TransportError, ConnectionResetError):
    """The connection ended before the answer did: end of file, reset, broken pipe, a cut body."""


class TransportTimeout(TransportError, TimeoutError):
    """One step of the request took longer than its limit (B11); the message says which."""


class ConfigError(ListWatchError):
    """A configuration that cannot be used. The message names the file, context and field."""


class CredentialsFailed(ConfigError):
    """No credentials could be had for a request, which was not sent: a plugin failed, an identity
    provider refused, a file is not there. Trying again later may help.
    """


class InvalidRequest(ListWatchError, ValueError):
    """A request that makes no sense, such as a name with a slash: it is never sent (B1)."""


class UnexpectedContent(UnsupportedContentType):
    """A success in a Content-Type nobody asked for, such as a proxy's `text/html` (B6).

    `body` is its beginning, at most 2 KiB.
    """

    def __init__(self, content_type: str, supported: str, body: bytes) -> None:
        super().__init__(content_type, supported)
        self.supported = supported
        self.body = body

    def __str__(self) -> str:
        text = self.body.decode("utf-8", "replace").strip()
        return f"{super().__str__()} It begins: {text}" if text else super().__str__()

    def __reduce__(self) -> tuple[type[UnexpectedContent], tuple[str, str, bytes]]:
        return type(self), (self.content_type, self.supported, self.body)
