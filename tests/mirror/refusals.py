"""The ways in which a server refuses, each as data: the same for a socket and for virtual time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Any

__all__ = ["MODES", "Broken", "LeastSpread", "Mode", "Said"]


class Broken(Enum):
    """What a connection can end in before there is an answer."""

    REFUSED = "refused"
    RESET = "reset"


@dataclass(frozen=True)
class Said:
    """An answer that ends: with its body, or with a reset within it."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    retry_after: int | None = None
    then_reset: bool = False

    @property
    def headers(self) -> dict[str, str]:
        more = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return {"Content-Type": self.content_type, **more}


@dataclass(frozen=True)
class Mode:
    """How LIST and WATCH are answered; None: as they should be."""

    name: str
    lists: Said | Broken | None
    watches: Said | Broken | None
    retry_after: float = 0.0
    """Seconds that the server asks to wait."""

    def __str__(self) -> str:
        return self.name

    def answer(self, *, is_watch: bool) -> Said | Broken | None:
        return self.watches if is_watch else self.lists


class LeastSpread(Random):
    """Draws the least each time: no pause is shorter, and so no load is higher, than with this."""

    def random(self) -> float:
        return 0.0


def status(code: int, reason: str, message: str, **details: Any) -> bytes:
    return json.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "code": code,
            **({"details": details} if details else {}),
        }
    ).encode()


def error_event(body: bytes) -> bytes:
    return b'{"type":"ERROR","object":' + body + b"}\n"


_UNAUTHORIZED = status(401, "Unauthorized", "Unauthorized")
_FORBIDDEN = status(403, "Forbidden", 'configmaps is forbidden: User "u" cannot list resource')
_NOT_FOUND = status(404, "NotFound", "the server could not find the requested resource")
_EXPIRED = status(410, "Expired", "too old resource version: 1 (2)")
_TOO_MANY = status(429, "TooManyRequests", "too many requests, please try again later")
_TOO_MANY_3 = status(429, "TooManyRequests", "storage is (re)initializing", retryAfterSeconds=3)
_INTERNAL = status(500, "InternalError", "Internal error occurred: no")
_PAGE = b"<html><head><title>Please log in</title></head><body>Please log in</body></html>"
_GARBAGE = b"\x00\xff{{{ this is not JSON ]]]\n" * 3


def _always(name: str, answer: Said | Broken, retry_after: float = 0.0) -> Mode:
    return Mode(name, answer, answer, retry_after)


def _watches(name: str, body: bytes, retry_after: float = 0.0, **more: Any) -> Mode:
    return Mode(name, None, Said(200, body, **more), retry_after)


MODES = (
    _always("connection refused", Broken.REFUSED),
    _always("reset", Broken.RESET),
    _always("reset within the body", Said(200, b'{"kind":', then_reset=True)),
    _always("401", Said(401, _UNAUTHORIZED)),
    _always("403", Said(403, _FORBIDDEN)),
    _always("404", Said(404, _NOT_FOUND)),
    _always("404 in plain text", Said(404, b"404 page not found\n", "text/plain")),
    _always("410", Said(410, _EXPIRED)),
    _always("429", Said(429, _TOO_MANY)),
    _always("429 with Retry-After", Said(429, _TOO_MANY, retry_after=3), 3.0),
    _always("500", Said(500, _INTERNAL)),
    _always("500 with Retry-After", Said(500, _INTERNAL, retry_after=3), 3.0),
    _always("503 in plain text", Said(503, b"apiserver not ready\n", "text/plain")),
    _always("200 with an immediate end", Said(200)),
    _always("garbage", Said(200, _GARBAGE)),
    _always("HTML", Said(200, _PAGE, "text/html")),
    Mode("lists well, watches 401", None, Said(401, _UNAUTHORIZED)),
    Mode("lists well, watches 403", None, Said(403, _FORBIDDEN)),
    Mode("lists well, watches 404", None, Said(404, _NOT_FOUND)),
    Mode("lists well, watches 410", None, Said(410, _EXPIRED)),
    Mode("lists well, watches 429", None, Said(429, _TOO_MANY)),
    Mode("lists well, watches 500", None, Said(500, _INTERNAL)),
    Mode("lists well, watches are reset", None, Broken.RESET),
    _watches("watches end at once", b""),
    _watches("watches: ERROR 410", error_event(_EXPIRED)),
    _watches("watches: ERROR 500", error_event(_INTERNAL)),
    _watches("watches: ERROR 429", error_event(_TOO_MANY)),
    _watches("watches: ERROR 429 with retryAfterSeconds", error_event(_TOO_MANY_3), 3.0),
    _watches("watches: garbage", _GARBAGE),
    _watches("watches: HTML", _PAGE, content_type="text/html"),
    _watches("watches: reset within an event", b'{"type":"ADDED","obj', then_reset=True),
    Mode("watches well, lists 500", Said(500, _INTERNAL), None),
    Mode("watches well, lists 429", Said(429, _TOO_MANY), None),
)
"""Each of those of which it is asked that a reflector does not flood the server."""
