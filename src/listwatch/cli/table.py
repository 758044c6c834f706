"""Tables: all at once, or row by row as they come."""

from __future__ import annotations

from collections.abc import Sequence

from .style import Paint, event_style, plain, state_style

__all__ = ["StreamTable", "table_text"]

_GAP = "   "
_LEAST = {"EVENT": 8, "NAMESPACE": 9, "NAME": 24, "READY": 5, "STATUS": 11, "AGE": 4}
"""Widths to begin a stream with, when what will come is not known."""


def table_text(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A whole table, each column as wide as its widest cell, as kubectl writes it."""
    widths = [max(len(row[at]) for row in (headers, *rows)) for at in range(len(headers))]
    return "".join(_line(row, widths) + "\n" for row in (headers, *rows))


class StreamTable:
    """A table that never ends: a column grows when a wider cell comes, and never shrinks, so that
    lines stay in line as far as they can.
    """

    def __init__(self, headers: Sequence[str], paint: Paint = plain) -> None:
        self._headers = headers
        self._widths = [max(len(header), _LEAST.get(header, 0)) for header in headers]
        self._paint = paint
        self._begun = False

    def lines(self, rows: Sequence[Sequence[str]]) -> str:
        """These rows, whose first cell is the type of an event, under the header if they are the
        first. A row may be shorter than the header; its last cell then goes on to the end.
        """
        for row in rows:
            for at, cell in enumerate(row[: len(row) if len(row) == len(self._headers) else 1]):
                self._widths[at] = max(self._widths[at], len(cell))
        text = "".join(self._row(row) + "\n" for row in rows)
        if not self._begun and rows:
            self._begun = True
            text = self._paint(_line(self._headers, self._widths), "bold") + "\n" + text
        return text

    def _row(self, row: Sequence[str]) -> str:
        if self._paint is plain:
            return _line(row, self._widths)
        kind = row[0]
        event = self._paint(kind, event_style(kind)) + " " * (self._widths[0] - len(kind))
        if kind == "DELETED":
            rest = _line(row[1:], self._widths[1:])
            return _GAP.join([event, self._paint(rest, "dim")])
        painted = [event]
        for at, cell in enumerate(row[1:], 1):
            width = 0 if at == len(row) - 1 else self._widths[at]
            # The padding is not painted: a background would show it.
            style = state_style(self._headers[at], cell)
            painted.append(self._paint(cell, style) + " " * (width - len(cell)))
        return _GAP.join(painted)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [cell.ljust(widths[at]) for at, cell in enumerate(row[:-1])]
    return _GAP.join([*cells, row[-1]]).rstrip()
