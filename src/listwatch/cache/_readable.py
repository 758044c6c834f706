"""Deltas for handlers: without what nobody could decode (H10)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from listwatch.api import EventType

from .delta import Delta
from .undecodable import Undecodable

__all__ = ["Readable"]

T = TypeVar("T")


class Readable(Generic[T]):
    """Keeps objects that cannot be decoded from handlers. One that could be before is to them as it
    was, neither changed nor gone, until it can be decoded again or is deleted.
    """

    def __init__(self) -> None:
        # The last readable state of what is not any more, and whether it was made again since.
        self._last: dict[str, tuple[T, bool]] = {}

    @property
    def last_known(self) -> Iterable[tuple[str, T]]:
        """What handlers know, and the store has in no readable form."""
        return [(key, known) for key, (known, _) in self._last.items()]

    def of(self, deltas: Sequence[Delta[T]]) -> Sequence[Delta[T]]:
        """These deltas as handlers are told of them."""
        if not self._last and not _is_any_odd(deltas):
            return deltas
        found = (self._told(delta) for delta in deltas)
        return [delta for delta in found if delta is not None]

    def _told(self, delta: Delta[T]) -> Delta[T] | None:
        obj: Any = delta.object
        known: Any = delta.old
        recreated = delta.recreated
        if isinstance(known, Undecodable):
            known, before = self._last.pop(delta.key, (None, False))
            recreated = recreated or before
        if delta.type is EventType.DELETED:
            if known is None:
                return None
            unknown = delta.final_state_unknown or isinstance(obj, Undecodable)
            state = known if isinstance(obj, Undecodable) else obj
            return Delta(EventType.DELETED, state, delta.raw, None, delta.key, known, unknown)
        if isinstance(obj, Undecodable):
            if known is not None:
                self._last[delta.key] = known, recreated
            return None
        if known is delta.old:
            return delta
        if known is None:
            return Delta(EventType.ADDED, obj, delta.raw, None, delta.key)
        return Delta(
            EventType.MODIFIED, obj, delta.raw, None, delta.key, known, recreated=recreated
        )


def _is_any_odd(deltas: Sequence[Delta[Any]]) -> bool:
    for delta in deltas:  # a loop, since each change in the cluster goes through here
        if type(delta.object) is Undecodable or type(delta.old) is Undecodable:
            return True
    return False
