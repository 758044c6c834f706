"""The error in an HTTP answer, be it a Status, a proxy's page, plain text or nothing (A5)."""

from __future__ import annotations

import re

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from .errors import APIError, MalformedObject, class_for_code, error_for_status
from .status import Status

__all__ = ["error_for_response", "excerpt"]

MESSAGE_LIMIT = 2048
"""How much of a text body becomes the message, in bytes (A5)."""

_HTML_LIMIT = 64 * 1024
"""How much of an HTML page is looked at, in bytes: a title and a few sentences come early."""

_HTML = re.compile(rb"\s*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


class _Shape(Struct):
    kind: str | None = None
    status: str | None = None


_decode_shape = msgspec.json.Decoder(_Shape).decode


def error_for_response(
    code: int, content_type: str | None, body: bytes, *, retry_after: float | None = None
) -> APIError:
    """The exception for an HTTP answer of status `code` whose body is `body`, already unzipped.

    A JSON Status is recognised whatever the content type says, even without kind and apiVersion, as
    a server that times out sends it. Of any other body at most 2 KiB of text become the message; of
    an HTML page its title and text; of protobuf, CBOR and other binary data only that it is some (a
    codec decodes its own Status, and then calls `error_for_status`). The class follows the code
    where there is no reason. `retry_after` is the `Retry-After` header in seconds.

    >>> error_for_response(503, "text/html", b"<title>Bad day</title><p>Try later.</p>")
    ServiceUnavailable('503 ServiceUnavailable: Bad day: Try later.')
    """
    status = _status_in(body)
    if status is None:
        status = Status(
            status="Failure",
            code=code,
            reason=class_for_code(code).reason_word,
            message=excerpt(content_type, body),
        )
    elif not status.code:
        status = replace(status, code=code)
    return error_for_status(status, retry_after=retry_after)


def excerpt(content_type: str | None, body: bytes) -> str:
    """What a person can read of a body, at most 2 KiB of it; empty for an empty one."""
    media_type = (content_type or "").partition(";")[0].strip().lower()
    if body.startswith(b"k8s\x00"):
        return f"(the description is in protobuf, {len(body)} bytes)"
    if body.startswith(b"\xd9\xd9\xf7"):
        return f"(the description is in CBOR, {len(body)} bytes)"
    if _BINARY.search(body, 0, MESSAGE_LIMIT):
        return f"({len(body)} bytes of {media_type or 'binary data'})"
    if media_type == "text/html" or _HTML.match(body):
        return _cut(_html_text(_decoded(body[:_HTML_LIMIT])).encode())
    return _cut(body)


def _status_in(body: bytes) -> Status | None:
    """The Status in `body`, or None if it is anything else."""
    if body.lstrip()[:1] != b"{":
        return None
    try:
        shape = _decode_shape(body)
        # Other JSON has fields of the same names: kind, or failing that the word Failure, tells a
        # Status.
        if shape.kind == "Status" or (not shape.kind and shape.status == "Failure"):
            return Status.from_bytes(body)
    except (msgspec.DecodeError, MalformedObject, RecursionError):
        return None  # not a Status, and so text like any other
    return None


def _cut(body: bytes) -> str:
    body = body.strip()
    if len(body) <= MESSAGE_LIMIT:
        return _decoded(body)
    end = MESSAGE_LIMIT
    while end > MESSAGE_LIMIT - 4 and body[end] & 0xC0 == 0x80:  # not inside a character
        end -= 1
    return _decoded(body[:end]).rstrip()


def _decoded(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        # What is not UTF-8 is most likely an old proxy's page, and every byte is some character of
        # this.
        return body.decode("latin-1")


def _html_text(page: str) -> str:
    """The title and the text of an HTML page, on one line."""
    from html.parser import HTMLParser  # needed for the rarest of answers only

    class Reader(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.title: list[str] = []
            self.text: list[str] = []
            self._inside = ""

        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag in ("title", "script", "style"):
                self._inside = tag

        def handle_endtag(self, tag: str) -> None:
            if tag == self._inside:
                self._inside = ""

        def handle_data(self, data: str) -> None:
            if self._inside == "title":
                self.title.append(data)
            elif not self._inside:
                self.text.append(data)

    reader = Reader()
    reader.feed(page)
    reader.close()
    title, text = (" ".join(" ".join(parts).split()) for parts in (reader.title, reader.text))
    if not title or text.startswith(title):
        return text
    return f"{title}: {text}" if text else title
