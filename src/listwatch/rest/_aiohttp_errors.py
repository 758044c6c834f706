"""What aiohttp, ssl and the system raise, in the words of `rest.errors`."""

from __future__ import annotations

import errno
import re
import socket
import ssl
from urllib.parse import urlsplit

import aiohttp

from ._chunked import ChunkError
from ._tunnel import TunnelRefused
from .errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    TLSFailed,
    TransportError,
    TransportTimeout,
)

__all__ = ["ProxyFailed", "body_error", "request_error", "without_secrets"]

_ERRNO = re.compile(r"\[Errno (\d+)\]")
_CUT = {errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ESHUTDOWN}
_UNFINISHED = "payload is not completed"

_AUTHORITY = "Give the authority that signed the server's certificate (certificate-authority)"
_NAME = "Give a name that stands in it (tls-server-name), or an address with such a name"
_TIME = "Renew it, or set this machine's clock"
_ADVICE = {9: _TIME, 10: _TIME, 62: _NAME, 64: _NAME}
"""What to do, by OpenSSL's codes: not yet valid, expired, other host name, other IP address."""


class ProxyFailed(aiohttp.ClientError):
    """There is no way through the proxy, for this `reason`. `proxy` is its URL without secrets."""

    def __init__(self, proxy: str, reason: Exception) -> None:
        super().__init__(f"{proxy}: {reason}")
        self.proxy = proxy
        self.reason = reason


def without_secrets(error: Exception) -> Exception:
    """The same error without the request that aiohttp hangs on it, Authorization included (N4)."""
    if isinstance(error, aiohttp.ClientResponseError):
        told = f"{type(error).__name__}: {_one_line(error.message)}"
        cause = aiohttp.ClientError(told)
        cause.__cause__ = error.__cause__
        return cause
    return error


def request_error(error: Exception, url: str, route: str = "") -> TransportError:
    """For what ended a request before the head of its answer was there.

    `url` has no query. `route` is how it went, such as ` through the proxy http://proxy:3128`.
    """
    parts = urlsplit(url)
    server = f"{parts.scheme}://{parts.netloc}{route}"
    match error:
        case ProxyFailed():
            return _no_way(error, f"{parts.scheme}://{parts.netloc}", url)
        case aiohttp.ClientConnectorDNSError():
            reason = getattr(error.os_error, "strerror", None) or str(error.os_error)
            return ConnectFailed(
                f"cannot connect to {server}: the host name {parts.hostname!r} does not resolve"
                f" ({reason})",
                url=url,
            )
        case aiohttp.ClientConnectorError():
            return _no_connection(_innermost(error), server, url)
        case aiohttp.ServerDisconnectedError():
            return ConnectionLost(f"{server} closed the connection before it answered", url=url)
        case aiohttp.ClientResponseError():
            question = "does it want https://" if parts.scheme == "http" else "is the address right"
            return ConnectFailed(
                f"{server} does not answer in HTTP ({_one_line(error.message)}): {question}?",
                url=url,
            )
        case aiohttp.InvalidURL():
            return ConnectFailed(f"{server} is no usable address: {error}", url=url)
    inner = _innermost(error)
    if isinstance(inner, ssl.SSLError) and not _is_eof(inner):
        return TLSFailed(f"{server} ended the TLS session: {_tls_reason(inner)}", url=url)
    return _broken(inner, f"the connection to {server} was lost before it answered", url)


def body_error(error: Exception, url: str) -> TransportError:
    """For what ended an answer inside its body."""
    if isinstance(error, ChunkError):
        return ConnectionLost(f"the answer of {url} breaks the rules of HTTP: {error}", url=url)
    what, inner = f"the connection was lost inside the answer of {url}", _innermost(error)
    if isinstance(inner, aiohttp.ClientPayloadError) and _UNFINISHED in str(inner):
        # Its words go on with "400", which is aiohttp's own and no answer of the server.
        return ConnectionLost(what, url=url)
    return _broken(inner, what, url)


