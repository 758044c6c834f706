"""Snapshot: a store as it was at one moment."""

from __future__ import annotations

from typing import TypeVar

from ._state import Reads, State
from .identity import Identify

__all__ = ["Snapshot"]

T = TypeVar("T")


class Snapshot(Reads[T]):
    """A frozen view of a store, for several reads that must fit together (I1).

    It has the reads of a store, shares its objects, and costs a pointer or two for each. `Store`
    makes it.
    """

    __slots__ = ("_identify", "_state")

    def __init__(self, state: State[T], identify: Identify) -> None:
        self._state = state
        self._identify = identify

    def __repr__(self) -> str:
        return f"<Snapshot of {len(self)} objects at rv={self.resource_version or '(none)'}>"
