"""One request from the moment it is there to the end of its answer, over a socket or without one.

It asks the core, keeps the time for what the core promised for later, cuts what comes into the
pieces that travel, and lets the faults at them. Where they go is an `Outlet`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol, cast

from ..faults.effects import Effects, Stop, failed_answer
from ..faults.model import Cut, End, Hang, Stall
from ..messages import Answer, Later, Reaction, ServerRequest, WatchStream
from ..statuses import Refused
from ..storage.alarm import Alarm
from ..types.request_info import RequestInfo, request_info
from .chunks import BUFFER, Chunks, written_pieces
from .compression import THRESHOLD, accepts_gzip, gzipped
from .heads import AnswerHead

if TYPE_CHECKING:
    from ..service import Service

__all__ = ["Exchange", "Outlet"]

_LONG_RUNNING = ("/log", "/exec", "/attach", "/portforward", "/proxy")
_BATCH = 256 * 1024
"""Bytes of a long answer that are made before others get their turn."""


class Outlet(Protocol):
    """Where one answer goes."""

    @property
    def writable(self) -> bool:
        """Whether the client keeps up. When it does again, `Exchange.resume` is called."""
        ...

    def begin(self, head: AnswerHead) -> None: ...

    def send(self, chunks: Sequence[bytes]) -> None:
        """Pieces of the body, each a chunk where there are chunks."""
        ...

    def finish(self) -> None:
        """The body is whole."""
        ...

    def cut(self, chunk: bytes, keep: int, *, reset: bool) -> None:
        """End the connection in the middle of `chunk`, behind its first `keep` bytes."""
        ...

    def cut_at(self, size: int, stop: Stop) -> None:
        """End the connection when it has carried `size` bytes, or at once if it has."""
        ...


class Exchange:
    """Drives one answer. `start` once; `resume` when the outlet is writable again; `lost` when the
    client is gone.
    """

    def __init__(self, service: Service, request: ServerRequest, outlet: Outlet) -> None:
        self.request = request
        self.ended = False
        self._service = service
        self._outlet = outlet
        self._loop = asyncio.get_running_loop()
        self._effects: Effects | None = None
        self._alarm = Alarm(service.clock, self._tick)
        self._later: Later | None = None
        self._stream: WatchStream | None = None
        self._source: Iterator[Sequence[bytes]] | None = None
        self._chunks = Chunks()
        self._waiting: list[bytes] = []  # frames of a watch behind a stop
        self._outbox: deque[bytes] = deque()  # chunks behind a stop
        self._next_stop: Stop | None = None  # behind the chunks in the outbox
        self._sent = 0  # bytes of the body
        self._begun: float | None = None
        self._stalled = False
        self._pump_is_due = False
        self._timers: list[asyncio.TimerHandle] = []

    @property
    def asked(self) -> RequestInfo:
        """What the request is for, by which faults find it."""
        try:
            return request_info(self.request)
        except Refused:
            return RequestInfo(verb=self.request.method.lower(), path=self.request.path)

    @property
    def _is_prioritized(self) -> bool:
        """Long-running requests but for watches have no priority level."""
        return not self.request.path.endswith(_LONG_RUNNING)

    @property
    def is_watch(self) -> bool:
        return self._stream is not None

    def start(self) -> None:
        service = self._service
        service.exchanges[self] = None
        effects = self._effects = service.faults.effects(self.asked) if service.faults else None
        if effects is None:
            self._ask()
            return
        for action in effects.actions:
            service.perform(action)
        if self.ended:
            return
        if effects.at_wire_bytes is not None:
            self._outlet.cut_at(int(effects.at_wire_bytes.what.where.amount), effects.at_wire_bytes)
        if isinstance(effects.instead, Hang):
            return
        if effects.delay:
            self._timers.append(self._loop.call_later(effects.delay, self._ask))
        else:
            self._ask()

    def resume(self) -> None:
        """The outlet is writable again."""
        self._pump()

    def lost(self) -> None:
        """The client is gone, or the server is: nothing more can be sent."""
        if self.ended:
            return
        self.ended = True
        self._service.exchanges.pop(self, None)
        self._alarm.cancel()
        for timer in self._timers:
            timer.cancel()
        later, self._later = self._later, None
        if later is not None:
            later.wake = None
            later.close()
        if self._stream is not None:
            self._stream.wake = None
            self._stream.close()
        self._source = None

    def hit(self, stop: Stop) -> None:
        """Let a fault stop the answer here and now, where there is one already."""
        if self._begun is None or self.ended or not stop.why():
            return
        self._stop(stop)

    def kill(self) -> None:
        """End the connection as the death of the server does."""
        if not self.ended:
            self._outlet.cut(b"", 0, reset=False)

    def _ask(self) -> None:
        if self.ended:
            return
        instead = self._effects.instead if self._effects is not None else None
        if instead is not None and not isinstance(instead, Hang):
            self._react(failed_answer(instead))
        else:
            self._react(self._service.ask(self.request))

    def _react(self, reaction: Reaction) -> None:
        if isinstance(reaction, Answer):
            self._answer(reaction)
        elif hasattr(reaction, "take"):
            self._open(cast(WatchStream, reaction))
        else:
            self._later = reaction
            self._later.wake = self._schedule
            self._alarm.set(self._later.due)

    def _answer(self, answer: Answer) -> None:
        body, headers = answer.body, answer.headers
        length: int | None = len(body)
        has_body = self.request.method != "HEAD" and answer.status not in (204, 304)
        if len(body) <= BUFFER:
            self._source = iter(((body,),) if body else ())
        elif any(name == "Content-Length" for name, _ in headers):
            self._source = _in_batches(iter((body,)))
        else:
            length = None
            can_gzip = accepts_gzip(self.request.headers.get("accept-encoding", ""))
            if can_gzip and len(body) >= THRESHOLD:
                headers += (("Content-Encoding", "gzip"),)
                if ("Vary", "Accept-Encoding") not in headers:
                    headers += (("Vary", "Accept-Encoding"),)
                self._source = _in_batches(gzipped(body), exactly=True)
            else:
                pieces = iter((body,)) if can_gzip else written_pieces(body)
                self._source = _in_batches(pieces)
        if not has_body:
            self._source = iter(())
        head = self._service.heads.make(
            answer.status,
            answer.content_type,
            headers,
            length=length,
            has_body=has_body,
            prioritized=self._is_prioritized,
        )
        self._begin(head)

    def _open(self, stream: WatchStream) -> None:
        self._stream = stream
        stream.wake = self._schedule
        head = self._service.heads.make(
            200,
            stream.content_type,
            stream.headers,
            length=None,
            prioritized=self._is_prioritized,
        )
        self._begin(head)

    def _begin(self, head: AnswerHead) -> None:
        self._begun = self._loop.time()
        self._outlet.begin(head)
        if self._effects is not None:
            for moment, stop in self._effects.at_times:
                act = self._pump if stop is None else partial(self.hit, stop)
                self._timers.append(self._loop.call_later(moment, act))
        self._pump()

    def _schedule(self) -> None:
        """Called from within a write: send what it brought when the loop turns, once for all."""
        if not self._pump_is_due and not self.ended:
            self._pump_is_due = True
            self._loop.call_soon(self._pump)

    def _tick(self) -> None:
        if self._stream is not None:
            self._stream.tick()
        self._pump()

    def _pump(self) -> None:
        """Send what there is, as far as the client and the faults let it."""
        self._pump_is_due = False
        if self._later is not None:
            self._look_at_later()
        if self._begun is None or self.ended:
            return
        if self._may_send() and self._empty_outbox():
            if self._stream is not None:
                self._pump_stream(self._stream)
            else:
                self._pump_source()
        if self._stream is not None and not self._stream.ended and not self.ended:
            self._alarm.set(self._stream.due)

    def _look_at_later(self) -> None:
        later = self._later
        assert later is not None
        reaction = self._service.look_at(later, self.request)
        if reaction is None:
            self._alarm.set(later.due)
            return
        self._later = None
        later.wake = None
        self._alarm.cancel()
        self._react(reaction)

    def _may_send(self) -> bool:
        return not self._stalled and not self.ended and self._outlet.writable

    def _empty_outbox(self) -> bool:
        """Send what waited behind a stop. Whether nothing waits any more."""
        while self._outbox:
            if not self._may_send():
                return False
            self._emit([self._outbox.popleft()])
        if self._next_stop is not None and self._may_send():
            stop, self._next_stop = self._next_stop, None
            if stop.why():
                self._stop(stop)
        return self._may_send()

    def _pump_stream(self, stream: WatchStream) -> None:
        frames: Sequence[bytes] = stream.take()
        effects = self._effects
        if effects is None:
            self._send_frames(frames)
        else:
            assert self._begun is not None
            effects.elapsed = self._loop.time() - self._begun
            self._waiting += frames
            going_on = True
            while going_on:
                frames, self._next_stop, rest = effects.frames(self._waiting)
                self._waiting = list(rest)
                self._send_frames(frames)
                going_on = self._next_stop is not None and self._empty_outbox()
        if stream.ended and not self._waiting and not self._outbox and not self._stalled:
            self._finish()

    def _send_frames(self, frames: Sequence[bytes]) -> None:
        if frames:
            chunks: list[bytes] = []
            for frame in frames:
                chunks += self._chunks.write(frame)
            self._emit(chunks + self._chunks.flush())

    def _pump_source(self) -> None:
        source = self._source
        assert source is not None
        for chunks in source:
            self._emit(chunks)
            if self.ended or self._stalled:
                return
            if not self._outlet.writable or sum(map(len, chunks)) >= _BATCH:
                self._schedule()
                return
        if not self._outbox:
            self._finish()

    def _emit(self, chunks: Sequence[bytes]) -> None:
        """Send chunks, up to the place where a fault stops them."""
        stop = self._effects.next_byte_stop if self._effects is not None else None
        if stop is None:
            if chunks:
                self._outlet.send(chunks)
                self._sent += sum(map(len, chunks))
            return
        waiting = deque(chunks)
        while waiting:
            chunk = waiting.popleft()
            keep = int(stop[0]) - self._sent if stop is not None else len(chunk) + 1
            if stop is None or keep > len(chunk):
                self._outlet.send([chunk])
                self._sent += len(chunk)
                if self.ended:
                    return
                continue
            assert self._effects is not None
            self._effects.pass_byte_stop()
            if stop[1].why():
                self._outbox.extendleft(reversed(waiting))
                self._stop(stop[1], chunk, max(keep, 0))
                return
            waiting.appendleft(chunk)
            stop = self._effects.next_byte_stop

    def _stop(self, stop: Stop, chunk: bytes = b"", keep: int = 0) -> None:
        """What `stop` does, with `chunk` under way."""
        match stop.what:
            case Cut():
                self._outlet.cut(chunk, keep, reset=stop.what.reset)
                return
            case End():
                if keep:
                    self._outlet.send([chunk[:keep]])
                self._finish()
            case Stall():
                if keep:
                    self._outlet.send([chunk[:keep]])
                    self._sent += keep
                if chunk[keep:]:
                    self._outbox.appendleft(chunk[keep:])
                self._stalled = True
                if stop.what.seconds is not None:
                    self._timers.append(self._loop.call_later(stop.what.seconds, self._go_on))

    def _go_on(self) -> None:
        self._stalled = False
        self._pump()

    def _finish(self) -> None:
        if not self.ended:
            self.lost()
            self._outlet.finish()


def _in_batches(pieces: Iterator[bytes], *, exactly: bool = False) -> Iterator[list[bytes]]:
    """Chunks of `pieces`, in lists of about `_BATCH` bytes. `exactly`: none but full ones."""
    buffer = Chunks()
    batch: list[bytes] = []
    size = 0
    for piece in pieces:
        parts = range(0, len(piece), BUFFER) if exactly else (0,)
        for at in parts:
            batch += buffer.write(piece[at : at + BUFFER] if exactly else piece)
        size += len(piece)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    yield batch + buffer.flush()
