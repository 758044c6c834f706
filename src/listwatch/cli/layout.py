"""What a table shows of an object: the server's own cells, or, where it sends none, ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from listwatch.api import Unstructured
from listwatch.api.cells.numbers import go_float
from listwatch.api.cells.reading import age
from listwatch.wire.table import TableColumn, TableRow

from .columns import COLUMNS, Column, cells, columns_for
from .printable import printable

__all__ = ["Layout", "cell_text"]

_FIRST_LINE = re.compile(r"[^\f\n\r]*")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How objects are laid out in a table."""

    with_namespace: bool = False
    """Of objects in namespaces, as the first column."""
    wide: bool = False
    """With the columns that the server thinks less important."""
    prefix: str = ""
    """What goes in front of names, such as `pod/`, where a table is not the only one."""

    def headers(self, obj: Unstructured) -> tuple[str, ...]:
        """The headers of a table of such objects."""
        if isinstance(obj, TableRow) and obj.columns:
            found = [column.name.upper() for column in self._shown(obj.columns)]
            return (*(["NAMESPACE"] if self._namespaced(obj) else []), *found)
        return tuple(column.header for column in self._own(obj))

    def cells(self, obj: Unstructured, now: datetime, *, stale: bool = False) -> list[str]:
        """One row. What is `stale` was sent a while ago: the age that the server told is no longer
        it.
        """
        if not isinstance(obj, TableRow) or not obj.columns:
            columns = self._own(obj)
            found = cells(columns, obj.to_dict(), now)
            named = (column.header == "NAME" for column in columns)
            return [self.prefix * name + cell for name, cell in zip(named, found, strict=True)]
        row = [printable(obj.namespace)] if self._namespaced(obj) else []
        for column, cell in zip(obj.columns, obj.cells, strict=False):
            if column.priority == 0 or self.wide:
                if stale and column.name.lower() == "age":
                    row.append(age(obj.to_dict(), now))
                else:
                    row.append(self.prefix * _is_name(column) + cell_text(cell))
        return row

    @staticmethod
    def has_known_states(obj: Unstructured) -> bool:
        """Whether it is known which of its states are good ones."""
        return (obj.group, obj.kind) in COLUMNS

    def _shown(self, columns: Sequence[TableColumn]) -> Sequence[TableColumn]:
        return [column for column in columns if column.priority == 0 or self.wide]

    def _own(self, obj: Unstructured) -> Sequence[Column]:
        return columns_for(obj.group, obj.kind, with_namespace=self._namespaced(obj))

    def _namespaced(self, obj: Unstructured) -> bool:
        return self.with_namespace and bool(obj.namespace)


def _is_name(column: TableColumn) -> bool:
    return column.format == "name" and column.type == "string"


def cell_text(cell: Any) -> str:
    """A cell of the server as kubectl writes it: its first line, numbers as Go does.

    >>> [cell_text(cell) for cell in (None, True, 3, 1.5, 1e6, "two\\nlines", [1, "a"])]
    ['', 'true', '3', '1.5', '1e+06', 'two...', '[1 a]']
    """
    if cell is None:
        return ""
    if not isinstance(cell, str):
        return printable(_go_text(cell))
    line = _FIRST_LINE.match(cell)
    first = line[0] if line is not None else ""
    return printable(first) + ("..." if len(first) < len(cell) else "")


def _go_text(value: Any) -> str:
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case float():
            return go_float(value)
        case Mapping():
            pairs = (f"{key}:{_go_text(value[key])}" for key in sorted(value))
            return f"map[{' '.join(pairs)}]"
        case list() | tuple():
            return f"[{' '.join(map(_go_text, value))}]"
        case _:
            return str(value)
