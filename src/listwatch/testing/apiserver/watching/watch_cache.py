"""The watch cache of each storage: how far it is, and which events it still has (K21, K22)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING

from ..storage.log import Write
from ..storage.snapshot import Snapshot, first_behind

if TYPE_CHECKING:
    from ..storage.state import State

__all__ = ["TooOld", "WatchCache", "WatchCaches"]

_FRESH = 75.0  # seconds that an event is kept at least (K22)
_SMALLEST, _LARGEST = 100, 100 * 1024  # events


class TooOld(Exception):
    """The events behind a revision are not in the cache any more. The message is the server's."""

    def __init__(self, rv: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {rv} ({oldest})")


class WatchCache:
    """What the server remembers of one storage."""

    def __init__(self, storage: str, rv: int) -> None:
        self.storage = storage
        self.rv = rv
        """How far it is: a write to this storage brings it further, and a read that must be fresh.
        Those to other storages do not (K15).
        """
        self._listed = rv
        self._capacity = _SMALLEST
        self._events: list[Write] = []
        self._start = 0  # those before it are forgotten
        self._lost = False

    @property
    def oldest(self) -> int:
        """The revision that a watch can begin at, at the earliest."""
        return self._events[self._start].rv - 1 if self._lost else self._listed

    @property
    def size(self) -> int:
        """How many events there are."""
        return len(self._events) - self._start

    def record(self, write: Write) -> None:
        self.rv = write.rv
        if self.size == self._capacity:
            self._make_room(write.time)
        self._events.append(write)

    def events_after(self, rv: int) -> list[Write]:
        """Raises `TooOld`."""
        if rv < self.oldest:
            raise TooOld(rv, self.oldest)
        return self._events[first_behind(self._events, rv, self._start) :]

    def has_snapshot(self, rv: int) -> bool:
        """Whether the state at `rv` can be told, whatever the log has forgotten."""
        return rv >= (self._events[self._start].rv if self._lost else self._listed)

    def _make_room(self, now: float) -> None:
        """Grow while the oldest event is young, shrink when most are old, and forget the oldest."""
        if now - self._events[self._start].time < _FRESH:
            self._capacity = min(self._capacity * 2, _LARGEST)
        elif now - self._events[-(self._capacity // 4)].time > _FRESH:
            self._capacity = max(self._capacity // 2, _SMALLEST)
            self._start = len(self._events) - self._capacity
        if self.size >= self._capacity:
            self._start += 1
            self._lost = True
        if self._start > max(1024, len(self._events) // 2):
            del self._events[: self._start]
            self._start = 0


class WatchCaches:
    """The caches of all storages, and those who wait for a revision that is not there yet."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._caches: dict[str, WatchCache] = {}
        self._started = state.log.revision
        self._without = frozenset(found.storage for found in state.types if not found.watch_cache)
        self._waiting: list[tuple[int, int, float, Callable[[], None]]] = []
        self._order = count()
        self._listen()

    def of(self, storage: str) -> WatchCache:
        found = self._caches.get(storage)
        if found is None:
            found = self._caches[storage] = WatchCache(storage, self._started)
        return found

    def refresh(self, storage: str, rv: int | None = None) -> WatchCache:
        """Bring a cache up to `rv`, or to the newest revision: a read that must be fresh does."""
        found = self.of(storage)
        if rv is None or found.rv < rv:
            found.rv = max(found.rv, self._state.log.revision)
        return found

    def initialize(self, storage: str) -> None:
        """Begin anew with one storage, now: its type was made, or its definition changed (K43)."""
        self._caches[storage] = WatchCache(storage, self._state.log.revision)

    def forget(self, storage: str) -> None:
        """The type is gone."""
        self._caches.pop(storage, None)

    def restart(self) -> None:
        """Begin anew with all of them, as after a restart of the server: what the log has forgotten
        is gone from here too (K21).
        """
        self._caches.clear()
        self._started = self._state.log.revision
        self._listen()

    def snapshot(self, storage: str, rv: int, *, cached: bool) -> Snapshot:
        """The state at a revision, which must not be in the future. Raises `log.Compacted`."""
        log = self._state.log
        if rv >= log.revision:
            return Snapshot(log, storage)
        if cached:
            return Snapshot(log, storage, self.of(storage).events_after(rv))
        return Snapshot(log, storage, log.writes_after(rv))

    def wait(self, rv: int, until: float, wake: Callable[[], None]) -> None:
        """Call `wake` when the revision `rv` is there, unless that is after `until`, on the core's
        clock.
        """
        now = self._state.clock()
        if any(due < now for _, _, due, _ in self._waiting):
            self._waiting = [each for each in self._waiting if each[2] >= now]
            heapq.heapify(self._waiting)
        heapq.heappush(self._waiting, (rv, next(self._order), until, wake))

    def _listen(self) -> None:
        listeners = self._state.log.listeners
        if self._record not in listeners:
            listeners.insert(0, self._record)

    def _record(self, write: Write) -> None:
        if write.storage not in self._without:
            self.of(write.storage).record(write)
        while self._waiting and self._waiting[0][0] <= write.rv:
            heapq.heappop(self._waiting)[3]()
