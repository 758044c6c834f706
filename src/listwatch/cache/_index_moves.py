"""What a write means for the indexes of a store, worked out before anything is changed.

Everybody's index functions run here. What is left to do then are dict operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, Generic, TypeVar

from ._keys import held
from .indexes import Indexes, IndexFunctionError, Row, Shift, Values
from .undecodable import Undecodable

__all__ = ["IndexMoves", "indexes_after"]

T = TypeVar("T")

_AT_A_TIME = 10_000

_FORMS = (list, tuple)


class IndexMoves(Generic[T]):
    """What `changes`, the new entry of each key and None where it goes, mean for the indexes of a
    store that holds `objects`.

    An index function that raises leaves its object out of that index, and goes to `failures`; where
    that is None, `IndexFunctionError` is raised.
    """

    __slots__ = (
        "_failures",
        "_indexes",
        "_same",
        "_texts",
        "rows",
        "shifts",
    )

    def __init__(
        self,
        indexes: Indexes[T],
        objects: Mapping[str, object],
        changes: Mapping[str, T | Undecodable | None],
        failures: list[Exception] | None,
    ) -> None:
        self.rows: dict[str, Row | None] = {}
        """The new row of each key whose row changes; None where it goes."""
        self.shifts: list[Shift] = []
        """One for each of `Indexes.all`; none at all where nothing changes in any."""
        self._indexes = indexes
        self._failures = failures
        if indexes.functions:
            self._read(objects, changes)
        else:
            self._read_keys(objects, changes)

    def _read(
        self, objects: Mapping[str, object], changes: Mapping[str, T | Undecodable | None]
    ) -> None:
        rows, nothing = self._indexes.rows, self._indexes.nothing
        for key, entry in changes.items():
            there = key in objects
            if there is (entry is None):
                self._come_or_go(key, there)
            old = rows.get(key, nothing)
            if entry is None or type(entry) is Undecodable:
                new: Row | list[Values] = nothing
            else:
                new = self._row(key, entry, old)
            if new is not old:
                self._begin()
                self._move(self._held(key) if there else key, old, new)

    def _read_keys(
        self, objects: Mapping[str, object], changes: Mapping[str, T | Undecodable | None]
    ) -> None:
        """The same where there are no functions."""
        for key in [key for key, entry in changes.items() if entry is None]:
            if key in objects:
                self._come_or_go(key, True)
        if not changes.keys() <= objects.keys():
            for key, entry in changes.items():
                if entry is not None and key not in objects:
                    self._come_or_go(key, False)

    def _begin(self) -> None:
        if not self.shifts:
            self.shifts = [([], [], [], []) for _ in self._indexes.all]
            self._texts: list[dict[str, str]] = [{} for _ in self._indexes.nothing]
            """Of each index, the values that were met, each as the one text to be kept."""
            self._same: dict[Row, Row] = {}
            """Rows that were met."""

    def _come_or_go(self, key: str, goes: bool) -> None:
        self._begin()
        values, keys = self.shifts[0][:2] if goes else self.shifts[0][2:]
        values.append(_namespace(key))
        keys.append(key)

    def _held(self, key: str) -> str:
        """The text of that key which the store has, so that the event's need not be kept, too."""
        return held(self._indexes.namespaces.held(_namespace(key)), key) or key

    def _row(self, key: str, entry: Any, old: Row) -> Row | list[Values]:
        """The values of this object; `old` itself if that is what they are."""
        row: list[Values] | None = None
        for column, (name, function) in self._indexes.columns:
            was = old[column]
            try:
                found = function(entry)
                values: Values
                # The usual case stands here, before the call that knows them all.
                if isinstance(found, _FORMS) and len(found) == 1 and type(found[0]) is str:
                    values = found[0]
                else:
                    values = _checked(found)
            except Exception as cause:  # anybody's code, named to whoever has to mend it
                error = IndexFunctionError(key, name, cause)
                if self._failures is None:
                    raise error from cause
                self._failures.append(error)
                values = None
            if values != was:
                if row is None:
                    row = list(old)
                row[column] = values
        return old if row is None else row

    def _move(self, key: str, old: Row, new: Row | list[Values]) -> None:
        """Out of the one row, into the other."""
        row: list[Values] = []
        for column, (was, values) in enumerate(zip(old, new, strict=True)):
            gone, gone_keys, come, come_keys = self.shifts[column + 1]
            # The usual cases stand here, before those that know them all.
            if values == was:
                row.append(was)
            elif was is None and values.__class__ is str:
                text = self._texts[column].get(values) or self._text(column, values)
                come.append(text)
                come_keys.append(key)
                row.append(text)
            elif values is None and was.__class__ is str:
                gone.append(was)
                gone_keys.append(key)
                row.append(None)
            else:
                texts = tuple([self._text(column, value) for value in _as_tuple(values)])
                before = _as_tuple(was)
                gone += [value for value in before if value not in texts]
                gone_keys += [key] * (len(gone) - len(gone_keys))
                come += [value for value in texts if value not in before]
                come_keys += [key] * (len(come) - len(come_keys))
                row.append(_values(texts))
        made = tuple(row)
        self.rows[key] = (
            None if made == self._indexes.nothing else self._same.setdefault(made, made)
        )

    def _text(self, column: int, value: str) -> str:
        """That value in the one text that is kept of it."""
        text = self._texts[column].get(value)
        if text is None:
            text = value
            row = self._indexes.row_with(column, value)
            if row is not None:
                self._same[row] = row
                text = next(each for each in _as_tuple(row[column]) if each == value)
            self._texts[column][value] = text
        return text


def _namespace(key: str) -> str:
    namespace, slash, _ = key.partition("/")
    return namespace if slash else ""


def _as_tuple(values: Values) -> tuple[str, ...]:
    if values is None:
        return ()
    return (values,) if isinstance(values, str) else values


def _values(texts: tuple[str, ...]) -> Values:
    return texts if len(texts) > 1 else texts[0] if texts else None


def _checked(found: Iterable[str]) -> Values:
    if isinstance(found, _FORMS) and not found:
        return None
    if isinstance(found, str):
        raise TypeError(f"it gave the text {found!r}, where a list of texts is expected")
    values = tuple(dict.fromkeys(found))
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"it gave {value!r}, which is no text")
    return _values(values)


def indexes_after(
    indexes: Indexes[T],
    objects: Mapping[str, object],
    changes: Mapping[str, T | Undecodable | None],
    failures: list[Exception] | None,
) -> Indexes[T]:
    """What the indexes are after a write, as others, which share what does not change. For writes
    so large that working out all before doing any of it takes more memory than the indexes.
    """
    after = indexes.apart()
    left = iter(changes.items())
    while part := dict(islice(left, _AT_A_TIME)):
        after.apply(IndexMoves(after, objects, part, failures))
    if len(after.rows) * 2 < len(indexes.rows):
        after.rows = dict(after.rows)  # a dict never shrinks by itself
    return after
