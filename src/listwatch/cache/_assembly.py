"""A set on its way in, apart from the store until it is whole (H4, H14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from listwatch.api import is_newer

from ._replacement import same_content
from .identity import Identify, for_entries
from .undecodable import Undecodable

__all__ = ["Assembly"]

T = TypeVar("T")


class Assembly(Generic[T]):
    """The objects of a LIST or an initial stream so far, by key.

    `known` gives what the store has under a key. An object that is the same is taken from there, so
    that a set which replaces another costs only what differs.
    """

    def __init__(self, known: Callable[[str], T | Undecodable | None], identify: Identify) -> None:
        self._known = known
        self._identify = for_entries(identify)
        self._objects: dict[str, T | Undecodable] = {}
        self.is_older = False
        """Whether an object came in an older state than is known: of one history, a set that is no
        older itself has none.
        """

    def put(self, obj: T | Undecodable) -> bool:
        """Add or replace an object; whether its key is new here. Raises `MalformedObject` where it
        has none.
        """
        key, uid, rv = self._identify(obj)
        known = self._known(key)
        if known is not None:
            _, known_uid, known_rv = self._identify(known)
            if rv == known_rv:
                if uid == known_uid and same_content(known, obj):
                    obj = known
            elif is_newer(known_rv, rv):
                self.is_older = True
        before = self._objects.get(key)
        if before is None or not is_newer(self._identify(before).resource_version, rv):
            self._objects[key] = obj
        return before is None

    def remove(self, obj: T | Undecodable) -> None:
        """Take an object out. Raises as `put` does."""
        self._objects.pop(self._identify(obj).key, None)

    def clear(self) -> None:
        self._objects = {}
        self.is_older = False

    @property
    def objects(self) -> Iterable[T | Undecodable]:
        return self._objects.values()

    def shown(self) -> dict[str, tuple[str, str]]:
        """The uid and RV of each object, by key."""
        identities = (self._identify(obj) for obj in self._objects.values())
        return {key: (uid, rv) for key, uid, rv in identities}

    def __len__(self) -> int:
        return len(self._objects)
