"""The way out: what a Transport must do, and the request and response it deals in.

A Transport sends one request and gives one response. It never repeats anything, follows no
redirect, keeps no cookie and looks at no status: that is the business of those above it. It turns
whatever its HTTP library raises into the exceptions of `listwatch.rest.errors`, so that nobody
above needs to know which library that is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote

from .credentials import ClientCertificate

__all__ = ["HTTPRequest", "HTTPResponse", "Headers", "Timeouts", "Transport"]


class Headers:
    """The headers of a response: names without case, several values a name, in the order in which
    they came.

    Values are decoded as UTF-8, which servers put into a `Warning` raw; a byte that is none is a
    lone surrogate, as `surrogateescape` makes it.
    """

    __slots__ = ("_pairs",)

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs = tuple(pairs)

    def get(self, name: str, default: str | None = None) -> str | None:
        """The first value under `name`."""
        wanted = name.lower()
        return next((value for key, value in self._pairs if key.lower() == wanted), default)

    def get_all(self, name: str) -> tuple[str, ...]:
        """Every value under `name`: a server may send several `Warning` headers (B7)."""
        wanted = name.lower()
        return tuple(value for key, value in self._pairs if key.lower() == wanted)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"Headers({list(self._pairs)!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long each step of one request may take, in seconds (B11). `None` means no limit.

    There is no limit on the whole: a watch lives as long as it likes.
    """

    connect: float | None = 10.0
    first_byte: float | None = 75.0
    """Until the headers are there. Servers give a request up after 60 s, so their own answer comes
    first.
    """
    watch_first_byte: float | None = 30.0
    """The same for a WATCH, whose headers come before any event."""
    silence: float | None = 30.0
    """Between two reads inside the body of an answer that is no watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HTTPRequest:
    """One request as it will travel: nothing is added to it but what HTTP itself needs (Host,
    Content-Length).
    """

    method: str
    path: str
    """Percent-encoded, from the first `/`, the server's own base path left out."""
    query: tuple[tuple[str, str], ...] = ()
    headers: Mapping[str, str] = field(
        default_factory=dict, repr=False
    )  # Authorization is in there
    more_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Headers whose names may come more than once, as `Impersonate-Group` does."""
    body: bytes | None = field(default=None, repr=False)
    certificate: ClientCertificate | None = field(default=None, repr=False)
    """What the connection has to show; None for none."""
    connect_timeout: float | None = None
    first_byte_timeout: float | None = None
    silence_timeout: float | None = None
    """Between two reads of the body; `None` for a watch."""

    @property
    def target(self) -> str:
        """Path and query as they stand in the request line, the query's names and values
        percent-encoded.
        """
        if not self.query:
            return self.path
        pairs = (f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in self.query)
        return f"{self.path}?{'&'.join(pairs)}"


class HTTPResponse(Protocol):
    """One answer: its head is there, its body is read by whoever wants it.

    Whoever gets one either reads it to its end or closes it; both give the connection back or up,
    so that none leaks (B8). It is also a `listwatch.watch.ByteStream`, which is how a watch is fed.
    """

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Headers: ...

    async def receive(self) -> bytes:
        """The next piece of the body, decompressed; `b""` at its end, and from then on.

        Raises `ConnectionLost` where the connection ends before the body does, `TransportTimeout`
        after a silence longer than the request allows.
        """
        ...

    async def read(self, limit: int | None = None) -> bytes:
        """The whole body, or its first `limit` bytes; in the latter case the connection is closed
        if more would follow.
        """
        ...

    def close(self) -> None:
        """Give the connection up, waking a `receive` that waits. Idempotent."""
        ...


class Transport(Protocol):
    """Sends requests to one server. The HTTP library stands behind this, and an in-memory one in
    tests.
    """

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        """Send, and return when the head of the answer is there.

        Raises a `TransportError`: `ConnectionRefused`, `ConnectFailed`, `TLSFailed`,
        `ConnectionLost` or `TransportTimeout`. Cancelling it closes the connection.
        """
        ...

    async def close(self) -> None:
        """Close every connection and wait until they are gone. Idempotent."""
        ...
