"""Packed objects: who an object is in some 30 bytes, and the rest of it in whatever form is small.

    0   form of the head: 0
    1   bytes of the name, n
    2   RV, 8 bytes
    10  uid, 16 bytes
    26  name, n bytes, then the payload

That is the head where, as everywhere on a real server, the uid is one in the usual spelling and the
RV a number. Where it is not, the head has the texts: 1, then the bytes of name, uid and RV, 4 bytes
each, then these.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from listwatch.api import ObjectView, Unstructured

__all__ = ["Form", "Packed", "pack"]

_usual = struct.Struct("<BBQ16s")
_odd = struct.Struct("<BIII")
_HEAD = _usual.size


class Form:
    """What the objects of one kind in one namespace have in common."""

    __slots__ = ("api_version", "kind", "namespace", "unpack")

    def __init__(
        self, api_version: str, kind: str, namespace: str, unpack: Callable[[bytes], bytes]
    ) -> None:
        self.api_version = api_version
        self.kind = kind
        self.namespace = namespace
        self.unpack = unpack
        """From a payload to the whole object's JSON. It is called from any thread."""


class Packed(ObjectView, frozen=True, eq=False, gc=False):
    """An object that is unpacked when it is read. It pickles as the Unstructured that it equals."""

    packed: bytes
    form: Form

    @property
    def raw(self) -> bytes:
        """The whole object as JSON, unpacked anew at each reading."""
        packed = self.packed
        if packed[0]:
            return self.form.unpack(packed[_odd.size + sum(_odd.unpack_from(packed)[1:]) :])
        return self.form.unpack(packed[_HEAD + packed[1] :])

    @property
    def api_version(self) -> str:
        """Its group and version, such as `apps/v1`."""
        return self.form.api_version

    @property
    def kind(self) -> str:
        """Its kind, such as `Pod`."""
        return self.form.kind

    @property
    def namespace(self) -> str:
        """`metadata.namespace`; empty for cluster-scoped objects."""
        return self.form.namespace

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self._names()[0]

    @property
    def uid(self) -> str:
        """`metadata.uid`."""
        return self._names()[1]

    @property
    def resource_version(self) -> str:
        """`metadata.resourceVersion`, which is opaque; see `compare_resource_versions` (A2)."""
        return self._names()[2]

    @property
    def key(self) -> str:
        """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
        name, namespace = self._names()[0], self.form.namespace
        return f"{namespace}/{name}" if namespace else name

    @property
    def identity(self) -> tuple[str, str, str]:
        """Key, uid and RV: what a store must know, in one reading."""
        packed, namespace = self.packed, self.form.namespace
        if packed[0]:
            name, text, version = _odd_names(packed)
            return f"{namespace}/{name}" if namespace else name, text, version
        # As in _names, and without its calls: a store reads this of two objects an event.
        _, size, number, uid = _usual.unpack_from(packed)
        name, text = packed[_HEAD : _HEAD + size].decode(), uid.hex()
        return (
            f"{namespace}/{name}" if namespace else name,
            f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}",
            str(number),
        )

    def same_content(self, other: ObjectView) -> bool:
        """Whether both are the same byte for byte; `==` asks only who they are."""
        if isinstance(other, Packed) and self.form is other.form and self.packed == other.packed:
            return True
        return self.raw == other.raw

    def _names(self) -> tuple[str, str, str]:
        packed = self.packed
        if packed[0]:
            return _odd_names(packed)
        _, size, version, uid = _usual.unpack_from(packed)
        return packed[_HEAD : _HEAD + size].decode(), _spelled(uid), str(version)

    def __reduce__(self) -> tuple[Any, ...]:
        return Unstructured.from_bytes, (self.raw,)


def pack(name: str, uid: str, resource_version: str, payload: bytes) -> bytes:
    """What `Packed.packed` is."""
    text = name.encode()
    try:
        number, token = int(resource_version), bytes.fromhex(uid.replace("-", ""))
        if len(token) == 16 and _spelled(token) == uid and str(number) == resource_version:
            return b"".join((_usual.pack(0, len(text), number, token), text, payload))
    except (ValueError, struct.error):
        pass  # they are not the usual ones, and there is another form for that
    texts = text, uid.encode(), resource_version.encode()
    return b"".join((_odd.pack(1, *map(len, texts)), *texts, payload))


def _spelled(uid: bytes) -> str:
    text = uid.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _odd_names(packed: bytes) -> tuple[str, str, str]:
    found = []
    at = _odd.size
    for size in _odd.unpack_from(packed)[1:]:
        found.append(packed[at : at + size].decode())
        at += size
    return found[0], found[1], found[2]
