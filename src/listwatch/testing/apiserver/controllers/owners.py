"""Who an object belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..reading.object_selectors import selector_matches
from ..storage.log import StoredObject
from .client import Client

__all__ = ["Claims", "controller_of", "controller_uid", "is_dying", "owned_by"]


def owned_by(owner: Mapping[str, Any]) -> dict[str, Any]:
    """The reference by which a controller's object has what it makes."""
    metadata = owner["metadata"]
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(metadata: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The one reference that says `controller: true`."""
    return next(
        (found for found in metadata.get("ownerReferences") or () if found.get("controller")), None
    )


def controller_uid(metadata: Mapping[str, Any]) -> str:
    found = controller_of(metadata)
    return "" if found is None else str(found["uid"])


def is_dying(metadata: Mapping[str, Any]) -> bool:
    return metadata.get("deletionTimestamp") is not None


class Claims:
    """Which of some objects belong to `owner`: those that say so and are selected. Selected ones
    without a controller are adopted, others are let go. `selector`: where it is not the spec's.
    """

    def __init__(
        self,
        client: Client,
        storage: str,
        owner: Mapping[str, Any],
        selector: Mapping[str, Any] | None = None,
    ) -> None:
        self._client = client
        self._storage = storage
        self._owner = owner
        self._selector = selector

    def of(
        self,
        objects: Iterable[StoredObject],
        wanted: Callable[[StoredObject], bool] = lambda found: True,
    ) -> list[StoredObject]:
        """`wanted` says which may be adopted."""
        uid, selector = self._owner["metadata"]["uid"], self._selector
        if selector is None:
            selector = self._owner["spec"].get("selector")
        dying = is_dying(self._owner["metadata"])
        claimed = []
        for found in objects:
            holder = controller_uid(found.metadata)
            matches = selector_matches(selector, found.metadata.get("labels"))
            if holder == uid:
                if matches or dying:
                    claimed.append(found)
                else:
                    self._release(found)
            elif not (holder or dying or is_dying(found.metadata)) and matches and wanted(found):
                claimed += self._adopt(found)
        return claimed

    def _adopt(self, found: StoredObject) -> list[StoredObject]:
        references = [*(found.metadata.get("ownerReferences") or ()), owned_by(self._owner)]
        return self._patch(found, references)

    def _release(self, found: StoredObject) -> None:
        uid = self._owner["metadata"]["uid"]
        references = found.metadata.get("ownerReferences") or ()
        self._patch(found, [kept for kept in references if kept["uid"] != uid])

    def _patch(
        self, found: StoredObject, references: list[Mapping[str, Any]]
    ) -> list[StoredObject]:
        metadata = {"uid": found.metadata["uid"], "ownerReferences": references or None}
        self._client.patch(self._storage, found.key, {"metadata": metadata})
        left = self._client.get(self._storage, found.key)
        return [] if left is None or self._client.refusal else [left]