def _no_way(error: ProxyFailed, server: str, url: str) -> TransportError:
    reason = _innermost(error.reason)
    proxy = f"the proxy {error.proxy}"
    begin = f"cannot connect to {server} through {proxy}"
    match reason:
        case TunnelRefused():
            kind = ConnectionRefused if reason.by_server else ConnectFailed
            return kind(f"{begin}: {reason}", url=url)
        case socket.gaierror() | UnicodeError():
            told = getattr(reason, "strerror", None) or "it is no name"
            return ConnectFailed(f"{begin}, whose host name does not resolve ({told})", url=url)
        case ssl.SSLCertVerificationError():
            return TLSFailed(
                f"{begin}: its certificate does not verify: {reason.verify_message}. Its authority"
                " must be one of the system's (SSL_CERT_FILE adds others) or the cluster's",
                url=url,
            )
    return _no_connection(reason, f"{proxy} on the way to {server}", url)


def _no_connection(error: BaseException, server: str, url: str) -> TransportError:
    begin = f"cannot connect to {server}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return TLSFailed(
            f"{begin}: certificate verify failed: {error.verify_message.rstrip('.')}."
            f" {_ADVICE.get(error.verify_code, _AUTHORITY)}",
            url=url,
        )
    if isinstance(error, ssl.SSLError) and not _is_eof(error):
        return TLSFailed(f"{begin}: {_tls_reason(error)}", url=url)
    numbers = _errnos(error)
    if errno.ECONNREFUSED in numbers:
        return ConnectionRefused(f"{begin}: connection refused", url=url)
    if errno.ETIMEDOUT in numbers:
        return TransportTimeout(f"{begin}: it does not react", url=url)
    if isinstance(error, ssl.SSLError | ConnectionError) or numbers & _CUT:
        return ConnectionLost(f"{begin}: it closed the connection at once", url=url)
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
    return ConnectFailed(f"{begin}: {_one_line(reason)}", url=url)


def _broken(error: BaseException, what: str, url: str) -> TransportError:
    if errno.ETIMEDOUT in _errnos(error):
        return TransportTimeout(f"{what}: the other side no longer reacts", url=url)
    reason = _one_line((error.strerror if isinstance(error, OSError) else None) or str(error))
    return ConnectionLost(f"{what}: {reason}" if reason else what, url=url)


def _innermost(error: BaseException) -> BaseException:
    """The system's own error below those of aiohttp."""
    while True:
        below: BaseException | None = error.__cause__
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            below = error.certificate_error
        elif isinstance(error, aiohttp.ClientConnectorError):
            below = error.os_error
        if not isinstance(below, OSError):
            return error
        error = below


def _errnos(error: BaseException) -> set[int]:
    """Its number, or those of every address that was tried, which asyncio puts into the text."""
    if not isinstance(error, OSError) or isinstance(error, socket.gaierror | ssl.SSLError):
        return set()
    if error.errno is not None:
        return {error.errno}
    return {int(number) for number in _ERRNO.findall(str(error))}


def _is_eof(error: ssl.SSLError) -> bool:
    return isinstance(error, ssl.SSLEOFError | ssl.SSLZeroReturnError)


def _tls_reason(error: ssl.SSLError) -> str:
    reason = error.reason or "unknown reason"
    words = reason.replace("_", " ").lower()
    match reason:
        case (
            "WRONG_VERSION_NUMBER" | "HTTP_REQUEST" | "UNKNOWN_PROTOCOL" | "PACKET_LENGTH_TOO_LONG"
        ):
            return f"it does not speak TLS ({words}): is it an http:// address?"
        case (
            "TLSV13_ALERT_CERTIFICATE_REQUIRED"
            | "SSLV3_ALERT_BAD_CERTIFICATE"
            | "TLSV1_ALERT_UNKNOWN_CA"
        ):
            return f"it does not accept our client certificate, or wants one ({words})"
        case _:
            return f"TLS failed: {words}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
