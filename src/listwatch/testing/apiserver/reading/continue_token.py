"""The continue token of a list in pages (K11)."""

from __future__ import annotations

import base64
import json
import posixpath
import re
from dataclasses import dataclass
from typing import Any

from ..storage.log import Key
from ..writing.go_syntax import go_kind, syntax_error

__all__ = ["INCONSISTENT", "BadToken", "ContinueToken"]

_VERSION = "meta.k8s.io/v1"
_INVALID = "continue key is not valid: "
_NO_BASE64 = re.compile(r"[^A-Za-z0-9_-]")
_FIELDS = {"v": "string", "rv": "int64", "start": "string"}

INCONSISTENT = -1
"""The RV of a token that goes on with whatever is the newest state by then."""


class BadToken(Exception):
    """The text is no token. The message is the real server's."""


@dataclass(frozen=True, slots=True)
class ContinueToken:
    r"""Where a list goes on, and at which revision.

    >>> token = ContinueToken(54, "/w-009\0")
    >>> token.encode()
    'eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NTQsInN0YXJ0IjoiL3ctMDA5XHUwMDAwIn0'
    >>> ContinueToken.decode(token.encode()) == token
    True
    """

    rv: int
    """Negative: no matter which (`INCONSISTENT`)."""
    start: str
    r"""The first key of the next page, from behind the namespace if the list is of one: the last
    key of this page and a `\0`. A list that was served from the watch cache has a `/` before it.
    """

    @classmethod
    def behind(cls, key: Key, *, rv: int, namespace: str, cached: bool) -> ContinueToken:
        """The token of a page that ended with `key`; `namespace` is that of the list."""
        path = key[1] if namespace or not key[0] else f"{key[0]}/{key[1]}"
        return cls(rv, f"{'/' if cached else ''}{path}\0")

    @property
    def inconsistent(self) -> ContinueToken:
        """What goes on from the same key when this one's revision is forgotten."""
        return ContinueToken(INCONSISTENT, self.start.removeprefix("/"))

    @property
    def is_inclusive(self) -> bool:
        """Whether the page begins with the key itself. No server makes such tokens."""
        return not self.start.endswith("\0")

    def after(self, namespace: str, *, namespaced: bool) -> Key:
        """The key behind which the page begins, in a list of `namespace` (empty: of all)."""
        path = self.start.removeprefix("/")
        if namespace or not namespaced:
            return (namespace, path)
        of, _, name = path.partition("/")
        return (of, name)

    def encode(self) -> str:
        value = {"v": _VERSION, "rv": self.rv, "start": self.start}
        data = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        return base64.urlsafe_b64encode(data.encode()).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> ContinueToken:
        """Raises `BadToken`."""
        value = _fields(_base64(text))
        version, rv, start = value.get("v", ""), value.get("rv", 0), value.get("start", "")
        if version != _VERSION:
            raise BadToken(f"{_INVALID}server does not recognize this encoded version {version}")
        if rv == 0:
            raise BadToken(
                f"{_INVALID}incorrect encoded start resourceVersion (version {_VERSION})"
            )
        if not start:
            raise BadToken(f"{_INVALID}encoded start key empty (version {_VERSION})")
        key = start if start.startswith("/") else f"/{start}"
        if key.startswith("//") or posixpath.normpath(key) != key:
            raise BadToken(f"{_INVALID}{start}")
        return cls(rv, start)


def _base64(text: str) -> bytes:
    """Go skips line ends, takes no padding, and names the byte that it stumbled over."""
    letters = text.replace("\r", "").replace("\n", "")
    wrong = _NO_BASE64.search(letters)
    if wrong or len(letters) % 4 == 1:
        position = wrong.start() if wrong else len(letters) - 1
        raise BadToken(f"{_INVALID}illegal base64 data at input byte {position}")
    return base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))


def _fields(data: bytes) -> dict[str, Any]:
    if wrong := syntax_error(data):
        raise BadToken(_INVALID + wrong)
    try:
        value = json.loads(
            data.decode("utf-8", "replace"), parse_int=_integer, parse_float=_OtherNumber
        )
    except RecursionError:
        raise BadToken(f"{_INVALID}exceeded max depth") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadToken(
            f"{_INVALID}json: cannot unmarshal {_kind(value)} into Go value of type "
            "storage.continueToken"
        )
    value = {name.lower(): each for name, each in value.items() if each is not None}
    for name, kind in _FIELDS.items():
        if name in value and (found := _mismatch(value[name], kind)):
            raise BadToken(
                f"{_INVALID}json: cannot unmarshal {found} into Go struct field "
                f"continueToken.{name} of type {kind}"
            )
    return value


@dataclass(frozen=True, slots=True)
class _OtherNumber:
    """A number that is no int64."""

    text: str


def _integer(text: str) -> int | _OtherNumber:
    if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
        return _OtherNumber(text)
    return int(text)


def _kind(value: Any) -> str:
    return "number" if isinstance(value, _OtherNumber) else go_kind(value)


def _mismatch(value: Any, kind: str) -> str:
    """How Go names a value that is none of `kind`, or nothing."""
    if kind == "string":
        return "" if isinstance(value, str) else _kind(value)
    if isinstance(value, _OtherNumber):
        return f"number {value.text}"
    return "" if isinstance(value, int) and not isinstance(value, bool) else go_kind(value)
