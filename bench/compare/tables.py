"""The tables, for people and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from .figures import Line, lines_of
from .play import Outcome

__all__ = ["markdown", "plain", "rows"]

_HEADS = (
    "player/case",
    "us",
    "least-most",
    "a second",
    "x client-go",
    "x kube-rs",
    "kept",
    "peak/kept",
    "unusual",
    "rounds",
)


def rows(outcome: Outcome) -> list[tuple[str, ...]]:
    """A row for each part that was played, with a head."""
    return [_HEADS, *(_row(line, outcome) for line in lines_of(outcome))]


def _row(line: Line, outcome: Outcome) -> tuple[str, ...]:
    of = line.fast or {}
    return (
        line.name,
        _micros(line.micros),
        f"{_micros(line.least)}-{_micros(line.most)}" if line.rounds > 1 else "",
        f"{line.a_second:,.0f}",
        _times(line.go),
        _times(line.rust),
        f"{line.kept:,.0f}" if line.kept > 200 else "",
        f"{line.peak:.2f}" if line.kept > 200 else "",
        f"{of['unusual']:,}" if "unusual" in of else "",
        str(line.rounds),
    )


def _micros(value: float) -> str:
    return f"{value:,.1f}" if value < 100 else f"{value:,.0f}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def plain(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    )


def markdown(table: Sequence[Sequence[str]]) -> str:
    head, *rest = table
    rule = ["---", *("--:" for _ in head[1:])]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rest))
