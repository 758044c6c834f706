"""Decoders whose objects a store can tell apart."""

from __future__ import annotations

from typing import Any, TypeVar

from listwatch.api import MalformedObject, Unstructured
from listwatch.cache.identity import Identity, identity_of
from listwatch.wire import (
    ObjectDecoder,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)

__all__ = ["identified"]

T = TypeVar("T")

_SOUND: tuple[ObjectDecoder[Any], ...] = (decode_unstructured, decode_dict, decode_partial_metadata)


def identified(decoder: ObjectDecoder[T]) -> ObjectDecoder[T]:
    """`decoder`, with a look at the first object of each type that it makes: it must show the name,
    namespace, uid and resourceVersion that it has.

    A type without a namespace would let two objects pass for one, and one without a resourceVersion
    would let no change be seen. It is refused by `MalformedObject`, and so its objects count as
    undecodable (H10).
    """
    if decoder in _SOUND:
        return decoder
    sound: set[type] = set()

    def decode(raw: bytes) -> T:
        obj = decoder(raw)
        if type(obj) not in sound:
            _check(obj, raw)
            sound.add(type(obj))
        return obj

    return decode


def _check(obj: object, raw: bytes) -> None:
    try:
        shown = identity_of(obj)
    except MalformedObject:
        shown = Identity("", "", "")
    there = identity_of(Unstructured.from_bytes(raw))
    lacking = [
        name
        for name, ours, real in (
            ("name and namespace", shown.key, there.key),
            ("uid", shown.uid, there.uid),
            ("resourceVersion", shown.resource_version, there.resource_version),
        )
        if ours != real
    ]
    if lacking:
        raise MalformedObject(
            f"a {type(obj).__name__} does not show {' and '.join(lacking)} in its metadata:"
            " a watch or mirror needs them to tell objects and their states apart"
        )
