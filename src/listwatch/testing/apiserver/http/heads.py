"""The head of an answer: what every one carries, and in which order (K1)."""

from __future__ import annotations

import http
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

__all__ = ["AnswerHead", "Heads"]

_REASONS = {status.value: status.phrase for status in http.HTTPStatus} | {
    413: "Request Entity Too Large",
    422: "Unprocessable Entity",
}
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_WITHOUT_PRIORITY = 401
"""Refused before it is known whose request it is, so no priority level has it (K1)."""


@dataclass(frozen=True, slots=True)
class AnswerHead:
    """Status and headers, with those that every answer has, in the order in which they travel."""

    status: int
    headers: tuple[tuple[str, str], ...]
    length: int | None
    """Bytes of the body where that is known beforehand (K2)."""
    has_body: bool = True
    """False for HEAD, 204 and 304, whatever the length says."""
    closes: bool = False
    """Whether its own headers say that the connection ends with this answer."""

    def encode(self, *, minor: int, keep_alive: bool) -> bytes:
        """As it travels in HTTP/1.`minor`, on a connection that goes on or not."""
        status = f"{self.status} {_REASONS.get(self.status, '')}".rstrip()
        lines = [f"HTTP/1.{min(minor, 1)} {status}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        told = any(name == "Content-Length" for name, _ in self.headers)
        if self.length is not None and self.status not in (204, 304) and not told:
            lines.append(f"Content-Length: {self.length}")
        if not keep_alive and minor > 0 and not self.closes:
            lines.append("Connection: close")
        elif keep_alive and minor == 0:
            lines.append("Connection: keep-alive")
        if self.length is None and self.has_body and minor > 0:
            lines.append("Transfer-Encoding: chunked")
        return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


class Heads:
    """Makes heads. `rng` gives the ids, `wall` the date."""

    def __init__(self, wall: Callable[[], datetime], rng: Random) -> None:
        self._wall = wall
        self._rng = rng
        self._second: datetime | None = None
        self._dated = ""
        self._flow_schema = self._uuid()
        self._priority_level = self._uuid()

    def make(
        self,
        status: int,
        content_type: str | None,
        headers: tuple[tuple[str, str], ...],
        *,
        length: int | None,
        has_body: bool = True,
        prioritized: bool = True,
    ) -> AnswerHead:
        """The head of one answer; `headers` are added, and win over those that all have. Not
        `prioritized`: flow control leaves such requests alone.
        """
        given = {name.lower() for name, _ in headers}
        every = [("Audit-Id", self._uuid()), ("Cache-Control", "no-cache, private")]
        if content_type is not None:
            every.append(("Content-Type", content_type))
        if prioritized and status != _WITHOUT_PRIORITY:
            every.append(("X-Kubernetes-Pf-Flowschema-Uid", self._flow_schema))
            every.append(("X-Kubernetes-Pf-Prioritylevel-Uid", self._priority_level))
        pairs = [*(pair for pair in every if pair[0].lower() not in given), *headers]
        pairs.sort(key=_name)
        pairs.append(("Date", self._date()))
        closes = any(name.lower() == "connection" and value == "close" for name, value in headers)
        return AnswerHead(status, tuple(pairs), length, has_body, closes)

    def _date(self) -> str:
        second = self._wall().replace(microsecond=0)
        if second != self._second:
            self._second, self._dated = second, http_date(second.astimezone(UTC))
        return self._dated

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._rng.getrandbits(128), version=4))


def http_date(moment: datetime) -> str:
    """`moment`, which is UTC, in the form of the Date header."""
    return (
        f"{_DAYS[moment.weekday()]}, {moment.day:02} {_MONTHS[moment.month - 1]} {moment.year}"
        f" {moment:%H:%M:%S} GMT"
    )


def _name(pair: tuple[str, str]) -> str:
    return pair[0]
