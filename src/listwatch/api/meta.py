"""ObjectMeta, and PartialObjectMetadata, an object of which only that is known."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec
from msgspec import Raw, Struct, field
from msgspec.structs import force_setattr

from ._lenient import JSONBytes, lenient_decoder
from .faults import MalformedObject
from .frozen import FrozenDict, freeze
from .keys import join_key

__all__ = ["ManagedFieldsEntry", "ObjectMeta", "OwnerReference", "PartialObjectMetadata"]

_EMPTY: FrozenDict[str, str] = FrozenDict()
_NO_FIELDS = Raw()


class OwnerReference(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An object that owns this one: when it goes, this one is garbage."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    """Whether that is the one controller that manages this object."""
    block_owner_deletion: bool | None = None


class ManagedFieldsEntry(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Which fields one manager wrote.

    The field set is large and rarely wanted, so that it is decoded only when `fields_v1` is read.
    """

    manager: str = ""
    operation: str = ""
    """`Apply` or `Update`."""
    api_version: str = ""
    time: datetime | None = None
    fields_type: str = ""
    subresource: str = ""
    raw_fields_v1: Raw = field(default=_NO_FIELDS, name="fieldsV1")
    """The field set as JSON."""

    def __post_init__(self) -> None:
        if self.raw_fields_v1 is not _NO_FIELDS:
            # It is a view into the buffer it was decoded from; a kept one must not keep a whole
            # page (A7).
            force_setattr(self, "raw_fields_v1", self.raw_fields_v1.copy())

    @property
    def fields_v1(self) -> Mapping[str, Any]:
        """The field set, frozen, decoded at each reading; empty where there is none."""
        raw = bytes(self.raw_fields_v1)
        value = freeze(msgspec.json.decode(raw)) if raw else None
        return value if isinstance(value, FrozenDict) else FrozenDict()

    def __hash__(self) -> int:
        return hash((self.manager, self.operation, self.subresource, bytes(self.raw_fields_v1)))


class ObjectMeta(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The metadata of an object.

    Everything in it is immutable. What the server left out, or sent as null, has its default.

    >>> meta = ObjectMeta(name="web-0", namespace="default", labels={"app": "web"})
    >>> meta.labels
    FrozenDict({'app': 'web'})
    """

    name: str = ""
    generate_name: str = ""
    """The prefix from which the server made the name."""
    namespace: str = ""
    """Empty for cluster-scoped objects."""
    self_link: str = ""
    uid: str = ""
    """Unlike the name, never used again: another uid under the same name is another object."""
    resource_version: str = ""
    """The RV of this state; opaque, see `compare_resource_versions` (A2)."""
    generation: int = 0
    """Counts changes of the spec; 0 for types that do not count them."""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    """When the object is to be gone; set means that its deletion has begun."""
    deletion_grace_period_seconds: int | None = None
    labels: Mapping[str, str] = _EMPTY
    annotations: Mapping[str, str] = _EMPTY
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    managed_fields: tuple[ManagedFieldsEntry, ...] = ()

    def __post_init__(self) -> None:
        for name in ("labels", "annotations"):
            value = getattr(self, name)
            if type(value) is not FrozenDict:
                force_setattr(self, name, FrozenDict(value) if value else _EMPTY)


class PartialObjectMetadata(Struct, frozen=True, rename="camel"):
    """An object known by kind and metadata only: a metadata-only list or watch, a bookmark (D4)."""

    api_version: str = ""
    kind: str = ""
    metadata: ObjectMeta = ObjectMeta()

    @classmethod
    def from_bytes(cls, raw: JSONBytes) -> PartialObjectMetadata:
        """Decode kind, apiVersion and metadata from an object's JSON, and pass over all else.

        Any of it may be absent or null, as in a bookmark. Raises `MalformedObject`.

        >>> bookmark = b'{"metadata":{"resourceVersion":"7","labels":null}}'
        >>> PartialObjectMetadata.from_bytes(bookmark).resource_version
        '7'
        """
        try:
            return _decode_partial(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this is no Kubernetes object: {error}") from error

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty for cluster-scoped objects."""
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        """`metadata.uid`."""
        return self.metadata.uid

    @property
    def resource_version(self) -> str:
        """`metadata.resourceVersion`."""
        return self.metadata.resource_version

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
        return join_key(self.metadata.namespace, self.metadata.name)


_decode_partial = lenient_decoder(PartialObjectMetadata)
