"""Typed decoding that reads `null` as absent, as Kubernetes' own decoder does."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

JSONBytes: TypeAlias = bytes | bytearray | memoryview | msgspec.Raw
"""What JSON may be handed in as. Whoever keeps some of it keeps a copy of its own (A7)."""

_MOST_NAMES = 16
_member = re.compile(r"got `null` - at `\$(?:.*\.)?(\w+)`$").search


def lenient_decoder(type_: type[T]) -> Callable[[JSONBytes], T]:
    """A decoder of JSON to `type_` that takes any `null` for an absent field.

    The first try is msgspec's typed decoder, at its full speed. Where that refuses a null, the
    member is taken out and remembered: servers send the same nulls in each object, and so they go
    in one pass from then on. Only what that does not help is decoded without any null. Raises
    `msgspec.DecodeError` (a ValueError) where that does not help either.
    """
    decode = msgspec.json.Decoder(type_).decode
    nulls: dict[bytes, bytes] = {}

    def lenient(raw: JSONBytes) -> T:
        try:
            return decode(raw)
        except msgspec.ValidationError:
            return mended(bytes(raw))

    def mended(data: bytes) -> T:
        found = nulls
        for _ in range(_MOST_NAMES):
            for null, rest in found.items():
                data = data.replace(null, rest)
            try:
                return decode(data)
            except msgspec.ValidationError as error:
                found = _nulls_of(error, data)
            if not found:
                break
            if len(nulls) < _MOST_NAMES:
                nulls.update(found)
        return decode(msgspec.json.encode(_without_nulls(msgspec.json.decode(data))))

    return lenient


def _nulls_of(error: msgspec.ValidationError, data: bytes) -> dict[bytes, bytes]:
    """What to replace by what, so that the null which was refused is no more.

    No string can look like it: a quote that follows a comma or brace in a string would end it.
    """
    member = _member(str(error))
    if member is None:
        return {}
    null = b'"%b":null' % member[1].encode()
    forms = {b"," + null: b"", b"{" + null + b",": b"{", b"{" + null + b"}": b"{}"}
    return {form: rest for form, rest in forms.items() if form in data}


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value
