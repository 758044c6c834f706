"""As much of HTTP/1.1 as reading and playing recordings takes: heads, and where a body ends."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

from listwatch.rest.transport import Headers

__all__ = [
    "BodyReader",
    "Framing",
    "RequestHead",
    "ResponseHead",
    "parse_request",
    "parse_response",
]

_STATUS_LINE = re.compile(rb"(HTTP/1\.[01]) (\d{3})(?: ([^\r\n]*))?\r\n")
_REQUEST_LINE = re.compile(rb"([A-Z]+) (\S+) (HTTP/1\.[01])\r\n")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]+)(?:;[^\r\n]*)?\r\n")


class Framing(enum.StrEnum):
    """How the end of a body is marked."""

    NONE = "none"
    """There is no body: an answer to HEAD, a 204, a 304."""
    LENGTH = "length"
    CHUNKED = "chunked"
    CLOSE = "close"
    """By the end of the connection: HTTP/1.0, and a connection that became another protocol's."""


@dataclass(frozen=True, slots=True)
class RequestHead:
    method: str
    target: str
    version: str
    headers: Headers
    size: int
    """Bytes, the blank line included."""


@dataclass(frozen=True, slots=True)
class ResponseHead:
    status: int
    reason: str
    version: str
    headers: Headers
    size: int
    """Bytes, the blank line included."""

    def framing(self, method: str) -> Framing:
        """How the body of this answer to `method` ends."""
        if method == "HEAD" or self.status in (204, 304) or 100 <= self.status < 200:
            return Framing.CLOSE if self.status == 101 else Framing.NONE
        if (self.headers.get("Transfer-Encoding") or "").lower() == "chunked":
            return Framing.CHUNKED
        return Framing.LENGTH if self.headers.get("Content-Length") is not None else Framing.CLOSE


def parse_request(data: bytes) -> RequestHead | None:
    """The head of the request at the start of `data`; None where it is not whole, or no request."""
    line = _REQUEST_LINE.match(data)
    end = data.find(b"\r\n\r\n")
    if line is None or end < 0:
        return None
    method, target, version = (part.decode("latin-1") for part in line.groups())
    return RequestHead(method, target, version, _headers(data[line.end() : end + 2]), end + 4)


def parse_response(data: bytes) -> ResponseHead | None:
    """The head of the answer at the start of `data`; None where it is not whole, or no answer."""
    line = _STATUS_LINE.match(data)
    end = data.find(b"\r\n\r\n")
    if line is None or end < 0:
        return None
    version, status, reason = line.groups(b"")
    headers = _headers(data[line.end() : end + 2])
    return ResponseHead(int(status), reason.decode("latin-1"), version.decode(), headers, end + 4)


class BodyReader:
    """Takes a body as it travelled, in any slices, and gives what it carries, still compressed."""

    def __init__(self, framing: Framing, length: int = 0) -> None:
        self.framing = framing
        self.complete = framing is Framing.NONE or (framing is Framing.LENGTH and length == 0)
        """Whether its end was reached; with `Framing.CLOSE` nothing in the bytes says so."""
        self._left = length if framing is Framing.LENGTH else 0  # of the body, or of this chunk
        self._line = b""  # as much as has come of a line between two chunks
        self._next_line = self._size_line

    def feed(self, data: bytes) -> bytes:
        """What these bytes carry of the body.

        Raises ValueError on bytes that cannot be chunks, or are beyond the end.
        """
        if self.framing is Framing.CLOSE:
            return data
        if self.framing is Framing.CHUNKED:
            return self._feed_chunked(data)
        if len(data) > self._left:
            raise ValueError(f"{len(data) - self._left} bytes too many for the body's length")
        self._left -= len(data)
        self.complete = self._left == 0
        return data

    def _feed_chunked(self, data: bytes) -> bytes:
        carried = bytearray()
        at = 0
        while at < len(data):
            if self.complete:
                raise ValueError(f"{len(data) - at} bytes after the last chunk")
            if self._left:
                piece = data[at : at + self._left]
                carried += piece
                at += len(piece)
                self._left -= len(piece)
                continue
            end = data.find(b"\n", at) + 1 or len(data)
            self._line += data[at:end]
            at = end
            if self._line.endswith(b"\n"):
                line, self._line = self._line, b""
                self._next_line(line)
        return bytes(carried)

    def _size_line(self, line: bytes) -> None:
        size = _CHUNK_SIZE.fullmatch(line)
        if size is None:
            raise ValueError(f"not the size of a chunk: {line[:40]!r}")
        self._left = int(size[1], 16)
        self._next_line = self._line_after_chunk if self._left else self._trailer_line

    def _line_after_chunk(self, line: bytes) -> None:
        if line != b"\r\n":
            raise ValueError(f"not the end of a chunk: {line[:40]!r}")
        self._next_line = self._size_line

    def _trailer_line(self, line: bytes) -> None:
        self.complete = line == b"\r\n"


def _headers(lines: bytes) -> Headers:
    pairs = (
        line.partition(":")
        for line in lines.decode("utf-8", "surrogateescape").split("\r\n")
        if line
    )
    return Headers((name, value.strip()) for name, _, value in pairs)
