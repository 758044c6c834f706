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
from listwatch.wire.decoders import reads_all, reads_of, takes_type_meta
from listwatch.wire.models import is_no_decoder

__all__ = ["identified"]

T = TypeVar("T")

_WHAT = ("name and namespace", "uid", "resourceVersion")

_SOUND: tuple[ObjectDecoder[Any], ...] = (decode_unstructured, decode_dict, decode_partial_metadata)


def identified(decoder: ObjectDecoder[T]) -> ObjectDecoder[T]:
    """`decoder`, with a look at the first object of each type that it makes: it must show the name,
    namespace, uid and resourceVersion that it has.

    A type without a namespace would let two objects pass for one, and one without a resourceVersion
    would let no change be seen. It is refused by `MalformedObject`, and so its objects count as
    undecodable (H10). Of our own decoders, and those that say `identifies = True`, nothing is
    asked.

    Raises `TypeError` for a model where its decoder was meant: as a callable it takes other things
    than bytes, and so each object would be refused.
    """
    if is_no_decoder(decoder):
        name = getattr(decoder, "__qualname__", decoder)
        raise TypeError(f"{name} is a type, not a decoder: give decoder=decoder_for({name})")
    if decoder in _SOUND or getattr(decoder, "identifies", False):
        return decoder
    return _Identified(decoder)


class _Identified(Generic[T]):
    """What the decoder says of itself, it says too."""

    __slots__ = ("_decoder", "_sound", "reads", "reads_all", "takes_type_meta")

    def __init__(self, decoder: ObjectDecoder[T]) -> None:
        self._decoder = decoder
        self._sound: set[type] = set()
        self.reads = reads_of(decoder)
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
    there = _identity_in(raw)
    lacking = [
        name
        for name, ours, real in zip(_WHAT, shown, there or shown, strict=True)
        if ours != real or (there is None and not ours)
    ]
    if lacking:
        raise MalformedObject(
            f"a {type(obj).__name__} does not show {' and '.join(lacking)} in its metadata:"
            " a watch or mirror needs them to tell objects and their states apart, as text, and in"
            " fields that are called so, in snake case or not, or that stand for these names in"
            " JSON"
        )


def _identity_in(raw: bytes) -> Identity | None:
    """Of bytes that are JSON; of others (B9) it is what their decoder says that it is."""
    data = bytes(raw)  # it may be a memoryview of a larger buffer, as the items of lists are
    if not data.lstrip().startswith(b"{"):
        return None
    return identity_of(Unstructured.from_bytes(data))
