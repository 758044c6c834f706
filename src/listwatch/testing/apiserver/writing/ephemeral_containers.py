"""The subresource `ephemeralcontainers` of a pod: containers that are added to one that runs, to
see what goes on in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["with_ephemeral_containers", "with_kept_metadata"]

_OWN = ("labels", "annotations", "finalizers", "ownerReferences")
"""Metadata that only the pod's own path changes."""


def with_ephemeral_containers(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """`old` with the ephemeral containers of `new`, and nothing else of it."""
    spec = dict(old.get("spec") or {})
    containers = (new.get("spec") or {}).get("ephemeralContainers")
    if containers:
        spec["ephemeralContainers"] = containers
    else:
        spec.pop("ephemeralContainers", None)
    return {**old, "metadata": with_kept_metadata(old, new), "spec": spec}


def with_kept_metadata(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata of `new`, but for what a write of a part of `old` leaves as it is."""
    metadata, before = dict(new["metadata"]), old["metadata"]
    for name in _OWN:
        if name in before:
            metadata[name] = before[name]
        else:
            metadata.pop(name, None)
    return metadata
