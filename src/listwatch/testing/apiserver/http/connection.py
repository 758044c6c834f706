"""One connection to the server: bytes to requests, answers to bytes (HTTP/1.1 and 1.0, RFC 9112).

One request is answered at a time. What a client sends ahead waits, up to a limit, in order; a
client that does not read is not written to.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Sequence

from ..faults.effects import Stop
from ..messages import Answer, ServerRequest
from ..service import Service
from ..statuses import failure
from .exchange import Exchange
from .heads import AnswerHead
from .limits import MAX_BODY, TOO_SLOW, Limits
from .parser import BadRequest, Head, RequestParser
from .request_target import server_request
from .tls import TLSFailure, TLSPipe

__all__ = ["Connection"]

_PASSED_OVER = 256 * 1024
"""Bytes of an overlong body that are read to keep the connection; beyond, it is closed (Go's)."""

_READ_AHEAD = 64 * 1024
_HIGH_WATER = 64 * 1024
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER: on, and for no time at all
_PLAIN_TO_TLS = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
_BEGIN_OF_HTTP = (b"G", b"H", b"P", b"O", b"D")  # GET, HEAD, POST, PUT, PATCH, OPTIONS, DELETE
_HANDSHAKE = b"\x16"


class Connection(asyncio.Protocol):
    """Serves one client; it is the `Outlet` of each of its requests in turn."""

    def __init__(
        self,
        service: Service,
        tls: Callable[[], TLSPipe] | None,
        control: Callable[[ServerRequest], Answer | None] | None,
        connections: set[Connection],
        limits: Limits,
        stopped: Callable[[], bool],
    ) -> None:
        self._service = service
        self._make_tls = tls
        self._tls: TLSPipe | None = None
        self._control = control
        self._connections = connections
        self._limits = limits
        self._stopped = stopped
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = RequestParser(MAX_BODY)
        self._exchange: Exchange | None = None
        self._serving = False
        self.in_control = False
        """Whether it is asking the control endpoint, which outlives the death of the server."""
        self._ahead = b""
        self._closing = False
        self._paused_writing = False
        self._paused_reading = False
        self._chunked = False
        self._keep_alive = True
        self._left: int | None = None  # of an answer's Content-Length
        self._continued = False
        self._in_body = False
        self._sent = 0
        self._cut_at: tuple[int, Stop] | None = None
        self._deadline: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.gone = self._loop.create_future()
        """Done when the socket is closed."""

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._connections.add(self)
        if self._stopped():
            self.abort()
            return
        transport.set_write_buffer_limits(high=_HIGH_WATER)
        tcp: socket.socket = transport.get_extra_info("socket")
        tcp.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._tls = self._make_tls() if self._make_tls is not None else None
        self._wait(self._limits.head if self._tls is None else self._limits.handshake)

    def connection_lost(self, exc: Exception | None) -> None:
        self._closing = True
        self._connections.discard(self)
        if self._timer is not None:
            self._timer.cancel()
        self._lose_exchange()
        if not self.gone.done():
            self.gone.set_result(None)

    def _lose_exchange(self) -> None:
        exchange, self._exchange = self._exchange, None
        if exchange is not None:
            exchange.lost()

    def pause_writing(self) -> None:
        self._paused_writing = True

    def resume_writing(self) -> None:
        self._paused_writing = False
        if self._exchange is not None:
            self._exchange.resume()

    def eof_received(self) -> bool:
        return False  # a client that has said its last is gone: Go cancels its request, too

    def data_received(self, data: bytes) -> None:
        if self._closing:
            return
        if self._tls is not None:
            try:
                data = self._decrypted(self._tls, data)
            except TLSFailure:
                self._transport_write(self._tls.outgoing())  # the alert that says why
                self._close()
                return
        if data:
            self._received(data)

    def _decrypted(self, tls: TLSPipe, data: bytes) -> bytes:
        if not tls.begun and data[:1] != _HANDSHAKE:
            if data[:1] in _BEGIN_OF_HTTP:
                self._transport_write(_PLAIN_TO_TLS)
            self._close()
            return b""
        was_ready = tls.ready
        plain = tls.receive(data)
        self._transport_write(tls.outgoing())
        if tls.ready and not was_ready:
            self._wait(self._limits.head)
        if tls.peer_closed and not plain:
            self._close()
        return plain

    # Requests

    def _received(self, data: bytes) -> None:
        parser = self._parser
        if self._serving and parser.complete:
            # Sent ahead, while the one before is answered: Go does not look at it yet either.
            self._ahead += data
            self._limit_reading()
            return
        fresh = not parser.started
        try:
            parser.feed(data)
        except BadRequest as refusal:
            self._refuse(refusal)
            return
        if fresh and parser.head is None:
            self._wait(self._limits.head)
        self._look_for_request()

    def _look_for_request(self) -> None:
        parser = self._parser
        head = parser.head
        if head is None or self._serving:
            return
        if not parser.complete and parser.skipped <= _PASSED_OVER:
            if head.expects_continue and not self._continued:
                self._continued = True
                self._write(b"HTTP/1.1 100 Continue\r\n\r\n")
            if not self._in_body:
                self._in_body = True
                self._wait(self._limits.body)
            return
        self._continued = self._in_body = False
        self._serving = True
        self._wait(None)
        # Nobody reads the body of a GET, and Go does not read that much to be rid of it.
        ignored = head.method in ("GET", "HEAD") and len(parser.body) > _PASSED_OVER
        self._keep_alive = head.keep_alive and parser.complete and not ignored
        self._limit_reading()
        self._serve(head, bytes(parser.body))

    def _serve(self, head: Head, body: bytes) -> None:
        if (head.method, head.target) == ("OPTIONS", "*"):
            self._answer_simply(Answer(status=200, content_type=None))
            return
        request = server_request(head, body)
        if self._control is not None:
            self.in_control = True
            answer = self._control(request)
            self.in_control = False
            if answer is not None:
                self._answer_simply(answer)
                return
        exchange = self._exchange = Exchange(self._service, request, self)
        exchange.start()

    def _answer_simply(self, answer: Answer) -> None:
        head = self._parser.head
        assert head is not None
        made = self._service.heads.make(
            answer.status, answer.content_type, answer.headers, length=len(answer.body)
        )
        self.begin(made)
        if answer.body and head.method != "HEAD":
            self.send((answer.body,))
        self.finish()

    def _refuse(self, refusal: BadRequest) -> None:
        head = self._parser.head
        if self._exchange is not None:
            self._close()  # the rest of a body that was too long, while its refusal is on its way
        elif not refusal.in_body or head is None:
            self._write(refusal.answer)
            self._linger()
        else:
            self._serving, self._keep_alive = True, False
            self._answer_simply(failure(500, "", refusal.text))

    # Outlet

    @property
    def writable(self) -> bool:
        return not self._paused_writing

    def begin(self, head: AnswerHead) -> None:
        request = self._parser.head
        assert request is not None
        self._chunked = head.length is None and head.has_body and request.minor > 0
        if head.closes or (head.length is None and head.has_body and request.minor == 0):
            self._keep_alive = False
        self._left = head.length if head.has_body else None
        self._write(head.encode(minor=request.minor, keep_alive=self._keep_alive))

    def send(self, chunks: Sequence[bytes]) -> None:
        if self._chunked:
            parts: list[bytes] = []
            for chunk in chunks:
                parts += (b"%x\r\n" % len(chunk), chunk, b"\r\n")
            self._write(b"".join(parts))
            return
        data = b"".join(chunks)
        if self._left is not None:
            self._left -= len(data)
        self._write(data)

    def finish(self) -> None:
        self._exchange = None
        if self._closing:
            return
        if self._chunked:
            self._write(b"0\r\n\r\n")
        if self._left:
            self._close()  # fewer bytes than were promised: the client must not wait for them
        elif not self._keep_alive:
            self._linger()
        else:
            self._wait(self._limits.idle)
            if self._ahead or self._parser.buffered:
                self._loop.call_soon(self._next_request)
            else:
                self._next_request()

    def cut(self, chunk: bytes, keep: int, *, reset: bool) -> None:
        if keep:
            size = b"%x\r\n" % len(chunk) if self._chunked else b""
            self._write(size + chunk[:keep])
        self._close(reset=reset)

    def cut_at(self, size: int, stop: Stop) -> None:
        if self._cut_at is None or size < self._cut_at[0]:
            self._cut_at = (size, stop)
        self._write(b"")

    def abort(self) -> None:
        """Close at once, whatever is still to be sent."""
        self._closing = True
        if self._transport is not None:
            self._transport.abort()

    def kill(self) -> None:
        """Close as the system does for a process that died: what it had not handed over is lost."""
        self._close()
        self.abort()

    # Bytes

    def _write(self, data: bytes) -> None:
        if self._closing or self._transport is None:
            return
        if self._cut_at is not None and self._sent + len(data) >= self._cut_at[0]:
            size, stop = self._cut_at
            self._cut_at = None
            if stop.why():
                self._put(data[: max(size - self._sent, 0)])
                self._close(reset=getattr(stop.what, "reset", False))
                return
        self._put(data)

    def _put(self, data: bytes) -> None:
        assert self._transport is not None
        self._sent += len(data)
        if data and self._tls is not None:
            data = self._tls.send(data)
        self._transport_write(data)

    def _transport_write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _close(self, *, reset: bool = False) -> None:
        """End the connection behind what was written, without a goodbye of TLS."""
        if self._closing or self._transport is None:
            return
        self._closing = True
        self._lose_exchange()
        if reset:
            tcp: socket.socket = self._transport.get_extra_info("socket")
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._transport.close()

    def _linger(self) -> None:
        """Close politely: say that nothing more comes, and let the client read what came."""
        transport = self._transport
        if self._closing or transport is None:
            return
        self._closing = True
        if self._tls is not None:
            self._transport_write(self._tls.goodbye())
        if transport.get_write_buffer_size():
            # asyncio would say it when all is sent, and not survive that the client has gone then.
            transport.close()
            return
        if transport.can_write_eof():
            # Not from here: asyncio may be in the middle of writing, and would say it twice.
            self._loop.call_soon(_say_the_end, transport)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(self._limits.linger, transport.close)
        if self._paused_reading:
            transport.resume_reading()

    # Reading, and its limits

    def _next_request(self) -> None:
        if self._closing:
            return
        self._serving = False
        parser = self._parser
        ahead, self._ahead = self._ahead, b""
        try:
            parser.next()
            if ahead:
                parser.feed(ahead)
        except BadRequest as refusal:
            self._refuse(refusal)
            return
        if self._paused_reading and self._transport is not None:
            self._paused_reading = False
            self._transport.resume_reading()
        if parser.started:
            self._wait(self._limits.head)
            self._look_for_request()

    def _limit_reading(self) -> None:
        waiting = len(self._ahead) + self._parser.buffered
        if waiting > _READ_AHEAD and not self._paused_reading and self._transport is not None:
            self._paused_reading = True
            self._transport.pause_reading()

    def _wait(self, seconds: float | None) -> None:
        """Give the client so long for what comes next; None: as long as it likes."""
        self._deadline = None if seconds is None else self._loop.time() + seconds
        if self._deadline is None:
            return
        if self._timer is not None and self._timer.when() > self._deadline:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline, self._look_at_deadline)

    def _look_at_deadline(self) -> None:
        """One timer for the life of a connection: cheaper than one for each request."""
        self._timer = None
        if self._closing or self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._look_at_deadline)
        elif self._parser.head is not None and not self._serving:
            self._serving, self._keep_alive = True, False
            self._answer_simply(TOO_SLOW)
        else:
            self._close()


def _say_the_end(transport: asyncio.Transport) -> None:
    if not transport.is_closing():
        transport.write_eof()
