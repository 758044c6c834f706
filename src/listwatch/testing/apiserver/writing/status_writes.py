"""PUT and PATCH of `/status`: what they may change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..reading.spec_order import status_in_order
from ..types.served import ResourceType

__all__ = ["KEPT_METADATA", "with_status_of"]

KEPT_METADATA = {
    "pods": ("ownerReferences",),
    "apps/deployments": ("labels",),
    "apiextensions.k8s.io/customresourcedefinitions": ("labels", "annotations", "finalizers"),
}
"""Members of metadata that only the object's own path changes, by storage."""


def with_status_of(
    of: ResourceType, old: Mapping[str, Any], new: Mapping[str, Any]
) -> dict[str, Any]:
    """`old` with the status of `new`. Of a built-in object most of the metadata changes too."""
    sent = new["metadata"]
    if of.custom:
        metadata = dict(old["metadata"])
        if "managedFields" in sent:
            metadata["managedFields"] = sent["managedFields"]
    else:
        metadata = dict(sent)
        for name in KEPT_METADATA.get(of.storage, ()):
            if name in old["metadata"]:
                metadata[name] = old["metadata"][name]
            else:
                metadata.pop(name, None)
    changed = {**old, "metadata": metadata}
    if new.get("status") is not None:
        status = new["status"]
        changed["status"] = status if of.custom else status_in_order(of.storage, status)
    else:
        changed.pop("status", None)
    return changed
