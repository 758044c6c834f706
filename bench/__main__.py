"""What listwatch costs beside other clients, in one run.

    python -m bench                   # all of it, about a quarter of an hour; docs/benchmarks.md
    python -m bench --short           # two minutes, once the environments are there
    python -m bench --only 'listwatch/*' --only client-go/informer --rounds 3
    python -m bench --only 'list:*' --json figures.json

Each scene has a server of its own (`bench.stage`); the players are processes that run one at a
time, in turns over the rounds. What counts is CPU, and ratios within a round. A player that has
seen other events than were sent is reported, and the exit code is 1.

The environments of other clients are made in the cache folder when they are first needed; Go's and
Rust's need `go` and `cargo`, and are left out without.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
import time
from pathlib import Path

from bench.compare.environments import REPOSITORY, Environments
from bench.compare.figures import import_ratio
from bench.compare.page import page
from bench.compare.play import Outcome, play
from bench.compare.scenes import scenes
from bench.compare.tables import plain, rows


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--short", action="store_true", help="fewer events, rounds and players")
    parser.add_argument("--rounds", type=int, help="5, or 2 with --short")
    parser.add_argument("--objects", type=int, help="there before the events: 10,000 or 2,000")
    parser.add_argument("--events", type=int, help="10,000 or 5,000")
    parser.add_argument("--listed", type=int, help="objects of the LISTs: 50,000 or 10,000")
    parser.add_argument(
        "--only",
        action="append",
        metavar="PLAYER/CASE",
        help="a pattern; SCENE: before it picks scenes; may be repeated",
    )
    parser.add_argument("--json", metavar="FILE", help="write every run there")
    parser.add_argument(
        "--write",
        metavar="FILE",
        help="the page of results; the full run writes docs/benchmarks.md",
    )
    given = parser.parse_args()
    began = time.perf_counter()
    short = given.short
    rounds = given.rounds or (2 if short else 5)
    wanted = scenes(
        objects=given.objects or (2_000 if short else 10_000),
        events=given.events or (5_000 if short else 10_000),
        listed=given.listed or (10_000 if short else 50_000),
        short=short,
    )
    if given.only:
        wanted = [found for scene in wanted if (found := scene.only(given.only)).parts]
    environments = Environments()
    outcomes: list[Outcome] = []
    for scene in wanted:
        outcome = play(scene, environments, rounds, _progress)
        _progress("")
        outcomes.append(outcome)
        print(f"\n{scene.name}: {scene.about}; {scene.objects:,} objects, {scene.events:,} events")
        print(plain(rows(outcome)))
        for name, why in outcome.left_out.items():
            print(f"left out: {name}: {why}")
        for name, why in outcome.wrong.items():
            print(f"WRONG: {name}: {why}")
    imports = None if given.only else import_ratio(5 if short else 15)
    if imports is not None:
        package, client = imports
        print(f"\nimport listwatch: {package:.2f} x import asyncio, msgspec; Client {client:.2f} x")
    seconds = time.perf_counter() - began
    print(f"\n{seconds:.0f} s, {rounds} rounds")
    if given.json:
        Path(given.json).write_text(json.dumps([dataclasses.asdict(o) for o in outcomes], indent=1))
    where = given.write or (None if short or given.only else REPOSITORY / "docs" / "benchmarks.md")
    if where:
        Path(where).write_text(page(outcomes, imports, rounds, seconds))
        print(f"written to {where}")
    wrong = [f"{o.scene.name}: {name}: {why}" for o in outcomes for name, why in o.wrong.items()]
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
