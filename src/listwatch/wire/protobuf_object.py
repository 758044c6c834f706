"""ProtobufObject: a whole object of any type, as the bytes it came in, in protobuf."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from sys import intern
from typing import Any, ClassVar, Self

from msgspec import Struct

from listwatch.api import MalformedObject, ObjectMeta, join_key

from .encodings import Encoding, unavailable
from .errors import quote
from .media import PROTOBUF

__all__ = ["ProtobufDecoder", "ProtobufObject", "decode_protobuf"]


class ProtobufObject(Struct, frozen=True, eq=False, gc=False):
    """A whole object in protobuf, of which nothing is known but what is common to all types.

    Who it is can be read at once. Its metadata is decoded at each reading: Kubernetes has it in
    field 1 of every type. The rest is in `message`, for whoever has the type's definition.

    Two are equal, with equal hashes, when kind, namespace, name, uid and RV are. It pickles, and is
    its own copy.
    """

    shows_identity: ClassVar[bool] = True
    """For stores: `identity` has what they must know, without decoding the metadata."""

    raw: bytes
    """The object as it came: `k8s\\0` and a runtime.Unknown."""
    api_version: str
    kind: str
    key: str
    """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
    namespace: str
    """Empty for cluster-scoped objects."""
    uid: str
    resource_version: str
    """Opaque; see `compare_resource_versions` (A2)."""

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.key[len(self.namespace) + 1 :] if self.namespace else self.key

    @property
    def identity(self) -> tuple[str, str, str]:
        """Key, uid and RV: what a store must know, in one reading."""
        return self.key, self.uid, self.resource_version

    @property
    def metadata(self) -> ObjectMeta:
        """All of the metadata, decoded at each reading. Raises `MalformedObject`."""
        from .protobuf_meta import metadata_of

        return metadata_of(self.message)

    @property
    def message(self) -> bytes:
        """The message of its own type, bare: what the `FromString` of a generated class reads."""
        from .protobuf_unknown import unwrap

        return unwrap(self.raw).message

    def same_content(self, other: ProtobufObject) -> bool:
        """Whether both are the same byte for byte; `==` asks only who they are."""
        return self.raw == other.raw

    def _identity(self) -> tuple[str, str, str, str]:
        return (self.kind, self.key, self.uid, self.resource_version)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProtobufObject):
            return NotImplemented
        return self is other or self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        return (
            f"<{self.kind or 'object'} {self.key or '(no name)'} in protobuf"
            f" rv={self.resource_version or '(none)'}>"
        )

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class ProtobufDecoder:
    """The decoder that `decode_protobuf` is."""

    reads = frozenset({PROTOBUF})
    identifies = True

    def __call__(self, raw: bytes) -> ProtobufObject:
        """Decode one object. Raises `MalformedObject`, and `EncodingUnavailable` where the extra is
        not installed.
        """
        if raw.startswith(b"{"):
            raise MalformedObject(
                "this is JSON, where a whole object in protobuf was expected (metadata alone always"
                f" is JSON here): {quote(raw)}"
            )
        return _reader()(raw)

    def __repr__(self) -> str:
        return "decode_protobuf"


@cache
def _reader() -> Callable[[bytes], ProtobufObject]:
    """What decodes. It is made by the first object, since the names of this file are public, and to
    import them must not need the package: `from listwatch import *` asks for all.
    """
    try:
        from .protobuf_messages import NAMED_OBJECT, parse, text
        from .protobuf_unknown import unwrap
    except ImportError as error:
        raise unavailable(Encoding.PROTOBUF, error) from error

    def read(raw: bytes) -> ProtobufObject:
        api_version, kind, message = unwrap(raw)
        names = parse(NAMED_OBJECT, message, "the object").metadata
        namespace = intern(text(names.namespace))
        return ProtobufObject(
            raw,
            api_version,
            kind,
            join_key(namespace, text(names.name)),
            namespace,
            text(names.uid),
            text(names.resource_version),
        )

    return read


decode_protobuf = ProtobufDecoder()
"""Whole objects of the built-in types, in protobuf, each as a `ProtobufObject`. A client asks for
that encoding where this is its decoder. Needs the extra `listwatch[protobuf]`.
"""
