"""ObjectLister: a store read as one would read the server, by namespace, labels and name."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from listwatch.api import LabelSelector, NotFound, ObjectView, Status, join_key
from listwatch.api._lenient import lenient_decoder

from .identity import read_identity
from .projection import Projected
from .snapshot import Snapshot
from .store import Store

__all__ = ["NAMESPACE_INDEX", "NamespaceLister", "ObjectLister", "by_namespace"]

T = TypeVar("T")

NAMESPACE_INDEX = "namespace"
"""client-go's name for an index by namespace: `indexes={NAMESPACE_INDEX: by_namespace}`. Listing
one namespace needs none; it is for `by_index` and `index_values`.
"""


def by_namespace(obj: Any) -> tuple[str, ...]:
    """The index function for it, for whatever `identity_of` knows. No value for an object that has
    no namespace.
    """
    # Where it stands as an attribute is asked first: that is a tenth of the time.
    holder = obj if isinstance(obj, ObjectView) else getattr(obj, "metadata", None)
    namespace = getattr(holder, "namespace", None)
    if not isinstance(namespace, str):
        namespace = read_identity(obj)[0].rpartition("/")[0]
    return (namespace,) if namespace else ()


class ObjectLister(Generic[T]):
    """Reads a store, as `client.list` and `client.get` read the server, without a request, from any
    task or thread. Each call sees the store between two batches.

    >>> from listwatch.api import Unstructured
    >>> store = Store()
    >>> pod = {"metadata": {"name": "web-0", "namespace": "default", "labels": {"app": "web"}}}
    >>> _ = store.add(Unstructured.from_dict(pod))
    >>> pods = ObjectLister(store)
    >>> pods.list("app=web", namespace="default"), pods.list("app=db")
    ([<object default/web-0 rv=(none)>], [])
    >>> pods.get("web-0", "default")
    <object default/web-0 rv=(none)>
    """

    __slots__ = ("_store",)

    def __init__(self, store: Store[T] | Snapshot[T]) -> None:
        self._store = store

    def list(
        self, label_selector: str | LabelSelector = "", namespace: str = ""
    ) -> builtins.list[T]:
        """The objects with such labels, in one namespace or in all, in no order that means
        anything; without those that cannot be decoded.

        Of each object the labels alone are decoded, and nothing where no selector asks for them.
        Reading one namespace costs what is in it, not what is in all. Raises `SelectorError`, and
        `TypeError` where a selector is given, and the objects have no labels.
        """
        selector = LabelSelector.parse(label_selector)
        objects = self._store.list(namespace)
        if not selector:
            return objects
        return [obj for obj in objects if selector.matches(_labels_of(obj))]

    def get(self, name: str, namespace: str = "") -> T:
        """One object. Raises `NotFound`, and `ObjectDecodeError` where it cannot be decoded."""
        key = join_key(namespace, name)
        found = self._store.get(key)
        if found is None:
            raise NotFound(_not_there(key, len(self._store)))
        return found

    def namespace(self, name: str) -> NamespaceLister[T]:
        """The same for one namespace. Raises `ValueError` for an empty name, which means all."""
        if not name:
            raise ValueError("a namespace has a name; for all namespaces ask the lister itself")
        return NamespaceLister(self, name)

    def __repr__(self) -> str:
        return f"ObjectLister({self._store!r})"


class NamespaceLister(Generic[T]):
    """An `ObjectLister` for one namespace."""

    __slots__ = ("_lister", "name")

    def __init__(self, lister: ObjectLister[T], name: str) -> None:
        self._lister = lister
        self.name = name

    def list(self, label_selector: str | LabelSelector = "") -> builtins.list[T]:
        """See `ObjectLister.list`."""
        return self._lister.list(label_selector, self.name)

    def get(self, name: str) -> T:
        """See `ObjectLister.get`."""
        return self._lister.get(name, self.name)


class _Labelled(Struct, frozen=True):
    labels: dict[str, str] = {}


class _Owner(Struct, frozen=True):
    metadata: _Labelled = _Labelled()


_decode_labels = lenient_decoder(_Owner)


def _labels_of(obj: Any) -> Mapping[str, str] | None:
    if isinstance(obj, ObjectView):
        return _decode_labels(obj.raw).metadata.labels
    known = obj.value if isinstance(obj, Projected) else obj
    try:
        metadata = known["metadata"] if isinstance(known, Mapping) else known.metadata
        if isinstance(metadata, Mapping):
            return cast(Mapping[str, str] | None, metadata.get("labels"))
        return cast(Mapping[str, str] | None, metadata.labels)
    except (AttributeError, KeyError) as error:
        raise TypeError(
            f"{type(known).__name__} has no metadata.labels to select by: let the server select, or"
            " keep the labels in what the decoder or projection makes"
        ) from error


def _not_there(key: str, count: int) -> Status:
    return Status(
        status="Failure",
        code=404,
        reason="NotFound",
        message=f"there is no {key!r} among the {count:,} objects of this store",
    )
