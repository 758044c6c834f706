"""Delta: one change of a store, with the state before it."""

from __future__ import annotations

from typing import Generic, TypeVar

from listwatch.api import Event

__all__ = ["Delta"]

T = TypeVar("T")


class Delta(Event[T], Generic[T], frozen=True):
    """What changed in a store. `type` is ADDED, MODIFIED or DELETED, and says what it was for the
    store: an ADDED of a key that it had is a MODIFIED.

    `object` is the new state, or the last one of an object that is gone. `raw` is its own JSON
    where that is at hand. Where the object cannot be decoded, `object` is an `Undecodable`, and
    `error` says why (H10); `old` may be one too.
    """

    key: str = ""
    """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
    old: T | None = None
    """The state before; None for ADDED."""
    final_state_unknown: bool = False
    """A deletion that was found by a relist: `object` is the last state known here (J2)."""
    initial: bool = False
    """Part of the first set that the store was given."""
    recreated: bool = False
    """`object` and `old` have different uids: between two looks the one was deleted, and another
    made under its name (K6).
    """
    resync: bool = False
    """A MODIFIED that tells again of what is there: `object` is `old` (H11)."""
