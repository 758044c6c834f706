"""The parameter `timeout`, which all requests may have that are not to go on: how long the client
waits. Nothing here takes long, so it is only looked at.
"""

from __future__ import annotations

import re

from ..messages import ServerRequest
from ..types.request_info import RequestInfo
from ..validation.problems import bad_request, go_quoted

__all__ = ["check_timeout"]

_LONG = frozenset({"watch", "proxy"})
_LONG_PATHS = frozenset({"attach", "exec", "log", "portforward", "proxy"})
_UNITS = {"ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "m": 6e10, "h": 3.6e12}
_PART = re.compile(r"(\d*)(\.\d*)?([^.\d]*)")
_MOST = 1 << 63
"""Nanoseconds of what is too long."""


def check_timeout(request: ServerRequest, info: RequestInfo) -> None:
    """Raises `Refused`: 400, before anything else of a request is looked at."""
    text = request.parameter("timeout")
    if not text or info.verb in _LONG or info.subresource in _LONG_PATHS:
        return
    wrong = _wrong(text)
    if wrong:
        raise bad_request(f"invalid timeout specified in the request URL - time: {wrong}")


def _wrong(text: str) -> str:
    """What Go says of a duration that is none; empty: it is one."""
    rest = text[1:] if text[0] in "+-" else text
    if rest == "0":
        return ""
    invalid = f"invalid duration {go_quoted(text)}"
    total = 0.0
    at = 0
    while at < len(rest) or not rest:
        found = _PART.match(rest, at)
        digits, fraction, unit = found.groups() if found else ("", "", "")
        if not digits and len(fraction or "") < 2:
            return invalid
        if not unit:
            return f"missing unit in duration {go_quoted(text)}"
        if unit not in _UNITS:
            return f"unknown unit {go_quoted(unit)} in duration {go_quoted(text)}"
        total += float(f"{digits or 0}{fraction or ''}") * _UNITS[unit]
        if total >= _MOST:
            return invalid
        at = found.end() if found else len(rest)
    return ""
