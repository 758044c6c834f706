"""Tables: all at once, or row by row as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .style import Paint, cell_style, plain

__all__ = ["Row", "StreamTable", "table_text"]

_GAP = "   "
_LEAST = {"EVENT": 8, "NAMESPACE": 9, "NAME": 24, "READY": 5, "STATUS": 11, "AGE": 4}
"""Widths to begin a stream with, when what will come is not known."""


def table_text(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A whole table, each column as wide as its widest cell, as kubectl writes it."""
    widths = [max(len(row[at]) for row in (headers, *rows)) for at in range(len(headers))]
    return "".join(_line(row, widths) + "\n" for row in (headers, *rows))


class Row(NamedTuple):
    cells: Sequence[str]
    gone: bool = False
    """Whether the object is no longer there."""


class StreamTable:
    """A table that never ends: a column grows when a wider cell comes, and never shrinks, so that
    lines stay in line as far as they can.
    """

    def __init__(self, headers: Sequence[str], paint: Paint = plain) -> None:
        self._headers = headers
        self._widths = [max(len(header), _LEAST.get(header, 0)) for header in headers]
        self._paint = paint
        self._begun = False

    def lines(self, rows: Sequence[Row]) -> str:
        """These rows, under the header if they are the first. A row may be shorter than the header;
        its last cell then goes on to the end.
        """
        for cells, _ in rows:
            for at, cell in enumerate(cells if len(cells) == len(self._headers) else cells[:-1]):
                self._widths[at] = max(self._widths[at], len(cell))
        text = "".join(self._row(row) + "\n" for row in rows)
        if not self._begun and rows:
            self._begun = True
            text = self._paint(_line(self._headers, self._widths), "bold") + "\n" + text
        return text

    def _row(self, row: Row) -> str:
        if self._paint is plain:
            return _line(row.cells, self._widths)
        painted = []
        for at, cell in enumerate(row.cells):
            width = 0 if at == len(row.cells) - 1 else self._widths[at]
            style = cell_style(self._headers[at], cell, gone=row.gone)
            # The padding is not painted: a background would show it.
            painted.append(self._paint(cell, style) + " " * (width - len(cell)))
        return _GAP.join(painted)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(widths[at]) for at, cell in enumerate(row[:-1])]
    return _GAP.join([*cells, row[-1]]).rstrip()
