"""PartialObjectMetadata and its list: objects without spec and status (K8)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from ..storage.log import StoredObject
from ..types.served import ResourceType
from .encoding import go_json
from .member_order import ordered_metadata
from .views import INITIAL_EVENTS_END, ListMetadata

__all__ = ["MetadataView", "metadata_view"]

_KIND = "PartialObjectMetadata"
_NESTED_ORDERS = {
    "ownerReferences": ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"),
    "managedFields": (
        "manager",
        "operation",
        "apiVersion",
        "time",
        "fieldsType",
        "fieldsV1",
        "subresource",
    ),
}
_GO_PACKAGES = {"": "core", "events": "core"}
"""Where the Go types of a group are, if not in the package of its first name."""


class MetadataView:
    """Only the metadata, in the order of the built-in types whatever the type.

    Asked for as a single object it shows no list, and the other way round.
    """

    def __init__(self, of: ResourceType, version: str, *, of_list: bool) -> None:
        self._type = of
        self._of_list = of_list
        self._api_version = f"meta.k8s.io/{version}"

    @cached_property
    def key(self) -> Hashable:
        return (self._api_version, self._type.custom, self._of_list)

    @cached_property
    def one_not_list(self) -> str:
        if self._of_list:
            return ""
        return self._mistake(_KIND, "is a list", self._type.list_kind)

    @cached_property
    def list_not_one(self) -> str:
        if not self._of_list:
            return ""
        return self._mistake(f"{_KIND}List", "is not a list", self._type.kind)

    def one(self, found: StoredObject) -> bytes:
        return self._one(found.metadata)

    def bookmark(self, rv: int, *, end: bool) -> bytes:
        annotations = {"annotations": INITIAL_EVENTS_END} if end else {}
        return self._one({"resourceVersion": str(rv), **annotations})

    def page(self, items: Iterable[StoredObject], metadata: ListMetadata) -> bytes:
        names = go_json({"kind": f"{_KIND}List", "apiVersion": self._api_version})
        parts = b",".join(map(self.one, items))
        shown = b"[%b]" % parts if parts else b"null"  # K8
        return b'%b,"metadata":%b,"items":%b}\n' % (names[:-1], go_json(metadata.typed), shown)

    def _one(self, metadata: Mapping[str, Any]) -> bytes:
        if self._type.custom:
            metadata = _typed_order(metadata)
        return go_json({"kind": _KIND, "apiVersion": self._api_version, "metadata": metadata})

    def _mistake(self, asked: str, found: str, kind: str) -> str:
        if self._type.custom:
            go_type = "*unstructured.Unstructured"
            go_type += "List" if found == "is a list" else ""
        else:
            first = self._type.group.partition(".")[0]
            go_type = f"*{_GO_PACKAGES.get(first, first)}.{kind}"
        return f"you requested {asked}, but the requested object {found} ({go_type})"


def _typed_order(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of a custom object, which is sorted by name, as that of a built-in type."""
    ordered = ordered_metadata(metadata)
    for name, order in _NESTED_ORDERS.items():
        if isinstance(entries := ordered.get(name), list):
            ordered[name] = [
                {member: entry[member] for member in order if member in entry}
                for entry in entries
                if isinstance(entry, Mapping)
            ]
    return ordered


@lru_cache(maxsize=1024)
def metadata_view(of: ResourceType, version: str, *, of_list: bool) -> MetadataView:
    return MetadataView(of, version, of_list=of_list)
