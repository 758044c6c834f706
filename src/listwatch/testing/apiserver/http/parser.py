"""Requests out of bytes, with the refusals of Go's HTTP server: no I/O.

What Go takes and others do not, and the other way round, as it was seen: a line may end in a bare
`\\n`; a header may go on in the next line; nothing may come before the request line, not even a
blank line, but for one that follows a POST; the body of an HTTP/1.0 request has no chunks; where
both a length and chunks are told, the chunks count. The text of a refusal is Go's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["BadRequest", "Head", "RequestParser"]

MAX_HEAD = 1024 * 1024 + 4096
"""Bytes of request line and headers, from which on they are refused (431)."""

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z ]+")  # the space is refused later, in other words
_VERSION = re.compile(r"HTTP/(\d)\.(\d)")
_HOST = re.compile(r"[A-Za-z0-9\-._~!$&'()*+,;=:\[\]%@]*")
_BAD_VALUE = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_BAD_TARGET = re.compile(r"[\x00-\x20\x7f]|%(?![0-9A-Fa-f]{2})")
_BAD_QUERY = re.compile(r"[\x00-\x20\x7f]")
_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,16}")
_MAX_CHUNK_LINE = 4096
_BLANK = re.compile(rb"\n\r?\n")


class BadRequest(Exception):
    """Bytes that are no request; the connection ends with this refusal.

    `in_body` is set where the head was good, so that a whole answer (a 500 Status) tells of it.
    """

    def __init__(
        self, status: str = "400 Bad Request", text: str | None = None, *, in_body: bool = False
    ) -> None:
        super().__init__(text or status)
        self.status = status
        self.text = status if text is None else text
        self.in_body = in_body

    @property
    def answer(self) -> bytes:
        """What Go writes, which has no Date, and a length only where there is nothing."""
        if not self.text:
            return (
                f"HTTP/1.1 {self.status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".encode()
            )
        return (
            f"HTTP/1.1 {self.status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Connection: close\r\n\r\n{self.text}"
        ).encode("latin-1")


@dataclass(slots=True)
class Head:
    """Request line and headers, checked."""

    method: str
    target: str
    minor: int
    """Of the version: 0 for HTTP/1.0."""
    headers: dict[str, str] = field(default_factory=dict)
    """By name in small letters, the first of several. Bytes beyond ASCII as `surrogateescape`."""
    length: int = 0
    chunked: bool = False
    expects_continue: bool = False
    keep_alive: bool = True

    @property
    def has_body(self) -> bool:
        return self.chunked or self.length > 0


class RequestParser:
    """Takes bytes as they come; `head` and then `body` are there when they are whole.

    After a body, `next` starts over with what came behind it. A body is kept up to `max_body` and
    one byte, which tells that it was longer; the rest is passed over.
    """

    def __init__(self, max_body: int) -> None:
        self._max_body = max_body
        self._data = bytearray()
        self._searched = 0
        self._after_post = False
        self._left = 0  # of the body, or of this chunk
        self._in_chunk_end = False
        self._in_trailer = False
        self.head: Head | None = None
        self.body = bytearray()
        self.skipped = 0
        """Bytes of the body that were passed over."""
        self.complete = False

    @property
    def started(self) -> bool:
        """Whether some of a request is there."""
        return self.head is not None or bool(self._data)

    @property
    def buffered(self) -> int:
        return len(self._data)

    def feed(self, data: bytes) -> None:
        """Add bytes and parse as far as they go, up to the end of one request.

        Raises `BadRequest`.
        """
        self._data += data
        self._advance()

    def next(self) -> None:
        """Forget the request that is complete and parse what came behind it.

        Raises `BadRequest`.
        """
        assert self.head is not None
        self._after_post = self.head.method == "POST"
        self.head, self.body, self.complete, self.skipped = None, bytearray(), False, 0
        self._in_trailer = False
        self._advance()

    def _advance(self) -> None:
        if self.head is None and not self._parse_head():
            return
        assert self.head is not None
        if self.complete:
            return
        if self.head.chunked:
            self._take_chunks()
        else:
            self._take()
            self.complete = self._left == 0

    def _parse_head(self) -> bool:
        if self._after_post and self._data:
            start = next((at for at, byte in enumerate(self._data[:4]) if byte not in b"\r\n"), 4)
            del self._data[:start]
            self._after_post = start == 4
        data = self._data
        if data.startswith((b"\r", b"\n")):
            raise BadRequest
        found = _BLANK.search(data, max(self._searched - 3, 0))
        if found is None:
            self._searched = len(data)
            if len(data) > MAX_HEAD:
                raise BadRequest("431 Request Header Fields Too Large")
            if (end := data.find(b"\n", 0, 8192)) >= 0:
                _request_line(data[:end].decode("utf-8", "surrogateescape"))
            return False
        if found.end() > MAX_HEAD:
            raise BadRequest("431 Request Header Fields Too Large")
        text = bytes(data[: found.start()]).decode("utf-8", "surrogateescape")
        del data[: found.end()]
        self._searched = 0
        self.head = _parse_head(text)
        self._left = self.head.length
        return True

    def _take(self) -> None:
        """Move what is there of `_left` bytes into the body."""
        taken = min(self._left, len(self._data))
        if not taken:
            return
        room = min(taken, self._max_body + 1 - len(self.body))
        self.body += self._data[:room]
        self.skipped += taken - room
        del self._data[:taken]
        self._left -= taken

    def _take_chunks(self) -> None:
        while True:
            if self._left:
                self._take()
                if self._left:
                    return
                self._in_chunk_end = True
            if self._in_chunk_end:
                if len(self._data) < 2:
                    return
                if self._data[:2] != b"\r\n":
                    raise BadRequest(
                        "500 Internal Server Error", "malformed chunked encoding", in_body=True
                    )
                del self._data[:2]
                self._in_chunk_end = False
            line = self._line()
            if line is None:
                return
            if self._in_trailer:
                if not line:
                    self.complete = True
                    return
                continue
            size = line.partition(b";")[0].strip()
            if not _CHUNK_SIZE.fullmatch(size):
                raise BadRequest(
                    "500 Internal Server Error", "invalid byte in chunk length", in_body=True
                )
            self._left = int(size, 16)
            self._in_trailer = self._left == 0

    def _line(self) -> bytes | None:
        end = self._data.find(b"\n", 0, _MAX_CHUNK_LINE)
        if end < 0:
            if len(self._data) >= _MAX_CHUNK_LINE:
                raise BadRequest("500 Internal Server Error", "header line too long", in_body=True)
            return None
        line = bytes(self._data[:end]).rstrip(b"\r")
        del self._data[: end + 1]
        return line


def _request_line(line: str) -> tuple[str, str, int]:
    method, _, rest = line.rstrip("\r").partition(" ")
    target, _, version = rest.partition(" ")
    found = _VERSION.fullmatch(version)
    if found is None or not _TOKEN.fullmatch(method) or not _is_target(method, target):
        raise BadRequest
    if found[1] != "1":
        text = "505 HTTP Version Not Supported: unsupported protocol version"
        raise BadRequest(text)
    return method, target, int(found[2])


def _is_target(method: str, target: str) -> bool:
    path, _, query = target.partition("?")
    if _BAD_TARGET.search(path) or _BAD_QUERY.search(query):
        return False
    return path.startswith(("/", "http://", "https://")) or path == "*" or method == "CONNECT"


def _parse_head(text: str) -> Head:
    request_line, _, lines = text.partition("\n")
    method, target, minor = _request_line(request_line)
    head = Head(method, target, minor)
    headers = head.headers
    name = ""
    several: dict[str, list[str]] = {}
    for raw in lines.split("\n") if lines else ():
        line = raw.rstrip("\r")
        if line[:1] in (" ", "\t"):
            if not name:
                raise BadRequest
            several[name][-1] += f" {line.strip()}"
            continue
        name, colon, value = line.partition(":")
        if not colon or not _NAME.fullmatch(name) or name.startswith(" "):
            raise BadRequest
        if " " in name:
            raise BadRequest("400 Bad Request: invalid header name")
        name = name.lower()
        several.setdefault(name, []).append(value.strip(" \t"))
    for name, values in several.items():
        if any(map(_BAD_VALUE.search, values)):
            raise BadRequest
        headers[name] = values[0]
    _check_host(head, several.get("host", []))
    _find_body(head, several)
    _find_connection(head)
    return head


def _check_host(head: Head, hosts: list[str]) -> None:
    if len(hosts) > 1:
        raise BadRequest
    if not hosts and head.minor >= 1:
        raise BadRequest("400 Bad Request: missing required Host header")
    if hosts and not _HOST.fullmatch(hosts[0]):
        raise BadRequest("400 Bad Request: malformed Host header")


def _find_body(head: Head, several: dict[str, list[str]]) -> None:
    if head.minor >= 1 and (encodings := several.get("transfer-encoding")):
        if [encoding.lower() for encoding in encodings] != ["chunked"]:
            raise BadRequest("501 Not Implemented", "Unsupported transfer encoding")
        head.chunked = True
        return
    if "transfer-encoding" in several:
        return
    lengths = set(several.get("content-length", []))
    if not lengths:
        return
    if len(lengths) > 1 or not (length := lengths.pop()).isascii() or not length.isdigit():
        raise BadRequest
    if len(length) > 18:
        raise BadRequest
    head.length = int(length)


def _find_connection(head: Head) -> None:
    wishes = {wish.strip() for wish in head.headers.get("connection", "").lower().split(",")}
    head.keep_alive = "keep-alive" in wishes if head.minor == 0 else "close" not in wishes
    expected = head.headers.get("expect", "").lower()
    if expected and expected != "100-continue":
        raise BadRequest("417 Expectation Failed", "")
    head.expects_continue = bool(expected) and head.minor >= 1 and head.has_body
