"""The pods of those who keep a number of them, known without a look at every pod each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..reading.object_selectors import selector_matches
from ..storage.log import Key, StoredObject, Write, WriteKind
from .client import Client
from .owners import controller_uid, is_dying
from .pods import PODS, deletion_order, is_active, is_finished, is_ready

__all__ = ["OwnedPod", "OwnedPods"]


class OwnedPod:
    """What there is to know of one state of a pod: found out once, asked for often."""

    __slots__ = ("_order", "_selected", "active", "ending", "found", "ready")

    def __init__(self, found: StoredObject) -> None:
        self.found = found
        self.active = is_active(found.value)
        self.ending = is_dying(found.metadata) and not is_finished(found.value)
        self.ready = is_ready(found.value)
        self._selected: dict[str, tuple[Any, bool]] = {}
        self._order: tuple[Any, ...] | None = None

    @property
    def order(self) -> tuple[Any, ...]:
        """The smaller, the sooner it goes when there are too many."""
        if self._order is None:
            self._order = deletion_order(self.found)
        return self._order

    def matches(self, what: str, selector: Mapping[str, Any] | None) -> bool:
        """Whether `selector` selects it. Asked again for the same `what`, it remembers."""
        known = self._selected.get(what)
        if known is not None and known[0] == selector:
            return known[1]
        matches = selector_matches(selector, self.found.metadata.get("labels"))
        self._selected[what] = selector, matches
        return matches


class OwnedPods:
    """By the uid of the controller that they name; those without one by their namespace."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._of: dict[str, dict[Key, OwnedPod]] = {}

    def start(self) -> None:
        self._of.clear()
        for found in self._client.list(PODS):
            self._put(found)

    def note(self, write: Write) -> None:
        """Follow a write of a pod."""
        if write.old is not None:
            group = self._of.get(_group(write.old))
            if group is not None:
                group.pop(write.old.key, None)
                if not group:
                    del self._of[_group(write.old)]
        if write.kind is not WriteKind.DELETED:
            self._put(write.new)

    def of(self, uid: str) -> list[OwnedPod]:
        return list(self._of.get(uid, {}).values())

    def free(self, namespace: str) -> list[OwnedPod]:
        """Those that nobody controls."""
        return self.of(f"in {namespace}")

    def _put(self, found: StoredObject) -> None:
        self._of.setdefault(_group(found), {})[found.key] = OwnedPod(found)


def _group(found: StoredObject) -> str:
    return controller_uid(found.metadata) or f"in {found.key[0]}"
