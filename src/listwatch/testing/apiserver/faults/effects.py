"""What the faults that match a request do to its answer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ..messages import Answer
from ..reading.encoding import go_json
from .model import (
    Action,
    Cut,
    Delay,
    DropEvents,
    End,
    ErrorEvent,
    FailWith,
    Fault,
    Garbage,
    Hang,
    Oversize,
    ServerAction,
    Skip,
    Stall,
    Where,
)

__all__ = ["Effects", "Stop", "failed_answer"]

_EARLY = 1e-6
"""Seconds by which a timer may be early."""

_BOOKMARK = b'{"type":"BOOKMARK"'
_MARKER = b'"k8s.io/initial-events-end"'
_OBJECT = re.compile(rb'\{"type":"(?:ADDED|MODIFIED|DELETED)","object":\{')
_GARBAGE = b'{"type":"MODIFIED","object":{"kind":"Pod","metadata":{"name":}}\n'
_REASONS = {
    400: ("BadRequest", "the request was refused by a fault"),
    401: ("Unauthorized", "Unauthorized"),
    403: ("Forbidden", "forbidden by a fault"),
    404: ("NotFound", "the server could not find the requested resource"),
    405: ("MethodNotAllowed", "the server does not allow this method on the requested resource"),
    406: ("NotAcceptable", "only the following media types are accepted: application/json"),
    409: ("Conflict", "Operation cannot be fulfilled: the object has been modified"),
    410: ("Expired", "too old resource version: 1 (2)"),
    413: ("RequestEntityTooLarge", "Request entity too large: limit is 3145728"),
    415: ("UnsupportedMediaType", "the body of the request was in an unknown format"),
    422: ("Invalid", "the request is invalid"),
    429: ("TooManyRequests", "too many requests, please try again later"),
    500: ("InternalError", "Internal error occurred: a fault"),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: ("Timeout", "Timeout: request did not complete within the allotted timeout"),
}
_TEXTS = {429: "Too many requests, please try again later."}


@dataclass(frozen=True, slots=True)
class Stop:
    """The answer goes no further. `why` is asked, once, whether it still may: its times may be used
    up.
    """

    what: Cut | End | Stall
    why: Callable[[], bool]


Taker: TypeAlias = Callable[[], bool]
"""Says that a fault takes effect now, if it still may."""


class Effects:
    """Made when a request matches faults, and asked as its answer goes out."""

    def __init__(self, found: Sequence[tuple[Fault, Taker]]) -> None:
        self.actions: list[ServerAction] = []
        """What happens to the server before the request is looked at."""
        self.delay = 0.0
        self.instead: FailWith | Hang | None = None
        self.events = 0
        """Events sent so far."""
        self.size = 0
        """Bytes of them."""
        self.elapsed = 0.0
        """Seconds since the head, set by the owner."""
        self._at_bytes: list[tuple[float, Stop]] = []
        self._inserts: list[tuple[Where, Taker, Action]] = []
        self._skips: list[tuple[Skip, Taker]] = []
        self.at_wire_bytes: Stop | None = None
        self.at_times: list[tuple[float, Stop | None]] = []
        """Seconds after the head at which something is due, with the stop if it is one."""
        self._taken: set[int] = set()
        self._dropping = 0
        for fault, taker in found:
            self._add(fault.what, taker)
        self._at_bytes.sort(key=lambda pair: pair[0])

    def _add(self, what: Action, taker: Taker) -> None:
        match what:
            case Delay():
                self.delay += what.seconds if taker() else 0.0
            case FailWith() | Hang():
                if self.instead is None and taker():
                    self.instead = what
            case Skip():
                self._skips.append((what, taker))
            case Cut() | End() | Stall():
                self._add_stop(Stop(what, taker))
            case ErrorEvent() | DropEvents() | Garbage() | Oversize():
                self._inserts.append((what.where, taker, what))
                if what.where.unit == "seconds":
                    self.at_times.append((what.where.amount, None))
            case _:
                if taker():
                    self.actions.append(what)

    def _add_stop(self, stop: Stop) -> None:
        where = stop.what.where
        match where.unit:
            case "bytes":
                self._at_bytes.append((where.amount, stop))
            case "wire bytes":
                self.at_wire_bytes = self.at_wire_bytes or stop
            case "seconds":
                self.at_times.append((where.amount, stop))
            case "events":
                self._inserts.append((where, stop.why, stop.what))

    @property
    def next_byte_stop(self) -> tuple[float, Stop] | None:
        """The next place in the body where it may stop."""
        return self._at_bytes[0] if self._at_bytes else None

    def pass_byte_stop(self) -> None:
        """Go beyond that place."""
        del self._at_bytes[0]

    def frames(self, frames: Sequence[bytes]) -> tuple[list[bytes], Stop | None, Sequence[bytes]]:
        """What goes out instead of these frames of a watch, the stop behind it, and the frames that
        wait until that is passed.
        """
        out: list[bytes] = []
        stop = self._insert(out)
        if stop is not None:
            return out, stop, frames
        for at, frame in enumerate(frames):
            if self._skipped(frame):
                continue
            if self._dropping:
                self._dropping -= 1
                if not self._dropping:
                    return out, Stop(End(), _always), ()
                continue
            sent = self._padded(frame)
            out.append(sent)
            self.events += 1
            self.size += len(sent)
            stop = self._insert(out)
            if stop is not None:
                return out, stop, frames[at + 1 :]
        return out, None, ()

    def _reached(self, where: Where) -> bool:
        match where.unit:
            case "events":
                return self.events >= where.amount
            case "seconds":
                return self.elapsed + _EARLY >= where.amount
            case _:
                return self.size >= where.amount

    def _insert(self, out: list[bytes]) -> Stop | None:
        """Add what is due between two events, up to a stop."""
        for insert in tuple(self._inserts):
            where, taker, what = insert
            if isinstance(what, Oversize) or not self._reached(where):
                continue
            self._inserts.remove(insert)
            match what:
                case Cut() | End() | Stall():
                    return Stop(what, taker)
                case DropEvents() if taker():
                    self._dropping += what.count
                case Garbage() if taker():
                    out.append(_GARBAGE)
                case ErrorEvent() if taker():
                    out.append(_error_event(what.code))
                    return Stop(End(), _always)
        return None

    def _skipped(self, frame: bytes) -> bool:
        if not self._skips or not frame.startswith(_BOOKMARK):
            return False
        kind = "marker" if _MARKER in frame else "bookmarks"
        for skip, taker in self._skips:
            if skip.what == kind and (id(skip) in self._taken or taker()):
                self._taken.add(id(skip))
                return True
        return False

    def _padded(self, frame: bytes) -> bytes:
        for insert in self._inserts:
            where, taker, what = insert
            if not isinstance(what, Oversize) or not self._reached(where):
                continue
            begin = _OBJECT.match(frame)
            if begin is None:
                break
            self._inserts.remove(insert)
            if not taker():
                break
            padding = b'"padding":"' + b"x" * max(what.size - len(frame) - 13, 1) + b'",'
            return frame[: begin.end()] + padding + frame[begin.end() :]
        return frame


def failed_answer(fault: FailWith) -> Answer:
    """The answer that `fault` puts in the place of the real one."""
    headers: tuple[tuple[str, str], ...] = ()
    if fault.retry_after is not None:
        headers = (("Retry-After", str(fault.retry_after)),)
    match fault.form:
        case "text":
            text = _TEXTS.get(fault.code, _status(fault.code)["message"])
            headers += (("X-Content-Type-Options", "nosniff"),)
            content_type, body = "text/plain; charset=utf-8", f"{text}\n".encode()
        case "html":
            content_type = "text/html"
            title = f"{fault.code} {_status(fault.code).get('reason', '')}".strip()
            body = (
                f"<html>\n<head><title>{title}</title></head>\n"
                f"<body><h1>{title}</h1><hr>proxy</body>\n</html>\n"
            ).encode()
        case _:
            status = _status(fault.code)
            if fault.retry_after is not None:
                status["details"] = {"retryAfterSeconds": fault.retry_after}
            code = status.pop("code")
            content_type, body = "application/json", go_json({**status, "code": code}) + b"\n"
    return Answer(status=fault.code, body=body, content_type=content_type, headers=headers)


def _error_event(code: int) -> bytes:
    return go_json({"type": "ERROR", "object": _status(code)}) + b"\n"


def _status(code: int) -> dict[str, object]:
    reason, message = _REASONS.get(code, ("", f"a fault answered {code}"))
    found: dict[str, object] = {"kind": "Status", "apiVersion": "v1", "metadata": {}}
    if code < 300:
        return found | {"status": "Success", "message": message, "code": code}
    found |= {"status": "Failure", "message": message}
    if reason:
        found["reason"] = reason
    return found | {"code": code}


def _always() -> bool:
    return True
