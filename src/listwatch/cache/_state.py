"""What a store holds at one moment, and the reads that stores and snapshots share."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

from .identity import Identify
from .indexes import Index, Indexes
from .undecodable import Undecodable

__all__ = ["Reads", "State"]

T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")

_EMPTY: dict[str, Any] = {}


class State(Generic[T]):
    """Objects, indexes and RV that belong together."""

    __slots__ = ("epoch", "indexes", "objects", "resource_version", "undecodable")

    def __init__(
        self,
        objects: dict[str, T | Undecodable],
        undecodable: dict[str, Undecodable],
        indexes: Indexes[T],
        resource_version: str,
        epoch: int,
    ) -> None:
        self.objects = objects
        self.undecodable = undecodable
        """Those of `objects` that are."""
        self.indexes = indexes
        self.resource_version = resource_version
        self.epoch = epoch

    def copy(self) -> State[T]:
        """The same, which no write changes."""
        undecodable, indexes = self.undecodable | _EMPTY, self.indexes.same()
        other: State[T] = State({}, undecodable, indexes, self.resource_version, self.epoch)
        other.objects = self.objects | _EMPTY  # last, see `Reads._read`
        return other


class Reads(Generic[T]):
    """The reads of a store and of a snapshot, from any task or thread.

    An object that cannot be decoded counts for `len`, `in` and `keys()`; asking for it raises
    `ObjectDecodeError`; `list()` and `by_index()` leave it out (H10).
    """

    __slots__ = ()

    _state: State[T]
    _identify: Identify

    def _read(self, look: Callable[[State[T]], R]) -> R:
        """What `look` finds in one state, between two writes.

        A write that falls into it makes it begin again. So it does no more than it must, and what
        takes long last, and by an operator or a display (`[*a]`, `a | b`) rather than by a call: in
        CPython another thread's turn may begin after a call or at a loop's next round, and a writer
        who is always busy would else always have one before it could be seen that all was well.
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
        return self._read(lambda state: [*state.objects])

    def items(self) -> builtins.list[tuple[str, T]]:
        """The keys and the objects, but for those that cannot be decoded."""

        def look(state: State[T]) -> tuple[bool, builtins.list[tuple[str, Any]]]:
            return bool(state.undecodable), [*state.objects.items()]

        some_bad, pairs = self._read(look)
        if some_bad:
            return [pair for pair in pairs if not isinstance(pair[1], Undecodable)]
        return pairs

    def list(self, namespace: str = "") -> builtins.list[T]:
        """The objects, of one namespace or of all."""

        def look(state: State[T]) -> tuple[bool, builtins.list[Any]]:
            some_bad = bool(state.undecodable)
            if namespace:
                return some_bad, state.indexes.namespaces.find(namespace, state.objects)
            return some_bad, [*state.objects.values()]

        some_bad, entries = self._read(look)
        if some_bad:
            return [entry for entry in entries if not isinstance(entry, Undecodable)]
        return entries

    @property
    def undecodable(self) -> Mapping[str, Undecodable]:
        """The objects that cannot be decoded, by key; a copy."""
        return self._read(lambda state: state.undecodable | _EMPTY)

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
        return tuple(self._state.indexes.named)

    @property
    def resource_version(self) -> str:
        """The state of the server that is shown here; empty before the first set."""
        return self._state.resource_version

    @property
    def epoch(self) -> int:
        """How often the server's history went back (H18). RVs compare within one epoch only."""
        return self._state.epoch


def _index(state: State[Any], name: str) -> Index:
    index = state.indexes.named.get(name)
    if index is None:
        there = ", ".join(state.indexes.named) or "none"
        raise KeyError(f"no index {name!r}; there are: {there}")
    return index
