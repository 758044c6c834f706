"""Layer four: an object's bytes to the object. Any callable from bytes to T is an object decoder
(D6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import msgspec

from listwatch.api import PartialObjectMetadata, Unstructured

from .errors import ObjectDecodeError
from .media import JSON

__all__ = [
    "ObjectDecoder",
    "decode_dict",
    "decode_partial_metadata",
    "decode_unstructured",
    "from_front",
    "object_decode_error",
    "reads_all",
    "reads_of",
    "takes_type_meta",
]

T = TypeVar("T")

_JSON_ONLY = frozenset({JSON})

ObjectDecoder = Callable[[bytes], T]
"""Gets the bytes of one whole object, kind and apiVersion included, which are its own to keep.
Whatever it raises is contained (D6).
"""

decode_unstructured: ObjectDecoder[Unstructured] = Unstructured.from_bytes
"""The default: a lazy, immutable view over the object's own bytes."""

decode_partial_metadata: ObjectDecoder[PartialObjectMetadata] = PartialObjectMetadata.from_bytes
"""Kind and metadata only; spec and status are passed over."""

_dict_decoder = msgspec.json.Decoder(dict[str, Any])


def decode_dict(raw: bytes) -> dict[str, Any]:
    """A plain dict, for programs that want to change what they get."""
    return _dict_decoder.decode(raw)


def reads_all(decoder: ObjectDecoder[Any]) -> bool:
    """Whether `decoder` looks at every byte that it is given, so that it raises for whatever is not
    one whole JSON value: then bytes may be cut by a guess, and it is the check.

    True of the decoders here, of msgspec's own, and of any that says so by an attribute
    `reads_all = True`.
    """
    said = getattr(decoder, "reads_all", None)
    if said is not None:
        return bool(said)
    return decoder in _READ_ALL or isinstance(
        getattr(decoder, "__self__", None), msgspec.json.Decoder
    )


def reads_of(decoder: ObjectDecoder[Any]) -> frozenset[str]:
    """The media types of the bytes that `decoder` takes: JSON, unless it says others by an
    attribute `reads`.
    """
    return frozenset(getattr(decoder, "reads", _JSON_ONLY))


def takes_type_meta(decoder: ObjectDecoder[Any]) -> bool:
    """Whether `decoder` can be told what an object is that does not say it, as the items of typed
    lists do not (D7): `decoder(raw, api_version="v1", kind="Pod")`. Others get bytes that say it,
    at the cost of one more look through them.

    True of `decode_unstructured`, and of any that says so by an attribute `takes_type_meta = True`.
    It then reads all that it gets (`reads_all`), which may be a memoryview of a larger buffer: it
    copies what it keeps.
    """
    return decoder == decode_unstructured or bool(getattr(decoder, "takes_type_meta", False))


def from_front(decoder: ObjectDecoder[T]) -> Callable[[bytes], T | None] | None:
    """What makes the same object as `decoder` by a look at its front only, for bytes that are known
    to be one JSON object; it gives None where that does not do. None where there is no such way.

    `decode_unstructured` has one, and any decoder that has it as its method `from_front`.
    """
    if decoder == decode_unstructured:
        return cast(Callable[[bytes], T | None], Unstructured.from_front)
    return cast(Callable[[bytes], T | None] | None, getattr(decoder, "from_front", None))


_READ_ALL = (decode_unstructured, decode_partial_metadata, decode_dict)


def object_decode_error(raw: bytes, cause: Exception) -> ObjectDecodeError:
    """The error that names the key of an object whose decoder raised, as far as the key can be
    read.
    """
    try:
        key = _key_in(raw)
    except ValueError:
        key = None
    return ObjectDecodeError(key, raw, cause)


def _key_in(raw: bytes) -> str:
    if raw.startswith(b"k8s\0"):
        from .protobuf_object import decode_protobuf  # whoever was given this has the package

        return decode_protobuf(raw).key
    return Unstructured.from_bytes(raw).key
