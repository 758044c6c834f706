"""What a store holds at one moment, and the reads that stores and snapshots share."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from .identity import Identify
from .undecodable import Undecodable

__all__ = ["ReadableIndex", "Reads", "State"]

T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")
X = TypeVar("X", bound="ReadableIndex")


class ReadableIndex(Protocol):
    """What reads need of an index."""

    def keys(self, value: str) -> list[str]:
        """The keys of the objects that have this value."""
        ...

    def find(self, value: str, entries: Mapping[str, Any]) -> list[Any]:
        """Those objects, out of `entries`."""
        ...

    def values(self) -> list[str]:
        """The values that at least one object has."""
        ...


class State(Generic[T, X]):
    """Objects, indexes and RV that belong together."""

    __slots__ = ("epoch", "indexes", "objects", "resource_version", "undecodable")

    def __init__(
        self,
        objects: dict[str, T | Undecodable],
        undecodable: dict[str, Undecodable],
        indexes: dict[str, X],
        resource_version: str,
        epoch: int,
    ) -> None:
        self.objects = objects
        self.undecodable = undecodable
        """Those of `objects` that are."""
        self.indexes = indexes
        self.resource_version = resource_version
        self.epoch = epoch


class Reads(Generic[T, X]):
    """The reads of a store and of a snapshot, from any task or thread.

    An object that cannot be decoded counts for `len`, `in` and `keys()`; asking for it raises
    `ObjectDecodeError`; `list()` and `by_index()` leave it out (H10).
    """

    __slots__ = ()

    _state: State[T, X]
    _identify: Identify

    def _read(self, look: Callable[[State[T, X]], R]) -> R:
        """What `look` finds in one state, between two writes. It does no more than it must: a
        write that falls into it makes it begin again.
        """
        return look(self._state)

    @overload
    def get(self, obj_or_key: T | str) -> T | None: ...
    @overload
    def get(self, obj_or_key: T | str, default: D) -> T | D: ...
    def get(self, obj_or_key: Any, default: Any = None) -> Any:
        """The object of that key, or of the key of that object; `default` where there is none.

        Takes no lock. Raises `ObjectDecodeError` where it cannot be decoded.
        """
        key = obj_or_key if isinstance(obj_or_key, str) else self._identify(obj_or_key).key
        entry = self._state.objects.get(key)
        if entry is None:
            return default
        if type(entry) is Undecodable:
            raise entry.error
        return entry

    @overload
    def get_by_key(self, key: str) -> T | None: ...
    @overload
    def get_by_key(self, key: str, default: D) -> T | D: ...
    def get_by_key(self, key: str, default: Any = None) -> Any:
        """The object of that key; `default` where there is none. Raises as `get` does."""
        return self.get(key, default)

    def __getitem__(self, key: str) -> T:
        """Raises `KeyError`, and `ObjectDecodeError` where it cannot be decoded."""
        entry = self._state.objects[key]
        if isinstance(entry, Undecodable):
            raise entry.error
        return entry

    def known(self, key: str) -> T | Undecodable | None:
        """What is held under that key, whether it can be decoded or not."""
        return self._state.objects.get(key)

    def __contains__(self, key: object) -> bool:
        return key in self._state.objects

    def __len__(self) -> int:
        return self._read(lambda state: len(state.objects))

    def __iter__(self) -> Iterator[str]:
        """The keys, as they are now."""
        return iter(self.keys())

    def keys(self) -> builtins.list[str]:
        """All keys, in no order that means anything, but the same from call to call."""
        return self._read(lambda state: list(state.objects))

    def items(self) -> builtins.list[tuple[str, T]]:
        """The keys and the objects, but for those that cannot be decoded."""

        def look(state: State[T, X]) -> builtins.list[tuple[str, Any]]:
            if not state.undecodable:
                return [*state.objects.items()]
            return [pair for pair in state.objects.items() if pair[0] not in state.undecodable]

        return self._read(look)

    def list(self, namespace: str = "") -> builtins.list[T]:
        """The objects, of one namespace or of all."""
        if not namespace:
            entries, bad = self._read(
                lambda state: (list(state.objects.values()), len(state.undecodable))
            )
            if not bad:
                return cast(builtins.list[T], entries)
            return [entry for entry in entries if not isinstance(entry, Undecodable)]
        prefix = f"{namespace}/"
        return [
            entry
            for key, entry in self._read(lambda state: state.objects.copy()).items()
            if key.startswith(prefix) and not isinstance(entry, Undecodable)
        ]

    @property
    def undecodable(self) -> Mapping[str, Undecodable]:
        """The objects that cannot be decoded, by key; a copy."""
        return self._read(lambda state: state.undecodable.copy())

    def by_index(self, name: str, value: str) -> builtins.list[T]:
        """The objects for which the index `name` gave `value`. Raises `KeyError` for an index that
        does not exist.
        """
        return self._read(lambda state: _index(state, name).find(value, state.objects))

    def index_keys(self, name: str, value: str) -> builtins.list[str]:
        """The keys of those objects. Raises as `by_index` does."""
        return self._read(lambda state: _index(state, name).keys(value))

    def index_values(self, name: str) -> builtins.list[str]:
        """The values that at least one object has. Raises as `by_index` does."""
        return self._read(lambda state: _index(state, name).values())

    @property
    def index_names(self) -> tuple[str, ...]:
        """The names of the indexes there are."""
        return tuple(self._state.indexes)

    @property
    def resource_version(self) -> str:
        """The state of the server that is shown here; empty before the first set."""
        return self._state.resource_version

    @property
    def epoch(self) -> int:
        """How often the server's history went back (H18). RVs compare within one epoch only."""
        return self._state.epoch


def _index(state: State[T, X], name: str) -> X:
    index = state.indexes.get(name)
    if index is None:
        there = ", ".join(state.indexes) or "none"
        raise KeyError(f"no index {name!r}; there are: {there}")
    return index
