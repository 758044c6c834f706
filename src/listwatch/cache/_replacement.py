"""A whole new set in place of the old one: what differs, and the state that comes of it (J2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from listwatch.api import (
    EventType,
    MalformedObject,
    ObjectView,
    Unstructured,
    compare_resource_versions,
)

from ._batch import Entry, own, raw_and_error
from ._index_moves import indexes_after
from ._readers import NAMELESS
from ._state import State
from .delta import Delta
from .identity import Identify, identity_of
from .projection import same_view
from .undecodable import Undecodable

__all__ = ["Replaced", "Replacement", "same_content"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(Generic[T]):
    """What a replacement changed."""

    deltas: list[Delta[T]]
    """Additions and changes, then the deletions; nothing for an object that stayed as it was."""
    added: int
    changed: int
    vanished: int
    kept: int

    @property
    def total(self) -> int:
        """How many objects there are now."""
        return self.added + self.changed + self.kept


class Replacement(Generic[T]):
    """Compares a set with a state. It takes the items one at a time and holds on to those only that
    differ, so that a relist costs little more than the store and what changed (property 25).
    """

    __slots__ = ("_identify", "_new_epoch", "_state", "fresh", "late", "left")

    def __init__(
        self,
        state: State[T],
        items: Iterable[Entry[T]],
        identify: Identify,
        new_epoch: bool,
    ) -> None:
        self._state = state
        self._identify = identify
        self._new_epoch = new_epoch
        self.fresh: dict[str, Entry[T]] = {}
        """New and changed objects, and what a projection says nothing new of."""
        self.left: dict[str, Entry[T]] = state.objects.copy()
        """Those that did not come: vanished, at the end."""
        self.late = 0
        self._read(items)

    def _read(self, items: Iterable[Entry[T]]) -> None:
        objects, fresh, left, identify = self._state.objects, self.fresh, self.left, self._identify
        plain = identify is identity_of and not self._new_epoch
        item: Any
        old: Any
        for item in items:
            if plain and type(item) is Unstructured:
                key = item.key
                if key[-1:] in NAMELESS and not item.name:
                    raise MalformedObject(f"{item!r} has no key")
                old = left.pop(key, None)
                if old is item:
                    continue  # a list has looked already whether it is the same
                if (
                    type(old) is Unstructured
                    and old.resource_version == item.resource_version != ""
                    and old.uid == item.uid
                ):
                    continue
            else:
                key = identify(item)[0]
                old = left.pop(key, None)
                if old is item and not self._new_epoch:
                    continue
            if old is None:
                # New, or the second of its key in this set.
                old = fresh.get(key)
                if old is None:
                    old = objects.get(key)
            if old is None or self._is_new(item, old):
                known = objects.get(key)
                if old is not known is not None and self._is_same(item, known):
                    del fresh[key]  # the third of its key, which is again what is here
                    continue
                quiet = old is not None and same_view(item, old)  # K12
                fresh[key] = old.at(item.resource_version) if quiet else own(item)

    def _is_same(self, item: Any, known: Any) -> bool:
        same = self._identify(item)[1:] == self._identify(known)[1:]
        return same and same_content(own(item), known)

    def _is_new(self, item: Any, old: Any) -> bool:
        _, uid, version = self._identify(item)
        _, old_uid, old_version = self._identify(old)
        if self._new_epoch or not (version or old_version):
            return not same_content(own(item), old)
        if uid == old_uid and version == old_version:
            # What could not be decoded, and now can, is news.
            return type(old) is Undecodable and type(item) is not Undecodable
        if compare_resource_versions(version, old_version) == -1:
            self.late += 1
            return False
        return True

    def state(self, resource_version: str, failures: list[Exception] | None) -> State[T]:
        """The state after it, which shares with the one before all that did not change. Raises
        `IndexFunctionError` where `failures` is None.
        """
        before = self._state
        objects, undecodable, indexes = before.objects, before.undecodable, before.indexes
        if self.fresh or self.left:
            changes: dict[str, Entry[T] | None] = dict.fromkeys(self.left)
            changes.update(self.fresh)
            indexes = indexes_after(indexes, before.objects, changes, failures)
            objects = self._objects()
            if undecodable or any(type(entry) is Undecodable for entry in self.fresh.values()):
                undecodable = {
                    key: entry for key, entry in objects.items() if isinstance(entry, Undecodable)
                }
        return State(
            objects, undecodable, indexes, resource_version, before.epoch + self._new_epoch
        )

    def _objects(self) -> dict[str, Entry[T]]:
        # A copy with the differences, rather than a new dict: so it keeps the key texts it had.
        objects = self._state.objects.copy()
        objects.update(self.fresh)
        for key in self.left:
            del objects[key]
        # A dict never shrinks by itself; a copy of a sparse one does.
        return objects if len(self.left) * 2 < len(objects) else dict(objects)

    def outcome(self, initial: bool) -> Replaced[T]:
        before = self._state.objects
        deltas = [
            self._delta(key, entry, initial)
            for key, entry in self.fresh.items()
            if not same_view(entry, before.get(key))
        ]
        added = sum(delta.type is EventType.ADDED for delta in deltas)
        changed = len(deltas) - added
        kept = len(before) - len(self.left) - changed
        deltas += [self._deletion(key, entry, initial) for key, entry in self.left.items()]
        return Replaced(
            deltas=deltas, added=added, changed=changed, vanished=len(self.left), kept=kept
        )

    def _delta(self, key: str, entry: Any, initial: bool) -> Delta[T]:
        old: Any = self._state.objects.get(key)
        raw, error = raw_and_error(entry)
        if old is None:
            return Delta(EventType.ADDED, entry, raw, error, key, initial=initial)
        uid = self._identify(entry)[1]
        old_uid = self._identify(old)[1]
        recreated = bool(uid and old_uid and uid != old_uid)
        return Delta(
            EventType.MODIFIED, entry, raw, error, key, old, initial=initial, recreated=recreated
        )

    def _deletion(self, key: str, entry: Any, initial: bool) -> Delta[T]:
        raw, error = raw_and_error(entry)
        return Delta(
            EventType.DELETED,
            entry,
            raw,
            error,
            key,
            entry,
            final_state_unknown=True,
            initial=initial,
        )


def same_content(item: Any, old: Any) -> bool:
    if type(item) is not type(old):
        return False
    if isinstance(item, ObjectView) or getattr(type(item), "shows_identity", False):
        return bool(item.same_content(old))
    if isinstance(item, Undecodable):
        return bool(item.raw == old.raw)
    try:
        return bool(item == old)
    except Exception:  # anybody's __eq__: what it may hide is told, rather than a set not taken
        return False
