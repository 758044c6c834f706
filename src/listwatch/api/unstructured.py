"""Unstructured: any object, as the bytes it came in (A6, A7)."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

import msgspec
from msgspec import UNSET, Struct, field

from ._front import front_of
from ._lenient import JSONBytes
from .faults import MalformedObject
from .keys import join_key
from .type_meta import Head, spliced
from .view import ObjectView

__all__ = ["Unstructured"]


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


_decode_routing = msgspec.json.Decoder(_Routing).decode
_NO_NAMES = _Names()


class Unstructured(ObjectView, frozen=True, eq=False, gc=False):
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
    key: str
    """`namespace/name`, or `name` for cluster-scoped objects (A3). A store shares this text."""
    namespace: str
    """Empty for cluster-scoped objects."""
    uid: str
    resource_version: str
    """Opaque; see `compare_resource_versions` (A2)."""

    @property
    def name(self) -> str:
        """`metadata.name`."""
        return self.key[len(self.namespace) + 1 :] if self.namespace else self.key

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
        return cls._of(data, head, api_version, kind)

    @classmethod
    def _of(cls, data: bytes | memoryview, head: Any, api_version: str, kind: str) -> Unstructured:
        """The object in `data`; `head` is what was decoded of it, with the fields of `_Routing`."""
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
            join_key(names.namespace or "", names.name or ""),
            intern(names.namespace) if names.namespace else "",
            names.uid or "",
            names.resource_version or "",
        )

    @classmethod
    def from_front(cls, raw: bytes) -> Unstructured | None:
        """The same object, of which only the front is looked at; None where that is not laid out as
        servers write typed objects.

        For whoever knows by other means that `raw` is one JSON object: where it is not, reading it
        raises `MalformedObject` later.

        >>> Unstructured.from_front(b'{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web",'
        ...                         b'"namespace":"default","uid":"u","resourceVersion":"7"}}')
        <Pod default/web rv=7>
        """
        front = front_of(raw)
        if front is None:
            return None
        kind, version, name, namespace, uid, rv = front.groups()
        if namespace is None and raw.find(b'"namespace"', front.end()) >= 0:
            return None  # it may stand behind
        # Thousands of objects share three of these.
        return cls(
            raw,
            intern(version.decode()),
            intern(kind.decode()),
            name.decode() if namespace is None else (namespace + b"/" + name).decode(),
            "" if namespace is None else intern(namespace.decode()),
            uid.decode(),
            rv.decode(),
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

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.raw, self.api_version, self.kind)


def _restore(cls: type[Unstructured], raw: bytes, api_version: str, kind: str) -> Unstructured:
    return cls.from_bytes(raw, api_version=api_version, kind=kind)
