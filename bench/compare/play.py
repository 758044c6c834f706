"""Playing: one stage at a time, its parts in turns, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .environments import REPOSITORY, Environments
from .scenes import PLAYERS, Part, Scene

__all__ = ["Outcome", "Run", "play"]

_UNSUPPORTED = 3
_SECONDS = 300
"""How long a part may take."""


@dataclass(slots=True)
class Run:
    """A part, played once: what the player printed, as far as it concerns us."""

    round: int
    events: int
    objects: int
    cpu: float
    wall: float
    kept: int
    """Bytes."""
    peak: int
    """Bytes above what there was before."""
    fast: dict[str, int] | None
    told: int | None
    """Notifications that a relist brought."""
    versions: dict[str, str]
    notes: str

    @property
    def micros(self) -> float:
        """CPU an event, or an object of a list."""
        return self.cpu / max(1, self.events) * 1e6


@dataclass(slots=True)
class Outcome:
    """All that a scene has come to."""

    scene: Scene
    runs: dict[str, list[Run]] = field(default_factory=dict)
    """By the name of the part."""
    left_out: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    """Parts that have failed, or seen something else than was sent."""
    expected: dict[str, Any] = field(default_factory=dict)


def play(
    scene: Scene, environments: Environments, rounds: int, say: Callable[[str], None]
) -> Outcome:
    """Every part in every round, each round in another order."""
    outcome = Outcome(scene)
    commands: dict[str, tuple[str, ...]] = {}
    for part in scene.parts:
        player = PLAYERS[part.player]
        command = environments.command(player.environment)
        if command is None:
            outcome.left_out[part.name] = environments.missing[player.environment]
        else:
            commands[part.name] = (*command, *player.script)
    parts = [part for part in scene.parts if part.name in commands]
    if not parts:
        return outcome
    with _stage(scene) as (url, ca):
        context = None
        if ca:
            import ssl

            context = ssl.create_default_context(cafile=ca)
        with urllib.request.urlopen(f"{url}/bench/stats", context=context) as answer:
            outcome.expected = json.load(answer)["expected"][scene.resource]
        for number in range(min(rounds, scene.rounds)):
            turn = number % len(parts)
            for part in (*parts[turn:], *parts[:turn]):
                if number >= part.rounds or part.name in outcome.left_out | outcome.wrong:
                    continue
                say(f"{scene.name}: round {number + 1}, {part.name}")
                _one(outcome, part, number, commands[part.name], url, ca)
    return outcome


def _one(
    outcome: Outcome, part: Part, number: int, command: tuple[str, ...], url: str, ca: str | None
) -> None:
    scene = outcome.scene
    arguments = (
        *command,
        *("--server", url, "--case", part.case, "--objects", str(scene.objects)),
        *("--events", str(scene.events), "--page-size", str(scene.page_size)),
        *("--resource", scene.resource),
        *(("--ca", ca) if ca and PLAYERS[part.player].script else ()),
    )
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            arguments,
            cwd=REPOSITORY,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            preexec_fn=_on_core(0),
        )
    except subprocess.TimeoutExpired:
        outcome.wrong[part.name] = f"not done after {_SECONDS} s"
        return
    printed = _last_line(done.stdout)
    if done.returncode == _UNSUPPORTED:
        outcome.left_out[part.name] = str(printed.get("unsupported", "not supported"))
    elif done.returncode or "cpu" not in printed:
        lines = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        outcome.wrong[part.name] = f"exit {done.returncode}: {lines[-1]}"
    elif problem := _disagrees(outcome, part, printed):
        outcome.wrong[part.name] = problem
    else:
        outcome.runs.setdefault(part.name, []).append(
            Run(
                round=number,
                events=_seen(part, printed),
                objects=printed["objects"],
                cpu=printed["cpu"],
                wall=printed["wall"],
                kept=printed["rss_kept"],
                peak=printed["rss_peak"] - printed["rss_before"],
                fast=printed.get("fast"),
                versions=printed["versions"],
                told=printed.get("told"),
                notes=printed.get("notes", ""),
            )
        )


def _disagrees(outcome: Outcome, part: Part, printed: dict[str, Any]) -> str:
    """What a player has seen, where it is not what was sent."""
    if part.player == "floor":
        return ""
    expected = outcome.expected
    sent, right = expected["events"], expected["events_checksum"]
    if part.case.startswith("list"):
        sent, right = expected["objects"], expected["objects_checksum"]
    elif part.case == "relist":
        sent, right = expected["end_objects"], expected["end_checksum"]
    if _seen(part, printed) != sent:
        return f"{_seen(part, printed)} seen, {sent} sent"
    if printed["checksum"] != right:
        return f"checksum {printed['checksum']} of what was seen, {right} of what was sent"
    return ""


def _seen(part: Part, printed: dict[str, Any]) -> int:
    """Events, or objects of a list: some players say how many in the one, some in the other."""
    events: int = printed["events"]
    return printed["objects"] if part.case.startswith("list") and not events else events


def _last_line(text: str) -> dict[str, Any]:
    lines = text.strip().splitlines()
    try:
        found = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def _stage(scene: Scene) -> Iterator[tuple[str, str | None]]:
    """Its URL, and the file of what to trust where it speaks TLS."""
    with tempfile.TemporaryDirectory(prefix="listwatch-bench-") as folder:
        ca = str(Path(folder, "ca.pem")) if scene.tls else None
        process = subprocess.Popen(
            (
                *(sys.executable, "-m", "bench.stage", "--objects", str(scene.objects)),
                *("--events", str(scene.events), "--data", scene.data),
                *("--resource", scene.resource),
                *(("--rate", str(scene.rate)) if scene.rate else ()),
                *(("--tls", "--ca-file", ca) if ca else ()),
            ),
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=_on_core(1),
        )
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError(f"the stage of {scene.name} did not start")
            time.sleep(0.1)
            yield url, ca
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


def _on_core(number: int) -> Callable[[], None] | None:
    """Keeps players and stage on cores of their own, where there are two."""
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        return None
    return lambda: os.sched_setaffinity(0, {cores[number]})
