"""URLs as Go's `net/url` reads them, and what webhooks may have of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..names import subdomain_problems
from ..problems import Problem, go_quoted, invalid_field, required_field

__all__ = ["URL", "parse_url", "service_problems", "url_problems"]

_FORM = "; desired format: https://host[/path]"
_scheme = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):").match
_is_user = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*").fullmatch
_is_port = re.compile(r"(:[0-9]*)?").fullmatch
_bad_escape = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.S).search
_bad_in_host = re.compile(r"[^A-Za-z0-9\-_.~!$&'()*+,;=:\[\]<>\"%\x80-\U0010ffff]").search
_control = re.compile(r"[\x00-\x1f\x7f]").search


@dataclass(frozen=True, slots=True)
class URL:
    """The parts of one that are looked at."""

    scheme: str = ""
    user: str | None = None
    host: str = ""
    query: str = ""
    fragment: str = ""


def parse_url(text: str) -> URL:
    """Raises `ValueError` with Go's message."""
    rest, _, fragment = text.partition("#")
    try:
        return _parsed(rest, fragment)
    except ValueError as error:
        raise ValueError(f"parse {go_quoted(rest)}: {error}") from None


def _parsed(text: str, fragment: str) -> URL:
    if _control(text):
        raise ValueError("net/url: invalid control character in URL")
    if text.startswith(":"):
        raise ValueError("missing protocol scheme")
    found = _scheme(text)
    scheme = found[1].lower() if found else ""
    rest, _, query = (text[found.end() :] if found else text).partition("?")
    user, host = None, ""
    if not rest.startswith("/"):
        if scheme:
            return URL(scheme, query=query, fragment=fragment)
        if ":" in rest.partition("/")[0]:
            raise ValueError("first path segment in URL cannot contain colon")
    elif rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
        before, at, host = authority.rpartition("@")
        _check_host(host)
        if at:
            if not _is_user(before):
                raise ValueError("net/url: invalid userinfo")
            user = before
    _check_escapes(rest)
    return URL(scheme, user, host, query, fragment)


def _check_host(host: str) -> None:
    if host.startswith("["):
        _, closed, port = host.rpartition("]")
        if not closed:
            raise ValueError("missing ']' in host")
    else:
        _, colon, digits = host.rpartition(":")
        port = colon + digits if colon else ""
    if not _is_port(port):
        raise ValueError(f"invalid port {go_quoted(port)} after host")
    wrong = _bad_in_host(host)
    if wrong:
        raise ValueError(f"invalid character {go_quoted(wrong[0])} in host name")
    _check_escapes(host)


def _check_escapes(text: str) -> None:
    wrong = _bad_escape(text)
    if wrong:
        raise ValueError(f"invalid URL escape {go_quoted(wrong[0])}")


def url_problems(field: str, text: str) -> Iterator[Problem]:
    """What is wrong with the URL of a webhook."""
    try:
        url = parse_url(text)
    except ValueError as error:
        yield required_field(field, f"url must be a valid URL: {error}{_FORM}")
        return
    if url.scheme != "https":
        text = f"'https' is the only allowed URL scheme{_FORM}"
        yield invalid_field(field, url.scheme, text)
    if not url.host:
        yield invalid_field(field, url.host, f"host must be specified{_FORM}")
    if url.user is not None:
        yield invalid_field(field, url.user, "user information is not permitted in the URL")
    if url.fragment:
        yield invalid_field(field, url.fragment, "fragments are not permitted in the URL")
    if url.query:
        yield invalid_field(field, url.query, "query parameters are not permitted in the URL")


def service_problems(
    field: str, namespace: str, name: str, path: str | None, port: int
) -> Iterator[Problem]:
    """What is wrong with the service of a webhook."""
    if not name:
        yield required_field(f"{field}.name")
    if not namespace:
        yield required_field(f"{field}.namespace")
    if not 0 < port <= 65535:
        text = "port is not valid: must be between 1 and 65535, inclusive"
        yield invalid_field(f"{field}.port", port, text)
    if path in (None, "", "/"):
        return
    assert path is not None
    field = f"{field}.path"
    if path == "//":
        yield invalid_field(field, path, "segment[0] may not be empty")
        return
    if not path.startswith("/"):
        yield invalid_field(field, path, "must start with a '/'")
    for at, step in enumerate(path[1:].removesuffix("/").split("/")):
        if not step:
            yield invalid_field(field, path, f"segment[{at}] may not be empty")
            continue
        for text in subdomain_problems(step):
            yield invalid_field(field, path, f"segment[{at}]: {text}")
