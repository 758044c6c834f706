"""A mirror of many objects, under many changes, on a connection that is cut every second.

    python -m bench.mirror                       # 50,000 pods, 1,000 changes a second for a minute
    python -m bench.mirror --kind configmaps     # of 1 KB rather than 6 KB
    python -m bench.mirror --objects 2000 --rate 200 --seconds 5
    python -m bench.mirror --check               # every delta is held against the rules (slower)

The server is a process of its own. At the end the store has to be the server's set, by uid and RV,
and tasks, sockets and memory have to be back where they were: else the exit code is 1. What a cut
leaves behind (one more look at the server's history, a connection that nobody uses) is gone a
minute after the last one: that is waited for.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import json
import logging
import os
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from bench.http_load import Connection
from bench.server import memory, say
from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient, Unstructured
from listwatch.cache import Liveness, Mirror, ReflectorOptions
from tests.mirror.seen import Seen, assert_same, identities

_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PAGE = 5000


@dataclass(frozen=True)
class Soak:
    """What is done."""

    objects: int = 50_000
    rate: float = 1000.0
    """Changes a second."""
    seconds: float = 60.0
    cut_every: float = 1.0
    kind: str = "pods"
    watch_list: bool = True
    recheck: float = 30.0
    """Seconds until a watch that follows a lost one looks at the server's history once more."""
    pooled: int = 0
    """Connections that may still wait for another request at the end; each goes after 30 s."""
    check: bool = False
    """Whether each delta is held against the rules (`tests/mirror/seen.py`)."""

    @property
    def path(self) -> str:
        return f"/api/v1/{self.kind}"


@dataclass
class Usage:
    """What this process has at one moment."""

    tasks: int = field(default_factory=lambda: len(asyncio.all_tasks()))
    descriptors: int = field(default_factory=lambda: len(os.listdir("/dev/fd")))
    megabytes: float = 0.0
    content: float = 0.0
    """MB of JSON that the objects themselves have."""

    @classmethod
    def now(cls, mirror: Mirror[Unstructured] | None = None) -> Usage:
        gc.collect()
        objects = [] if mirror is None else mirror.store.list()
        content = sum(len(found.raw) for found in objects) / 1024 / 1024
        return cls(megabytes=memory(), content=content)


@dataclass
class Result:
    """What came of it. Times in seconds, memory in MB."""

    empty: Usage
    synced: Usage
    soaked: Usage
    closed: Usage
    objects: int
    first_objects: int
    sync_time: float
    sync_cpu: float
    soak_time: float
    soak_cpu: float
    lag: float
    """From the last change until the store was the server's set."""
    writes: int
    told: Counter[str]
    cuts: int
    requests: int
    relists: dict[str, int]
    problems: list[str]

    @property
    def bytes_per_object(self) -> float:
        return self._each(self.synced.megabytes - self.empty.megabytes)

    def _each(self, megabytes: float) -> float:
        return megabytes * 1024 * 1024 / max(1, self.first_objects)

    def lines(self) -> list[tuple[str, str]]:
        told = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.told.items()))
        relists = ", ".join(f"{cause}: {count}" for cause, count in self.relists.items())
        memory_of = [usage.megabytes for usage in (self.empty, self.synced, self.soaked)]
        open_now = [f"{u.tasks}/{u.descriptors}" for u in (self.synced, self.soaked, self.closed)]
        return [
            ("objects synced", f"{self.first_objects:,} in {self.sync_time:.2f} s"),
            ("CPU for that", f"{self.sync_cpu:.2f} s"),
            (
                "memory for each",
                f"{self.bytes_per_object:,.0f} bytes, for {self._each(self.synced.content):,.0f}"
                " of JSON",
            ),
            ("changes on the server", f"{self.writes:,} in {self.soak_time:.1f} s"),
            ("connections cut", f"{self.cuts}"),
            ("events told", told),
            ("relists", relists or "none"),
            ("requests", f"{self.requests}"),
            ("CPU for that", f"{self.soak_cpu:.2f} s, {self._micros:.0f} us a change"),
            ("the store is the server's set after that in", f"{self.lag:.2f} s"),
            ("memory empty, synced, soaked", ", ".join(f"{mb:,.0f} MB" for mb in memory_of)),
            (
                "    the objects have grown by",
                f"{self.soaked.content - self.synced.content:,.0f} MB",
            ),
            ("tasks/descriptors synced, soaked, closed", ", ".join(open_now)),
        ]

    @property
    def _micros(self) -> float:
        return self.soak_cpu / max(1, self.writes) * 1e6


