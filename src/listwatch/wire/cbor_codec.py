"""The API in CBOR. Needs the extra `listwatch[cbor]`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import Any, TypeVar

import cbor2
import msgspec

from listwatch.api import EventType, MalformedObject, PartialObjectMetadata, Status

from .cbor_framer import CBORFramer
from .cbor_heads import (
    BREAK,
    INDEFINITE,
    MAP,
    NOWHERE,
    TAG,
    BadItem,
    argument_of,
    head_size,
)
from .cbor_list import CBORListFramer
from .cbor_plain import plain, text_of
from .cbor_scanner import ItemScanner
from .codec import Envelope, ListHead
from .decoders import ObjectDecoder, reads_of
from .errors import EnvelopeError, ListDecodeError, quote
from .json_codec import JSON_CODEC
from .list_framer import Piece
from .media import CBOR, CBOR_SEQUENCE, JSON

__all__ = ["CBOR_CODEC", "CBORCodec"]

T = TypeVar("T")

# kube-apiserver writes the members of a map in another order each time: in one order, what is the
# same is so byte for byte, as stores want it.
_in_order = msgspec.json.Encoder().encode
_encode = msgspec.json.Encoder(order="deterministic").encode


class CBORCodec:
    """Reads CBOR for decoders that read JSON: each object is translated once, and whole.

    Kubernetes means the same by both (`k8s.io/apimachinery`, serializer/cbor): text is in byte
    strings, a byte string under tag 22 is its base64, integers and floats stay what they are. What
    JSON has no word for is refused, as that serializer does: NaN and infinity, `undefined` and the
    like, names that are no text or come twice, text that is no UTF-8; and so are more than 256
    lists and maps within each other.

    Decoders that read CBOR only are not served: nothing would be left to do for them here.
    """

    media_type = CBOR
    media_types = frozenset({CBOR, CBOR_SEQUENCE})
    usual_beginnings: Sequence[tuple[bytes, EventType]] = ()
    """None: what is between an object and its frame's ends would still have to be translated."""
    usual_end = b""

    def serves(self, decoder: ObjectDecoder[Any], form: str) -> bool:
        """Every decoder that reads JSON, of whole objects and their metadata: no server writes a
        Table in CBOR.
        """
        return JSON in reads_of(decoder) and form != "Table"

    def framer(self) -> CBORFramer:
        return CBORFramer()

    def decode_envelope(self, frame: bytes) -> Envelope:
        """The object comes out as JSON, as it does wherever this codec gives bytes."""
        try:
            event = _value(frame)
        except BadItem as error:
            raise EnvelopeError(f"not an event in CBOR: {error}: {quote(frame)}") from error
        kind = event.get("type", "") if isinstance(event, dict) else None
        if not isinstance(kind, str):
            raise EnvelopeError(f"not a watch event: {quote(frame)}")
        try:
            return Envelope(kind, _json(event["object"]) if "object" in event else b"")
        except BadItem as error:
            raise EnvelopeError(f"not an event in CBOR: {error}: {quote(frame)}") from error

    def decode_bookmark(self, raw: bytes) -> PartialObjectMetadata:
        return JSON_CODEC.decode_bookmark(raw)

    def decode_status(self, raw: bytes) -> Status:
        """Of an event's object, or of the body of an answer."""
        with suppress(MalformedObject):  # said by what follows, with the bytes
            raw = _object_in_json(raw)
        return JSON_CODEC.decode_status(raw)

    def object_bytes(self, body: bytes) -> bytes:
        return _object(body)

    def list_framer(self) -> CBORListFramer:
        return CBORListFramer()

    def decode_list(self, outside: bytes) -> ListHead:
        try:
            return JSON_CODEC.decode_list(_json(_value(outside)))
        except BadItem as error:
            raise ListDecodeError(
                f"the server's answer is no list: {error}: {quote(outside)}"
            ) from error

    def item_decoder(self, decoder: ObjectDecoder[T], head: ListHead) -> Callable[[Piece], T]:
        decode = JSON_CODEC.item_decoder(decoder, head)
        return lambda item: decode(_object_in_json(item))

    def names_of(self, item: Piece) -> bytes:
        """What can be told in JSON of an item that cannot: what it is, and its metadata. The item
        itself where not even that can be.
        """
        try:
            found = _names(bytes(item))
            return _json(found) if "metadata" in found else bytes(item)
        except BadItem:
            return bytes(item)

    def is_typed(self, item: Piece) -> bool:
        return JSON_CODEC.is_typed(_object(item))


def _object_in_json(raw: Piece) -> bytes:
    """An object that may have come through here before, as those do that a list holds back (D7).
    Raises `MalformedObject`.
    """
    return bytes(raw) if raw[:1] == b"{" else _object(raw)  # no map in CBOR begins so


def _object(item: Piece) -> bytes:
    try:
        return _json(_value(item))
    except BadItem as error:
        raise MalformedObject(
            f"this is no Kubernetes object in CBOR: {error}: {quote(bytes(item[:100]))}"
        ) from error


def _names(item: bytes) -> dict[str, Any]:
    position, scan, found = 0, ItemScanner().scan, {}
    while item[position] >> 5 == TAG:
        position += head_size(item[position])
    lead = item[position]
    if lead >> 5 != MAP:
        raise BadItem(position, "expected a map")
    end = position + head_size(lead)
    left = inf if lead & 31 == INDEFINITE else argument_of(item, position, end)
    while left and item[end] != BREAK:
        key, end = end, scan(item, end)
        value, end = end, scan(item, end)
        name = text_of(item[key:value])
        if name in (b"kind", b"apiVersion", b"metadata"):
            found[name.decode()] = _value(item[value:end])
        left -= 1
    return found


def _value(item: Piece) -> Any:
    """Raises `BadItem` for what is not exactly one data item that says what JSON can."""
    made = plain(item)
    try:
        value = cbor2.loads(made.item)
        members = _members_in(value)
    except (cbor2.CBORDecodeError, ValueError, TypeError, RecursionError) as error:
        raise BadItem(NOWHERE, f"{error.__cause__ or error}") from error
    if members != made.members:
        raise BadItem(NOWHERE, "two members of one name")
    return value


def _members_in(value: object) -> int:
    """How many members there are in all maps together. Raises `TypeError` for a name that is no
    text, since JSON would have to write it in another way.
    """
    number = 0
    todo = [value]
    for each in todo:  # it grows
        if type(each) is dict:
            number += len(each)
            try:
                "".join(each)
            except TypeError:
                raise TypeError("a name that is no text") from None
            todo += each.values()
        elif type(each) is list:
            todo += each
    return number


def _json(value: Any) -> bytes:
    """In the order of the names, but for kind and apiVersion: in front, as where they are put in
    front of the items of a list (D7).
    """
    try:
        if type(value) is not dict:
            return _encode(value)
        front = {name: value[name] for name in ("kind", "apiVersion") if name in value}
        rest = {name: value[name] for name in value if name not in front}
        if not front or not rest:
            return _in_order(front) if front else _encode(rest)
        return b"%b,%b" % (_in_order(front)[:-1], _encode(rest)[1:])
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise BadItem(NOWHERE, f"a value that JSON cannot say ({error})") from error


CBOR_CODEC = CBORCodec()
