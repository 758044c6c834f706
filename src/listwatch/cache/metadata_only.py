"""Metadata only: of each object nothing but its metadata is asked for, and kept (B9)."""

from __future__ import annotations

from functools import lru_cache
from sys import intern
from typing import TypeAlias

import msgspec
from msgspec import Raw, Struct, field

from listwatch.api import (
    APIResource,
    GroupVersionResource,
    MalformedObject,
    Unstructured,
    join_key,
)
from listwatch.api._front import front_of
from listwatch.api._lenient import JSONBytes

from ._compression import Algorithm, compression
from ._cuts import Cuts, Names
from ._packed import Packed
from ._packer import Packer

__all__ = ["CompactMetadataObject", "MetadataObject", "MetadataOnly", "metadata_only"]

_PARTIAL = "PartialObjectMetadata"


class _Outer(Struct, gc=False):
    kind: str | None = None
    api_version: str | None = field(default=None, name="apiVersion")
    metadata: Raw = Raw(b"{}")


_decode_outer = msgspec.json.Decoder(_Outer).decode
_decode_names = msgspec.json.Decoder(Names | None).decode
_decode_named = msgspec.json.Decoder(Names).decode
_NO_NAMES = Names()
_without_managed_fields = Cuts(managed_fields=True)
_MEMBER = b',"managedFields":['


class MetadataObject(Unstructured, frozen=True, eq=False, gc=False):
    """An object of which the metadata is known, and nothing else: what `metadata_only` makes.

    It has kind, apiVersion and metadata only, and equals the `Unstructured` of the same identity.
    To change an object of which no more is known, patch it: to replace it by this would take all
    else from it.
    """


class CompactMetadataObject(Packed, frozen=True, eq=False, gc=False):
    """The same compressed: what `metadata_only(compact=True)` makes. It pickles as the
    `Unstructured` that it equals.
    """


Kept: TypeAlias = MetadataObject | CompactMetadataObject


