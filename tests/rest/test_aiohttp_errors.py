"""What the library and the system raise, and what becomes of it: the cases no loopback can show."""

from __future__ import annotations

import errno
import os
import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from listwatch.rest._aiohttp_errors import body_error, request_error
from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    TLSFailed,
    TransportError,
    TransportTimeout,
)

pytestmark = pytest.mark.clause("B5")

URL = "https://host:6443/api/v1/pods"
KEY: Any = SimpleNamespace(host="host", port=6443, ssl=True, is_ssl=True)


def system(number: int) -> OSError:
    return OSError(number, os.strerror(number))


def tls(reason: str, kind: type[ssl.SSLError] = ssl.SSLError) -> ssl.SSLError:
    error = kind(1, f"[SSL: {reason}] something (_ssl.c:1000)")
    error.reason = reason
    return error


def caused(outer: Exception, inner: Exception) -> Exception:
    outer.__cause__ = inner
    return outer


def connecting(error: OSError) -> Exception:
    kind = (
        aiohttp.ClientConnectorSSLError
        if isinstance(error, ssl.SSLError)
        else aiohttp.ClientConnectorError
    )
    return caused(kind(KEY, error), error)


def multiple(*numbers: int) -> OSError:
    """What asyncio raises when a name has several addresses, and none of them will do."""
    return OSError(f"Multiple exceptions: {', '.join(str(system(number)) for number in numbers)}")


@pytest.mark.parametrize(
    ("raised", "becomes", "says"),
    [
        (connecting(system(errno.ECONNREFUSED)), ConnectionRefused, "connection refused"),
        (
            connecting(multiple(errno.EADDRNOTAVAIL, errno.ECONNREFUSED)),
            ConnectionRefused,
            "connection refused",
        ),
        (connecting(multiple(errno.ENETUNREACH, errno.EHOSTUNREACH)), ConnectFailed, "Multiple"),
        (connecting(system(errno.EHOSTUNREACH)), ConnectFailed, os.strerror(errno.EHOSTUNREACH)),
        (connecting(system(errno.ETIMEDOUT)), TransportTimeout, "does not react"),
        (connecting(system(errno.ECONNRESET)), ConnectionLost, "closed the connection at once"),
        (connecting(ConnectionResetError()), ConnectionLost, "closed the connection at once"),
        (connecting(ssl.SSLEOFError(8, "EOF")), ConnectionLost, "closed the connection at once"),
        (connecting(tls("WRONG_VERSION_NUMBER")), TLSFailed, "does not speak TLS"),
        (connecting(tls("NO_PROTOCOLS_AVAILABLE")), TLSFailed, "no protocols available"),
        (aiohttp.ServerDisconnectedError(), ConnectionLost, "before it answered"),
        (
            caused(aiohttp.ClientOSError(errno.ECONNRESET, "x"), system(errno.ECONNRESET)),
            ConnectionLost,
            os.strerror(errno.ECONNRESET),
        ),
        (
            caused(aiohttp.ClientOSError(errno.ETIMEDOUT, "x"), system(errno.ETIMEDOUT)),
            TransportTimeout,
            "no longer reacts",
        ),
        (
            caused(aiohttp.ClientOSError(1, "x"), tls("TLSV13_ALERT_CERTIFICATE_REQUIRED")),
            TLSFailed,
            "our client certificate",
        ),
        (
            caused(aiohttp.ClientOSError(8, "x"), ssl.SSLEOFError(8, "EOF occurred")),
            ConnectionLost,
            "before it answered",
        ),
        (aiohttp.ClientConnectionResetError("closing"), ConnectionLost, "before it answered"),
        (aiohttp.ClientConnectionError("Connector is closed."), ConnectionLost, "closed"),
        (
            aiohttp.ClientResponseError(KEY, (), status=400, message="Bad\n  status line"),
            ConnectFailed,
            "does not answer in HTTP (Bad status line): is the address right?",
        ),
        (aiohttp.InvalidURL("127.1"), ConnectFailed, "no usable address"),
    ],
)
def test_before_the_answer(raised: Exception, becomes: type[TransportError], says: str) -> None:
    error = request_error(raised, URL)
    assert type(error) is becomes
    assert says in str(error)
    assert error.url == URL
    assert "\n" not in str(error)


@pytest.mark.clause("E2")
@pytest.mark.parametrize(
    ("raised", "becomes"),
    [
        (aiohttp.ClientPayloadError("Response payload is not completed"), ConnectionLost),
        (caused(aiohttp.ClientOSError(104, "x"), system(errno.ECONNRESET)), ConnectionLost),
        (caused(aiohttp.ClientOSError(8, "x"), ssl.SSLEOFError(8, "EOF")), ConnectionLost),
        (caused(aiohttp.ClientOSError(110, "x"), system(errno.ETIMEDOUT)), TransportTimeout),
        (aiohttp.ClientConnectionError("Connection closed"), ConnectionLost),
        (RuntimeError("Connection closed."), ConnectionLost),
    ],
)
def test_inside_the_answer(raised: Exception, becomes: type[TransportError]) -> None:
    error = body_error(raised, URL)
    assert type(error) is becomes
    assert f"inside the answer of {URL}" in str(error)


@pytest.mark.clause("E2")
@pytest.mark.parametrize(
    "told",
    [
        "Response payload is not completed",
        "Response payload is not completed: <TransferEncodingError: 400, message='Not enough data"
        " to satisfy transfer length header.'>",
        "Response payload is not completed: <ContentLengthError: 400, message='Not enough data to"
        " satisfy content length header.'>",
    ],
)
def test_an_answer_that_was_cut_has_no_status_that_nobody_sent(told: str) -> None:
    error = body_error(aiohttp.ClientPayloadError(told), URL)
    assert str(error) == f"the connection was lost inside the answer of {URL}"
