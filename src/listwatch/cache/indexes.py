"""Indexes: from a value to the keys of the objects that have it (I2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

from listwatch.api import ListWatchError

from .undecodable import Undecodable

__all__ = ["Index", "IndexFunction", "IndexFunctionError"]

T = TypeVar("T")

IndexFunction: TypeAlias = Callable[[T], Iterable[str]]
"""Gives the values under which an object is found; none is fine."""

Values: TypeAlias = str | tuple[str, ...] | None
"""An object's values: none, one, or several. One needs no tuple, which the GC would track."""

Bucket: TypeAlias = dict[str, None]
"""Keys in the order in which they came. A set would have none."""


class IndexFunctionError(ListWatchError):
    """An index function raised, or gave something that is no list of texts. The `__cause__` is its
    own exception.
    """

    def __init__(self, key: str, index: str, cause: Exception) -> None:
        super().__init__(f"index {index!r} failed on {key}: {type(cause).__name__}: {cause}")
        self.key = key
        self.index = index
        self.__cause__ = cause


class Index(Generic[T]):
    """One index. It holds keys only; the values of each key are kept, so that no function must give
    the same answer twice, and an unchanged one costs nothing.
    """

    __slots__ = ("_buckets", "_names", "_values", "function", "name")

    def __init__(self, name: str, function: IndexFunction[T]) -> None:
        self.name = name
        self.function = function
        self._buckets: dict[str, Bucket] = {}
        self._names: dict[str, str] = {}  # one text for each value, not one for each object
        self._values: dict[str, Values] = {}

    def compute(self, key: str, entry: T | Undecodable | None) -> Values:
        """The values of an object; none for one that is gone or cannot be decoded.

        Raises `IndexFunctionError`.
        """
        if entry is None or isinstance(entry, Undecodable):
            return None
        try:
            return _checked(self.function(entry))
        except Exception as error:  # anybody's code, named to whoever has to mend it
            raise IndexFunctionError(key, self.name, error) from error

    def update(self, values: Mapping[str, Values]) -> None:
        """Set the values of these keys, in place."""
        self._update(values, None)

    def updated(self, values: Mapping[str, Values]) -> Index[T]:
        """The same as a new index, which shares with this one all that did not change."""
        other: Index[T] = Index(self.name, self.function)
        other._buckets = self._buckets.copy()
        other._names = self._names.copy()
        other._values = self._values.copy()
        other._update(values, set())
        return other

    def keys(self, value: str) -> list[str]:
        return list(self._buckets.get(value, ()))

    def find(self, value: str, entries: Mapping[str, T | Undecodable]) -> list[Any]:
        return list(map(entries.__getitem__, self._buckets.get(value, ())))

    def values(self) -> list[str]:
        return list(self._buckets)

    def values_by_key(self) -> dict[str, Values]:
        """A copy."""
        return self._values.copy()

    def _update(self, values: Mapping[str, Values], own: set[str] | None) -> None:
        """`own` are the values whose buckets are this index's alone; None means all."""
        for key, new in values.items():
            old = self._values.get(key)
            if old == new:
                continue
            before, after = as_tuple(old), as_tuple(new)
            for value in before:
                if value not in after:
                    self._remove(value, key, own)
            for value in after:
                if value not in before:
                    self._add(value, key, own)
            if new is None:
                del self._values[key]
            elif isinstance(new, str):
                self._values[key] = self._names[new]
            else:
                self._values[key] = tuple([self._names[value] for value in new])

    def _add(self, value: str, key: str, own: set[str] | None) -> None:
        bucket = self._bucket(value, own)
        if bucket is None:
            self._names[value] = value
            bucket = self._buckets[value] = {}
            if own is not None:
                own.add(value)
        bucket[key] = None

    def _remove(self, value: str, key: str, own: set[str] | None) -> None:
        bucket = self._bucket(value, own)
        if bucket is None:
            return
        bucket.pop(key, None)
        if not bucket:
            del self._buckets[value], self._names[value]

    def _bucket(self, value: str, own: set[str] | None) -> Bucket | None:
        bucket = self._buckets.get(value)
        if bucket is None or own is None or value in own:
            return bucket
        own.add(value)
        bucket = self._buckets[value] = bucket.copy()
        return bucket


def as_tuple(values: Values) -> tuple[str, ...]:
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else values


def _checked(found: Iterable[str]) -> Values:
    if isinstance(found, str):
        raise TypeError(f"it gave the text {found!r}, where a list of texts is expected")
    values = tuple(dict.fromkeys(found))
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"it gave {value!r}, which is no text")
    return values if len(values) > 1 else values[0] if values else None
