"""What every player in Python has in common: its arguments, its clocks, and its one line of result.

Only the standard library is used here: players of other clients run in environments of their own.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import resource
import socket
import ssl
import sys
import threading
import time
import urllib.request
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

__all__ = ["Asked", "Meter", "Play", "asked", "unsupported"]

UNSUPPORTED = 3
"""Exit code of a player that does not have this case."""


@dataclass(frozen=True)
class Asked:
    """What a player is to do."""

    server: str
    case: str
    objects: int
    events: int
    page_size: int
    resource: str
    ca: str | None
    options: frozenset[str] = frozenset()

    @property
    def path(self) -> str:
        paths = {"pods": "/api/v1/pods", "widgets": "/apis/bench.listwatch.dev/v1/widgets"}
        return paths[self.resource]

    def open(self, path: str, *, method: str = "GET") -> Any:
        """Ask the stage for something, over a connection that is closed after it."""
        request = urllib.request.Request(self.server + path, method=method)
        with urllib.request.urlopen(request, timeout=90, context=self._context) as answer:
            return json.load(answer)

    def connection(self) -> socket.socket:
        """One to the stage."""
        address = urlsplit(self.server)
        connection = socket.create_connection((address.hostname, address.port))
        return connection if self._context is None else self._context.wrap_socket(connection)

    @cached_property
    def _context(self) -> ssl.SSLContext | None:
        if not self.ca:
            return None
        context = ssl.create_default_context(cafile=self.ca)
        context.check_hostname = False
        return context

    def first_version(self) -> str:
        """The resourceVersion to watch from."""
        found: str = self.open(f"{self.path}?limit=1")["metadata"]["resourceVersion"]
        return found


def asked(cases: Collection[str], *, resources: Collection[str] = ("pods",)) -> Asked:
    """Read the arguments. Exits with `UNSUPPORTED` for a case or resource that is not here."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--server", required=True)
    parser.add_argument("--case", required=True)
    parser.add_argument("--objects", type=int, required=True)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--page-size", type=int, default=500, help="0: a list is one page")
    parser.add_argument("--resource", default="pods")
    parser.add_argument("--ca", help="file of what to trust, where the server speaks TLS")
    parser.add_argument("--option", action="append", default=[], help="of this player")
    given = parser.parse_args()
    if given.case not in cases:
        unsupported(f"case {given.case}")
    if given.resource not in resources:
        unsupported(f"resource {given.resource}")
    return Asked(
        given.server.rstrip("/"), given.case, given.objects, given.events, given.page_size,
        given.resource, given.ca, frozenset(given.option),
    )  # fmt: skip


def unsupported(what: str) -> NoReturn:
    print(json.dumps({"unsupported": what}))
    sys.exit(UNSUPPORTED)


class Meter:
    """CPU and wall clock of one part of a program, memory of all of it."""

    def __init__(self) -> None:
        self.rss_before = _resident()
        self.rss_kept = 0
        self.cpu = self.wall = 0.0
        self._cpu = self._wall = 0.0

    def warm(self) -> None:
        """The client has made its first request, so that all it imports is there: what memory
        there is now was there before.
        """
        gc.collect()
        self.rss_before = _resident()

    def begin(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = _cpu()

    def end(self) -> None:
        self.cpu = _cpu() - self._cpu
        self.wall = time.perf_counter() - self._wall

    def forget_peak(self) -> None:
        """Count the highest memory from here on, where the system can do that."""
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")

    def keep(self) -> None:
        """What is held now, garbage aside, is what is kept."""
        gc.collect()
        _trim()
        self.rss_kept = _resident() - self.rss_before


@dataclass
class Play:
    """One case as it is played: what was seen, and what it cost."""

    player: str
    asked: Asked
    packages: tuple[str, ...] = ()
    keys: list[str] = field(default_factory=list)
    """`namespace/name` of each event, or of each object of a list."""
    versions: list[str] = field(default_factory=list)
    """Their resourceVersions."""
    meter: Meter = field(default_factory=Meter)
    fast: dict[str, int] | None = None
    """How often which way was taken."""
    notes: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    def is_watched(self) -> bool:
        """Whether a watch is open, and waits for the start."""
        return bool(self.asked.open("/bench/stats")["watches"])

    def wait_for_watch(self) -> None:
        """Wait until one is."""
        while not self.is_watched():
            time.sleep(0.01)

    def start(self) -> None:
        """Have the events sent. The clocks run from here on, once the request is made."""
        with self.asked.connection() as connection:
            self.meter.begin()
            connection.sendall(b"POST /bench/start HTTP/1.1\r\nHost: stage\r\n\r\n")

    def start_when_watching(self) -> None:
        """The same as soon as a watch is open, for whoever does not know when his is."""

        def start() -> None:
            self.wait_for_watch()
            time.sleep(0.1)
            self.start()

        threading.Thread(target=start, daemon=True).start()

    def report(self) -> None:
        """Print what came of it, as the last line."""
        meter = self.meter
        print(
            json.dumps(
                {
                    "player": self.player,
                    "case": self.asked.case,
                    "versions": {
                        "python": sys.version.split()[0],
                        **{name: version(name) for name in self.packages},
                    },
                    "objects": self.asked.objects,
                    "events": len(self.keys),
                    "checksum": checksum(self.keys, self.versions),
                    "cpu": meter.cpu,
                    "wall": meter.wall,
                    "rss_before": meter.rss_before,
                    "rss_kept": meter.rss_kept,
                    "rss_peak": _peak(),
                    "fast": self.fast,
                    "notes": self.notes,
                    **self.more,
                }
            ),
            flush=True,
        )


def checksum(keys: Iterable[str], versions: Iterable[str]) -> str:
    texts = (f"{key} {at}".encode() for key, at in zip(keys, versions, strict=True))
    return str(sum(map(zlib.crc32, texts)) % 2**64)


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _resident() -> int:
    return _status("VmRSS")


def _peak() -> int:
    return _status("VmHWM")


def _status(name: str) -> int:
    """A line of /proc/self/status, in bytes; 0 where there is no such file."""
    path = Path("/proc/self/status")
    if not path.exists():
        return 0
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _trim() -> None:
    """Give freed memory back, where the C library can be told to."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
