"""The API in JSON."""

from __future__ import annotations

from typing import Any

import msgspec

from listwatch.api import (
    ListMeta,
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    error_for_status,
    with_type_meta,
)

from .codec import Envelope, RawList
from .decoders import object_decode_error
from .errors import EnvelopeError, ListDecodeError, ObjectDecodeError, quote
from .json_framer import JSONFramer
from .media import JSON

__all__ = ["JSON_CODEC", "JSONCodec"]


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


class JSONCodec:
    """Reads JSON. Its envelope decoder keeps the object raw, its list decoder the items, so that
    nothing is decoded twice (D1).
    """

    media_type = JSON
    media_types = frozenset({JSON})

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

    def decode_list(self, body: bytes) -> RawList:
        if not body or body.isspace():
            raise ListDecodeError("the server sent an empty body where a list was expected")
        try:
            found = _decode_list(body)
        except msgspec.DecodeError as error:
            raise ListDecodeError(
                f"the server's answer is no list: {error}: {quote(body)}"
            ) from error
        except RecursionError as error:
            raise ListDecodeError(f"a list that is nested too deep: {quote(body)}") from error
        kind, api_version = found.kind or "", found.api_version or ""
        if kind == "Status":
            raise error_for_status(self.decode_status(body))
        if kind == "Table":
            raise ListDecodeError(
                "the server sent a Table where objects were expected: do not ask for as=Table here"
            )
        if not kind.endswith("List") and (kind or found.items is None):
            what = f"a {kind}" if kind else "an object without items"
            raise ListDecodeError(
                f"the server sent {what} where a list was expected: {quote(body)}"
            )
        item_kind = kind.removesuffix("List")
        items = [_whole(item, api_version, item_kind) for item in found.items or ()]
        return RawList(api_version, kind, found.metadata or ListMeta(), items)


def _whole(item: msgspec.Raw, api_version: str, kind: str) -> bytes | ObjectDecodeError:
    try:
        return with_type_meta(item, api_version, kind)
    except MalformedObject as error:
        return object_decode_error(bytes(item), error)


JSON_CODEC = JSONCodec()
