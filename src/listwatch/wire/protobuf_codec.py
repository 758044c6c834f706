"""The API in protobuf. Needs the extra `listwatch[protobuf]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn, TypeVar

from listwatch.api import (
    EventType,
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    error_for_status,
)

from .codec import Envelope, ListHead
from .decoders import ObjectDecoder, reads_of
from .errors import EnvelopeError, ListDecodeError, quote
from .length_framer import LengthDelimitedFramer
from .list_framer import Piece
from .media import JSON, PROTOBUF
from .protobuf_list import ProtobufListFramer
from .protobuf_messages import OBJECT, OBJECT_LIST, WATCH_EVENT, parse, prose, text
from .protobuf_meta import list_meta, metadata_json, status_of
from .protobuf_unknown import METADATA_KIND, unwrap, wrap

__all__ = ["PROTOBUF_CODEC", "ProtobufCodec"]

T = TypeVar("T")

_OBJECTS = (EventType.ADDED, EventType.MODIFIED, EventType.DELETED)


class ProtobufCodec:
    """Reads protobuf.

    What one can say without the definitions of all types is said here: envelopes, Statuses, lists,
    and metadata, which is in field 1 of every type. So there are two kinds of bytes for decoders:

    - An object of which only the metadata was asked for comes out as JSON, exactly as the server
      would have written that, for decoders that read JSON.
    - Whole objects come out as they came, envelope included, items of lists in one of their own:
      for decoders whose `reads` has `application/vnd.kubernetes.protobuf`.

    A server may not know the form, and send whole objects where metadata was asked for. Then of
    each item of a list its metadata comes out, under its own kind, and of other objects it does
    where the codec is told whom they are for (`for_decoder`).
    """

    media_type = PROTOBUF
    media_types = frozenset({PROTOBUF})
    usual_beginnings: Sequence[tuple[bytes, EventType]] = ()
    """None: an object is inside two lengths, and not at the end of its frame."""
    usual_end = b""

    def __init__(self, *, only_metadata: bool = False) -> None:
        self._only_metadata = only_metadata

    def for_decoder(self, decoder: ObjectDecoder[Any]) -> ProtobufCodec:
        """This codec for one decoder: with metadata only, in JSON, of whatever comes, if that is
        what it reads.
        """
        return PROTOBUF_CODEC if _reads_messages(decoder) else _METADATA_CODEC

    def serves(self, decoder: ObjectDecoder[Any], form: str) -> bool:
        """Metadata for decoders that read JSON; whole objects for those that read protobuf."""
        if form == METADATA_KIND:
            return JSON in reads_of(decoder)
        return not form and PROTOBUF in reads_of(decoder)

    def framer(self) -> LengthDelimitedFramer:
        return LengthDelimitedFramer()

    def decode_envelope(self, frame: bytes) -> Envelope:
        try:
            event = parse(WATCH_EVENT, frame, "the frame")
            kind, raw = text(event.type), event.object.raw
        except MalformedObject as error:
            raise EnvelopeError(f"not a watch event: {error}: {quote(frame)}") from error
        if kind in _OBJECTS:
            # Where it fails, its decoder says so, of this object alone (D6).
            with suppress(MalformedObject):
                raw = self.object_bytes(raw)
        return Envelope(kind, raw)

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        try:
            api_version, kind, message = unwrap(raw)
            found = parse(OBJECT, message, "its object").metadata
            version = text(found.resource_version)
        except MalformedObject as error:
            raise EnvelopeError(f"a bookmark that cannot be read: {error}: {quote(raw)}") from error
        annotations = {prose(entry.key): prose(entry.value) for entry in found.annotations}
        metadata = ObjectMeta(resource_version=version, annotations=annotations)
        return PartialObjectMetadata(api_version, kind, metadata)

    def decode_status(self, raw: bytes) -> Status:
        """Of an event's object, or of the body of an answer."""
        try:
            return status_of(*unwrap(raw))
        except MalformedObject as error:
            return Status(
                status="Failure",
                code=500,
                reason="InternalError",
                message=f"an error in protobuf that is no Status: {error}: {quote(raw)}",
            )

    def object_bytes(self, body: bytes) -> bytes:
        found = unwrap(body)
        return metadata_json(*found) if self._only_metadata or found.is_metadata else body

    def list_framer(self) -> ProtobufListFramer:
        return ProtobufListFramer()

    def decode_list(self, outside: bytes) -> ListHead:
        try:
            api_version, kind, message = unwrap(outside)
            if kind == "Status":
                raise error_for_status(self.decode_status(outside))
            if kind and not kind.endswith("List"):
                raise ListDecodeError(f"the server sent a {kind} where a list was expected")
            metadata = list_meta(parse(OBJECT_LIST, message, "the list").metadata)
        except MalformedObject as error:
            raise ListDecodeError(
                f"the server's answer is no list: {error}: {quote(outside)}"
            ) from error
        return ListHead(api_version, kind, metadata)

    def item_decoder(self, decoder: ObjectDecoder[T], head: ListHead) -> Callable[[Piece], T]:
        """`bytes`, which keeps an item for later, gets what a decoder of protobuf would."""
        api_version, kind = head.api_version, head.item_kind
        keeps = decoder is bytes
        if not head.is_typed:
            return (lambda item: decoder(bytes(item))) if keeps else _untyped
        if kind == METADATA_KIND or not (keeps or _reads_messages(decoder)):
            return lambda item: decoder(metadata_json(api_version, kind, bytes(item)))
        return lambda item: decoder(wrap(api_version, kind, item))

    def is_typed(self, item: Piece) -> bool:
        """Never: the list alone says it."""
        return False


def _reads_messages(decoder: ObjectDecoder[Any]) -> bool:
    return PROTOBUF in reads_of(decoder)


def _untyped(item: Piece) -> NoReturn:
    raise MalformedObject("an item of a list that does not say what it is")


PROTOBUF_CODEC = ProtobufCodec()
_METADATA_CODEC = ProtobufCodec(only_metadata=True)
