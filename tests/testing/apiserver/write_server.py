"""Recorded writes, asked again of a server whose uids and RVs are others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from listwatch.testing.apiserver.messages import Answer, ServerRequest

from .asking import Asking, recorded, request_of, same_as_recorded

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
PROGRAM = "rawcap/1"
"""The User-Agent of the recorded requests."""

_RECORD = re.compile(rb"in record \(\d+\)")
_UID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIME = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_QUOTED_RV = re.compile(rb'(resourceVersion[\\"]+:[\\"]+)\d+')
_SUFFIX = re.compile(rb'"gen-[a-z0-9]{5}"')


class Writing(Asking):
    """A server that is written to as the recorder wrote.

    What a recorded answer says of an object's uid and RV stands for what this server said of it.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._ours: dict[bytes, bytes] = {}

    def write(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        kind: str = "application/json",
        agent: str = PROGRAM,
        **headers: str,
    ) -> Answer:
        sent = {"user_agent": agent, **headers}
        if body is not None:
            sent["content_type"] = kind
        return self.answer(method, target, body, **sent)

    def made(self, target: str, body: Any, **more: Any) -> dict[str, Any]:
        """What a POST makes, or a PATCH where `target` is no collection's."""
        answer = self.write("POST", target, body, **more)
        assert answer.status == 201, answer.body
        return parsed(answer)

    def merged(self, target: str, patch: Any, **more: Any) -> dict[str, Any]:
        answer = self.write("PATCH", target, patch, kind=MERGE, **more)
        assert answer.status == 200, answer.body
        return parsed(answer)

    def again(self, name: str) -> Answer:
        """Ask what was recorded, and find the recorded answer."""
        answer = self.settled(self.server.handle(self._request(name)))
        self._learn(recorded(name).body, answer.body)
        expected = recorded(name)
        warnings = [value for header, value in answer.headers if header == "Warning"]
        found = [value for header, value in expected.headers if header.lower() == "warning"]
        assert warnings == found
        assert _plain(answer.body) == _plain(expected.body), name
        if len(warnings) < 2:
            same_as_recorded(replace(answer, body=expected.body), name)
        assert answer.status == expected.status
        return answer

    def _request(self, name: str) -> ServerRequest:
        request = request_of(recorded(name))
        body = request.body
        for theirs, ours in self._ours.items():
            body = body.replace(theirs, ours)
        return replace(request, body=body)

    def _learn(self, theirs: bytes, ours: bytes) -> None:
        for path in ("uid", "resourceVersion"):
            pattern = re.compile(rb'"%b": ?"([^"]+)"' % path.encode())
            found, made = pattern.search(theirs), pattern.search(ours)
            if found and made:
                spaced = b'"%b": "%%b"' % path.encode()
                self._ours[spaced % found[1]] = spaced % made[1]


def _plain(body: bytes) -> bytes:
    """`normal`, for what stands in texts and in quoted JSON too."""
    body = _UID.sub(b"UID", _TIME.sub(b"TIME", _RECORD.sub(b"in record (RV)", body)))
    return _SUFFIX.sub(b'"gen-SUFFIX"', _QUOTED_RV.sub(rb"\1RV", body))


def parsed(answer: Answer) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(answer.body)
    return value


def rv(value: Mapping[str, Any]) -> int:
    return int(value["metadata"]["resourceVersion"])


def causes(answer: Answer) -> list[tuple[str, str]]:
    """Field and message of each."""
    found = parsed(answer)["details"].get("causes", [])
    return [(cause["field"], cause["message"]) for cause in found]


def events_of(frames: list[bytes]) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in b"".join(frames).splitlines():
        event = json.loads(line)
        yield event["type"], event["object"]
