"""Typed decoding that reads `null` as absent, as Kubernetes' own decoder does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import msgspec

T = TypeVar("T")

JSONBytes: TypeAlias = bytes | bytearray | memoryview | msgspec.Raw
"""What JSON may be handed in as. Whoever keeps some of it keeps a copy of its own (A7)."""


def lenient_decoder(type_: type[T]) -> Callable[[JSONBytes], T]:
    """A decoder of JSON to `type_` that takes any `null` for an absent field.

    The first try is msgspec's typed decoder, at its full speed. Only when that refuses the types
    are the nulls removed and the rest decoded again. Raises `msgspec.DecodeError` (a ValueError)
    where that does not help.
    """
    decoder = msgspec.json.Decoder(type_)

    def decode(raw: JSONBytes) -> T:
        try:
            return decoder.decode(raw)
        except msgspec.ValidationError:
            stripped = _without_nulls(msgspec.json.decode(raw))
            return decoder.decode(msgspec.json.encode(stripped))

    return decode


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value
