"""Cuts: managedFields and annotations taken out of an object's bytes where they stand.

A member is found by its name, its value replaced by a mark, and what that makes is decoded for what
routing needs: if the mark is then what the object's own metadata has under that name, the place was
the right one, and the bytes around it are JSON. So one look through the bytes, less what was
dropped, is finding, check and routing in one. Bytes that leave a doubt, since they are laid out as
no server does it, are taken apart and put together again: slower, and right whatever the layout.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, field

from listwatch.api import MalformedObject
from listwatch.api.type_meta import Head

__all__ = ["Cuts", "Routing", "encoded", "members_of"]

_NOTHING = Raw()


class Names(Struct, gc=False):
    """What a cut must see of metadata, and what routing must."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = field(default=None, name="resourceVersion")
    annotations: Raw = _NOTHING
    managed_fields: Raw = field(default=_NOTHING, name="managedFields")


class Routing(Struct, gc=False):
    kind: Head = UNSET
    api_version: Head = field(default=UNSET, name="apiVersion")
    metadata: Names | None = None


_decode = msgspec.json.Decoder(Routing).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode

_MARK = b"-7.31e-64"
"""A value that is nowhere else."""
_NEAR = 16 * 1024
"""Bytes from the beginning in which managedFields are looked for before the first decoding. Who has
none should not pay for a search through a large object.
"""
_usual = b'"managedFields":['
_managed_fields = re.compile(rb'"managedFields"[ \t\r\n]*:[ \t\r\n]*\[').search
_annotations = re.compile(rb'"annotations"[ \t\r\n]*:[ \t\r\n]*\{').search
_spelled_letter = re.compile(rb"\\u00[4-7]").search
_WHITESPACE = b" \t\r\n"


class Cuts:
    """A transform that takes `metadata.managedFields` out, or named annotations, or both; and the
    annotations altogether where none is left.

    Two of the same are equal. Raises `MalformedObject` where the bytes are no JSON object. What is
    dropped is not looked at.
    """

    __slots__ = ("annotations", "managed_fields")

    def __init__(self, *, managed_fields: bool = False, annotations: frozenset[str] = frozenset()):
        self.managed_fields = managed_fields
        self.annotations = annotations

    def __or__(self, other: Cuts) -> Cuts:
        """Both at once."""
        return Cuts(
            managed_fields=self.managed_fields or other.managed_fields,
            annotations=self.annotations | other.annotations,
        )

    def __call__(self, raw: bytes) -> bytes:
        try:
            found = self._cut(raw)
        except (msgspec.DecodeError, RecursionError):
            found = None  # not a matter of layout, but to be said by whoever reads it after us
        return self._apart(raw) if found is None else found[0]

    def look(self, raw: bytes) -> tuple[bytes, Routing]:
        """The bytes that are left, and what routing needs. Raises `MalformedObject` where that
        cannot be read.
        """
        try:
            found = self._cut(raw)
            if found is None:
                cut = self._apart(raw)
                found = cut, _decode(cut)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this is no Kubernetes object: {error}") from error
        return found

    def _cut(self, raw: bytes) -> tuple[bytes, Routing] | None:
        left = raw
        if self.managed_fields:
            start = raw.find(_usual, 0, _NEAR)
            found = _without_list(raw, start, start + len(_usual)) if start >= 0 else None
            if found is None:
                head = _decode(raw)
                if head.metadata is not None and bytes(head.metadata.managed_fields):
                    place = _managed_fields(raw)
                    found = _without_list(raw, *place.span()) if place else None
                    if found is None:
                        return None
            if found is not None:
                left, head = found
        else:
            head = _decode(raw)
        if self.annotations and head.metadata is not None:
            there = bytes(head.metadata.annotations)
            if there[:1] == b"{":
                return self._annotated(left, head, there)
        return left, head

    def _annotated(self, raw: bytes, head: Routing, there: bytes) -> tuple[bytes, Routing] | None:
        members = members_of(there)
        kept = {name: value for name, value in members.items() if name not in self.annotations}
        if len(kept) == len(members):
            return raw, head
        place = _annotations(raw)
        if place is None:
            return None
        start, value = place.start(), place.end() - 1
        end = value + len(there)
        if not raw.startswith(there, value) or _is_spelled(raw, start):
            return None
        marked = _decode(raw[:value] + _MARK + raw[end:])
        if marked.metadata is None or bytes(marked.metadata.annotations) != _MARK:
            return None
        if kept:
            return raw[:value] + encoded(kept) + raw[end:], head
        return _without(raw, start, end), head

    def _apart(self, raw: bytes) -> bytes:
        """The general way."""
        members = members_of(raw)
        metadata = _object(members, "metadata")
        before = len(metadata)
        if self.managed_fields:
            metadata.pop("managedFields", None)
        annotations = _object(metadata, "annotations")
        left = {name: text for name, text in annotations.items() if name not in self.annotations}
        if len(left) < len(annotations):
            del metadata["annotations"]
            if left:
                metadata["annotations"] = Raw(encoded(left))
        elif len(metadata) == before:
            return raw
        members["metadata"] = Raw(encoded(metadata))
        return encoded(members)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cuts):
            return NotImplemented
        return (self.managed_fields, self.annotations) == (other.managed_fields, other.annotations)

    def __hash__(self) -> int:
        return hash((self.managed_fields, self.annotations))

    def __repr__(self) -> str:
        names = ["managedFields"] * self.managed_fields + sorted(self.annotations)
        return f"<without {', '.join(names) or 'nothing'}>"


def _without_list(raw: bytes, start: int, inside: int) -> tuple[bytes, Routing] | None:
    """`raw` without the member at `start`, whose list begins before `inside`, and what routing
    needs of it. None where that is not metadata.managedFields.

    managedFields have no list in them, so the next bracket ends them. Where it does not, what is
    left has a bracket too many, or a quote: no JSON, whatever it is.
    """
    end = raw.find(b"]", inside) + 1
    if end == 0 or _is_spelled(raw, start):
        return None
    try:
        head = _decode(raw[: inside - 1] + _MARK + raw[end:])
    except msgspec.DecodeError:
        return None
    if head.metadata is None or bytes(head.metadata.managed_fields) != _MARK:
        return None
    return _without(raw, start, end), head


def _without(raw: bytes, start: int, end: int) -> bytes:
    """`raw` without the member from `start` to `end`, and without its comma."""
    before = start - 1
    while raw[before] in _WHITESPACE:
        before -= 1
    if raw[before] == ord(","):
        return raw[:before] + raw[end:]
    while raw[end] in _WHITESPACE:
        end += 1
    return raw[:start] + raw[end + (raw[end] == ord(",")) :]


def _is_spelled(raw: bytes, end: int) -> bool:
    """Whether a name before `end` may be spelled with escapes, so that no search has found it."""
    return raw.rfind(b"\\u00", 0, end) >= 0 and _spelled_letter(raw, 0, end) is not None


def encoded(value: object) -> bytes:
    # What msgspec gives is up to twice as large in memory as it is long, and this is kept.
    return bytes(memoryview(msgspec.json.encode(value)))


def members_of(raw: bytes | Raw) -> dict[str, Raw]:
    """Raises `MalformedObject`."""
    try:
        return _decode_members(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise MalformedObject(f"this is no Kubernetes object: {error}") from error


def _object(members: dict[str, Raw], name: str) -> dict[str, Any]:
    """The members of a member; none where it is absent, null, or no object."""
    raw = members.get(name)
    return {} if raw is None or bytes(memoryview(raw)[:1]) != b"{" else members_of(raw)
