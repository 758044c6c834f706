"""The parameter `timeout`, which all requests may have that are not to go on: how long the client
waits. Nothing here takes long, so it is only looked at.
"""

from __future__ import annotations

from ..messages import ServerRequest
from ..types.request_info import RequestInfo
from ..validation.durations import duration_nanoseconds
from ..validation.problems import bad_request

__all__ = ["check_timeout"]

_LONG = frozenset({"watch", "proxy"})
_LONG_PATHS = frozenset({"attach", "exec", "log", "portforward", "proxy"})


def check_timeout(request: ServerRequest, info: RequestInfo) -> None:
    """Raises `Refused`: 400, before anything else of a request is looked at."""
    text = request.parameter("timeout")
    if not text or info.verb in _LONG or info.subresource in _LONG_PATHS:
        return
    try:
        duration_nanoseconds(text)
    except ValueError as error:
        raise bad_request(f"invalid timeout specified in the request URL - {error}") from None
