"""Tables: all at once, or row by row as they come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .style import Paint, cell_style, plain

__all__ = ["Row", "StreamTable", "table_text"]

_GAP = 3
"""Spaces between columns, and the least that a column is wide without them: kubectl's numbers."""
_LEAST = {"EVENT": 8, "NAMESPACE": 9, "NAME": 24, "READY": 5, "STATUS": 11, "AGE": 4}
"""Widths to begin a stream with, when what will come is not known."""


def table_text(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A whole table, byte for byte as kubectl writes it: each column as wide as its widest cell,
    the last one without padding, so that a line whose last cell is empty ends in spaces.
    """
    widths: list[int] = []
    for row in (headers, *rows):
        _grow(widths, row[:-1])
    return "".join(_line(row, widths) + "\n" for row in (headers, *rows))


class Row(NamedTuple):
    cells: Sequence[str]
    gone: bool = False
    """Whether the object is no longer there."""
    known: bool = True
    """Whether it is known which of its states are good."""


class StreamTable:
    """A table that never ends: a column grows when a wider cell comes, and never shrinks, so that
    lines stay in line as far as they can.

    It is laid out as kubectl does it if it is to be `exact`; else columns begin with the width that
    they usually come to.
    """

    def __init__(
        self, headers: Sequence[str], paint: Paint = plain, *, exact: bool = False
    ) -> None:
        self._paint = paint
        self._exact = exact
        self._widths: list[int] = []
        self.begin(headers)

    def begin(self, headers: Sequence[str]) -> None:
        """Go on with other columns, under a header of their own."""
        self._headers = headers
        self._begun = False
        if not self._exact:
            _grow(self._widths, [header.ljust(_LEAST.get(header, 0)) for header in headers])

    def lines(self, rows: Sequence[Row]) -> str:
        """These rows, under the header if they are the first. A row may be shorter than the header;
        its last cell then goes on to the end.
        """
        begins = not self._begun and bool(rows)
        if begins:
            self._begun = True
            _grow(self._widths, self._headers[:-1])
        for cells, *_ in rows:
            whole = not self._exact and len(cells) == len(self._headers)
            _grow(self._widths, cells if whole else cells[:-1])
        text = "".join(self._ended(self._row(row)) for row in rows)
        if begins:
            header = _line(self._headers, self._widths)
            text = self._ended(self._paint(header, "bold")) + text
        return text

    def _row(self, row: Row) -> str:
        if self._paint is plain:
            return _line(row.cells, self._widths)
        painted = []
        for at, cell in enumerate(row.cells):
            width = 0 if at == len(row.cells) - 1 else self._widths[at] + _GAP
            header = self._headers[at]
            style = ""
            if row.known or row.gone or header == "EVENT":
                style = cell_style(header, cell, gone=row.gone)
            # The padding is not painted: a background would show it.
            painted.append(self._paint(cell, style) + " " * (width - len(cell)))
        return "".join(painted)

    def _ended(self, line: str) -> str:
        return (line if self._exact else line.rstrip()) + "\n"


def _grow(widths: list[int], cells: Sequence[str]) -> None:
    """Make room for these."""
    widths += [_GAP] * (len(cells) - len(widths))
    for at, cell in enumerate(cells):
        widths[at] = max(widths[at], len(cell))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(widths[at] + _GAP) for at, cell in enumerate(row[:-1])]
    return "".join([*cells, *row[-1:]])
