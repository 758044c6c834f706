"""Figures, one a line, and what is claimed of some of them."""

from __future__ import annotations

import asyncio
import concurrent.futures
import ctypes
import gc
import multiprocessing
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "Sizes",
    "Table",
    "apart",
    "cpu_of",
    "descriptors",
    "interleaved",
    "peak_memory",
    "reset_peak",
    "resident",
    "until",
]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of everything."""

    objects: int = 200_000
    bytes: int = 2_000
    """Of an object's JSON."""
    indexes: int = 20
    informers: int = 50
    rounds: int = 5
    short: bool = False

    @classmethod
    def of(cls, *, short: bool, objects: int | None, bytes: int) -> Sizes:
        count = objects or (20_000 if short else 200_000)
        return cls(objects=count, bytes=bytes, rounds=3 if short else 5, short=short)


class Table:
    """Prints as it is filled, so that a run that takes minutes says where it is."""

    def __init__(self, title: str = "") -> None:
        self.missed = 0
        if title:
            print(f"\n{title}", flush=True)

    def row(self, what: str, figure: str, verdict: str = "") -> None:
        print(f"  {what:<58} {figure:<24} {verdict}".rstrip(), flush=True)

    def claim(self, what: str, figure: str, limit: str, holds: bool) -> None:
        """A figure that has to keep within a limit."""
        self.missed += not holds
        self.row(what, figure, f"{'ok' if holds else 'MISSED'}: {limit}")

    def note(self, text: str) -> None:
        print(f"  {text}", flush=True)


def cpu_of(work: Callable[[], object]) -> float:
    """Seconds of CPU that this thread takes for it."""
    begin = time.thread_time()
    work()
    return time.thread_time() - begin


def interleaved(rounds: int, works: Sequence[Callable[[], float]]) -> list[float]:
    """The least of what each gives, all of them in turn: others on the machine only add to it."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, figures in zip(works, found, strict=True):
            gc.collect()
            figures.append(work())
    return [min(figures) for figures in found]


def resident(line: str = "VmRSS") -> int:
    """Bytes of memory that this process has, once all that is free is given back."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    return _status(line)


def reset_peak() -> None:
    """From here on `peak_memory` counts anew (where the system can do that)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    """The most bytes that this process has had since `reset_peak`."""
    return _status("VmHWM")


def _status(line: str) -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{line}:")[2].split()[0]) * 1024


def apart(work: Callable[..., Any], *arguments: Any) -> Any:
    """What `work` returns in a new process, whose memory nothing else has been in."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


async def until(reached: Callable[[], bool], timeout: float = 300.0) -> None:
    """Look again and again. Raises `TimeoutError`."""
    async with asyncio.timeout(timeout):
        while True:
            if reached():
                return
            await asyncio.sleep(0.01)


def descriptors() -> int:
    """Open files and sockets of this process."""
    return len(os.listdir("/proc/self/fd"))
