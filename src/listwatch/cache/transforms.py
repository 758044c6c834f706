"""Transforms: what is cut from an object's bytes before anybody decodes or keeps it (I4).

A transform gets the JSON of one whole object and returns JSON of it. It is part of the decoder, so
that it runs once, on the way in, whatever the way; but it may see its own output, as when an
object that was read here is written back, so doing it twice must do no more than doing it once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import msgspec
from msgspec import Raw, Struct, field

from listwatch.api import MalformedObject
from listwatch.wire import ObjectDecoder

__all__ = [
    "Transform",
    "drop_annotations",
    "drop_managed_fields",
    "keep_metadata",
    "transformed",
]

T = TypeVar("T")

Transform: TypeAlias = Callable[[bytes], bytes]
"""A whole object's JSON in, JSON out. What it raises counts as the decoder's error (D6)."""

_MANAGED_FIELDS = b'"managedFields"'
_KEPT = ("kind", "apiVersion", "metadata")


class _Managed(Struct, gc=False):
    managed_fields: Raw = field(default=Raw(), name="managedFields")


class _Owner(Struct, gc=False):
    metadata: _Managed | None = None


_decode_managed = msgspec.json.Decoder(_Owner).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode


def transformed(decoder: ObjectDecoder[T], *transforms: Transform) -> ObjectDecoder[T]:
    """`decoder`, with `transforms` before it, in their order.

    >>> from listwatch.wire import decode_dict
    >>> transformed(decode_dict, keep_metadata)(b'{"metadata":{"name":"web-0"},"spec":{}}')
    {'metadata': {'name': 'web-0'}}
    """
    if not transforms:
        return decoder

    def decode(raw: bytes) -> T:
        for transform in transforms:
            raw = transform(raw)
        return decoder(raw)

    return decode


def drop_managed_fields(raw: bytes) -> bytes:
    """Without `metadata.managedFields`: who wrote which field, a third of many an object.

    Raises `MalformedObject`, as all of these do, where `raw` is no JSON object.
    """
    # Servers write names without escapes, so what is not in the bytes is not in the object.
    start = raw.find(_MANAGED_FIELDS)
    if start < 0:
        return raw
    if raw.find(_MANAGED_FIELDS, start + 1) < 0:
        cut = _without_member(raw, start)
        if cut is not None:
            return cut
    members = _members(raw)
    metadata = _object(members, "metadata")
    if metadata.pop("managedFields", None) is None:
        return raw
    members["metadata"] = Raw(_encode(metadata))
    return _encode(members)


def _without_member(raw: bytes, start: int) -> bytes | None:
    """`raw` without the managedFields at `start`, which are the only ones in it, cut out where they
    stand: twice as fast as taking the object apart. None where the bytes are not as servers write
    them.
    """
    try:
        metadata = _decode_managed(raw).metadata
    except (msgspec.DecodeError, RecursionError):
        return None  # the general way says what is wrong
    value = bytes(metadata.managed_fields) if metadata is not None else b""
    if not value:
        return raw  # they are somebody's who is not the object itself
    end = start + len(_MANAGED_FIELDS) + 1
    if not raw.startswith(value, end):
        return None
    end += len(value)
    before, after = raw[start - 1 : start], raw[end : end + 1]
    if before == b",":
        start -= 1
    elif after == b",":
        end += 1
    elif (before, after) != (b"{", b"}"):
        return None
    return raw[:start] + raw[end:]


def drop_annotations(*names: str) -> Transform:
    """Without the annotations of these names, such as
    `kubectl.kubernetes.io/last-applied-configuration`, which repeats the object.
    """
    needles = [_encode(name) for name in names]

    def transform(raw: bytes) -> bytes:
        if not any(needle in raw for needle in needles):
            return raw
        members = _members(raw)
        metadata = _object(members, "metadata")
        annotations = _object(metadata, "annotations")
        left = {name: value for name, value in annotations.items() if name not in names}
        if len(left) == len(annotations):
            return raw
        if left:
            metadata["annotations"] = Raw(_encode(left))
        else:
            del metadata["annotations"]
        members["metadata"] = Raw(_encode(metadata))
        return _encode(members)

    return transform


def keep_metadata(raw: bytes) -> bytes:
    """Kind, apiVersion and metadata only. Where nothing else is wanted of a whole type, asking the
    server for no more (`PartialObjectMetadata`) saves its work, too.
    """
    members = _members(raw)
    kept = {name: members[name] for name in _KEPT if name in members}
    return raw if len(kept) == len(members) else _encode(kept)


def _encode(value: object) -> bytes:
    # What msgspec gives is up to twice as large in memory as it is long, and this is kept.
    return bytes(memoryview(msgspec.json.encode(value)))


def _members(raw: bytes | Raw) -> dict[str, Raw]:
    try:
        return _decode_members(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error


def _object(members: dict[str, Raw], name: str) -> dict[str, Raw]:
    """The members of a member; none where it is absent, null, or no object: what reads it after us
    says so.
    """
    raw = members.get(name)
    return {} if raw is None or bytes(memoryview(raw)[:1]) != b"{" else _members(raw)
