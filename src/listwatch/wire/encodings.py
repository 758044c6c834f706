"""The encodings of the API, by name (B9)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from importlib import import_module
from typing import cast

from .codec import Codec
from .json_codec import JSON_CODEC
from .media import CBOR, JSON, PROTOBUF

__all__ = ["Encoding", "EncodingUnavailable", "codecs_of", "unavailable"]


class Encoding(StrEnum):
    """How objects travel; the value is the media type."""

    JSON = JSON
    """What every server and every type has."""
    CBOR = CBOR
    """As JSON in binary: of servers whose feature gate CBORServingAndStorage is on, for every type.
    Needs the extra `listwatch[cbor]`.
    """
    PROTOBUF = PROTOBUF
    """Of the built-in types, and of the metadata of all. Needs the extra `listwatch[protobuf]`."""


class EncodingUnavailable(ImportError):
    """The package that reads an encoding is not installed."""


_LATER = {
    Encoding.CBOR: ("cbor_codec", "CBOR_CODEC", "cbor"),
    Encoding.PROTOBUF: ("protobuf_codec", "PROTOBUF_CODEC", "protobuf"),
}


def codecs_of(encodings: Iterable[Encoding | str]) -> tuple[Codec, ...]:
    """What reads these, in their order; JSON is the last, whether it was named or not, since it is
    what a server falls back to.

    Raises `EncodingUnavailable` where the extra of one is not installed, and `ValueError` for the
    name of none.
    """
    try:
        wanted = dict.fromkeys(map(Encoding, encodings))
    except ValueError as error:
        names = ", ".join(f"Encoding.{each.name}" for each in Encoding)
        raise ValueError(f"{error}: expected a list of {names}") from None
    return (*(_codec(encoding) for encoding in wanted if encoding in _LATER), JSON_CODEC)


def _codec(encoding: Encoding) -> Codec:
    module, name, _ = _LATER[encoding]
    try:
        found = import_module(f".{module}", __package__)
    except ImportError as error:
        raise unavailable(encoding, error) from error
    return cast(Codec, getattr(found, name))


def unavailable(encoding: Encoding, error: ImportError) -> EncodingUnavailable:
    """What to say where the package for an encoding cannot be imported."""
    *_, extra = _LATER[encoding]
    return EncodingUnavailable(
        f"reading {encoding.value} needs a package that is not installed ({error}):"
        f" pip install 'listwatch[{extra}]'"
    )
