"""Unstructured: any object, as the bytes it came in (A6, A7)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from sys import intern
from typing import Any, TypeVar, cast, overload

import msgspec
from msgspec import UNSET, Raw, Struct, field

from ._lenient import JSONBytes, lenient_decoder
from .faults import MalformedObject
from .frozen import freeze
from .keys import join_key
from .meta import ObjectMeta
from .type_meta import Head, spliced

__all__ = ["Unstructured"]

T = TypeVar("T")
D = TypeVar("D")


class _Names(Struct, gc=False):
    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = field(default=None, name="resourceVersion")


class _Routing(Struct, gc=False):
    """What routing needs: the one thing decoded of every object."""

    kind: Head = UNSET
    api_version: Head = field(default=UNSET, name="apiVersion")
    metadata: _Names | None = None


class _WithMetadata(Struct):
    metadata: ObjectMeta = ObjectMeta()


_decode_routing = msgspec.json.Decoder(_Routing).decode
_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_metadata = lenient_decoder(_WithMetadata)
_decode_any = msgspec.json.Decoder().decode
_NO_NAMES = _Names()


class Unstructured(Struct, frozen=True, eq=False, gc=False):
    """Any Kubernetes object: an immutable view over its own JSON.

    Only what routing needs is decoded on the way in: kind, apiVersion, name, namespace, uid and RV.
    Everything else is decoded when it is read, each time anew, and comes frozen; nothing is
    remembered on the object. So it costs about its bytes, and no reader can change it for another.
    Make one with `from_bytes` or `from_dict`.

    Two are equal, with equal hashes, when kind, namespace, name, uid and RV are. It pickles and
    copies.

    >>> pod = Unstructured.from_dict({
    ...     "kind": "Pod", "apiVersion": "v1",
    ...     "metadata": {"name": "web-0", "namespace": "default", "resourceVersion": "123",
    ...                  "labels": {"app": "web"}},
    ...     "spec": {"nodeName": "node-1", "containers": [{"name": "web", "image": "nginx:1.27"}]},
    ... })
    >>> pod
    <Pod default/web-0 rv=123>
    >>> pod.key, pod.metadata.labels["app"], pod["spec"]["containers"][0]["image"]
    ('default/web-0', 'web', 'nginx:1.27')
    >>> changed = pod.edit()
    >>> changed["spec"]["nodeName"] = "node-2"
    >>> Unstructured.from_dict(changed)["spec"]["nodeName"], pod["spec"]["nodeName"]
    ('node-2', 'node-1')
    """

    raw: bytes
    """The whole object as JSON, kind and apiVersion included."""
    api_version: str
    kind: str
    name: str
    namespace: str
    """Empty for cluster-scoped objects."""
    uid: str
    resource_version: str
    """Opaque; see `compare_resource_versions` (A2)."""

    @classmethod
    def from_bytes(cls, raw: JSONBytes, *, api_version: str = "", kind: str = "") -> Unstructured:
        """The object in `raw`, one JSON object.

        It keeps bytes of its own: a bytearray or memoryview is copied, so that no larger buffer
        stays alive (A7). `api_version` and `kind` are for objects that lack them, as the items of
        typed lists do (D7); they are then put in front. Absent and null metadata and names count as
        empty. Raises `MalformedObject` if this is no JSON object, its metadata is none, or one of
        the names is no string.
        """
        data = raw if type(raw) is bytes else memoryview(raw)
        try:
            head = _decode_routing(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"this is no Kubernetes object: {error}") from error
        own_kind, own_version = head.kind, head.api_version
        if own_kind and own_version:
            own = data if type(data) is bytes else bytes(data)
        else:
            own = spliced(data, own_version, own_kind, api_version, kind)
            own_kind, own_version = own_kind or kind, own_version or api_version
        names = head.metadata or _NO_NAMES
        # Thousands of objects share these three.
        return cls(
            own,
            intern(own_version),
            intern(own_kind),
            names.name or "",
            intern(names.namespace) if names.namespace else "",
            names.uid or "",
            names.resource_version or "",
        )

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Unstructured:
        """The object in `value`, a mapping in the form of its JSON, which is copied.

        Raises `MalformedObject`.
        """
        try:
            # A copy, since the encoder leaves its bytes half as long again as they need be.
            raw = bytes(memoryview(msgspec.json.encode(value)))
        except (TypeError, ValueError, RecursionError) as error:
            raise MalformedObject(f"this cannot be JSON: {error}") from error
        return cls.from_bytes(raw)

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
        return join_key(self.namespace, self.name)

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def version(self) -> str:
        """The version within the group, such as `v1`."""
        return self.api_version.rpartition("/")[2]

    @property
    def metadata(self) -> ObjectMeta:
        """All of the metadata, decoded at each reading. Raises `MalformedObject`."""
        try:
            return _decode_metadata(self.raw).metadata
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: bad metadata: {error}") from error

    def __getitem__(self, key: str) -> Any:
        """One member of the object, frozen; of the rest nothing is decoded.

        Raises `KeyError`, and `MalformedObject` where it does not decode.
        """
        return self._frozen(self._members()[key])

    @overload
    def get(self, key: str) -> Any | None: ...
    @overload
    def get(self, key: str, default: D) -> Any | D: ...
    def get(self, key: str, default: Any = None) -> Any:
        """One member of the object, frozen, or `default` where it has none."""
        member = self._members().get(key)
        return default if member is None else self._frozen(member)

    def __contains__(self, key: object) -> bool:
        return key in self._members()

    def __iter__(self) -> Iterator[str]:
        """The names of the members, in the order of the bytes."""
        return iter(self._members())

    def __len__(self) -> int:
        return len(self._members())

    def __bool__(self) -> bool:
        # Without this, `if obj:` would decode it to count its members.
        return True

    def to_dict(self) -> dict[str, Any]:
        """The whole object as a fresh dict, which is the caller's own."""
        value: dict[str, Any] = self._decoded(self.raw)
        return value

    def edit(self) -> dict[str, Any]:
        """The whole object as a mutable dict, to be changed and sent back.

        Its RV goes with it and is the optimistic lock: the server refuses the change (`Conflict`)
        if the object has changed since.
        """
        return self.to_dict()

    def decode(self, type: type[T]) -> T:
        """The object as a `type`: a msgspec Struct, a dataclass, a TypedDict, or `dict`.

        Fields that the type does not declare are passed over. Raises `MalformedObject`, naming the
        object and the field, where it does not fit. Each call decodes anew: whoever reads often
        keeps the result.
        """
        try:
            return cast(T, _decoder_of(cast(Hashable, type)).decode(self.raw))
        except (msgspec.DecodeError, RecursionError) as error:
            name = getattr(type, "__name__", str(type))
            raise MalformedObject(f"{self!r} does not fit {name}: {error}") from error

    def _members(self) -> dict[str, Raw]:
        try:
            return _decode_members(self.raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: {error}") from error

    def _frozen(self, raw: Raw) -> Any:
        try:
            return freeze(self._decoded(raw))
        except RecursionError as error:
            raise MalformedObject(f"{self!r} is nested too deep to be frozen") from error

    def _decoded(self, raw: bytes | Raw) -> Any:
        try:
            return _decode_any(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: {error}") from error

    def _identity(self) -> tuple[str, str, str, str, str]:
        return (self.kind, self.namespace, self.name, self.uid, self.resource_version)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Unstructured):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.kind, self.namespace, self.name, self.uid, self.resource_version))

    def __repr__(self) -> str:
        key = join_key(self.namespace, self.name)
        return (
            f"<{self.kind or 'object'} {key or '(no name)'} rv={self.resource_version or '(none)'}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.raw, self.api_version, self.kind)

    def __copy__(self) -> Unstructured:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Unstructured:
        return self


def _restore(cls: type[Unstructured], raw: bytes, api_version: str, kind: str) -> Unstructured:
    return cls.from_bytes(raw, api_version=api_version, kind=kind)


@lru_cache(maxsize=256)
def _decoder_of(type: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type)
