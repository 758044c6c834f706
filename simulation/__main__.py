"""The command: `python -m simulation`."""

from __future__ import annotations

import argparse
import sys
import time

from .coverage import Coverage
from .mutants import hunt
from .replay import replay
from .running import Verdict, run_seeds

_FULL = 10_000
"""Seeds from which on every possible cell of the table must have been met."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m simulation",
        description="Mirrors under faults in virtual time. Each seed is one run, which is judged by"
        " the properties that must hold.",
    )
    parser.add_argument("--seeds", type=int, default=1000, help="how many (1000)")
    parser.add_argument("--first-seed", type=int, default=0, metavar="N", help="the first (0)")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes (1)")
    parser.add_argument("--replay", type=int, metavar="SEED", help="tell one seed step by step")
    parser.add_argument(
        "--mutations",
        action="store_true",
        help="put known bugs into a copy of the library, and see that each is found",
    )
    parser.add_argument("--only", metavar="NAME", help="of the mutations this one")
    asked = parser.parse_args(arguments)
    if asked.replay is not None:
        return _replay(asked.replay)
    if asked.mutations:
        return _hunt(asked.seeds, asked.workers, asked.only)
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    return _run(seeds, asked.workers)


def _replay(seed: int) -> int:
    last = ""
    for last in replay(seed):
        _say(last)
    return 0 if last == "every property holds" else 1


def _hunt(seeds: int, workers: int, only: str | None) -> int:
    last = ""
    for last in hunt(seeds, workers, only):
        _say(last)
    return 1 if "missed" in last else 0


def _run(seeds: range, workers: int) -> int:
    began = time.monotonic()
    coverage = Coverage()
    failed: list[Verdict] = []
    for verdict in run_seeds(seeds, workers):
        coverage.add(verdict.met)
        if verdict.objections:
            failed.append(verdict)
            _tell(verdict)
    took = time.monotonic() - began
    _say(str(coverage))
    _say("")
    _say(f"{len(seeds) - len(failed):,} passed, {len(failed):,} failed")
    _say(f"{took:.1f} s, {len(seeds) / took:.0f} seeds a second", file="stderr")
    missing = coverage.empty if len(seeds) >= _FULL else []
    for row, column in missing:
        _say(f"no fault of the kind {row!r} met a mirror that was {column}")
    return 1 if failed or missing else 0


def _tell(verdict: Verdict) -> None:
    _say(f"seed {verdict.seed} failed; python -m simulation --replay {verdict.seed}")
    for objection in verdict.objections:
        _say(f"  {objection}")
    _say("")


def _say(text: str, *, file: str = "stdout") -> None:
    print(text, file=sys.stderr if file == "stderr" else sys.stdout, flush=True)


if __name__ == "__main__":
    sys.exit(main())
