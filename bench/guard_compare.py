"""What the guard says of figures beside those that are stored. Nothing here measures."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["TOLERANCE", "Figures", "Finding", "Kind", "Measure", "compare"]

TOLERANCE = 0.10
"""How far a figure may be from the stored one, as a part of it."""

Figures = Mapping[str, Mapping[str, float]]
"""By path and measure."""


class Measure(StrEnum):
    """What is measured, each for one event."""

    INSTRUCTIONS = "instructions"
    """Of the processor, as callgrind counts them."""
    MADE = "made"
    """Blocks of memory in what the path returns, and in what it kept meanwhile."""
    KEPT = "kept"
    """Blocks that stay when what it returned is dropped."""
    KEPT_BYTES = "kept_bytes"
    PEAK_BYTES = "peak_bytes"
    """The most there was at once, above what there was before."""
    TRACKED = "tracked"
    """Objects that stay and that the garbage collector has to visit."""


_WORDS = {
    Measure.INSTRUCTIONS: "instructions",
    Measure.MADE: "blocks made",
    Measure.KEPT: "blocks kept",
    Measure.KEPT_BYTES: "bytes kept",
    Measure.PEAK_BYTES: "bytes at the peak",
    Measure.TRACKED: "objects for the garbage collector",
}

_SLACK = {
    Measure.INSTRUCTIONS: 60.0,
    Measure.MADE: 0.1,
    Measure.KEPT: 0.1,
    Measure.KEPT_BYTES: 16.0,
    Measure.PEAK_BYTES: 64.0,
    Measure.TRACKED: 0.02,
}
"""Differences below these are none, however small the figure is: some belong to no event, as the
one block more that a dict takes when it grows.
"""


class Kind(StrEnum):
    """What a finding is."""

    WORSE = "worse"
    BETTER = "better"
    NEW = "new"
    """There is no stored figure."""
    GONE = "gone"
    """There is one of a path, or a measure, that is no more."""

    @property
    def fails(self) -> bool:
        """Whether the guard fails for it."""
        return self in (Kind.WORSE, Kind.NEW, Kind.GONE)


@dataclass(frozen=True)
class Finding:
    """One thing that the guard has to say. `str` has it in words."""

    kind: Kind
    path: str
    measure: str = ""
    stored: float = 0.0
    now: float = 0.0

    def __str__(self) -> str:
        if not self.measure:
            why = "it has no stored figures" if self.kind is Kind.NEW else "it is measured no more"
            return f"{self.path}: {why}"
        what = _WORDS[Measure(self.measure)]
        if self.kind is Kind.NEW:
            return f"{self.path}: {_number(self.now)} {what} an event, and no stored figure"
        if self.kind is Kind.GONE:
            return f"{self.path}: a stored figure of {what}, which is measured no more"
        return (
            f"{self.path}: {_number(self.now)} {what} an event, {_number(self.stored)} stored: "
            f"{self._by()}"
        )

    def _by(self) -> str:
        more = "more" if self.now > self.stored else "fewer"
        if self.stored <= 0 or self.now <= 0:
            return f"{_number(abs(self.now - self.stored))} {more}"
        return f"{abs(self.now / self.stored - 1):.1%} {more}"


def compare(
    stored: Figures,
    now: Figures,
    *,
    tolerances: Mapping[str, float] | None = None,
    untracked: Collection[str] = (),
    measures: Collection[Measure] = tuple(Measure),
    whole: bool = True,
) -> list[Finding]:
    """What is to be said of `now`, path by path, in their order.

    `tolerances` has the paths that need another than `TOLERANCE`. Those in `untracked` may keep
    nothing for the garbage collector, whatever is stored. `measures` are those that were taken.
    Unless this is the `whole` run, paths that are only stored are none of its business.
    """
    findings: list[Finding] = []
    for path, figures in now.items():
        known = stored.get(path)
        rules = {Measure.TRACKED.value: 0.0} if path in untracked else {}
        tolerance = (tolerances or {}).get(path, TOLERANCE)
        if known is None:
            ruled = {name: figures[name] for name in rules if name in figures}
            findings += _compared(path, rules, ruled, tolerance, measures)
            findings.append(Finding(Kind.NEW, path))
        else:
            findings += _compared(path, {**known, **rules}, figures, tolerance, measures)
    if whole:
        findings += [Finding(Kind.GONE, path) for path in stored if path not in now]
    return findings


def _compared(
    path: str,
    known: Mapping[str, float],
    figures: Mapping[str, float],
    tolerance: float,
    measures: Collection[Measure],
) -> Iterator[Finding]:
    for measure in measures:
        before, now = known.get(measure), figures.get(measure)
        if before is None or now is None:
            if now is not None:
                yield Finding(Kind.NEW, path, measure, now=now)
            elif before is not None:
                yield Finding(Kind.GONE, path, measure, stored=before)
        elif abs(now - before) > max(tolerance * abs(before), _SLACK[measure]):
            kind = Kind.WORSE if now > before else Kind.BETTER
            yield Finding(kind, path, measure, before, now)


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"
