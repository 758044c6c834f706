"""The `Warning` headers of an answer, and what is done about them (B7).

A server warns of deprecated versions, of unknown fields in a write and the like, on errors and
watches too:

    Warning: 299 - "policy/v1beta1 PodSecurityPolicy is deprecated in v1.21+"

A header holds one or several warnings after RFC 7234: code, agent, a quoted text (`\\"` and `\\\\`
are escapes; commas may stand in it) and perhaps a quoted date. What is not of that form is passed
over.
"""

from __future__ import annotations

import logging
import re
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from listwatch.api import ListWatchError

__all__ = [
    "APIWarning",
    "CollectWarnings",
    "IgnoreWarnings",
    "LogWarnings",
    "RaiseWarnings",
    "WarningError",
    "WarningHandler",
    "parse_warnings",
]

_KUBERNETES = 299
"""The only code that Kubernetes uses: "miscellaneous persistent warning"."""

_REMEMBERED = 1024
"""Texts that a `LogWarnings` remembers: a server that names another object each time must not make
it grow for ever.
"""

_ONE = re.compile(
    r"""[ \t]* (?P<code>[0-9]{3})
        [ \t]+ (?P<agent>[^ \t",]+)
        [ \t]+ "(?P<text>(?:[^"\\]|\\.)*)"
        (?: [ \t]+ "[^"]*" )?
        [ \t]* (?:,|$)""",
    re.VERBOSE,
)
_NONE = re.compile(
    r'(?:"(?:[^"\\]|\\.)*(?:"|$)|[^",])*(?:,|$)'
)  # up to the next comma outside quotes
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class APIWarning:
    """One warning of the server. `text` is what it says; `request` is what was asked, such as
    `GET /api/v1/endpoints`."""

    text: str
    agent: str = "-"
    code: int = _KUBERNETES
    request: str = ""


class WarningError(ListWatchError):
    """The server answered with a warning, which `RaiseWarnings` makes an error."""

    def __init__(self, warning: APIWarning) -> None:
        of = f" of {warning.request}" if warning.request else ""
        super().__init__(f"the server warned{of}: {warning.text}")
        self.warning = warning


class WarningHandler(Protocol):
    """Is told of every warning, once for each answer that carries it, in the order of the headers.

    It is called when the head of the answer is there, whatever its status, and before the body is
    read. An exception that it raises ends the request: the answer is closed, and the caller gets
    the exception.
    """

    def handle(self, warning: APIWarning, /) -> None: ...


class LogWarnings:
    """Logs each distinct text once (the default): the same deprecated version would warn on every
    page.

    It remembers the 1024 texts it met last.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger or logging.getLogger("listwatch.rest")
        self._seen: OrderedDict[str, None] = OrderedDict()

    def handle(self, warning: APIWarning, /) -> None:
        known = warning.text in self._seen
        self._seen.pop(warning.text, None)
        self._seen[warning.text] = None  # at the end: the last to be forgotten
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        if not known:
            self._logger.warning("the server warns of %s: %s", warning.request, warning.text)


class IgnoreWarnings:
    """Does nothing about any of them."""

    def handle(self, warning: APIWarning, /) -> None:
        return


class CollectWarnings:
    """Keeps them in `warnings`, in the order in which they came, for a caller to show."""

    def __init__(self) -> None:
        self.warnings: list[APIWarning] = []

    def handle(self, warning: APIWarning, /) -> None:
        self.warnings.append(warning)


class RaiseWarnings:
    """Raises `WarningError` on the first one: for tests that must not use what is deprecated.

    The server has done what was asked by then: a write that it warned of did happen, and an error
    of the server that came with a warning is hidden by it.
    """

    def handle(self, warning: APIWarning, /) -> None:
        raise WarningError(warning)


def parse_warnings(headers: Iterable[str], *, request: str = "") -> tuple[APIWarning, ...]:
    """The warnings in the values of the `Warning` headers of one answer; `request` says what was
    asked.

    >>> [warning.text for warning in parse_warnings(['299 - "a, \\\\"b\\\\"", 299 - "c"'])]
    ['a, "b"', 'c']
    """
    found = []
    for header in headers:
        at = 0
        while at < len(header):
            match = _ONE.match(header, at)
            if match is None:
                skipped = _NONE.match(header, at)
                at = skipped.end() if skipped is not None else len(header)
                continue
            at = match.end()
            text = _printable(_ESCAPED.sub(r"\1", match["text"]))
            found.append(APIWarning(text, match["agent"], int(match["code"]), request))
    return tuple(found)


def for_handlers(warnings: Iterable[APIWarning]) -> tuple[APIWarning, ...]:
    """Those that Kubernetes means: caches and proxies have codes of their own."""
    return tuple(warning for warning in warnings if warning.code == _KUBERNETES and warning.text)


def _printable(text: str) -> str:
    # HTTP libraries decode headers leniently: a byte that is no UTF-8 becomes a lone surrogate,
    # which no log or terminal could write.
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
