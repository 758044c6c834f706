"""The queue of deltas between a reflector and those who are told (J).

Whatever comes, a batch of events, a set that replaces another, a resync, is taken in as one step:
the store changes first, then all of it is told, in order. So the queue never holds more than one
entry, and is no list.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from listwatch.api import Event, EventType

from .delta import Delta
from .store import Replaced, Report, Store
from .undecodable import Undecodable

__all__ = ["Told"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")


class Told(Generic[T]):
    """A store, with somebody who is told what changed in it once it has."""

    def __init__(
        self,
        store: Store[T],
        on_deltas: Callable[[Sequence[Delta[T]]], None] | None,
        on_replaced: Callable[[], None],
    ) -> None:
        self._store = store
        self._on_deltas = on_deltas
        self._on_replaced = on_replaced

    @property
    def resource_version(self) -> str:
        return self._store.resource_version

    @property
    def epoch(self) -> int:
        return self._store.epoch

    @property
    def late_writes(self) -> int:
        return self._store.late_writes

    @property
    def undecodable(self) -> Mapping[str, Undecodable]:
        return self._store.undecodable

    def __len__(self) -> int:
        return len(self._store)

    def known(self, key: str, /) -> T | Undecodable | None:
        return self._store.known(key)

    def apply(
        self, events: Sequence[Event[T]], *, moves_rv: bool = True, report: Report | None = None
    ) -> None:
        self._tell(self._store.apply(events, moves_rv=moves_rv, report=report))

    def replace(
        self,
        items: Iterable[T | Undecodable],
        resource_version: str,
        *,
        new_epoch: bool = False,
        report: Report | None = None,
    ) -> Replaced[T]:
        replaced = self._store.replace(items, resource_version, new_epoch=new_epoch, report=report)
        self._tell(replaced.deltas)
        self._on_replaced()
        return replaced

    def bookmark(self, resource_version: str, /) -> None:
        self._store.bookmark(resource_version)

    def resync(self) -> None:
        """Tell of all that is there, as one batch of updates (J1)."""
        self._store.resync()
        self._tell([_again(key, obj) for key, obj in self._store.items()])

    def _tell(self, deltas: Sequence[Delta[T]]) -> None:
        if deltas and self._on_deltas is not None:
            try:
                self._on_deltas(deltas)
            except Exception:
                _log.exception("what is told of changes failed")


def _again(key: str, obj: T) -> Delta[T]:
    raw = getattr(obj, "raw", b"")
    return Delta(EventType.MODIFIED, obj, raw, None, key, obj, resync=True)
