"""What one encoding of the API (JSON, CBOR, protobuf) does for the layers above the frames."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from listwatch.api import EventType, ListMeta, PartialObjectMetadata, Status

from .decoders import ObjectDecoder
from .errors import UnsupportedContentType
from .framer import Framer
from .list_framer import ListFramer, Piece
from .media import MediaType

__all__ = ["Codec", "Envelope", "ListHead", "accept_header", "codec_for"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.wire")


class Envelope(NamedTuple):
    """The outer part of a watch event: its type, and the object's own bytes, not decoded (D1)."""

    type: str
    object: bytes


class ListHead(NamedTuple):
    """What a list says of itself."""

    api_version: str = ""
    kind: str = ""
    """Such as `PodList`."""
    metadata: ListMeta = ListMeta()

    @property
    def item_kind(self) -> str:
        """What an item is that does not say it (D7)."""
        return self.kind.removesuffix("List")

    @property
    def type(self) -> tuple[str, str]:
        """apiVersion and kind of the list."""
        return self.api_version, self.kind

    @property
    def is_typed(self) -> bool:
        """Whether both are known that an item may lack."""
        return bool(self.api_version and self.kind)


class Codec(Protocol):
    """One encoding. An object's bytes are opaque here: what decodes them is the object decoder's
    business.
    """

    @property
    def media_type(self) -> str:
        """What an Accept header asks for, such as `application/json`. An answer of this type is
        decoded by this codec, whatever its parameters.
        """
        ...

    @property
    def media_types(self) -> frozenset[str]:
        """Every type of an answer that this codec reads: a stream's may have another name than a
        single object's.
        """
        ...

    def serves(self, decoder: ObjectDecoder[Any], form: str) -> bool:
        """Whether this encoding can give `decoder` bytes that it reads, of objects that come in
        this form: empty for whole ones, else such as `PartialObjectMetadata` (B9).
        """
        ...

    def framer(self) -> Framer:
        """A framer for one stream."""
        ...

    @property
    def usual_beginnings(self) -> Sequence[tuple[bytes, EventType]]:
        """How the frames of most events begin, up to and with the first byte of the object. Empty
        where an encoding has no such thing.
        """
        ...

    @property
    def usual_end(self) -> bytes:
        """How those frames end: with the last byte of the object, and one of their own."""
        ...

    def decode_envelope(self, frame: bytes) -> Envelope:
        """Raises `EnvelopeError` (D2)."""
        ...

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        """RV and annotations of a BOOKMARK's object, which may lack or null all else (D4). Raises
        `EnvelopeError`.
        """
        ...

    def decode_status(self, raw: bytes) -> Status:
        """The object of an ERROR event; a foreign one becomes a Status that says so (D3)."""
        ...

    def object_bytes(self, body: bytes) -> bytes:
        """What an object decoder gets of an answer of one object. Raises `MalformedObject`."""
        ...

    def list_framer(self) -> ListFramer:
        """A framer for one LIST."""
        ...

    def decode_list(self, outside: bytes) -> ListHead:
        """What a list is, of which these are the bytes without its items. Raises `ListDecodeError`,
        or the `APIError` of a Status that came instead of a list.
        """
        ...

    def item_decoder(self, decoder: ObjectDecoder[T], head: ListHead) -> Callable[[Piece], T]:
        """`decoder` for the items of such a list, which get kind and apiVersion where they lack
        them (D7). It raises for whatever is not exactly one whole object, whatever `decoder` does.
        """
        ...

    def is_typed(self, item: Piece) -> bool:
        """Whether an item has a kind and apiVersion. May raise where it is no whole object."""
        ...


def accept_header(codecs: Sequence[Codec], *, form: str = "") -> str:
    """The Accept header that asks for these encodings in this order, each in the given form.

    `form` is one of meta.k8s.io, such as `PartialObjectMetadataList` (B9).
    """
    suffix = f";as={form};g=meta.k8s.io;v=v1" if form else ""
    return ", ".join(f"{codec.media_type}{suffix}" for codec in codecs)


def codec_for(content_type: str | None, codecs: Sequence[Codec]) -> Codec:
    """The codec that reads an answer of this Content-Type (B6).

    One that is absent or malformed is logged and read as the first of `codecs`. Raises
    `UnsupportedContentType` for one that none of them reads.
    """
    try:
        media_type = MediaType.parse(content_type or "")
    except ValueError:
        _log.warning(
            "the answer has %s; reading it as %s",
            f"a malformed Content-Type {content_type!r}" if content_type else "no Content-Type",
            codecs[0].media_type,
        )
        return codecs[0]
    for codec in codecs:
        if media_type.type in codec.media_types:
            return codec
    raise UnsupportedContentType(str(media_type), ", ".join(codec.media_type for codec in codecs))
