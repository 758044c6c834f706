"""Whether the key paths still cost what they did, on any machine and under any load.

    python -m bench.guard                      # all paths beside the stored figures, some minutes
    python -m bench.guard --only watch-pods    # one of them; may be given several times
    python -m bench.guard --update             # store what is measured now
    python -m bench.guard --list               # what the paths are

It counts, and measures no time: instructions an event, under valgrind's callgrind, and blocks and
bytes of memory that an event makes and keeps. It exits with 1 where one of them is more than a
tenth above what `guard.json` has, and says which; with 2 where there is nothing to compare with, or
nothing could be measured. docs/guard.md has the rest.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path as File
from typing import Any

from bench.guard_compare import TOLERANCE, Figures, Finding, Kind, Measure, compare
from bench.guard_measure import MeasuringFailed, details, measured, versions
from bench.guard_path import Path
from bench.guard_paths import PATHS, paths_of

__all__ = ["main"]

_STORED = File(__file__).with_name("guard.json")

_COLUMNS = (
    (Measure.MADE, "made", 11, ",.2f"),
    (Measure.KEPT, "kept", 11, ",.2f"),
    (Measure.KEPT_BYTES, "kept B", 11, ",.0f"),
    (Measure.PEAK_BYTES, "peak B", 11, ",.0f"),
    (Measure.TRACKED, "tracked", 10, ",.2f"),
)


@dataclass(frozen=True)
class Stored:
    """The figures of one set of versions."""

    taken_with: dict[str, str]
    paths: dict[str, dict[str, float]]

    @classmethod
    def read(cls) -> Stored:
        own = _everything().get(versions(), {})
        return cls(own.get("taken with", {}), own.get("paths", {}))

    def write(self) -> None:
        everything = _everything()
        everything[versions()] = {"taken with": self.taken_with, "paths": self.paths}
        _STORED.write_text(json.dumps(everything, indent=1, sort_keys=False) + "\n")


def _everything() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_STORED.read_text()) if _STORED.exists() else {}
    return found


def table(figures: Figures, stored: Figures) -> str:
    """The figures, with how far the instructions are from the stored ones."""
    heads = "".join(f"{head:>{width}}" for _, head, width, _ in _COLUMNS)
    lines = [f"{'an event':<20}{'instructions':>14}{'change':>9}{heads}"]
    for name, each in figures.items():
        count = each.get(Measure.INSTRUCTIONS)
        before = stored.get(name, {}).get(Measure.INSTRUCTIONS)
        change = f"{count / before - 1:+.1%}" if count and before else ""
        lines.append(
            f"{name:<20}{'-' if count is None else f'{count:,.0f}':>14}{change:>9}"
            + "".join(f"{each[measure]:{width}{form}}" for measure, _, width, form in _COLUMNS)
        )
    return "\n".join(lines)


def verdict(findings: Sequence[Finding], count: int) -> str:
    """What was found, in words."""
    bad = [each for each in findings if each.kind.fails]
    good = [each for each in findings if not each.kind.fails]
    lines: list[str] = []
    if bad:
        lines += ["Not what is stored:", *(f"  {each}" for each in bad)]
    if good:
        lines += ["Better than what is stored:", *(f"  {each}" for each in good)]
    if bad:
        lines.append("Where that is meant, store it by --update, and say why in the commit.")
    elif good:
        lines.append("Keep it by --update: until then nobody notices when it is lost.")
    else:
        lines.append(f"{count} paths cost what is stored, within {TOLERANCE:.0%}.")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", default=[], metavar="PATH")
    parser.add_argument("--update", action="store_true", help="store what is measured")
    parser.add_argument("--list", action="store_true", help="say what the paths are")
    given = parser.parse_args()
    if given.list:
        print("\n".join(f"{path.name:<20} {path.what}" for path in PATHS))
        return 0
    try:
        paths = paths_of(given.only)
    except ValueError as error:
        parser.error(str(error))
    try:
        return _guard(paths, update=given.update, whole=not given.only)
    except MeasuringFailed as failure:
        print(f"nothing is compared: {failure}", file=sys.stderr)
        return 2


def _guard(paths: Sequence[Path], *, update: bool, whole: bool) -> int:
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("valgrind is not installed: this is about memory only, not about instructions.")
    stored = Stored.read()
    figures = measured(paths, valgrind)
    print(table(figures, stored.paths))
    now = details(valgrind)
    if update:
        # Without a valgrind the instructions stay as they are; in a whole run, paths that are no
        # more do not.
        fresh = {name: {**stored.paths.get(name, {}), **each} for name, each in figures.items()}
        Stored(now, fresh if whole else {**stored.paths, **fresh}).write()
        print(f"Stored for {versions()}.")
        return 0
    findings = compare(
        stored.paths,
        figures,
        tolerances={path.name: path.tolerance for path in paths},
        untracked=[path.name for path in paths if path.untracked],
        measures=[m for m in Measure if valgrind is not None or m is not Measure.INSTRUCTIONS],
        whole=whole,
    )
    if not stored.paths:
        # What holds whatever is stored holds here, too.
        worse = [each for each in findings if each.kind is Kind.WORSE]
        for each in worse:
            print(each)
        print(f"Nothing is stored for {versions()}: --update does that.")
        return 1 if worse else 2
    for what, before in stored.taken_with.items():
        if now.get(what) != before:
            print(f"Note: stored with {what} {before}; this is {now.get(what)}.")
    print(verdict(findings, len(figures)))
    return 1 if any(each.kind.fails for each in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
