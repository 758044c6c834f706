"""Recorded exchanges of real API servers: one request and its answer, as they travelled and when.

A recording is two files. `NAME.http` holds the bytes of the request and then those of the answer;
`NAME.meta.json` says where the answer starts, when which bytes of it were read, and how it ended.
"""

from __future__ import annotations

import enum
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from listwatch.rest.errors import ConnectionLost
from listwatch.rest.transport import Headers
from listwatch.testing._http1 import (
    BodyReader,
    Framing,
    RequestHead,
    ResponseHead,
    parse_request,
    parse_response,
)
from listwatch.testing.reply import HANG, Part, Pause, Reply

__all__ = ["Ending", "Recording"]

Read = tuple[float, int]
"""Seconds after the request was sent, and how many bytes were read then."""


class Ending(enum.StrEnum):
    """What became of the connection when the recording ended."""

    KEPT = "kept"
    """The answer was complete, and the connection good for another request."""
    EOF = "eof"
    """The server closed it in good order."""
    ABORT = "abort"
    """The server's side was gone without a goodbye: killed, or reset."""
    CLIENT = "client"
    """The client closed it while more could have come."""


class Recording:
    """One exchange.

    >>> request = b"GET /api/v1/pods HTTP/1.1\\r\\n\\r\\n"
    >>> head = b"HTTP/1.1 200 OK\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n"
    >>> recording = Recording("pods", request, head + b"2\\r\\n{}\\r\\n0\\r\\n\\r\\n")
    >>> recording.is_list, recording.status, recording.body
    (True, 200, b'{}')
    """

    def __init__(
        self,
        name: str,
        request: bytes,
        response: bytes,
        *,
        reads: tuple[Read, ...] | None = None,
        end: Ending | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.request = request
        """The bytes of the request; empty where only the answer was kept."""
        self.response = response
        """The bytes of everything that came back, heads of interim answers included."""
        self.reads: tuple[Read, ...] = reads if reads is not None else ((0.0, len(response)),)
        """How `response` came: one read after the other."""
        self.meta: Mapping[str, Any] = meta or {}
        """What the recorder noted, as it is in the file."""
        self._end = end

    @classmethod
    def load(cls, path: str | Path) -> Recording:
        """Read `NAME.http`, and `NAME.meta.json` where there is one; `path` is either, or `NAME`.

        Raises OSError, and ValueError on a file that is no recording.
        """
        http_path = Path(str(path).removesuffix(".meta.json").removesuffix(".http") + ".http")
        data = http_path.read_bytes()
        name = http_path.name.removesuffix(".http")
        meta_path = http_path.with_name(f"{name}.meta.json")
        if not meta_path.exists():
            size = _request_size(data)
            return cls(name, data[:size], data[size:])
        meta = json.loads(meta_path.read_bytes())
        try:
            size = int(meta["request_bytes"])
            reads = tuple((float(seconds), int(length)) for seconds, length in meta["reads"])
            end = _ending(str(meta["end"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{meta_path} does not describe a recording: {error!r}") from error
        if sum(length for _, length in reads) != len(data) - size:
            raise ValueError(f"{http_path} is not as long as {meta_path} says")
        return cls(name, data[:size], data[size:], reads=reads, end=end, meta=meta)

    def __repr__(self) -> str:
        return f"<Recording {self.name}: {self.method} {self.target} -> {self.status}>"

    # The request

    @property
    def method(self) -> str:
        """Such as `GET`; empty where the request was not kept."""
        return self._request_head.method

    @property
    def target(self) -> str:
        """Path and query, as in the request line."""
        return self._request_head.target

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @cached_property
    def query(self) -> tuple[tuple[str, str], ...]:
        """The query, decoded, in its order."""
        return tuple(parse_qsl(self.target.partition("?")[2], keep_blank_values=True))

    @property
    def request_headers(self) -> Headers:
        return self._request_head.headers

    @property
    def request_body(self) -> bytes:
        return self.request[self._request_head.size :]

    @property
    def is_watch(self) -> bool:
        """Whether this asks for a stream of events: a WATCH or a WatchList."""
        if self._resource_path[:1] == ("watch",):  # the old form of a watch
            return self.method == "GET"
        asked = dict(self.query).get("watch", "false") not in ("false", "0")  # empty means true
        return self.method == "GET" and asked and self._names_a_collection

    @property
    def is_list(self) -> bool:
        """Whether this asks for a collection, and not for a stream of it."""
        return self.method == "GET" and not self.is_watch and self._names_a_collection

    # The answer

    @property
    def status(self) -> int:
        """The status of the answer, interim ones left out; 0 where no head of it was kept."""
        return self._response_head.status

    @property
    def headers(self) -> Headers:
        return self._response_head.headers

    @property
    def media_type(self) -> str:
        """The media type of the body without parameters, such as `application/json`, or empty."""
        return (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()

    @property
    def seconds(self) -> float:
        """How long the exchange took, until the recorder stopped."""
        last = self.reads[-1][0] if self.reads else 0.0
        return float(self.meta.get("seconds", last))

    @property
    def framing(self) -> Framing:
        return self._response_head.framing(self.method)

    @property
    def head_size(self) -> int:
        """Bytes of `response` before the body."""
        return len(self.response) - len(self.wire_body)

    @property
    def wire_body(self) -> bytes:
        """The body as it travelled: in chunks, and compressed."""
        return self.response[self._interim_size + self._response_head.size :]

    @property
    def body(self) -> bytes:
        """The body, without chunks and decompressed."""
        return self._body[0]

    @property
    def body_reads(self) -> tuple[Read, ...]:
        """The recorded reads, mapped onto `body`: those that brought nothing of it are left out."""
        return self._body[1]

    @property
    def complete(self) -> bool:
        """Whether the body reached the end that its framing marks."""
        return self._body[2]

    @property
    def end(self) -> Ending:
        if self._end is None:
            return Ending.KEPT if self.complete and self.keeps_alive else Ending.EOF
        # The recorder could not know that nothing follows some heads, and waited.
        waited = self._end is Ending.CLIENT and self.framing is Framing.NONE
        return Ending.KEPT if waited else self._end

    @property
    def keeps_alive(self) -> bool:
        """Whether the head of the answer allows another request on the same connection."""
        head = self._response_head
        closes = (head.headers.get("Connection") or "").lower() == "close"
        return head.version == "HTTP/1.1" and not closes and self.framing is not Framing.CLOSE

    def pieces(self) -> Iterator[tuple[float, bytes]]:
        """`body`, cut where it was when it was recorded, with the seconds of each piece."""
        at = 0
        for seconds, length in self.body_reads:
            yield seconds, self.body[at : at + length]
            at += length

    def reply(self, *, speed: float | None = 1.0) -> Reply:
        """The same answer from a `MemoryTransport`, `speed` times as fast; at once with None."""
        parts: list[Part] = []
        head_at = self._read_time(self.head_size)
        before = head_at
        for seconds, piece in self.pieces():
            if speed is not None and seconds > before:
                parts.append(Pause((seconds - before) / speed))
            parts.append(piece)
            before = seconds
        if not self.complete and self.framing is not Framing.CLOSE:
            cut = ConnectionLost("the connection ended before the answer did", url=self.path)
            parts.append(HANG if self.end is Ending.CLIENT else cut)
        delay = head_at / speed if speed is not None else 0.0
        return Reply(self.status, parts, tuple(self.headers), delay)

    @cached_property
    def _request_head(self) -> RequestHead:
        head = parse_request(self.request)
        return head if head is not None else RequestHead("", "", "", Headers(), 0)

    @cached_property
    def _resource_path(self) -> tuple[str, ...]:
        """What follows group and version; empty where the path is none of a resource."""
        match self.path.strip("/").split("/"):
            case ["api", _, *rest] | ["apis", _, _, *rest]:
                return tuple(rest)
        return ()

    @property
    def _names_a_collection(self) -> bool:
        match self._resource_path:
            case ["namespaces", _, resource]:
                return resource not in ("status", "finalize")
            case [_]:
                return True
        return False

    @cached_property
    def _interim_size(self) -> int:
        """Bytes of the 1xx answers in front of the real one."""
        size = 0
        while (head := parse_response(self.response[size:])) is not None:
            if not 100 <= head.status < 200 or head.status == 101:
                break
            size += head.size
        return size

    @cached_property
    def _response_head(self) -> ResponseHead:
        head = parse_response(self.response[self._interim_size :])
        return head if head is not None else ResponseHead(0, "", "", Headers(), 0)

    @cached_property
    def _body(self) -> tuple[bytes, tuple[Read, ...], bool]:
        length = int(self.headers.get("Content-Length") or 0)
        reader = BodyReader(self.framing, length)
        unpack = _unpacker(self.headers.get("Content-Encoding"))
        body = bytearray()
        reads: list[Read] = []
        at = 0
        for seconds, size in self.reads:
            start = max(at, self.head_size)
            at += size
            piece = unpack(reader.feed(self.response[start:at])) if at > start else b""
            if piece:
                body += piece
                reads.append((seconds, len(piece)))
        return bytes(body), tuple(reads), reader.complete

    def _read_time(self, offset: int) -> float:
        """Seconds until the first `offset` bytes of the answer were there."""
        at = 0
        for seconds, size in self.reads:
            at += size
            if at >= offset:
                return seconds
        return 0.0


def _request_size(data: bytes) -> int:
    head = parse_request(data)
    if head is None:
        return 0
    return head.size + int(head.headers.get("Content-Length") or 0)


def _ending(text: str) -> Ending:
    """What the recorder wrote, in one word."""
    for beginning, ending in (
        ("complete", Ending.KEPT),
        ("EOF", Ending.EOF),
        ("SSLError", Ending.ABORT),
        ("ConnectionResetError", Ending.ABORT),
        ("timeout(client stopped)", Ending.CLIENT),
        ("client closed", Ending.CLIENT),
    ):
        if text.startswith(beginning):
            return ending
    raise ValueError(f"unknown end of a recording: {text!r}")


def _unpacker(encoding: str | None) -> Callable[[bytes], bytes]:
    if encoding is None:
        return lambda data: data
    if encoding.lower() != "gzip":
        raise ValueError(f"unknown Content-Encoding: {encoding!r}")
    return zlib.decompressobj(wbits=31).decompress
