"""How the guard measures: its worker, in a directory of its own, with and without callgrind."""

from __future__ import annotations

import json
import os
import pickle
import platform
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path as File
from typing import Any

import msgspec

from bench import guard_data
from bench.guard_compare import Measure
from bench.guard_path import Path

__all__ = ["MeasuringFailed", "details", "measured", "versions"]

_ROOT = File(__file__).parent.parent

_HALF = 256
"""Objects of each half: more would take longer and say the same."""

_ENVIRONMENT = {
    # What hashes, and so the layout of dicts and the order of sets, come from.
    "PYTHONHASHSEED": "0",
    # The C library copies and searches with what the processor has: here, with what every x86-64
    # has. And of `rep movsb`, one instruction, callgrind would count each byte.
    "GLIBC_TUNABLES": ":".join(
        (
            "glibc.cpu.hwcaps=-ERMS,-FSRM,-AVX2,-AVX2_Usable,-AVX512F,-AVX512VL,-EVEX,"
            "-AVX_Fast_Unaligned_Load",
            "glibc.cpu.x86_non_temporal_threshold=0x4000000",
        )
    ),
}


class MeasuringFailed(Exception):
    """The worker has not done its work; what it wrote to stderr says why."""


def versions() -> str:
    """What figures are compared within: they depend on these, and on little else."""
    python = ".".join(platform.python_version_tuple()[:2])
    library = ".".join(msgspec.__version__.split(".")[:2])
    return f"Python {python}, msgspec {library}, {platform.machine()}"


def details(valgrind: str | None) -> dict[str, str]:
    """All else that figures might depend on, for whoever wonders about them."""
    optimised = "--enable-optimizations" in (sysconfig.get_config_var("CONFIG_ARGS") or "")
    return {
        "Python": platform.python_version(),
        "built by": platform.python_compiler() + (", optimised" if optimised else ""),
        "msgspec": msgspec.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "libc": " ".join(platform.libc_ver()),
        "valgrind": "none" if valgrind is None else _output_of([valgrind, "--version"]),
    }


def measured(paths: Sequence[Path], valgrind: str | None) -> dict[str, dict[str, float]]:
    """Figures by path and measure; without a valgrind, none of instructions.

    Raises `MeasuringFailed`.
    """
    with tempfile.TemporaryDirectory() as directory:
        measurement = _Measurement(File(directory), paths)
        figures = measurement.memory()
        counts = {} if valgrind is None else measurement.instructions(valgrind)
    return {
        name: {
            measure: round(value) if value >= 1000 else round(value, 3) + 0.0
            for measure, value in {**_instructions(counts.get(name)), **each}.items()
        }
        for name, each in figures.items()
    }


def _instructions(count: float | None) -> dict[str, float]:
    return {} if count is None else {Measure.INSTRUCTIONS.value: count}


class _Measurement:
    def __init__(self, directory: File, paths: Sequence[Path]) -> None:
        self._directory = directory
        self._names = [path.name for path in paths]
        with (directory / "data").open("wb") as file:
            pickle.dump(guard_data.make(_HALF), file)
        # So that what is imported later has been compiled.
        self._run("-c", "import bench.guard_paths")

    def memory(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = self._work("memory")
        return found

    def instructions(self, valgrind: str) -> dict[str, float]:
        """Each process has counted from its parent's count on. What the parent has counted between
        two forks is no path's.
        """
        counts = f"--callgrind-out-file={self._directory}/callgrind.%p"
        found = self._work("instructions", valgrind, "-q", "--tool=callgrind", counts)
        before, after = map(self._count, found["idle"])
        between = after - before
        return {
            name: (self._count(both) - self._count(first) - between) / events
            for name, (first, both, events) in found["paths"].items()
        }

    def _count(self, pid: int) -> int:
        for line in (self._directory / f"callgrind.{pid}").read_text().splitlines():
            if line.startswith("totals:"):
                return int(line.split()[1])
        raise MeasuringFailed(f"callgrind has written no totals for process {pid}")

    def _work(self, mode: str, *under: str) -> Any:
        data, results = self._directory / "data", self._directory / mode
        worker = ("-m", "bench.guard_worker", mode, str(data), str(results))
        self._run(*worker, *self._names, under=under)
        return json.loads(results.read_text())

    def _run(self, *arguments: str, under: Sequence[str] = ()) -> None:
        # Nothing else of the environment goes in: its size alone moves the stack.
        environment = {"PATH": os.environ.get("PATH", ""), **_ENVIRONMENT}
        command = [*under, sys.executable, "-s", *arguments]
        code = subprocess.run(command, env=environment, cwd=_ROOT, check=False).returncode
        if code:
            raise MeasuringFailed(f"{' '.join(command[:4])} ... ended with {code}: see above")


def _output_of(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
