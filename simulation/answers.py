"""Answers that the embedded server never gives, though others do: put in front of its core."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, Reaction, ServerRequest
from listwatch.testing.apiserver.storage.log import WriteLog

__all__ = ["Canned", "FaultyCore", "kind_of_request"]


@dataclass(frozen=True, slots=True)
class Canned:
    """An answer that is given instead of the real one, a number of times."""

    kind: str
    asks: frozenset[str]
    """The kinds of request it is for."""
    times: int
    form: int

    def __str__(self) -> str:
        often = "" if self.times == 1000 else f", {self.times} times"
        return f"{'|'.join(sorted(self.asks))}: {self.kind} (form {self.form}){often}"


def kind_of_request(request: Any) -> str:
    """`list`, `page`, `watch-list`, `watch` or `probe`, of a client's request or a server's."""
    query = dict(request.query)
    if query.get("watch"):
        return "watch-list" if query.get("sendInitialEvents") else "watch"
    headers = {name.lower(): value for name, value in request.headers.items()}
    if query.get("limit") == "1" or "PartialObjectMetadata" in headers.get("accept", ""):
        return "probe"
    return "page" if query.get("continue") else "list"


class FaultyCore:
    """The server's core, with canned answers in front. `on_restart` is told of a new history;
    `on_canned` of each answer.
    """

    def __init__(
        self,
        core: APIServer,
        on_restart: Callable[[bool], None],
        on_canned: Callable[[Canned], None],
    ) -> None:
        self._core = core
        self._on_restart = on_restart
        self._on_canned = on_canned
        self._left: dict[Canned, int] = {}

    def add(self, canned: Canned) -> None:
        self._left[canned] = canned.times

    def remove(self, canned: Canned) -> None:
        self._left.pop(canned, None)

    def clear(self) -> None:
        self._left.clear()

    def handle(self, request: ServerRequest) -> Reaction:
        if self._left and request.method == "GET":
            kind = kind_of_request(request)
            for canned, left in self._left.items():
                if kind in canned.asks and left:
                    self._left[canned] = left - 1
                    self._on_canned(canned)
                    return _answer(canned, kind)
        return self._core.handle(request)

    def restart(self, history: str | WriteLog = "kept", *, ready_after: float = 0.0) -> None:
        self._core.restart(history, ready_after=ready_after)  # type: ignore[arg-type]
        if history != "kept":
            self._on_restart(isinstance(history, WriteLog))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._core, name)


_TOO_LARGE = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large"}]}
_GONE: tuple[dict[str, Any], ...] = (
    {"reason": "Expired", "message": "it is too old (a fault)"},
    {"reason": "Gone", "message": "too old resource version"},
    {"reason": "Gone", "code": 410, "message": "gone"},
    {"code": 410, "message": "no reason is given"},
)


def _answer(canned: Canned, kind: str) -> Reaction:
    is_watch = kind in ("watch", "watch-list")
    match canned.kind:
        case "410 by reason":
            return _Once(_GONE[canned.form])
        case "RV too large":
            status: dict[str, Any] = {"reason": "Timeout", "code": 504, "details": _TOO_LARGE}
            if canned.form == 1:  # an older server's
                status = {"reason": "Timeout", "code": 504}
            if canned.form == 2:
                status["details"] = {**_TOO_LARGE, "retryAfterSeconds": 1}
            status["message"] = "Too large resource version: 9999, current: 5"
            if is_watch:
                return _Once(status)
            return Answer(status=504, body=_status(status))
        case "expired page":
            return Answer(status=410, body=_status({"reason": "Expired", "code": 410}))
        case "no watch-list":
            code, reason = (
                (422, "Invalid"),
                (400, "BadRequest"),
                (405, "MethodNotAllowed"),
                (404, "NotFound"),
            )[canned.form]
            return Answer(status=code, body=_status({"reason": reason, "code": code}))
        case _:
            page = b"<html><body><h1>Sign in</h1></body></html>\n"
            form = ("text/html", "text/html; charset=utf-8", "application/json", "text/html")
            return Answer(status=200, body=page, content_type=form[canned.form])


def _status(fields: dict[str, Any]) -> bytes:
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", **fields}
    return json.dumps(status, separators=(",", ":")).encode() + b"\n"


class _Once:
    """A watch that has one ERROR event, and a clean end."""

    content_type = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    due = None

    def __init__(self, status: dict[str, Any]) -> None:
        self.wake: Callable[[], None] | None = None
        self._frames = [b'{"type":"ERROR","object":' + _status(status).strip() + b"}\n"]

    def tick(self) -> None:
        """Nothing is ever due."""

    def take(self) -> list[bytes]:
        frames, self._frames = self._frames, []
        return frames

    @property
    def ended(self) -> bool:
        return True

    def close(self) -> None:
        self._frames = []
