"""The hunt for the bugs of `mutations.py`: each gets a copy of the library of its own, and seeds
until a property objects.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import listwatch

from .mutations import MUTATIONS, Mutation
from .running import try_seed

__all__ = ["SOURCE", "hunt", "mutated", "search"]

SOURCE = Path(listwatch.__file__).parent
_ROOT = Path(__file__).parent.parent


class _Found(NamedTuple):
    mutation: Mutation
    seed: int | None
    names: tuple[str, ...]
    """Of the properties that objected to that seed; where none did, those that did to any."""


def mutated(mutation: Mutation) -> str:
    """The text of the file with the bug in it. Raises `ValueError` where the place is not there."""
    text = (SOURCE / mutation.file).read_text("utf-8")
    if text.count(mutation.old) != 1:
        raise ValueError(
            f"{mutation.name}: the text to be replaced is in {mutation.file}"
            f" {text.count(mutation.old)} times"
        )
    return text.replace(mutation.old, mutation.new)


def hunt(seeds: int, workers: int, only: str | None = None) -> Iterator[str]:
    """The lines of the table of all bugs; the last says how many were missed, if any."""
    wanted = [mutation for mutation in MUTATIONS if only is None or only in mutation.name]
    width = max((len(mutation.name) for mutation in wanted), default=0)
    missed = 0
    yield f"{'bug':<{width}}  {'seed':>6}  property that objects"
    with ThreadPoolExecutor(max(workers, 1)) as pool:
        for found in pool.map(lambda mutation: _hunt_one(mutation, seeds), wanted):
            seed = "missed" if found.seed is None else str(found.seed)
            yield f"{found.mutation.name:<{width}}  {seed:>6}  {', '.join(found.names)}"
            missed += found.seed is None
    yield ""
    yield f"{len(wanted) - missed} found" + (f", {missed} missed" if missed else "")


def _hunt_one(mutation: Mutation, seeds: int) -> _Found:
    try:
        text = mutated(mutation)
    except ValueError as error:
        return _Found(mutation, None, (str(error),))
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "listwatch"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        (copy / mutation.file).write_text(text, "utf-8")
        wanted = json.dumps({"seeds": seeds, "wanted": mutation.objects, "copy": str(copy)})
        path = os.pathsep.join([folder, str(_ROOT)])
        done = subprocess.run(
            [sys.executable, "-c", "from simulation.mutants import search; search()"],
            input=wanted,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
    if done.returncode:
        return _Found(mutation, None, tuple(done.stderr.strip().splitlines()[-1:]))
    answer = json.loads(done.stdout)
    return _Found(mutation, answer["seed"], tuple(answer["names"]))


def search() -> None:
    """In the process that has the bug: run seeds until a wanted property objects."""
    asked = json.loads(sys.stdin.read())
    if Path(asked["copy"]) != SOURCE:
        sys.exit(f"this is not the copy with the bug, but {SOURCE}")
    others: dict[str, None] = {}
    for seed in range(asked["seeds"]):
        names = [objection.name for objection in try_seed(seed).objections]
        found = [name for name in names if name in asked["wanted"]]
        if found:
            sys.stdout.write(json.dumps({"seed": seed, "names": found}))
            return
        others.update(dict.fromkeys(names))
    sys.stdout.write(json.dumps({"seed": None, "names": list(others)}))
