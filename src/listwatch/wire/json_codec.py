"""The API in JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import msgspec

from listwatch.api import (
    EventType,
    ListMeta,
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    Unstructured,
    error_for_status,
    with_type_meta,
)

from .codec import Envelope, ListHead
from .decoders import ObjectDecoder, reads_all, reads_of, takes_type_meta
from .errors import EnvelopeError, ListDecodeError, quote
from .json_framer import JSONFramer
from .json_list import JSONListFramer
from .list_framer import Piece
from .media import JSON

__all__ = ["JSON_CODEC", "JSONCodec"]


T = TypeVar("T")


class _Object(msgspec.Struct):
    """Any object: all of it is passed over."""


class _Envelope(msgspec.Struct):
    type: str = ""
    object: msgspec.Raw = msgspec.Raw()


class _Named(msgspec.Struct):
    kind: str | None = None
    status: Any = None


class _List(msgspec.Struct, rename="camel"):
    kind: str | None = None
    api_version: str | None = None
    metadata: ListMeta | None = None
    items: list[msgspec.Raw] | None = None


class _BookmarkMeta(msgspec.Struct, rename="camel"):
    resource_version: str | None = None
    annotations: dict[str, str | None] | None = None


class _Bookmark(msgspec.Struct, rename="camel"):
    kind: str | None = None
    api_version: str | None = None
    metadata: _BookmarkMeta | None = None


_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_list = msgspec.json.Decoder(_List).decode
_decode_bookmark = msgspec.json.Decoder(_Bookmark).decode
_decode_named = msgspec.json.Decoder(_Named).decode
_decode_status = msgspec.json.Decoder(Status).decode
_skip = msgspec.json.Decoder(_Object).decode

# How items begin that say what they are.
_NAMED = rb'"(?:apiVersion|kind)"\s*:\s*"[^"\\]+"\s*'
_TYPED = re.compile(rb"\{\s*" + _NAMED + b"," + rb"\s*" + _NAMED)


class JSONCodec:
    """Reads JSON. Its envelope decoder keeps the object raw, its list decoder the items, so that
    nothing is decoded twice (D1).
    """

    media_type = JSON
    media_types = frozenset({JSON})
    usual_beginnings = tuple(
        (b'{"type":"%s","object":{' % kind.encode(), kind)
        for kind in (
            EventType.MODIFIED,
            EventType.ADDED,
            EventType.DELETED,
        )  # by how often they come
    )
    usual_end = b"}}"

    def framer(self) -> JSONFramer:
        return JSONFramer()

    def decode_envelope(self, frame: bytes) -> Envelope:
        try:
            envelope = _decode_envelope(frame)
        except msgspec.ValidationError as error:
            raise EnvelopeError(f"not a watch event: {error}: {quote(frame)}") from error
        except msgspec.DecodeError as error:
            raise EnvelopeError(f"not JSON: {error}: {quote(frame)}", malformed=True) from error
        except RecursionError as error:
            raise EnvelopeError(f"an event that is nested too deep: {quote(frame)}") from error
        # A copy, since a Raw keeps the whole frame alive, and the object's bytes may be kept for
        # long.
        return Envelope(envelope.type, bytes(envelope.object))

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        try:
            found = _decode_bookmark(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise EnvelopeError(f"a bookmark that cannot be read: {error}: {quote(raw)}") from error
        meta = found.metadata or _BookmarkMeta()
        annotations = {name: value or "" for name, value in (meta.annotations or {}).items()}
        return PartialObjectMetadata(
            api_version=found.api_version or "",
            kind=found.kind or "",
            metadata=ObjectMeta(
                resource_version=meta.resource_version or "", annotations=annotations
            ),
        )

    def decode_status(self, raw: bytes) -> Status:
        try:
            named = _decode_named(raw)
            if named.kind == "Status" or named.status == "Failure":
                return _decode_status(raw)
        except (msgspec.DecodeError, RecursionError):
            pass  # said below, with the bytes
        return Status(
            status="Failure",
            code=500,
            reason="InternalError",
            message=f"an ERROR event whose object is no Status: {quote(raw)}",
        )

    def serves(self, decoder: ObjectDecoder[Any], form: str) -> bool:
        """Every decoder that reads JSON, whatever the form."""
        return JSON in reads_of(decoder)

    def object_bytes(self, body: bytes) -> bytes:
        return body

    def list_framer(self) -> JSONListFramer:
        return JSONListFramer()

    def decode_list(self, outside: bytes) -> ListHead:
        try:
            found = _decode_list(outside)
        except msgspec.DecodeError as error:
            raise ListDecodeError(
                f"the server's answer is no list: {error}: {quote(outside)}"
            ) from error
        except RecursionError as error:
            raise ListDecodeError(f"a list that is nested too deep: {quote(outside)}") from error
        kind = found.kind or ""
        if kind == "Status":
            raise error_for_status(self.decode_status(outside))
        if kind == "Table":
            raise ListDecodeError(
                "the server sent a Table where objects were expected: do not ask for as=Table here"
            )
        if not kind.endswith("List") and (kind or found.items is None):
            what = f"a {kind}" if kind else "an object without items"
            raise ListDecodeError(
                f"the server sent {what} where a list was expected: {quote(outside)}"
            )
        return ListHead(found.api_version or "", kind, found.metadata or ListMeta())

    def item_decoder(self, decoder: ObjectDecoder[T], head: ListHead) -> Callable[[Piece], T]:
        api_version, kind = head.api_version, head.item_kind
        if takes_type_meta(decoder):
            told: Callable[..., T] = decoder
            return partial(told, api_version=api_version, kind=kind)
        sound = reads_all(decoder)

        def decode(item: Piece) -> T:
            if not sound:
                _check(item)
            return decoder(with_type_meta(item, api_version, kind))

        return decode

    def is_typed(self, item: Piece) -> bool:
        if _TYPED.match(item):
            return True
        found = Unstructured.from_bytes(item)
        return bool(found.api_version and found.kind)


def _check(item: Piece) -> None:
    try:
        _skip(item)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error


JSON_CODEC = JSONCodec()
