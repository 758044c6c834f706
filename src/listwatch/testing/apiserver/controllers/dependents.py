"""Which objects name which others as their owners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..storage.log import Key, Write, WriteKind

__all__ = ["Dependents", "Place"]

Place = tuple[str, Key]
"""Storage, namespace and name: where an object is."""


class Dependents:
    """By the uid of the owner, in the order in which they came."""

    def __init__(self) -> None:
        self._of: dict[str, dict[Place, None]] = {}

    def of(self, uid: str) -> list[Place]:
        return list(self._of.get(uid, ()))

    def note(self, write: Write) -> None:
        """Follow a write."""
        place = (write.storage, write.new.key)
        after = () if write.kind is WriteKind.DELETED else _owners(write.new.metadata)
        before = () if write.old is None else _owners(write.old.metadata)
        if before == after:
            return
        for uid in before:
            if uid not in after and uid in self._of:
                self._of[uid].pop(place, None)
                if not self._of[uid]:
                    del self._of[uid]
        self.add(place, after)

    def add(self, place: Place, owners: Iterable[str]) -> None:
        for uid in owners:
            self._of.setdefault(uid, {})[place] = None

    def clear(self) -> None:
        self._of.clear()


def _owners(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(found["uid"]) for found in metadata.get("ownerReferences") or ())
