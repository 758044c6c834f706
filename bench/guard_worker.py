"""What the guard runs: paths, each in a process forked from the same fresh one.

    python -m bench.guard_worker instructions|memory DATA RESULTS NAME...

Under callgrind, `instructions` does the first half of a path's events in one process and both in
another; callgrind writes what each took under its process id. `memory` counts, without callgrind,
what the second half makes and keeps.
"""

from __future__ import annotations

import asyncio  # noqa: F401
import gc
import json
import os
import pickle
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path as File
from typing import Any, NoReturn

import msgspec  # noqa: F401  # what importing the library costs is counted above this and asyncio

from bench import guard_import_paths
from bench.guard_path import Path

__all__ = ["main"]


def _forked(work: Callable[[], dict[str, float]]) -> tuple[int, dict[str, float]]:
    """Do it in a process of its own; its id, and what it found. Raises `ChildProcessError`."""
    receiver, sender = os.pipe()
    pid = os.fork()
    if not pid:
        _work_and_exit(work, sender)
    os.close(sender)
    with os.fdopen(receiver, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status or not answer:
        raise ChildProcessError(f"it ended with {status}; its traceback is above")
    return pid, json.loads(answer)


def _work_and_exit(work: Callable[[], dict[str, float]], sender: int) -> NoReturn:
    try:
        os.write(sender, json.dumps(work()).encode())
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    # Nothing is torn down: what that costs is nobody's event.
    os._exit(0)


def _settle() -> None:
    """What is there now is not the collector's business any more."""
    gc.collect()
    gc.freeze()


def _run(path: Path, data: Any, *, both: bool) -> dict[str, float]:
    first, second = path.make(data)
    _settle()
    for step in first:
        step()
    if both:
        for step in second:
            step()
    return {}


def _idle() -> dict[str, float]:
    return {}


def instructions(paths: Iterable[Path], data: dict[str, Any]) -> dict[str, Any]:
    """The processes in which each path ran; callgrind knows what they took. Two that did nothing
    say what the parent itself does between two forks.
    """
    for _ in range(3):
        _forked(_idle)
    found: dict[str, Any] = {"idle": [_forked(_idle)[0] for _ in range(2)], "paths": {}}
    for path in paths:
        each = data[path.kind]
        first, _ = _forked(partial(_run, path, each, both=False))
        both, _ = _forked(partial(_run, path, each, both=True))
        found["paths"][path.name] = [first, both, path.events(each)]
    return found


def _blocks() -> tuple[int, int]:
    gc.collect()
    statistics = tracemalloc.take_snapshot().statistics("filename")
    return sum(each.count for each in statistics), sum(each.size for each in statistics)


def _tracked() -> int:
    gc.collect()
    return sum(gc.is_tracked(each) for each in gc.get_objects())


def _kept(path: Path, data: Any) -> dict[str, float]:
    first, second = path.make(data)
    _settle()
    tracemalloc.start()
    for step in first:
        step()
    tracked, (blocks, size) = _tracked(), _blocks()
    tracemalloc.reset_peak()
    at = tracemalloc.get_traced_memory()[0]
    for step in second:
        step()
    peak = tracemalloc.get_traced_memory()[1] - at
    more_blocks, more_size = _blocks()
    events = path.events(data)
    return {
        "kept": (more_blocks - blocks) / events,
        "kept_bytes": (more_size - size) / events,
        "tracked": (_tracked() - tracked) / events,
        "peak_bytes": peak / events,
    }


def _made(path: Path, data: Any) -> dict[str, float]:
    first, second = path.make(data)
    _settle()
    for step in first:
        step()
    found: list[object] = [None] * len(second)
    tracemalloc.start()
    blocks = _blocks()[0]
    for number, step in enumerate(second):
        found[number] = step()
    return {"made": (_blocks()[0] - blocks) / path.events(data)}


def memory(paths: Iterable[Path], data: dict[str, Any]) -> dict[str, Any]:
    """For each path, an event's share of what the second half makes, keeps and needs at most."""
    found: dict[str, Any] = {}
    for path in paths:
        each = data[path.kind]
        _, kept = _forked(partial(_kept, path, each))
        _, made = _forked(partial(_made, path, each))
        found[path.name] = {**made, **kept}
    return found


def _asked(names: list[str]) -> Iterator[Path]:
    """The paths of these names. Those that import the library come before anything else does."""
    for path in guard_import_paths.PATHS:
        if path.name in names:
            yield path
    from bench.guard_paths import paths_of

    others = paths_of(names)
    _settle()
    yield from (path for path in others if path not in guard_import_paths.PATHS)


def main(arguments: list[str]) -> None:
    mode, data, results, *names = arguments
    with File(data).open("rb") as file:
        halves = pickle.load(file)
    _settle()
    measure = {"instructions": instructions, "memory": memory}[mode]
    File(results).write_text(json.dumps(measure(_asked(names), halves)))


if __name__ == "__main__":
    main(sys.argv[1:])
