"""Answers as they travel: each header and chunk as the server sent it, while it is sending.

``http.client`` gives a body without its chunks, and only when asked; a watch needs more.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from conformance.requests import Json

End = Literal["clean", "cut"]
"""How an answer ended: as HTTP says, or because the connection broke."""

PATIENCE = 20.0
"""Seconds that anything is waited for before a test fails."""


class StreamFailed(AssertionError):
    """What a test waited for on a stream did not come."""


class Stream:
    """One request and its answer, read by a thread of its own while the test goes on.

    with server.stream("/api/v1/pods?watch=1") as watch:
        server.create(...)
        [event] = watch.events(1)
    """

    def __init__(
        self,
        address: tuple[str, int],
        tls: ssl.SSLContext | None,
        request: bytes,
        *,
        is_head: bool = False,
    ) -> None:
        raw = socket.create_connection(address, timeout=PATIENCE * 4)
        try:
            self._socket = raw if tls is None else tls.wrap_socket(raw, server_hostname=address[0])
            self._socket.sendall(request)
        except BaseException:
            raw.close()
            raise
        self._is_head = is_head
        self._file = self._socket.makefile("rb")
        self._news = threading.Condition()
        self._opened = time.monotonic()
        self._has_head = False
        self.version = ""
        """Such as ``HTTP/1.1``."""
        self.status = 0
        self.headers: list[tuple[str, str]] = []
        """As sent: in their order and spelling, repeated ones too."""
        self.chunks: list[bytes] = []
        """The body as it was cut; one piece where it was not chunked."""
        self.chunk_times: list[float] = []
        """When each chunk came, in seconds after the request was sent."""
        self.end: End | None = None
        self.ended_after = 0.0
        """Seconds from the request to the end."""
        self._thread = threading.Thread(target=self._read, name="stream", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):  # the server was first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(PATIENCE)
        self._file.close()
        self._socket.close()

    # What came

    def header(self, name: str) -> str | None:
        """The first header of this name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    @property
    def is_chunked(self) -> bool:
        return self.header("Transfer-Encoding") == "chunked"

    @property
    def body(self) -> bytes:
        with self._news:
            return b"".join(self.chunks)

    def so_far(self) -> list[Json]:
        """The events that are whole."""
        lines = self.body.split(b"\n")[:-1]
        return [json.loads(line) for line in lines]

    # Waiting

    def head(self) -> Self:
        """Wait for status and headers."""
        self._wait(lambda: self._has_head, "an answer")
        return self

    def events(self, number: int) -> list[Json]:
        """Wait for so many events since the beginning, and give them and what came with them."""
        self._wait(lambda: self.body.count(b"\n") >= number, f"{number} events")
        return self.so_far()

    def find(self, kind: str, name: str | None = None) -> Json:
        """Wait for an event of a type, and of an object's name."""

        def found() -> Json | None:
            for event in self.so_far():
                metadata = event["object"].get("metadata", {})
                if event["type"] == kind and name in (None, metadata.get("name")):
                    return event
            return None

        self._wait(found, f"{kind} {name or ''}")
        event = found()
        assert event is not None
        return event

    def finished(self) -> Self:
        """Wait for the end."""
        self._wait(lambda: self.end is not None, "the end")
        return self

    def _wait(self, condition: Any, what: str) -> None:
        with self._news:
            over = self._news.wait_for(lambda: condition() or self.end is not None, PATIENCE)
            if over and condition():
                return
        how = "it never came" if self.end is None else f"the stream's end was {self.end}"
        raise StreamFailed(f"waited for {what}: {how}; so far {self.status} {self.body[-2000:]!r}")

    def rest(self) -> bytes:
        """After the end: what else comes, until the server hangs up."""
        self._thread.join(PATIENCE)
        return self._file.read()

    # Reading

    def _read(self) -> None:
        end: End = "cut"
        try:
            self._read_head()
            end = self._read_body()
        except (OSError, ValueError):
            pass  # a connection that broke is a way to end, and the only one that can raise
        finally:
            with self._news:
                self.end = end
                self.ended_after = time.monotonic() - self._opened
                self._news.notify_all()

    def _read_head(self) -> None:
        version, _, rest = self._line().partition(" ")
        headers = []
        while line := self._line():
            name, _, value = line.partition(":")
            headers.append((name, value.strip()))
        with self._news:
            self.version, self.status, self.headers = version, int(rest.split(" ")[0]), headers
            self._has_head = True
            self._news.notify_all()

    def _line(self) -> str:
        line = self._file.readline()
        if not line.endswith(b"\n"):
            raise ValueError("cut")
        return line.rstrip(b"\r\n").decode("latin-1")

    def _read_body(self) -> End:
        if self._is_head or self.status in (204, 304):
            return "clean"
        if self.is_chunked:
            while size := int(self._line(), 16):
                self._add(self._exactly(size))
                self._line()
            self._line()
            return "clean"
        length = self.header("Content-Length")
        if length is not None:
            self._add(self._exactly(int(length)))
            return "clean"
        self._add(self._file.read())
        return "clean"

    def _exactly(self, size: int) -> bytes:
        data = self._file.read(size)
        if len(data) < size:
            self._add(data)
            raise ValueError("cut")
        return data

    def _add(self, data: bytes) -> None:
        with self._news:
            self.chunks.append(data)
            self.chunk_times.append(time.monotonic() - self._opened)
            self._news.notify_all()


def request_bytes(
    host: str,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None = None,
) -> bytes:
    """A request as it travels; its connection is closed after it."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def address_of(url: str) -> tuple[str, int]:
    """Host and port of a server's URL."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port
