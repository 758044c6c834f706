"""A server core on a clock of the test's own, and what was recorded of a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from listwatch.testing import Recording
from listwatch.testing.apiserver.auth import Auth
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, Reaction, ServerRequest, WatchStream
from listwatch.testing.apiserver.storage.state import Settings

RECORDINGS = Path(__file__).parent / "recordings"
START = datetime(2026, 1, 1, tzinfo=UTC)

_VOLATILE = (
    (re.compile(rb'"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"'), b'"UID"'),
    (re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"'), b'"TIME"'),
    (re.compile(rb'"resourceVersion":"\d+"'), b'"resourceVersion":"RV"'),
)


@cache
def recorded(name: str) -> Recording:
    return Recording.load(RECORDINGS / name)


def request_of(recording: Recording) -> ServerRequest:
    return ServerRequest(
        method=recording.method,
        path=recording.path,
        query=recording.query,
        headers={name.lower(): value for name, value in recording.request_headers},
        body=recording.request_body,
    )


def normal(body: bytes) -> bytes:
    """A body whose uids, times and RVs do not tell."""
    for pattern, instead in _VOLATILE:
        body = pattern.sub(instead, body)
    return body


class Asking:
    """Asks a server, and owns its time."""

    def __init__(self, *, auth: Auth | None = None, settings: Settings | None = None) -> None:
        self.now = 0.0
        self.server = APIServer(
            clock=lambda: self.now,
            wall=lambda: START + timedelta(seconds=self.now),
            auth=auth,
            settings=settings,
        )

    def __call__(self, method: str, target: str, body: Any = None, **headers: str) -> Reaction:
        """`target` may have a query; header names have `_` for `-`."""
        path, _, query = target.partition("?")
        data = body if isinstance(body, bytes) else b"" if body is None else _json(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.server.handle(
            ServerRequest(
                method=method,
                path=path,
                query=tuple(parse_qsl(query, keep_blank_values=True)),
                headers={"accept": "application/json", **sent},
                body=data,
            )
        )

    def get(self, target: str, **headers: str) -> Answer:
        return self.answer("GET", target, **headers)

    def answer(self, method: str, target: str, body: Any = None, **headers: str) -> Answer:
        """An answer that comes at once, or at the end of what it waits for."""
        return self.settled(self(method, target, body, **headers))

    def replay(self, name: str) -> Answer:
        """The answer to the request of a recording."""
        return self.settled(self.server.handle(request_of(recorded(name))))

    def settled(self, reaction: Reaction) -> Answer:
        while not isinstance(reaction, Answer):
            assert not hasattr(reaction, "take"), "this is a watch"
            self.wait(reaction.due - self.now)  # type: ignore[operator]  # a Later has one
            reaction = reaction.tick()  # type: ignore[assignment]
        return reaction

    def watch(self, target: str, **headers: str) -> WatchStream:
        stream = self("GET", target, **headers)
        assert not isinstance(stream, Answer), stream
        return stream  # type: ignore[return-value]

    def wait(self, seconds: float) -> None:
        """Let time pass, and what is due in it happen."""
        end = self.now + seconds
        while (due := self.server.next_due) is not None and due <= end:
            self.now = max(self.now, due)
            self.server.run_due()
        self.now = end


def same_as_recorded(answer: Answer, name: str) -> None:
    """Assert that status, type, body and the headers that say something are those recorded."""
    recording = recorded(name)
    headers = dict(answer.headers)
    assert answer.status == recording.status
    assert answer.content_type == recording.headers.get("Content-Type")
    if recording.method != "HEAD":
        assert normal(answer.body) == normal(recording.body)
    for header in ("X-Content-Type-Options", "Warning", "Retry-After", "Vary"):
        assert headers.get(header) == recording.headers.get(header)


def message(answer: Answer) -> str:
    text: str = json.loads(answer.body)["message"]
    return text


def names(items: Iterable[dict[str, Any]]) -> list[str]:
    return [item["metadata"]["name"] for item in items]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
