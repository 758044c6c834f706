"""From a parsed HTTP request to the one that the core is asked."""

from __future__ import annotations

import re
from urllib.parse import unquote_plus

from ..messages import ServerRequest
from .parser import Head

__all__ = ["parse_query", "server_request"]

_BROKEN_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def server_request(head: Head, body: bytes) -> ServerRequest:
    """A whole URL in the request line counts as its path, as it does for Go."""
    path, _, query = head.target.partition("?")
    if not path.startswith("/"):
        path = f"/{path.partition('://')[2].partition('/')[2]}" if "://" in path else "/"
    return ServerRequest(
        method=head.method,
        path=path,
        query=parse_query(query) if query else (),
        headers=head.headers,
        body=body,
    )


def parse_query(text: str) -> tuple[tuple[str, str], ...]:
    """As Go parses it: a pair with a semicolon or a broken escape is left out.

    >>> parse_query("watch=1&labelSelector=a%3Db&bare&c;d")
    (('watch', '1'), ('labelSelector', 'a=b'), ('bare', ''))
    """
    pairs = []
    for pair in text.split("&"):
        if not pair or ";" in pair or _BROKEN_ESCAPE.search(pair):
            continue
        name, _, value = pair.partition("=")
        pairs.append((unquote_plus(name), unquote_plus(value)))
    return tuple(pairs)
