"""A server of pods, in a process of its own: lists, watches, and does what it is told on stdin.

It keeps no history. A watch hears what happens from when it is opened; "expire" ends all watches
with 410, so that whoever had one lists again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

from .figures import until
from .pods import Pods

__all__ = ["Served", "served"]

_SLICE = 0.001
"""Seconds: how often a paced stream is written to."""

_GONE = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
    b'"message":"too old resource version","reason":"Expired","code":410}}\n'
)
_TYPE = b'{"kind":"Pod","apiVersion":"v1",'


@dataclass
class Cluster:
    """One set of pods for each path: that of a namespace, or of all."""

    pods: Pods
    parts: int
    version: int = 0
    raws: dict[int, bytes] = field(default_factory=dict)
    """As items of a list: without kind and apiVersion."""
    watchers: dict[int, set[asyncio.StreamWriter]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.version = self.pods.count
        for number in range(self.pods.count):
            self.change(number, number + 1)

    def change(self, number: int, version: int) -> bytes:
        """Give it another state; the whole object."""
        raw = self.pods.raw(number, version)
        self.raws[number] = b"{" + raw[len(_TYPE) :]
        return raw

    def part(self, path: str) -> int:
        """Whose path this is: `/api/v1/namespaces/part-7/pods`, or part 0 where there is one."""
        _, _, rest = path.partition("/namespaces/part-")
        return int(rest.partition("/")[0]) if rest else 0

    def page(self, part: int, start: int, limit: int) -> bytes:
        numbers = range(part, self.pods.count, self.parts)
        some = numbers[start : start + limit] if limit else numbers[start:]
        end = start + len(some)
        meta = {"resourceVersion": str(self.version)}
        if end < len(numbers):
            meta["continue"] = str(end)
        head = b'{"kind":"PodList","apiVersion":"v1","metadata":%b,"items":['
        items = b",".join([self.raws[number] for number in some])
        return head % json.dumps(meta).encode() + items + b"]}\n"


class Server:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._turn = 0

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                target = urlsplit(head.split(b" ", 2)[1].decode())
                query = {name: values[-1] for name, values in parse_qs(target.query).items()}
                part = self._cluster.part(target.path)
                if query.get("watch") in ("1", "true"):
                    await self._watch(part, reader, writer)
                    break
                limit, start = int(query.get("limit", 0)), int(query.get("continue", 0))
                body = self._cluster.page(part, start, limit)
                head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d"
                writer.write(head % len(body) + b"\r\n\r\n")
                writer.write(body)
                await writer.drain()
        writer.close()

    async def _watch(
        self, part: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        )
        watchers = self._cluster.watchers.setdefault(part, set())
        watchers.add(writer)
        try:
            await reader.read()  # until the client goes
        finally:
            watchers.discard(writer)

    async def events(self, count: int, rate: float) -> float:
        """Once each part has a watch: change so many pods, one part after the other; a rate of 0 is
        as fast as it goes. When the first was due, by the clock of all processes.
        """
        cluster = self._cluster
        # There is no history: who comes late has missed it.
        await until(lambda: sum(map(len, cluster.watchers.values())) >= cluster.parts)
        made: list[tuple[int, bytes]] = []
        for _ in range(count):
            self._turn += 1
            cluster.version += 1
            number = self._turn * 7919 % cluster.pods.count
            raw = cluster.change(number, cluster.version)
            line = b'{"type":"MODIFIED","object":' + raw + b"}\n"
            made.append((number % cluster.parts, b"%x\r\n%b\r\n" % (len(line), line)))
        begin = time.monotonic()
        sent = 0
        while sent < count:
            due = int((time.monotonic() - begin) * rate) if rate else sent + 64
            for part, chunk in made[sent : min(due, count)]:
                for writer in cluster.watchers.get(part, ()):
                    writer.write(chunk)
            sent = min(max(due, sent), count)
            for writers in tuple(cluster.watchers.values()):
                for writer in tuple(writers):
                    await writer.drain()
            await asyncio.sleep(_SLICE if rate else 0)
        return begin

    def expire(self, changed: int) -> None:
        """Change so many that no watch hears of, and end all watches."""
        cluster = self._cluster
        for _ in range(changed):
            self._turn += 1
            cluster.version += 1
            cluster.change(self._turn * 7919 % cluster.pods.count, cluster.version)
        for writers in cluster.watchers.values():
            for writer in writers:
                writer.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(_GONE), _GONE))
                writer.close()


async def _serve(count: int, size: int, parts: int) -> None:
    server = Server(Cluster(Pods(count, size), parts))
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0, limit=1 << 20)
    port = listening.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        what, *numbers = line.split()
        if what == "events":
            print(await server.events(int(numbers[0]), float(numbers[1])), flush=True)
        else:
            server.expire(int(numbers[0]))
            print(0, flush=True)


class Served:
    """The server, as seen from another process."""

    def __init__(self, url: str, process: asyncio.subprocess.Process) -> None:
        self.url = url
        self._process = process

    async def events(self, count: int, rate: float = 0) -> float:
        """See `Server.events`; returns when all are sent."""
        return float(await self._tell(f"events {count} {rate}"))

    async def expire(self, changed: int) -> None:
        """See `Server.expire`."""
        await self._tell(f"expire {changed}")

    async def _tell(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n".encode())
        return (await self._process.stdout.readline()).decode()


@asynccontextmanager
async def served(count: int, size: int, parts: int = 1) -> AsyncIterator[Served]:
    """A server of so many pods of that size, in so many sets."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.scale.server", str(count), str(size), str(parts)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        yield Served((await process.stdout.readline()).decode().strip(), process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        await asyncio.sleep(0)  # its pipes are closed a turn of the loop later


if __name__ == "__main__":
    asyncio.run(_serve(*map(int, sys.argv[1:4])))