async def run(soak: Soak) -> Result:
    """Do it. Raises AssertionError where the store is not what it has to be."""
    resource = GroupVersionResource.parse(f"v1/{soak.kind}")
    told: Counter[str] = Counter()
    seen = Seen()

    def take(deltas: Sequence[Any]) -> None:
        for delta in deltas:
            told[str(delta.type)] += 1
        if soak.check:
            seen(deltas)

    async with _server(soak) as server, Connection(server.url) as control:
        _load_everything()
        empty = Usage.now()
        began, cpu = time.perf_counter(), time.process_time()
        async with (
            RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
            Mirror(
                ListWatch.from_client(client, resource),
                options=ReflectorOptions(
                    watch_list=soak.watch_list, liveness=Liveness(recheck=soak.recheck)
                ),
                on_deltas=take,
                rng=Random(1),
            ) as mirror,
        ):
            await mirror.synced(timeout=300)
            sync_time, sync_cpu = time.perf_counter() - began, time.process_time() - cpu
            first = len(mirror.store)
            told.clear()
            synced = Usage.now(mirror)
            requests = mirror.health.requests

            fault = f"every {soak.cut_every:g}s watch {soak.kind}: cut"
            await _control(control, "POST", "faults", {"fault": fault})
            began, cpu = time.perf_counter(), time.process_time()
            writes, version = await server.write(soak.rate, soak.seconds)
            soak_time = time.perf_counter() - began
            [state] = await _control(control, "GET", "faults")
            await _control(control, "DELETE", "faults")
            began = time.perf_counter()
            await mirror.store.at_least(version, timeout=60)
            lag = time.perf_counter() - began
            soak_cpu = time.process_time() - cpu
            health = mirror.health
            await _settled(mirror, synced, soak)
            soaked = Usage.now(mirror)

            there = await asyncio.to_thread(_listed, server.url, soak)
            assert_same(identities(mirror.store), there)
            if soak.check:
                seen.check(there)
            objects = len(mirror.store)
        del mirror
        closed = Usage.now()
    return Result(
        empty=empty,
        synced=synced,
        soaked=soaked,
        closed=closed,
        objects=objects,
        first_objects=first,
        sync_time=sync_time,
        sync_cpu=sync_cpu,
        soak_time=soak_time,
        soak_cpu=soak_cpu,
        lag=lag,
        writes=writes,
        told=told,
        cuts=state["applied"],
        requests=health.requests - requests,
        relists={str(cause): count for cause, count in health.relists.items()},
        problems=list(_problems(soak, empty, synced, soaked, closed)),
    )


def _load_everything() -> None:
    """What is imported when first used is not to be counted as the mirror's."""
    import aiohttp  # noqa: F401


