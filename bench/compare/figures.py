"""What the runs come to: medians, and ratios within rounds."""

from __future__ import annotations

import statistics
import subprocess
import sys
from dataclasses import dataclass

from .environments import REPOSITORY
from .play import Outcome, Run
from .scenes import BASE

__all__ = ["Line", "import_ratio", "lines_of", "ratio"]


@dataclass(frozen=True, slots=True)
class Line:
    """A part's figures."""

    name: str
    micros: float
    """Median CPU an event, or an object of a list, in microseconds."""
    least: float
    most: float
    a_second: float
    """Median events, or objects, a second of wall clock."""
    go: float | None
    """How many times client-go's CPU is this one's."""
    rust: float | None
    kept: float
    """Median bytes an object."""
    peak: float
    """Median peak over kept; 0 where nothing is kept."""
    fast: dict[str, int] | None
    rounds: int


def lines_of(outcome: Outcome) -> list[Line]:
    """In the order of the scene's parts."""
    lines = []
    for part in outcome.scene.parts:
        runs = outcome.runs.get(part.name)
        if not runs:
            continue
        base = BASE.get(part.case, part.case)
        keeps = not part.case.startswith("watch") or (
            part.player == "listwatch" and part.case == "watch"
        )
        kept = statistics.median(run.kept for run in runs) if keeps else 0
        peak = statistics.median(run.peak for run in runs)
        micros = [run.micros for run in runs]
        lines.append(
            Line(
                name=part.name,
                micros=statistics.median(micros),
                least=min(micros),
                most=max(micros),
                a_second=statistics.median(run.events / run.wall for run in runs),
                go=ratio(runs, outcome.runs.get(f"client-go/{base}")),
                rust=ratio(runs, outcome.runs.get(f"kube-rs/{base}")),
                kept=max(0.0, kept / max(1, runs[0].objects)),
                peak=peak / kept if kept > 0 else 0.0,
                fast=runs[-1].fast,
                rounds=len(runs),
            )
        )
    return lines


def ratio(runs: list[Run], others: list[Run] | None) -> float | None:
    """How many times as much CPU an event takes with the others: the median of the ratios within
    rounds, since whatever else the machine does in a round it does to both.
    """
    if not others:
        return None
    theirs = {run.round: run.micros for run in others}
    found = [theirs[run.round] / run.micros for run in runs if run.round in theirs and run.micros]
    return statistics.median(found) if found else None


def import_ratio(rounds: int = 15) -> tuple[float, float]:
    """How long `import listwatch` takes compared with `import asyncio, msgspec`, in CPU: once
    as it is, and once with the client, which imports all that a program needs but aiohttp.
    """
    codes = {
        "bare": "import asyncio, msgspec",
        "package": "import listwatch",
        "client": "from listwatch import Client",
    }
    times: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(rounds):
        for name, code in codes.items():
            program = (
                f"import time; t = time.process_time(); {code}; print(time.process_time() - t)"
            )
            done = subprocess.run(
                (sys.executable, "-c", program),
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                check=True,
            )
            times[name].append(float(done.stdout))
    return tuple(  # type: ignore[return-value]
        statistics.median(
            ours / bare for ours, bare in zip(times[name], times["bare"], strict=True)
        )
        for name in ("package", "client")
    )
