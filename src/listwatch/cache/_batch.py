"""A batch of events: what it changes, worked out before anything is changed.

Everybody else's code (identities, index functions) runs here, on a store that is still as it was.
What is left to do then are dict operations, which do not fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar, cast

from msgspec.structs import force_setattr

from listwatch.api import Event, EventType, MalformedObject, Unstructured, freeze

from ._readers import NAMELESS
from ._state import State
from ._versions import is_late, moved
from .delta import Delta
from .identity import Identify, identity_of, read_identity
from .metadata_only import MetadataObject
from .projection import Projected, same_view
from .undecodable import A_TABLE, Undecodable

__all__ = ["Batch", "Entry", "own", "raw_and_error"]

T = TypeVar("T")

Entry: TypeAlias = T | Undecodable

_UNKNOWN: Any = object()
_PLAIN = (Unstructured, MetadataObject)
"""They have what a store must know at hand."""
_OURS = (Projected, Undecodable)
"""They say who they are, whatever `identify` is."""


class Batch(Generic[T]):
    """The outcome of some events on a state of a store; `apply_to` brings it about."""

    __slots__ = ("_removes", "_undecodable", "changes", "deltas", "late", "resource_version")

    def __init__(
        self,
        state: State[T],
        events: Iterable[Event[T]],
        identify: Identify,
        moves_rv: bool,
        trusted: bool = False,
    ) -> None:
        self.changes: dict[str, Entry[T] | None] = {}
        """The new entry of each key; None where it goes."""
        self.deltas: list[Delta[T]] = []
        self.late = 0
        self._removes = False
        self._undecodable = bool(state.undecodable)
        self.resource_version = self._read(state, events, identify, moves_rv, trusted)

    def _read(
        self,
        state: State[T],
        events: Iterable[Event[T]],
        identify: Identify,
        moves_rv: bool,
        trusted: bool,
    ) -> str:
        """Fill it, one pass; the RV afterwards. This loop is the hot path of every watch."""
        objects, changes, deltas = state.objects, self.changes, self.deltas
        at = state.resource_version
        plain = identify is identity_of
        read: Callable[[Any], tuple[str, str, str]] = read_identity if plain else identify
        added, modified, deleted = EventType.ADDED, EventType.MODIFIED, EventType.DELETED
        obj: Any
        old: Any
        for event in events:
            kind, obj, raw, error = event.type, event.object, event.raw, None
            if kind is not modified and kind is not added and kind is not deleted:
                raise ValueError(f"a store takes ADDED, MODIFIED and DELETED, not {kind!r}")
            if plain and type(obj) in _PLAIN:
                key = obj.key
                if key[-1:] in NAMELESS and not obj.name:
                    a_table = obj.kind == "Table"
                    raise MalformedObject(A_TABLE if a_table else f"{obj!r} has no key")
                uid, version, raw = obj.uid, obj.resource_version, obj.raw
            elif type(obj) is Projected:
                key, uid, version = obj.key, obj.uid, obj.resource_version
            elif type(obj) is Undecodable:
                key, uid, version = obj.key, obj.uid, obj.resource_version
                raw, error = obj.raw, obj.error
                self._undecodable = True
            else:
                obj = own(obj)
                key, uid, version = read(obj)
                if isinstance(obj, Unstructured):
                    raw = obj.raw
            old = changes.get(key, _UNKNOWN)
            if old is _UNKNOWN:
                old = objects.get(key)
            if old is None:
                seen, old_uid = at, ""
            elif type(old) in _OURS or (plain and type(old) in _PLAIN):
                seen, old_uid = old.resource_version, old.uid
                if type(old) is type(obj) in _PLAIN:
                    force_setattr(obj, "key", old.key)  # one text for both, and for the store
            else:
                _, old_uid, seen = read(old)
            # The usual case stands here, before the call that knows them all.
            newer = len(version) == len(seen) and version > seen
            late = not newer and not trusted and is_late(version, seen)
            if moves_rv:
                newer = len(version) == len(at) and version > at
                at = version if newer else moved(at, version)
            if late:
                self.late += 1
            elif kind is deleted:
                if old is not None:
                    changes[key] = None
                    self._removes = True
                    deltas.append(Delta(deleted, obj, raw, error, key, old))
            elif type(obj) is Projected and same_view(obj, old):
                changes[key] = old.at(version)  # K12: nobody is told
            else:
                changes[key] = obj
                if old is None:
                    deltas.append(Delta(added, obj, raw, error, key))
                elif uid == old_uid or not uid or not old_uid:
                    deltas.append(Delta(modified, obj, raw, error, key, old))
                else:
                    deltas.append(Delta(modified, obj, raw, error, key, old, recreated=True))
        return at

    def delete(self, key: str, obj: T, entry: Entry[T]) -> None:
        """One more deletion: of `entry`, whose last state is `obj`."""
        raw, error = raw_and_error(obj)
        self.changes[key] = None
        self._removes = True
        self.deltas.append(Delta(EventType.DELETED, obj, raw, error, key, cast(T, entry)))

    def apply_to(self, state: State[T]) -> None:
        """Change `state`."""
        objects = state.objects
        if self._removes:
            for key, entry in self.changes.items():
                if entry is None:
                    objects.pop(key, None)
                else:
                    objects[key] = entry
        else:
            objects.update(cast("Mapping[str, Entry[T]]", self.changes))
        if self._undecodable:
            for key, entry in self.changes.items():
                if isinstance(entry, Undecodable):
                    state.undecodable[key] = entry
                else:
                    state.undecodable.pop(key, None)
        state.resource_version = self.resource_version


def raw_and_error(entry: Any) -> tuple[bytes, Exception | None]:
    """What a Delta says of an object beside the object."""
    if type(entry) is Undecodable:
        return entry.raw, entry.error
    return (entry.raw if isinstance(entry, Unstructured) else b""), None


def own(obj: Any) -> Any:
    """An object as it is kept: nobody who still has it can change the store by it, nor can a
    reader (A6).
    """
    return freeze(obj) if type(obj) is dict else obj