class MetadataOnly:
    """The decoder that `metadata_only` makes. Two of the same arguments are equal."""

    __slots__ = ("_api_version", "_kind", "_packer", "compact", "managed_fields")

    reads_all = True
    takes_type_meta = True
    identifies = True
    asks_for = _PARTIAL

    def __init__(
        self,
        *,
        managed_fields: bool = False,
        compact: bool | Algorithm = False,
        api_version: str = "",
        kind: str = "",
    ) -> None:
        self.managed_fields = managed_fields
        self.compact = compact
        self._api_version = api_version
        self._kind = kind
        algorithm = None if isinstance(compact, bool) else compact
        self._packer: Packer[CompactMetadataObject] | None = None
        if compact:
            self._packer = Packer(CompactMetadataObject, compression(algorithm), _around)

    def of(self, resource: APIResource | GroupVersionResource) -> MetadataOnly:
        """The same for one resource: its objects have its kind, whatever the server calls them, and
        others are refused. (A `GroupVersionResource` does not say the kind.)
        """
        if not isinstance(resource, APIResource):
            return self
        return MetadataOnly(
            managed_fields=self.managed_fields,
            compact=self.compact,
            api_version=resource.api_version,
            kind=resource.kind,
        )

    def __call__(self, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> Kept:
        """Decode one object. Raises `MalformedObject`."""
        try:
            outer = _decode_outer(raw)
            metadata, names = self._metadata(bytes(outer.metadata))
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this is no Kubernetes object: {error}") from error
        kind, api_version = outer.kind or kind, outer.api_version or api_version
        if not self._takes(kind):
            raise MalformedObject(f"it is a {kind}, where a {self._kind} was expected")
        return self._kept(kind, api_version, metadata, names)

    def from_front(self, raw: bytes) -> Kept | None:
        """The same by a look at the front only, and at managedFields' end: for bytes that are known
        to be one JSON object, as the server writes metadata alone. None for others.
        """
        front = front_of(raw)
        end = len(raw) - 3
        if self.managed_fields or front is None or not raw.startswith(b"]}}", end):
            return None
        start = raw.find(_MEMBER, front.end() - 1)  # which has matched a comma
        if start < 0 or raw.find(b"]", start) != end:
            return None
        metadata = raw[front.start(3) - len(b'{"name":"') : start] + b"}"
        try:
            # What is cut out by a guess is metadata, if it is JSON.
            names = _decode_named(metadata)
        except msgspec.DecodeError:
            return None
        if bytes(names.managed_fields):
            return None
        kind, api_version = (text.decode() for text in front.group(1, 2))
        return self._kept(kind, api_version, metadata, names) if self._takes(kind) else None

    def _takes(self, kind: str) -> bool:
        return not self._kind or kind in ("", _PARTIAL, self._kind)

    def _kept(self, kind: str, api_version: str, metadata: bytes, names: Names) -> Kept:
        if self._kind:
            kind, api_version = self._kind, self._api_version
        namespace, name = names.namespace or "", names.name or ""
        uid, version = names.uid or "", names.resource_version or ""
        if self._packer is not None:
            return self._packer.pack(api_version, kind, namespace, name, uid, version, metadata)
        before, after = _around(api_version, kind)
        return MetadataObject(
            b"".join((before, metadata, after)),
            intern(api_version),
            intern(kind),
            join_key(namespace, name),
            intern(namespace),
            uid,
            version,
        )

    def _metadata(self, metadata: bytes) -> tuple[bytes, Names]:
        """The metadata as it is kept, and what is read of it at once."""
        if self.managed_fields:
            return metadata, _decode_names(metadata) or _NO_NAMES
        start = metadata.find(_MEMBER)
        if start < 0:
            names = _decode_names(metadata) or _NO_NAMES
            if not bytes(names.managed_fields):
                return metadata, names
        # In the order of typed objects they come last: their closing bracket is the only one then.
        elif metadata.endswith(b"]}") and metadata.find(b"]", start) == len(metadata) - 2:
            left = metadata[:start] + b"}"
            names = _decode_named(left)
            if not bytes(names.managed_fields):
                return left, names
        cut, head = _without_managed_fields.look(b'{"metadata":%b}' % metadata)
        return bytes(_decode_outer(cut).metadata), head.metadata or _NO_NAMES

    def _arguments(self) -> tuple[object, ...]:
        return (MetadataOnly, self.managed_fields, self.compact, self._api_version, self._kind)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MetadataOnly):
            return NotImplemented
        return self._arguments() == other._arguments()

    def __hash__(self) -> int:
        return hash(self._arguments())

    def __repr__(self) -> str:
        given = [
            f"{name}={value!r}"
            for name, value in (
                ("managed_fields", self.managed_fields),
                ("compact", self.compact),
            )
            if value
        ]
        return f"metadata_only({', '.join(given)})"


@lru_cache(maxsize=1024)
def _around(api_version: str, kind: str) -> tuple[bytes, bytes]:
    named = {"kind": kind, "apiVersion": api_version}
    front = b"".join(
        b'"%b":%b,' % (name.encode(), msgspec.json.encode(text))
        for name, text in named.items()
        if text
    )
    return b'{%b"metadata":' % front, b"}"


def metadata_only(
    *, managed_fields: bool = False, compact: bool | Algorithm = False
) -> MetadataOnly:
    """A decoder that asks the server for metadata alone, and keeps that, as `MetadataObject`.

    A client's `watch`, `mirror` and `informer`, and `ListWatch.from_client`, ask for
    `PartialObjectMetadata`, which costs the server and the network less, too. A server that does
    not know it sends whole objects, of which spec and status are dropped on the way in.

    managedFields, two thirds of the metadata, are dropped as well, unless `managed_fields` is set.
    With `compact` it is kept compressed, as by `compact()` (`CompactMetadataObject`), and takes
    half, or less.

    >>> keep = metadata_only()
    >>> pod = keep(b'{"kind":"Pod","metadata":{"name":"a","labels":{"app":"x"}},"spec":{}}')
    >>> pod, pod.metadata.labels["app"], list(pod)
    (<Pod a rv=(none)>, 'x', ['kind', 'metadata'])
    """
    return MetadataOnly(managed_fields=managed_fields, compact=compact)
