"""Metadata in protobuf to the JSON that a server would have sent; and lists' and Statuses'."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

import msgspec

from listwatch.api import (
    ListMeta,
    MalformedObject,
    ObjectMeta,
    PartialObjectMetadata,
    Status,
    StatusCause,
    StatusDetails,
)

from .errors import quote
from .protobuf_messages import OBJECT, STATUS, parse, prose, text

__all__ = ["list_meta", "metadata_json", "metadata_of", "status_of"]

_NULL = b"null"
_EPOCH = datetime(1970, 1, 1)
_NO_TIME = -62_135_596_800
"""Seconds at the beginning of the year 1, which Go takes for no time at all."""

_ESCAPED = (
    (b"<", rb"\u003c"),
    (b">", rb"\u003e"),
    (b"&", rb"\u0026"),
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
)
"""What Go escapes and msgspec does not. All of it can be in texts only."""
_IN_ASCII = 3
"""How many of these are ASCII."""


class _AnyObject(msgspec.Struct):
    """Any JSON object: all of it is passed over."""


_skip = msgspec.json.Decoder(_AnyObject).decode
_encode = msgspec.json.Encoder().encode


def metadata_json(api_version: str, kind: str, message: bytes) -> bytes:
    """The JSON of an object of which only the metadata is known, as the server writes it: the same
    members in the same order, the same ones omitted, the same escapes.

    `message` is one of any type: in Kubernetes, all have their metadata in field 1. Raises
    `MalformedObject`.
    """
    meta = _metadata(parse(OBJECT, message, "an object").metadata)
    front = [
        b'"%b":%b,' % (name, _encode(value))
        for name, value in ((b"kind", kind), (b"apiVersion", api_version))
        if value
    ]
    json = b'{%b"metadata":%b}' % (b"".join(front), meta)
    for sign, escaped in _ESCAPED[:_IN_ASCII] if json.isascii() else _ESCAPED:
        if sign in json:
            json = json.replace(sign, escaped)
    return json


def metadata_of(message: bytes) -> ObjectMeta:
    """The metadata of an object of any type. Raises `MalformedObject`."""
    return PartialObjectMetadata.from_bytes(metadata_json("", "", message)).metadata


def list_meta(found: Any) -> ListMeta:
    """The metadata of a list or a Status."""
    counted = found.HasField("remaining_item_count")
    return ListMeta(
        resource_version=prose(found.resource_version),
        continue_=prose(found.continue_),
        remaining_item_count=found.remaining_item_count if counted else None,
        self_link=prose(found.self_link),
    )


def status_of(api_version: str, kind: str, message: bytes) -> Status:
    """The Status in such a message. Raises `MalformedObject`."""
    if kind != "Status":
        raise MalformedObject(f"this is no Status but a {kind or 'thing without kind'}")
    found = parse(STATUS, message, "the Status")
    details = found.details
    return Status(
        api_version=api_version,
        metadata=list_meta(found.metadata),
        status=prose(found.status),
        message=prose(found.message),
        reason=prose(found.reason),
        details=StatusDetails(
            name=prose(details.name),
            group=prose(details.group),
            kind=prose(details.kind),
            uid=prose(details.uid),
            causes=tuple(
                StatusCause(prose(cause.reason), prose(cause.message), prose(cause.field))
                for cause in details.causes
            ),
            retry_after_seconds=details.retry_after_seconds,
        ),
        code=found.code,
    )


def _metadata(meta: Any) -> bytes:
    """Written out, as the others: a table of the members costs half as much again."""
    has = meta.HasField
    members: list[bytes] = []
    add = members.append
    if value := meta.name:
        add(b'"name":' + _name(value))
    if value := meta.generate_name:
        add(b'"generateName":' + _text(value))
    if value := meta.namespace:
        add(b'"namespace":' + _name(value))
    if value := meta.self_link:
        add(b'"selfLink":' + _text(value))
    if value := meta.uid:
        add(b'"uid":' + _name(value))
    if value := meta.resource_version:
        add(b'"resourceVersion":' + _name(value))
    if value := meta.generation:
        add(b'"generation":%d' % value)
    if (value := _time(meta.creation_timestamp)) != _NULL:
        add(b'"creationTimestamp":' + value)
    if has("deletion_timestamp"):
        add(b'"deletionTimestamp":' + _time(meta.deletion_timestamp))
    if has("deletion_grace_period_seconds"):
        add(b'"deletionGracePeriodSeconds":%d' % meta.deletion_grace_period_seconds)
    if value := meta.labels:
        add(b'"labels":' + _texts(value))
    if value := meta.annotations:
        add(b'"annotations":' + _texts(value))
    if value := meta.owner_references:
        add(b'"ownerReferences":[%b]' % b",".join([_owner(each) for each in value]))
    if value := meta.finalizers:
        add(b'"finalizers":[%b]' % b",".join([_text(each) for each in value]))
    if value := meta.managed_fields:
        add(b'"managedFields":[%b]' % b",".join([_managed(each) for each in value]))
    return b"{%b}" % b",".join(members)


def _owner(owner: Any) -> bytes:
    members = [
        # These are never omitted.
        b'"apiVersion":' + _text(owner.api_version),
        b'"kind":' + _text(owner.kind),
        b'"name":' + _text(owner.name),
        b'"uid":' + _text(owner.uid),
    ]
    if owner.HasField("controller"):
        members.append(b'"controller":' + _encode(owner.controller))
    if owner.HasField("block_owner_deletion"):
        members.append(b'"blockOwnerDeletion":' + _encode(owner.block_owner_deletion))
    return b"{%b}" % b",".join(members)


def _managed(entry: Any) -> bytes:
    members: list[bytes] = []
    add = members.append
    if value := entry.manager:
        add(b'"manager":' + _text(value))
    if value := entry.operation:
        add(b'"operation":' + _text(value))
    if value := entry.api_version:
        add(b'"apiVersion":' + _text(value))
    if entry.HasField("time"):
        add(b'"time":' + _time(entry.time))
    if value := entry.fields_type:
        add(b'"fieldsType":' + _text(value))
    if entry.HasField("fields_v1"):
        add(b'"fieldsV1":' + _fields(entry.fields_v1.raw))
    if value := entry.subresource:
        add(b'"subresource":' + _text(value))
    return b"{%b}" % b",".join(members)


def _fields(raw: bytes) -> bytes:
    """A set of fields, which is JSON in protobuf, too."""
    if not raw:
        return _NULL
    try:
        _skip(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"managedFields that are no JSON: {quote(raw)}") from error
    return raw


def _name(value: bytes) -> bytes:
    return _encode(text(value))


@lru_cache(maxsize=4096)
def _text(value: bytes) -> bytes:
    """Thousands of objects share most of these."""
    return _encode(prose(value))


def _texts(entries: Iterable[Any]) -> bytes:
    """A mapping, in the order of its keys."""
    found = {prose(entry.key): prose(entry.value) for entry in entries}
    return _encode(dict(sorted(found.items())))


def _time(found: Any) -> bytes:
    """A time to the second, as in JSON; null for an empty message."""
    seconds = found.seconds
    if seconds == 0 and not found.HasField("seconds") and not found.HasField("nanos"):
        return _NULL
    return _written(seconds)


@lru_cache(maxsize=4096)
def _written(seconds: int) -> bytes:
    if seconds == _NO_TIME:
        return _NULL
    try:
        return b'"%bZ"' % (_EPOCH + timedelta(seconds=seconds)).isoformat().encode()
    except OverflowError as error:
        raise MalformedObject(f"a time of {seconds} s after 1970, in no year") from error
