"""What the answers of a server were, read from the bytes that came, by no code of the library."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from .history import Ask

__all__ = ["StreamEvent", "classify", "events_of"]

_MARKER = b"k8s.io/initial-events-end"
_HEAD = re.compile(rb'\{"type":"([A-Z]+)"')
_NAME = re.compile(rb'"name":"([^"]*)"')
_NAMESPACE = re.compile(rb'"namespace":"([^"]*)"')
_OWN_EXPIRED = re.compile(rb"too old resource version: (?!1 \(2\))\d+ \(|too old\.|is too old to")
"""The server's own words: those of a fault are others."""
_LIST_RV = re.compile(rb'"resourceVersion":"(\d+)"')


class StreamEvent(NamedTuple):
    """One event of a watch, as far as its frame tells."""

    time: float
    type: str
    key: str
    is_marker: bool
    frame: bytes


def events_of(ask: Ask) -> Iterator[StreamEvent]:
    """The events of a watch, at the times at which their last byte came."""
    rest = b""
    for piece in ask.pieces:
        *lines, rest = (rest + piece.data).split(b"\n")
        if piece is ask.pieces[-1] and ask.end == "end" and _json(rest) is not None:
            lines.append(rest)  # a last value needs no newline (C2)
        for line in lines:
            head = _HEAD.match(line)
            if head is None:
                continue
            name, namespace = _NAME.search(line), _NAMESPACE.search(line)
            key = b"/".join(found[1] for found in (namespace, name) if found is not None)
            yield StreamEvent(piece.time, head[1].decode(), key.decode(), _MARKER in line, line)


def classify(ask: Ask, max_frame: int) -> None:
    """Say what the answer was, from its bytes. Called when the run is over."""
    _classify(ask, max_frame)
    ask.injected = ask.failure == "expired" and _OWN_EXPIRED.search(ask.body) is None


def _classify(ask: Ask, max_frame: int) -> None:
    if ask.status == 0:
        if ask.error and ask.error != "CancelledError":
            ask.failure, ask.failed = ask.error, ask.answered
        return
    if ask.status != 200:
        ask.failed = ask.ended if ask.ended is not None else ask.answered
        ask.failure = _of_status(ask.status, _json(ask.body))
        details = _details(_json(ask.body))
        if ask.retry_after is None and "retryAfterSeconds" in details:
            ask.retry_after = float(details["retryAfterSeconds"])
        return
    if "json" not in ask.content_type:
        ask.failure, ask.failed = "unreadable", ask.answered
    elif ask.kind in ("list", "page", "probe"):
        _classify_list(ask)
    else:
        _classify_watch(ask, max_frame)


def _classify_list(ask: Ask) -> None:
    found = _LIST_RV.search(ask.body)
    if ask.end not in ("end", "closed"):
        ask.failure, ask.failed = ask.end, ask.ended
    elif not isinstance(_json(ask.body), dict):
        ask.failure, ask.failed = "unreadable", ask.ended
    elif found is not None:
        ask.answer_rv = int(found[1])


def _classify_watch(ask: Ask, max_frame: int) -> None:
    if ask.body.startswith(b"<"):
        ask.failure, ask.failed = "unreadable", ask.answered
        return
    for event in events_of(ask):
        status = _json(event.frame)
        if status is None or len(event.frame) > max_frame:
            ask.failure, ask.failed = "unreadable", event.time
            return
        if event.type == "ERROR":
            found = status.get("object", {})
            ask.failure, ask.failed = _of_status(found.get("code", 0), found), event.time
            details = _details(found)
            if "retryAfterSeconds" in details:
                ask.retry_after = float(details["retryAfterSeconds"])
            return
    if len(ask.body) - ask.body.rfind(b"\n") > max_frame:  # it was not waited for its end
        ask.failure, ask.failed = "unreadable", ask.pieces[-1].time
    elif ask.end and ask.end != "closed":
        ask.failure, ask.failed = ("clean" if ask.end == "end" else ask.end), ask.ended


def _of_status(code: int, status: Any) -> str:
    reason = status.get("reason", "") if isinstance(status, dict) else ""
    causes = [cause.get("reason") for cause in _details(status).get("causes", ())]
    message = status.get("message", "") if isinstance(status, dict) else ""
    if "ResourceVersionTooLarge" in causes or (
        reason == "Timeout" and "Too large resource version" in message
    ):
        return "too large"
    if code == 410 or reason in ("Expired", "Gone"):
        return "expired"
    if code == 429:
        return "too many requests"
    return reason or f"HTTP {code}"


def _details(status: Any) -> dict[str, Any]:
    found = status.get("details") if isinstance(status, dict) else None
    return found if isinstance(found, dict) else {}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        return None
