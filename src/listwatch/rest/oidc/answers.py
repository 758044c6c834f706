"""What came back from an OpenID Connect provider, and how much of it a message may show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlsplit

import msgspec

__all__ = ["Answer", "one_line", "text_of", "without_secrets"]

_SHOWN = 80
"""Characters of an answer that is not what it should be."""

_SHOWN_DESCRIPTION = 300
"""Characters of what a provider says about an error."""

_FORMS = ("application/x-www-form-urlencoded", "text/plain")


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """A whole answer. `location` is that of a redirect."""

    status: int
    content_type: str
    location: str
    body: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    def json_object(self) -> dict[str, Any] | None:
        """The body as a JSON object; None if it is none."""
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def fields(self) -> Mapping[str, Any]:
        """What it says by name: some token endpoints answer with a form, as x/oauth2 knows."""
        found = self.json_object()
        if found is None and self.content_type.startswith(_FORMS):
            found = dict(parse_qsl(self.body.decode("utf-8", "replace")))
        return found or {}

    @property
    def beginning(self) -> str:
        """The end of a message about an answer to something that held no secret."""
        if self.location:
            return f", a redirect to {without_secrets(self.location)}"
        text = one_line(self.body[: 4 * _SHOWN].decode("utf-8", "replace"), limit=_SHOWN)
        return f". It begins: {text}" if text else ""


def text_of(fields: Mapping[str, Any], name: str) -> str:
    """The text under `name`; empty if there is none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def one_line(text: str, secrets: Iterable[str] = (), *, limit: int = _SHOWN_DESCRIPTION) -> str:
    """`text` for a message, without what was sent, should it be repeated there."""
    for secret in filter(None, secrets):
        for form in (secret, quote_plus(secret)):
            text = text.replace(form, "<hidden>")
    text = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return text if len(text) <= limit else f"{text[:limit]}..."


def without_secrets(url: str) -> str:
    """`url` without user, password, query and fragment."""
    try:
        parts = urlsplit(url)
        netloc = parts.netloc.rpartition("@")[2]
        return parts._replace(netloc=netloc, query="", fragment="").geturl()
    except ValueError:
        return url.split("?")[0].split("#")[0].rpartition("@")[2]
