"""ObjectView: how an object that is kept as bytes is read, whatever way it keeps them (A6)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache, partial
from typing import Any, Self, TypeVar, cast, overload

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from ._lenient import lenient_decoder
from .faults import MalformedObject
from .frozen import freeze
from .keys import join_key
from .meta import ObjectMeta

__all__ = ["ObjectView"]

T = TypeVar("T")
D = TypeVar("D")


class _WithMetadata(Struct):
    metadata: ObjectMeta = ObjectMeta()


_decode_members = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_metadata = lenient_decoder(_WithMetadata)
_decode_any = msgspec.json.Decoder().decode


class ObjectView(Struct, frozen=True, eq=False, gc=False):
    """Any Kubernetes object, read from its own JSON: `Unstructured`, and whatever keeps the bytes
    in another form.

    Who it is can be read at once; everything else is decoded when it is read, each time anew, and
    comes frozen. Nothing is remembered on the object, so that no reader can change it for another.

    Two are equal, with equal hashes, when kind, namespace, name, uid and RV are, whatever their
    forms. One is its own copy.

    A form of its own is a frozen Struct with `gc=False` that has the attributes below, as fields or
    as properties, and a `__reduce__`.
    """

    @property
    def raw(self) -> bytes:
        """The whole object as JSON, kind and apiVersion included."""
        raise NotImplementedError

    @property
    def api_version(self) -> str:
        """Its group and version, such as `apps/v1`."""
        raise NotImplementedError

    @property
    def kind(self) -> str:
        """Its kind, such as `Pod`."""
        raise NotImplementedError

    @property
    def name(self) -> str:
        """`metadata.name`."""
        raise NotImplementedError

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty for cluster-scoped objects."""
        raise NotImplementedError

    @property
    def uid(self) -> str:
        """`metadata.uid`."""
        raise NotImplementedError

    @property
    def resource_version(self) -> str:
        """`metadata.resourceVersion`, which is opaque; see `compare_resource_versions` (A2)."""
        raise NotImplementedError

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
        return join_key(self.namespace, self.name)

    @property
    def identity(self) -> tuple[str, str, str]:
        """Key, uid and RV: what a store must know, in one reading."""
        return self.key, self.uid, self.resource_version

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
        found = self._at((key,))
        if found is UNSET:
            raise KeyError(key)
        return self._frozen(found)

    @overload
    def get(self, key: str) -> Any | None: ...
    @overload
    def get(self, key: str, default: D) -> Any | D: ...
    def get(self, key: str, default: Any = None) -> Any:
        """One member of the object, frozen, or `default` where it has none."""
        found = self._at((key,))
        return default if found is UNSET else self._frozen(found)

    def read(self, *path: str, default: Any = None) -> Any:
        """What is at the end of a path of members, frozen: `pod.read("status", "phase")`.

        `default` where there is nothing, or null, or something on the way that is no object. Only
        this value is decoded, so that it costs half of what `pod["status"]["phase"]` does. Raises
        `MalformedObject` where the object does not decode.
        """
        if not path:
            raise TypeError("read() takes the names of the members on the way")
        found = self._at(path)
        return default if found is UNSET or found is None else self._frozen(found)

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

    def same_content(self, other: ObjectView) -> bool:
        """Whether both are the same byte for byte; `==` asks only who they are."""
        return self.raw == other.raw

    def _members(self) -> dict[str, Raw]:
        try:
            return _decode_members(self.raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: {error}") from error

    def _at(self, path: tuple[str, ...]) -> Any:
        """What is there; UNSET for nothing."""
        try:
            return _reader_at(path)(self.raw)
        except msgspec.ValidationError:
            return UNSET  # something on the way is no object
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: {error}") from error

    def _frozen(self, value: Any) -> Any:
        try:
            return freeze(value)
        except RecursionError as error:
            raise MalformedObject(f"{self!r} is nested too deep to be frozen") from error

    def _decoded(self, raw: bytes) -> Any:
        try:
            return _decode_any(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"{self!r}: {error}") from error

    def _identity(self) -> tuple[str, str, str, str, str]:
        return (self.kind, self.namespace, self.name, self.uid, self.resource_version)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ObjectView):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self.kind, self.namespace, self.name, self.uid, self.resource_version))

    def __repr__(self) -> str:
        key = join_key(self.namespace, self.name)
        return (
            f"<{self.kind or 'object'} {key or '(no name)'} rv={self.resource_version or '(none)'}>"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


@lru_cache(maxsize=1024)
def _reader_at(path: tuple[str, ...]) -> Callable[[bytes], Any]:
    """Reads what is at the end of a path, by nested Structs of one member each: all else is passed
    over.
    """
    type_: Any = Any
    for name in reversed(path):
        try:
            member = ("value", type_, field(default=UNSET, name=name))
            struct = msgspec.defstruct("Member", [member], gc=False)
        except ValueError:  # no field may have a quote or the like in its name
            return partial(_walk, path)
        type_ = struct | None | UnsetType
    decode = msgspec.json.Decoder(struct).decode

    def read(raw: bytes) -> Any:
        node: Any = decode(raw)
        for _ in path:
            node = node.value
            if node is UNSET or node is None:
                break
        return node

    return read


def _walk(path: tuple[str, ...], raw: bytes) -> Any:
    node = _decode_any(raw)
    for name in path:
        if not isinstance(node, dict):
            return UNSET
        node = node.get(name, UNSET)
    return node


@lru_cache(maxsize=256)
def _decoder_of(type: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(type)
