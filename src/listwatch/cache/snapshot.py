"""Snapshot: a store as it was at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from ._state import Reads, State
from .identity import Identify
from .indexes import Index, Values, as_tuple

__all__ = ["Snapshot"]

T = TypeVar("T")


class FrozenIndex:
    """An index of a snapshot: the values of each key, turned round when first asked for."""

    __slots__ = ("_buckets", "_values")

    def __init__(self, index: Index[Any]) -> None:
        self._values: dict[str, Values] = index.values_by_key()
        self._buckets: dict[str, list[str]] | None = None

    def keys(self, value: str) -> list[str]:
        return list(self._turned().get(value, ()))

    def find(self, value: str, entries: Mapping[str, Any]) -> list[Any]:
        return [entries[key] for key in self._turned().get(value, ())]

    def values(self) -> list[str]:
        return list(self._turned())

    def _turned(self) -> dict[str, list[str]]:
        if self._buckets is None:
            buckets: dict[str, list[str]] = {}
            for key, values in self._values.items():
                for value in as_tuple(values):
                    buckets.setdefault(value, []).append(key)
            self._buckets = buckets  # two threads may both have made it: the same one
        return self._buckets


class Snapshot(Reads[T, FrozenIndex]):
    """A frozen view of a store, for several reads that must fit together (I1).

    It has the reads of a store, shares its objects, and costs a few pointers for each. `Store`
    makes it.
    """

    __slots__ = ("_identify", "_state")

    def __init__(self, state: State[T, Index[T]], identify: Identify) -> None:
        self._identify = identify
        self._state: State[T, FrozenIndex] = State(
            state.objects.copy(),
            state.undecodable.copy(),
            {name: FrozenIndex(index) for name, index in state.indexes.items()},
            state.resource_version,
            state.epoch,
        )

    def __repr__(self) -> str:
        return f"<Snapshot of {len(self)} objects at rv={self.resource_version or '(none)'}>"
