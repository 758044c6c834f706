"""Undecodable: an object that is on the server, and that nobody here could read (H10)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from listwatch.api import MalformedObject, join_key
from listwatch.wire import ObjectDecodeError

__all__ = ["A_TABLE", "Undecodable"]

A_TABLE = (
    "the server sent a Table where an object was expected: do not ask for as=Table here, or let"
    " TableRows decode it"
)
"""What is said of a Table that nobody reads as one (B9)."""


class _Names(Struct, gc=False):
    name: str | None = None
    namespace: str | None = None
    uid: Any = None
    resource_version: Any = field(default=None, name="resourceVersion")


class _Named(Struct, gc=False):
    kind: Any = None
    metadata: _Names | None = None


_decode = msgspec.json.Decoder(_Named).decode


class Undecodable(Struct, frozen=True, gc=False):
    """An object whose decoder failed, or which is of another kind than expected.

    It takes the object's place in a store: it comes, changes and goes by its key like any other,
    and is never taken for one that vanished.
    """

    key: str
    uid: str
    resource_version: str
    raw: bytes
    """The object's own JSON."""
    reason: str
    """Why it could not be read, as one sentence."""

    @classmethod
    def of(cls, raw: bytes, reason: str | Exception) -> Undecodable:
        """The object in `raw`. `reason` is what its decoder raised, or a sentence.

        Raises `MalformedObject` where not even the key can be read.

        >>> Undecodable.of(b'{"metadata":{"name":"web-0"}}', "it has no spec").key
        'web-0'
        """
        if raw.startswith(b"k8s\0"):
            # Whoever asked for it has its package.
            from listwatch.wire.protobuf_object import decode_protobuf

            whole = decode_protobuf(raw)
            if not whole.name:
                raise MalformedObject("an object whose key cannot be read: it has no metadata.name")
            return cls(whole.key, whole.uid, whole.resource_version, bytes(raw), _told(reason))
        try:
            found = _decode(raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise MalformedObject(f"an object whose key cannot be read: {error}") from error
        names = found.metadata
        if names is None or not names.name:
            if found.kind == "Table":
                raise MalformedObject(A_TABLE)
            raise MalformedObject("an object whose key cannot be read: it has no metadata.name")
        return cls(
            join_key(names.namespace or "", names.name),
            names.uid if isinstance(names.uid, str) else "",
            names.resource_version if isinstance(names.resource_version, str) else "",
            bytes(raw),
            _told(reason),
        )

    @property
    def error(self) -> ObjectDecodeError:
        """What reading this object raises; made anew each time, since a raised exception keeps the
        frames it went through alive.
        """
        error = ObjectDecodeError(self.key, self.raw, MalformedObject(self.reason))
        error.args = (f"cannot decode object {self.key}: {self.reason}",)
        return error


def _told(reason: str | Exception) -> str:
    if isinstance(reason, str):
        return reason
    cause = reason.__cause__ if isinstance(reason, ObjectDecodeError) else reason
    return f"{type(cause).__name__}: {cause}"
