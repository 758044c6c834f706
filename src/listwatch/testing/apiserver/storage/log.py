"""The log of writes, and the objects that it leads to: what etcd is to a real server.

One revision counts the writes of all types, so the RV of a list is the newest revision of the whole
store (K10). Old states can be read back until `compact` forgets them.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..reading.encoding import go_json

__all__ = ["Compacted", "Key", "StoredObject", "Write", "WriteKind", "WriteLog", "path_of"]

Key = tuple[str, str]
"""Namespace (empty for cluster-scoped objects) and name."""


def path_of(key: Key) -> str:
    """By what lists are sorted: `a-b/x` comes before `a/x`, as in etcd."""
    return f"{key[0]}/{key[1]}"


class WriteKind(StrEnum):
    CREATED = "created"
    UPDATED = "updated"
    DELETED = "deleted"


class StoredObject:
    """One state of one object. `value` is never changed: the next state is another dict."""

    __slots__ = ("_raw", "key", "rv", "value")

    def __init__(self, key: Key, value: Mapping[str, Any], rv: int) -> None:
        self.key = key
        self.value = value
        """The whole object as it is stored, its members in the order in which they are written."""
        self.rv = rv
        self._raw: bytes | None = None

    @property
    def raw(self) -> bytes:
        """`value` as compact JSON, encoded once for all who are sent it."""
        if self._raw is None:
            self._raw = go_json(self.value)
        return self._raw

    @property
    def metadata(self) -> Mapping[str, Any]:
        metadata: Mapping[str, Any] = self.value["metadata"]
        return metadata

    def __repr__(self) -> str:
        return f"StoredObject({'/'.join(self.key)} rv={self.rv})"


@dataclass(frozen=True, slots=True)
class Write:
    """One entry of the log."""

    rv: int
    kind: WriteKind
    storage: str
    """Which collection it was in, such as `apps/deployments`."""
    new: StoredObject
    """The state after it; of a deletion the last state, with the RV of the deletion (D5)."""
    old: StoredObject | None
    time: float
    """On the core's clock, in seconds: the watch cache keeps events by their age (K22)."""


class Compacted(Exception):
    """A state was asked for that the log has forgotten."""


class _Collection:
    """The objects of one storage, sorted as etcd sorts them: by the text `namespace/name`."""

    __slots__ = ("objects", "paths")

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.objects: dict[str, StoredObject] = {}

    def get(self, key: Key) -> StoredObject | None:
        return self.objects.get(path_of(key))

    def put(self, found: StoredObject) -> StoredObject | None:
        path = path_of(found.key)
        old = self.objects.get(path)
        if old is None:
            bisect.insort(self.paths, path)
        self.objects[path] = found
        return old

    def remove(self, key: Key) -> StoredObject:
        path = path_of(key)
        found = self.objects.pop(path)
        del self.paths[bisect.bisect_left(self.paths, path)]
        return found

    def copy(self) -> _Collection:
        other = _Collection()
        other.paths, other.objects = self.paths.copy(), self.objects.copy()
        return other

    def positions(self, namespace: str, after: Key | None) -> range:
        """Which of `paths` are of one namespace and behind `after`."""
        start, end = 0, len(self.paths)
        if namespace:
            start = bisect.bisect_left(self.paths, f"{namespace}/")
            end = bisect.bisect_left(self.paths, f"{namespace}0")  # the character behind "/"
        if after is not None:
            start = max(start, bisect.bisect_right(self.paths, path_of(after)))
        return range(start, end)

    def walk(self, namespace: str, after: Key | None) -> Iterator[StoredObject]:
        for position in self.positions(namespace, after):
            yield self.objects[self.paths[position]]


