"""The objects of one storage as they were at one revision, read without copying them."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator
from heapq import merge

from .log import Key, StoredObject, Write, WriteLog, path_of

__all__ = ["Snapshot", "first_behind"]


class Snapshot:
    """What was there before `undone`, the writes to `storage` behind that revision, in order.

    To read it costs as much as what is read, and those writes. Use it before the next write.
    """

    def __init__(self, log: WriteLog, storage: str, undone: Iterable[Write] = ()) -> None:
        self._log = log
        self._storage = storage
        before: dict[Key, StoredObject | None] = {}
        for write in undone:
            if write.storage == storage:
                before.setdefault(write.new.key, write.old)
        self._before = before

    def get(self, key: Key) -> StoredObject | None:
        if key in self._before:
            return self._before[key]
        return self._log.get(self._storage, key)

    def objects(self, namespace: str, after: Key | None) -> Iterator[StoredObject]:
        """Sorted by key, of one namespace or of all, from behind `after`."""
        now = self._log.objects(self._storage, namespace=namespace, after=after)
        if not self._before:
            return now
        unchanged = (found for found in now if found.key not in self._before)
        changed = sorted(
            (
                found
                for key, found in self._before.items()
                if found is not None and _is_in(key, namespace, after)
            ),
            key=_path,
        )
        return merge(unchanged, changed, key=_path) if changed else unchanged

    def count(self, namespace: str, after: Key | None) -> int:
        """How many `objects` gives."""
        count = self._log.count(self._storage, namespace=namespace, after=after)
        for key, found in self._before.items():
            if _is_in(key, namespace, after):
                count += (found is not None) - (self._log.get(self._storage, key) is not None)
        return count


def _is_in(key: Key, namespace: str, after: Key | None) -> bool:
    if namespace and key[0] != namespace:
        return False
    return after is None or path_of(key) > path_of(after)


def _path(found: StoredObject) -> str:
    return path_of(found.key)


def first_behind(writes: list[Write], rv: int, start: int = 0) -> int:
    """The position of the first write behind revision `rv`."""
    return bisect.bisect_right(writes, rv, lo=start, key=_rv)


def _rv(write: Write) -> int:
    return write.rv
