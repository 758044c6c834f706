"""Store: the objects of a mirror by key, with indexes (I1-I3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from listwatch.api import Event, EventType, compare_resource_versions

from ._arrivals import Arrivals, HistoryWentBack
from ._batch import Batch
from ._index_moves import IndexMoves, indexes_after
from ._replacement import Replaced, Replacement
from ._seqlock import Seqlock
from ._state import Reads, State
from ._versions import moved
from .delta import Delta
from .identity import Identify, for_entries, identity_of
from .indexes import Indexes, IndexFunction
from .snapshot import Snapshot
from .undecodable import Undecodable

__all__ = ["HistoryWentBack", "Replaced", "Report", "Store"]

T = TypeVar("T")
R = TypeVar("R")

Report: TypeAlias = Callable[[Exception], None]
"""Is told of an error that stops nothing."""


class Store(Reads[T]):
    """Objects by key, with named indexes.

    One writer at a time, from one task or thread; readers from any. A write, of one object or of a
    batch, is one step: no reader sees a part of it, or objects without their indexes. Reading one
    object takes no lock, reading many looks again when a write falls into it, and no reader makes
    the writer wait.

    Within an epoch no key goes back to an older RV: such a write is dropped, and counted in
    `late_writes` (I3). Plain dicts are frozen on their way in (A6); other mutable objects are kept
    as they are.

    >>> from listwatch.api import Unstructured
    >>> store = Store(indexes={"node": lambda pod: [pod["spec"]["nodeName"]]})
    >>> pod = {"metadata": {"name": "web-0", "namespace": "default", "resourceVersion": "5"},
    ...        "spec": {"nodeName": "node-1"}}
    >>> delta = store.add(Unstructured.from_dict(pod))
    >>> store.by_index("node", "node-1")
    [<object default/web-0 rv=5>]
    """

    def __init__(
        self,
        *,
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        identify: Identify = identity_of,
    ) -> None:
        self._identify = for_entries(identify)
        self._state: State[T] = State({}, {}, Indexes(indexes or {}), "", 0)
        self._lock = Seqlock()
        self._arrivals = Arrivals(self._now)
        self._is_filled = False
        self.late_writes = 0
        """Writes that were dropped since a newer state was there, or had been (I3)."""
        self.index_failures = 0
        """How often an index function raised in a write that went on without it."""

    def _read(self, look: Callable[[State[T]], R]) -> R:
        return self._lock.read(lambda: look(self._state))

    def snapshot(self) -> Snapshot[T]:
        """A frozen view for several reads that must fit together."""
        return Snapshot(self._read(State.copy), self._identify)

    async def at_least(self, resource_version: str, timeout: float | None = None) -> None:
        """Wait until the store shows this RV or a later one, as to read one's own write (I3).

        Raises `TimeoutError` after `timeout` seconds, `HistoryWentBack` (a TimeoutError too) at
        once when the epoch ends meanwhile, and `ValueError` for an RV that cannot be compared.
        """
        await self._arrivals.wait(resource_version, timeout)

    def _now(self) -> tuple[int, str]:
        state = self._state
        return state.epoch, state.resource_version

    def add(self, obj: T | Undecodable) -> Delta[T] | None:
        """Put one object in, or in place of what its key has. Moves no RV of the store.

        Returns None for a late one. Raises `MalformedObject`, and `IndexFunctionError`, which
        leaves all as it was.
        """
        return self._one(Event(EventType.ADDED, obj))

    def update(self, obj: T | Undecodable) -> Delta[T] | None:
        """The same as `add`."""
        return self._one(Event(EventType.MODIFIED, obj))

    def delete(self, obj_or_key: T | Undecodable | str) -> Delta[T] | None:
        """Take one object out.

        Returns None where there is none, and for an object whose state is older than the one here.
        """
        state = self._state
        obj: Any = obj_or_key
        key = obj if isinstance(obj, str) else self._identify(obj).key
        entry: Any = state.objects.get(key)
        if entry is None:
            return None
        if isinstance(obj, str):
            obj = entry
        elif self._is_older(obj, entry):
            self.late_writes += 1
            return None
        batch: Batch[T] = Batch(state, (), self._identify, False)
        batch.delete(key, obj, entry)
        self._write(batch, None, self._lock.version)
        return batch.deltas[0]

    def _is_older(self, obj: Any, entry: Any) -> bool:
        versions = self._identify(obj).resource_version, self._identify(entry).resource_version
        return compare_resource_versions(*versions) == -1

    def _one(self, event: Event[Any]) -> Delta[T] | None:
        deltas = self.apply((event,), moves_rv=False)
        return deltas[0] if deltas else None

    def apply(
        self,
        events: Sequence[Event[T]],
        *,
        moves_rv: bool = True,
        report: Report | None = None,
        trusted: bool = False,
    ) -> list[Delta[T]]:
        """Bring in a batch of ADDED, MODIFIED and DELETED events, in one step; what they changed,
        in their order.

        The RV of the store moves along with them, unless `moves_rv` is False (H6). `trusted` events
        are never late: whoever sends them has looked at their RVs. With `report` an
        index function that raises is reported, counted, and leaves its object out of that index
        only; without it `IndexFunctionError` is raised. Raises `MalformedObject` for an object
        without a name, and `ValueError` for an event of another type. Nothing has changed then.
        """
        began = self._lock.version
        batch = Batch(self._state, events, self._identify, moves_rv, trusted)
        self._write(batch, report, began)
        return batch.deltas

    def _write(self, batch: Batch[T], report: Report | None, began: int) -> None:
        state = self._state
        failures: list[Exception] | None = None if report is None else []
        moves = IndexMoves(state.indexes, state.objects, batch.changes, failures)
        self._check(began)
        with self._lock:
            batch.apply_to(state)
            state.indexes.apply(moves)
        self.late_writes += batch.late
        self._wrote(failures, report)

    def replace(
        self,
        items: Iterable[T | Undecodable],
        resource_version: str,
        *,
        new_epoch: bool = False,
        report: Report | None = None,
    ) -> Replaced[T]:
        """Put a whole set in place of what is here, in one step (H14), and say what differs (J2).

        An object that has the uid and RV of the one here stays that one, and is no news. In a
        `new_epoch`, where RVs do not compare with those before, it stays only if all of it is the
        same. `items` is read once. `report` and what is raised: as in `apply`.
        """
        began = self._lock.version
        replacement = Replacement(self._state, items, self._identify, new_epoch)
        failures: list[Exception] | None = None if report is None else []
        state = replacement.state(resource_version, failures)
        outcome = replacement.outcome(initial=not self._is_filled)
        self._check(began)
        with self._lock:
            self._state = state
        self._is_filled = True
        self.late_writes += replacement.late
        self._wrote(failures, report)
        return outcome

    def bookmark(self, resource_version: str) -> None:
        """Nothing has happened up to this RV (D4). It never moves the store back."""
        with self._lock:
            self._state.resource_version = moved(self._state.resource_version, resource_version)
        self._arrivals.moved()

    def resync(self) -> None:
        """Nothing here: who has handlers tells them of everything again (H11)."""

    def add_index(self, name: str, function: IndexFunction[T]) -> None:
        """Add an index, built of what is here.

        Raises `ValueError` where there is one of that name, and `IndexFunctionError`; nothing has
        changed then.
        """
        state, began = self._state, self._lock.version
        if name in state.indexes.named:
            raise ValueError(f"there is an index {name!r} already")
        added: Indexes[T] = Indexes({name: function})
        added = indexes_after(added, state.objects, state.objects, None)
        indexes = state.indexes.with_one(added)
        self._check(began)
        with self._lock:
            state.indexes = indexes

    def _check(self, began: int) -> None:
        if self._lock.version != began:
            raise RuntimeError(
                "the store was written to in the middle of another write: it has one writer, and "
                "no index function may write to it"
            )

    def _wrote(self, failures: list[Exception] | None, report: Report | None) -> None:
        self._arrivals.moved()
        if failures and report is not None:
            self.index_failures += len(failures)
            for failure in failures:
                report(failure)

    def __repr__(self) -> str:
        return f"<Store of {len(self)} objects at rv={self.resource_version or '(none)'}>"
