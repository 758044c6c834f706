"""Indexes: from a value to the keys of the objects that have it (I2).

All indexes of a store are one structure, so that many of them are affordable:

- Under each key there is one row: what each index's function gave for the object. So no function
  must give the same answer twice, and an event that changes no value costs an index the call of its
  function and a comparison.
- Under each value of an index there are the keys of the objects that have it.

Equal texts are one text, and equal rows often one row. What is in which namespace is an index
beside those, which needs neither a function nor a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from listwatch.api import ListWatchError

from ._keys import Keys, each, newest, with_key, without_key

if TYPE_CHECKING:
    from ._index_moves import IndexMoves

__all__ = ["Index", "IndexFunction", "IndexFunctionError", "Indexes", "Row", "Shift", "Values"]

T = TypeVar("T")

IndexFunction: TypeAlias = Callable[[T], Iterable[str]]
"""Gives the values under which an object is found; none is fine."""

Values: TypeAlias = str | tuple[str, ...] | None
"""An object's values in one index: one, several, or none."""

Row: TypeAlias = tuple[Values, ...]
"""An object's values in each of the indexes."""

Shift: TypeAlias = tuple[list[str], list[str], list[str], list[str]]
"""What changes in one index: values, and beside each a key that leaves it; then values, and beside
each a key that joins it. (No pairs: in a first set there are millions.)
"""


class IndexFunctionError(ListWatchError):
    """An index function raised, or gave something that is no list of texts. The `__cause__` is its
    own exception.
    """

    def __init__(self, key: str, index: str, cause: Exception) -> None:
        super().__init__(f"index {index!r} failed on {key}: {type(cause).__name__}: {cause}")
        self.key = key
        self.index = index
        self.__cause__ = cause


class Index:
    """One index: the keys of each value."""

    __slots__ = ("_by_value", "_own", "_shared", "samples")

    def __init__(self) -> None:
        self._by_value: dict[str, Keys] = {}
        self._own: set[str] | None = None
        """The values whose keys are in no other index; None where all are."""
        self._shared = False
        """Whether another one has the same dict."""
        self.samples: dict[str, str] = {}
        """For some values of many keys, one that was among them: to find one takes long where many
        have gone from a dict.
        """

    def keys(self, value: str) -> list[str]:
        """The keys of the objects that have this value."""
        return [*each(self._by_value.get(value))]

    def find(self, value: str, entries: Mapping[str, Any]) -> list[Any]:
        """Those objects, out of `entries`."""
        return [*map(entries.__getitem__, each(self._by_value.get(value)))]

    def values(self) -> list[str]:
        """The values that at least one object has."""
        return [*self._by_value]

    def held(self, value: str) -> Keys | None:
        """The keys of that value, as they are held."""
        return self._by_value.get(value)

    def same(self) -> Index:
        """Another one of the same content. Whichever changes then copies what it changes.

        Any thread may call this, if no write falls into it.
        """
        other = Index()
        self._shared = other._shared = True
        other._by_value = self._by_value
        return other

    def change(self, shift: Shift) -> None:
        """Take keys away from their values, and add some to theirs."""
        gone, gone_keys, come, come_keys = shift
        if self._shared:
            self._own = set() if self._by_value else None
            self._by_value, self._shared = self._by_value.copy(), False
        by_value, own = self._by_value, self._own
        for value, key in zip(gone, gone_keys, strict=True):
            held = by_value.get(value)
            if own is not None and held.__class__ is dict:
                held = self._mine(value)
            held = without_key(held, key)
            if held is not None:
                by_value[value] = held
            elif value in by_value:
                del by_value[value]
                self.samples.pop(value, None)
                if own is not None:
                    own.discard(value)
        for value, key in zip(come, come_keys, strict=True):
            held = by_value.get(value)
            if own is not None and held.__class__ is dict:
                held = self._mine(value)
            by_value[value] = with_key(held, key)

    def _mine(self, value: str) -> Keys:
        """The keys of that value, no other's."""
        held, own = self._by_value[value], self._own
        if own is not None and isinstance(held, dict) and value not in own:
            own.add(value)
            return held.copy()
        return held


class Indexes(Generic[T]):
    """The indexes of a store or a snapshot."""

    __slots__ = ("all", "columns", "functions", "named", "namespaces", "nothing", "rows")

    def __init__(self, functions: Mapping[str, IndexFunction[T]]) -> None:
        self.functions = dict(functions)
        self.columns = tuple(enumerate(self.functions.items()))
        self._have([Index() for _ in range(len(functions) + 1)])
        self.rows: dict[str, Row] = {}
        """By key; none for an object without any value."""
        self.nothing: Row = (None,) * len(functions)
        """The row of such an object."""

    def _have(self, indexes: Iterable[Index]) -> None:
        self.all = tuple(indexes)
        """That of the namespaces, then the others in the order of a row."""
        self.namespaces = self.all[0]
        """Those of all keys. Cluster-scoped objects have the empty one."""
        self.named = dict(zip(self.functions, self.all[1:], strict=True))

    def row_with(self, column: int, value: str) -> Row | None:
        """Some row with that value; None where no object has it."""
        index = self.all[column + 1]
        keys = index.held(value)
        if keys is None:
            return None
        key: str | None = None
        if isinstance(keys, dict):
            key = index.samples.get(value)
            if key not in keys:
                key = index.samples[value] = newest(keys)
        return self.rows[key or newest(keys)]

    def apply(self, moves: IndexMoves[T]) -> None:
        """Bring about what was worked out for a write. It does not fail."""
        if not moves.shifts:
            return
        for index, shift in zip(self.all, moves.shifts, strict=False):
            if shift[0] or shift[2]:
                index.change(shift)
        rows = self.rows
        for key, row in moves.rows.items():
            if row is None:
                rows.pop(key, None)
            else:
                rows[key] = row

    def apart(self) -> Indexes[T]:
        """The same as another, which then may change; it shares what does not."""
        other = self.same()
        other.rows = self.rows.copy()
        return other

    def same(self) -> Indexes[T]:
        """What reads need of these, as it is now. See `Index.same`."""
        other: Indexes[T] = Indexes(self.functions)
        other._have([index.same() for index in self.all])
        return other

    def with_one(self, added: Indexes[T]) -> Indexes[T]:
        """These, and the one that is in `added`."""
        other: Indexes[T] = Indexes({**self.functions, **added.functions})
        other._have((*self.all, *added.named.values()))
        alike: dict[Row, Row] = {}
        for key in {**self.rows, **added.rows}:
            row = (*self.rows.get(key, self.nothing), *added.rows.get(key, added.nothing))
            other.rows[key] = alike.setdefault(row, row)
        return other
