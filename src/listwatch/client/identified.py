"""Decoders whose objects a store can tell apart."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from listwatch.api import MalformedObject, Unstructured
from listwatch.cache.identity import Identity, identity_of
from listwatch.wire import (
    ObjectDecoder,
    decode_dict,
    decode_partial_metadata,
    decode_unstructured,
)
from listwatch.wire.decoders import reads_all, takes_type_meta

__all__ = ["identified"]

T = TypeVar("T")

_SOUND: tuple[ObjectDecoder[Any], ...] = (decode_unstructured, decode_dict, decode_partial_metadata)


def identified(decoder: ObjectDecoder[T]) -> ObjectDecoder[T]:
    """`decoder`, with a look at the first object of each type that it makes: it must show the name,
    namespace, uid and resourceVersion that it has.

    A type without a namespace would let two objects pass for one, and one without a resourceVersion
    would let no change be seen. It is refused by `MalformedObject`, and so its objects count as
    undecodable (H10). Of our own decoders, and those that say `identifies = True`, nothing is
    asked.
    """
    if decoder in _SOUND or getattr(decoder, "identifies", False):
        return decoder
    return _Identified(decoder)


class _Identified(Generic[T]):
    """What the decoder says of itself, it says too."""

    __slots__ = ("_decoder", "_sound", "reads_all", "takes_type_meta")

    def __init__(self, decoder: ObjectDecoder[T]) -> None:
        self._decoder = decoder
        self._sound: set[type] = set()
        self.reads_all = reads_all(decoder)
        self.takes_type_meta = takes_type_meta(decoder)

    def __call__(self, raw: bytes, **told: str) -> T:
        obj = self._decoder(raw, **told)
        if type(obj) not in self._sound:
            _check(obj, raw)
            self._sound.add(type(obj))
        return obj

    def __repr__(self) -> str:
        return repr(self._decoder)


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
