"""Layer four: an object's bytes to the object. Any callable from bytes to T is an object decoder
(D6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from listwatch.api import PartialObjectMetadata, Unstructured

from .errors import ObjectDecodeError

__all__ = [
    "ObjectDecoder",
    "decode_dict",
    "decode_partial_metadata",
    "decode_unstructured",
    "object_decode_error",
]

T = TypeVar("T")

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


def object_decode_error(raw: bytes, cause: Exception) -> ObjectDecodeError:
    """The error that names the key of an object whose decoder raised, as far as the key can be
    read.
    """
    try:
        key = Unstructured.from_bytes(raw).key
    except ValueError:
        key = None
    return ObjectDecodeError(key, raw, cause)
