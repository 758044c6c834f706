"""The query parameters of a request for a log."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from ..messages import ServerRequest
from ..types.request_info import is_true
from ..validation.problems import (
    Problem,
    bad_request,
    forbidden_field,
    go_quoted,
    invalid,
    invalid_field,
)
from ..writing.entry_shapes import is_time

__all__ = ["LogOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogOptions:
    """PodLogOptions."""

    container: str = ""
    follow: bool = False
    previous: bool = False
    timestamps: bool = False
    since_seconds: int | None = None
    since: datetime | None = None
    tail_lines: int | None = None
    limit_bytes: int | None = None

    @classmethod
    def of(cls, request: ServerRequest, pod: str) -> LogOptions:
        """Raises `Refused` where they are not valid."""
        options = cls(
            container=request.parameter("container") or "",
            follow=_is_set(request, "follow"),
            previous=_is_set(request, "previous"),
            timestamps=_is_set(request, "timestamps"),
            since_seconds=_number(request, "sinceSeconds"),
            since=_time(request, "sinceTime"),
            tail_lines=_number(request, "tailLines"),
            limit_bytes=_number(request, "limitBytes"),
        )
        problems = list(options._problems())
        if request.parameter("stream") is not None:
            problems.append(forbidden_field("stream", "may not be specified"))
        if problems:
            raise invalid("PodLogOptions", "", pod, problems)
        return options

    def _problems(self) -> list[Problem]:
        problems = []
        if self.tail_lines is not None and self.tail_lines < 0:
            text = "must be greater than or equal to 0"
            problems.append(invalid_field("tailLines", self.tail_lines, text))
        if self.limit_bytes is not None and self.limit_bytes < 1:
            problems.append(invalid_field("limitBytes", self.limit_bytes, _POSITIVE))
        if self.since_seconds is not None:
            if self.since is not None:
                text = "at most one of `sinceTime` or `sinceSeconds` may be specified"
                problems.append(forbidden_field("[]", text))
            elif self.since_seconds < 1:
                problems.append(invalid_field("sinceSeconds", self.since_seconds, _POSITIVE))
        return problems


_MORE_DIGITS = re.compile(r"(\.\d{6})\d+")
"""Of a second than Python reads."""
_POSITIVE = "must be greater than 0"


def _is_set(request: ServerRequest, name: str) -> bool:
    value = request.parameter(name)
    return value is not None and is_true(value)


def _number(request: ServerRequest, name: str) -> int | None:
    text = request.parameter(name)
    if not text:
        return None
    digits = text.removeprefix("-").removeprefix("+")
    if not (digits.isascii() and digits.isdigit()):
        raise bad_request(f"strconv.ParseInt: parsing {go_quoted(text)}: invalid syntax")
    number = int(text)
    if not -(1 << 63) <= number < 1 << 63:
        raise bad_request(f"strconv.ParseInt: parsing {go_quoted(text)}: value out of range")
    return number


def _time(request: ServerRequest, name: str) -> datetime | None:
    text = request.parameter(name)
    if not text:
        return None
    found = None
    if is_time(text):  # Python would take more
        with suppress(ValueError):  # of a day that there is not
            found = datetime.fromisoformat(_MORE_DIGITS.sub(r"\1", text).replace("Z", "+00:00"))
    if found is None:
        raise bad_request(
            f'parsing time {go_quoted(text)} as "2006-01-02T15:04:05Z07:00": cannot parse '
            f'{go_quoted(text)} as "2006"'
        )
    return found