async def _settled(mirror: Mirror[Any], before: Usage, soak: Soak) -> None:
    """Wait until a watch is open, and what was lost or asked last has left nothing: a look at the
    server's history comes `recheck` seconds after a loss, an unused connection is kept for 30 s.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(soak.recheck + 40):
            while True:
                now = Usage()
                if (
                    mirror.health.state == "watching"
                    and now.tasks <= before.tasks
                    and now.descriptors <= before.descriptors + soak.pooled
                ):
                    return
                await asyncio.sleep(0.1)


def _problems(
    soak: Soak, empty: Usage, synced: Usage, soaked: Usage, closed: Usage
) -> Iterator[str]:
    if soaked.tasks > synced.tasks:
        yield f"{soaked.tasks} tasks, where there were {synced.tasks}"
    if soaked.descriptors > synced.descriptors + soak.pooled:
        yield f"{soaked.descriptors} descriptors, where there were {synced.descriptors}"
    # A patch makes an object longer. What else there is, is what a heap is fragmented by.
    allowed = synced.megabytes * 1.15 + 20 + soaked.content - synced.content
    if soaked.megabytes > allowed:
        yield f"{soaked.megabytes:.0f} MB, where there were {synced.megabytes:.0f}"
    if closed.tasks > empty.tasks or closed.descriptors > empty.descriptors:
        yield f"after all is closed {closed} is left, where there was {empty}"


async def _control(
    connection: Connection, method: str, what: str, given: dict[str, Any] | None = None
) -> Any:
    body = b"" if given is None else json.dumps(given).encode()
    status, answer = await connection.ask(method, f"/_listwatch/{what}", body)
    if status != 200:
        raise AssertionError(f"{what}: {status} {answer!r}")
    return json.loads(answer)


def _listed(url: str, soak: Soak) -> dict[str, tuple[str, str]]:
    """The server's set, read with the standard library alone."""
    found: dict[str, tuple[str, str]] = {}
    token = ""
    while True:
        more = f"&continue={token}" if token else ""
        request = urllib.request.Request(
            f"{url}{soak.path}?limit={_PAGE}{more}", headers={"Accept": _METADATA}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            page = json.load(answer)
        for item in page["items"]:
            meta = item["metadata"]
            key = f"{meta['namespace']}/{meta['name']}"
            found[key] = (meta["uid"], meta["resourceVersion"])
        token = page["metadata"].get("continue", "")
        if not token:
            return found


class _Server:
    """The server, as seen from here."""

    def __init__(self, url: str, process: asyncio.subprocess.Process) -> None:
        self.url = url
        self._process = process

    async def write(self, rate: float, seconds: float) -> tuple[int, str]:
        """Let it make so many changes a second; their number, and the RV of the last."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{rate} {seconds}\n".encode())
        await self._process.stdin.drain()
        count, version = (await self._process.stdout.readline()).decode().split()
        return int(count), version


@asynccontextmanager
async def _server(soak: Soak) -> AsyncIterator[_Server]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.mirror_server", str(soak.objects), soak.kind),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 20,
    )
    try:
        assert process.stdout is not None
        yield _Server((await process.stdout.readline()).decode().strip(), process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        # Its pipes are closed a turn of the loop after the process is gone.
        await asyncio.sleep(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it and print what came of it."""
    default = Soak()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=default.objects)
    parser.add_argument("--rate", type=float, default=default.rate, help="changes a second")
    parser.add_argument("--seconds", type=float, default=default.seconds)
    parser.add_argument("--cut-every", type=float, default=default.cut_every, metavar="SECONDS")
    parser.add_argument("--kind", choices=["pods", "configmaps"], default=default.kind)
    parser.add_argument("--list", action="store_true", help="do not use WatchList")
    parser.add_argument("--check", action="store_true", help="hold every delta against the rules")
    given = parser.parse_args(arguments)
    soak = Soak(
        objects=given.objects,
        rate=given.rate,
        seconds=given.seconds,
        cut_every=given.cut_every,
        kind=given.kind,
        watch_list=not given.list,
        check=given.check,
    )
    logging.getLogger("listwatch").addHandler(logging.NullHandler())  # each cut would be a line
    result = asyncio.run(run(soak))
    for what, figure in result.lines():
        say(what, figure)
    for problem in result.problems:
        print(f"NOT back where it was: {problem}")
    if not result.problems:
        print("The store is the server's set; tasks, sockets and memory are back where they were.")
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
