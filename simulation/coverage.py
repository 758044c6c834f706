"""Which fault met the mirror at what: the table, and the cells that cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from .faults import KINDS

__all__ = ["COLUMNS", "HAPPENINGS", "ROWS", "Coverage"]

COLUMNS = (
    "starting", "listing", "fallen back", "streaming", "watching", "checking", "backing off"
)  # fmt: skip
"""What a mirror can be at. `fallen back`: it lists since WatchList was given up; `checking`: beside
its watch it asks where the server's history is, or how fresh the store.
"""

HAPPENINGS = (
    "handler added", "handler removed", "handler raises", "handler stalls", "queue full"
)  # fmt: skip
"""What happens to an informer's handlers."""

ROWS = (*KINDS, "slow consumer", "stop", *HAPPENINGS)

_NOTHING_ASKED = "nothing is asked yet"
_ONLY_BY_CHANCE = (
    "nothing is under way meanwhile but, at times, a silent watch that is being replaced or a proof"
    " of freshness: not asked for"
)
_ONLY_WATCHES = "only a watch has events"
_ONLY_SETS = "only a request for the whole set is answered so"
_NO_MARKER = "only an initial stream has a marker"

_ANSWERS = (
    "no answer", "delayed", "HTTP 410", "HTTP 429", "HTTP 5xx", "HTTP 401", "HTTP 403", "HTTP 404",
    "cut", "reset", "stalled", "clean end", "proxy's page",
)  # fmt: skip
"""What happens to an answer, or instead of one."""
_EVENTS = (
    "410 event", "410 by reason", "429 event", "500 event", "events dropped", "garbage",
    "oversized", "no bookmarks", "no marker",
)  # fmt: skip


def _impossible() -> Mapping[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for kind in (*_ANSWERS, *_EVENTS, "RV too large", "no watch-list"):
        found[kind, "starting"] = _NOTHING_ASKED
        found[kind, "backing off"] = _ONLY_BY_CHANCE
    for kind in _EVENTS:
        for state in ("listing", "fallen back"):
            found[kind, state] = _ONLY_WATCHES
    for kind in ("clean end",):
        for state in ("listing", "fallen back"):
            found[kind, state] = "a list that ends is whole: ended early, it is cut"
    for kind in ("RV too large", "no watch-list"):
        found[kind, "watching"] = found[kind, "checking"] = _ONLY_SETS
    for state in ("starting", "streaming", "watching", "backing off"):
        found["expired page", state] = "only a list has pages"
    found["expired page", "checking"] = "a check is one page, or its others are as a list's"
    for state in ("listing", "fallen back"):
        found["no watch-list", state] = "only an initial stream is refused so"
    for state in ("watching", "checking"):
        found["no marker", state] = _NO_MARKER
    for kind in HAPPENINGS:
        found[kind, "starting"] = "it has told nobody of anything, and those there are not added"
    found["no bookmarks", "streaming"] = "an initial stream has none but its marker"
    return found


IMPOSSIBLE = _impossible()


class Coverage:
    """Counts which fault met the mirror at what."""

    def __init__(self) -> None:
        self._met: Counter[tuple[str, str]] = Counter()

    def add(self, met: Iterable[tuple[str, str]]) -> None:
        self._met.update(met)

    @property
    def empty(self) -> list[tuple[str, str]]:
        """The cells that could be, and are not."""
        return [
            (row, column)
            for row in ROWS
            for column in COLUMNS
            if not self._met[row, column] and (row, column) not in IMPOSSIBLE
        ]

    def __str__(self) -> str:
        width = max(map(len, ROWS))
        lines = [" " * width + "".join(f"{column:>13}" for column in COLUMNS)]
        for row in ROWS:
            cells = []
            for column in COLUMNS:
                count = self._met[row, column]
                empty = "-" if (row, column) in IMPOSSIBLE else "MISSING"
                cells.append(f"{count:,}" if count else empty)
            lines.append(f"{row:<{width}}" + "".join(f"{cell:>13}" for cell in cells))
        reasons: dict[str, list[str]] = {}
        for (row, column), reason in IMPOSSIBLE.items():
            if not self._met[row, column]:
                reasons.setdefault(reason, []).append(f"{row} / {column}")
        lines.append("")
        lines.append("- cannot be:")
        lines += [f"  {reason}: {len(cells)} cells" for reason, cells in reasons.items()]
        return "\n".join(lines)
