"""A set on its way in, apart from the store until it is whole (H4, H14)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar, cast

from listwatch.api import Unstructured, is_newer

from ._readers import NAMELESS
from ._replacement import same_content
from .identity import Identify, for_entries, identity_of
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
        self._plain = identify is identity_of
        self._identify = for_entries(identify)
        self._objects: dict[str, T | Undecodable] = {}
        self.is_older = False
        """Whether an object came in an older state than is known: of one history, a set that is no
        older itself has none.
        """

    def share(self, obj: T) -> T:
        """What the store has in place of `obj` where that is the same, else `obj`: a list on its
        way in need not hold what the store holds. Raises as `put` does.
        """
        key, uid, rv = self._identity_of(obj)
        known = self._known(key)
        if known is None:
            return obj
        _, known_uid, known_rv = self._identity_of(known)
        same = rv == known_rv and uid == known_uid and same_content(known, obj)
        return cast(T, known) if same else obj

    def put(self, obj: T | Undecodable) -> bool:
        """Add or replace an object; whether its key is new here. Raises `MalformedObject` where it
        has none.
        """
        key, uid, rv = self._identity_of(obj)
        known = self._known(key)
        if known is not None and known is not obj:
            _, known_uid, known_rv = self._identity_of(known)
            if rv == known_rv:
                if uid == known_uid and same_content(known, obj):
                    obj = known
            elif is_newer(known_rv, rv):
                self.is_older = True
        before = self._objects.get(key)
        if before is None:
            self._objects[key] = obj
            return True
        if not is_newer(self._identify(before).resource_version, rv):
            self._objects[key] = obj
        return False

    def _identity_of(self, obj: T | Undecodable) -> tuple[str, str, str]:
        # The hot path of every list.
        if self._plain and type(obj) is Unstructured and obj.key[-1:] not in NAMELESS:
            return obj.key, obj.uid, obj.resource_version
        return self._identify(obj)

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