class WriteLog:
    """The store. `revision` is that of the newest write; a fresh store has seen one, as etcd has.

    `listeners` are called after each write, in order, from within it.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.revision = 1
        self.compacted = 0
        """States before this revision are forgotten."""
        self._collections: dict[str, _Collection] = {}
        self._writes: list[Write] = []
        self.listeners: list[Callable[[Write], None]] = []

    def get(self, storage: str, key: Key) -> StoredObject | None:
        collection = self._collections.get(storage)
        return collection.get(key) if collection else None

    def count(self, storage: str, *, namespace: str = "", after: Key | None = None) -> int:
        """How many objects there are, of one namespace and behind `after`, not one looked at."""
        collection = self._collections.get(storage)
        return len(collection.positions(namespace, after)) if collection else 0

    def storages(self) -> list[str]:
        """The collections that were ever written to."""
        return sorted(self._collections)

    def objects(
        self, storage: str, *, namespace: str = "", after: Key | None = None
    ) -> Iterator[StoredObject]:
        """The newest states, sorted by key, from behind `after`. Stop before the next write."""
        collection = self._collections.get(storage)
        return collection.walk(namespace, after) if collection else iter(())

    def objects_at(
        self, rv: int, storage: str, *, namespace: str = "", after: Key | None = None
    ) -> Iterator[StoredObject]:
        """The states at revision `rv`. Raises `Compacted`."""
        if rv < self.compacted:
            raise Compacted
        collection = self._collections.get(storage, _Collection())
        if rv < self.revision:
            collection = collection.copy()
            for write in reversed(self._writes):
                if write.rv <= rv:
                    break
                if write.storage != storage:
                    continue
                if write.old is None:
                    collection.remove(write.new.key)
                else:
                    collection.put(write.old)
        return collection.walk(namespace, after)

    def writes_after(self, rv: int) -> list[Write]:
        """The writes behind revision `rv`. Raises `Compacted`."""
        if rv < self.compacted:
            raise Compacted
        return self._writes[bisect.bisect_right(self._writes, rv, key=_rv_of) :]

    def put(self, storage: str, key: Key, value: dict[str, Any]) -> StoredObject:
        """Create or update; the RV is set in `value`, which is the store's from now on."""
        self.revision += 1
        value["metadata"]["resourceVersion"] = str(self.revision)
        new = StoredObject(key, value, self.revision)
        old = self._collections.setdefault(storage, _Collection()).put(new)
        self._append(WriteKind.CREATED if old is None else WriteKind.UPDATED, storage, new, old)
        return new

    def delete(self, storage: str, key: Key) -> StoredObject:
        """Delete what is there, and give its last state with the RV of the deletion."""
        self.revision += 1
        old = self._collections[storage].remove(key)
        metadata = {**old.value["metadata"], "resourceVersion": str(self.revision)}
        last = StoredObject(key, {**old.value, "metadata": metadata}, self.revision)
        self._append(WriteKind.DELETED, storage, last, old)
        return last

    def compact(self, rv: int) -> None:
        """Forget the states before revision `rv`."""
        self.compacted = max(self.compacted, min(rv, self.revision))
        del self._writes[: bisect.bisect_right(self._writes, self.compacted, key=_rv_of)]

    def backup(self) -> WriteLog:
        """A copy, as etcd's snapshot is one."""
        other = WriteLog(self._clock)
        other.restore(self)
        return other

    def restore(self, backup: WriteLog) -> None:
        """Go back to what `backup` holds: its revision, which may be lower, and its objects
        (K24).
        """
        self.revision, self.compacted = backup.revision, backup.compacted
        self._collections = {name: found.copy() for name, found in backup._collections.items()}
        self._writes = backup._writes.copy()

    def _append(
        self, kind: WriteKind, storage: str, new: StoredObject, old: StoredObject | None
    ) -> None:
        write = Write(new.rv, kind, storage, new, old, self._clock())
        self._writes.append(write)
        for listener in tuple(self.listeners):  # of which some leave while they are called
            listener(write)


def _rv_of(write: Write) -> int:
    return write.rv
