"""A GET whose answer need not come again where it has not changed."""

from __future__ import annotations

from typing import Any

from listwatch.api import APIError

from .request import Request

__all__ = ["read_unless"]

_NOT_MODIFIED = 304


async def read_unless(request: Request[Any], etag: str) -> tuple[bytes | None, str]:
    """The body and its Etag; no body where the server's is still the one of `etag`. An Etag is
    empty where there is none.

    Raises as `Request.raw` does.
    """
    if etag:
        request = request.header("If-None-Match", etag)
    try:
        response = await request._send()
    except APIError as error:
        if etag and error.code == _NOT_MODIFIED:
            return None, etag
        raise
    try:
        return await response.read(), response.headers.get("Etag") or ""
    except BaseException:
        response.close()
        raise
