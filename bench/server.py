"""What the embedded API server can take.

    python -m bench.server            # all of it, about a minute
    python -m bench.server --short    # a tenth of the objects, some seconds
    python -m bench.server core http  # these parts alone: start, many, core, http, list

Where HTTP is measured the server is a process of its own, so that the clients' work is not counted
as the server's. On one core the two still share it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, cast

from bench.http_load import Connection, Watcher
from listwatch.testing.apiserver import EmbeddedServer
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, ServerRequest, WatchStream

WATCHERS = 20
NAMESPACE = "default"
COLLECTION = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
SIZE = 1000  # bytes of an object
OBJECTS = 500  # that the writes go round


def kilobyte(name: str, revision: int, *, whole: bool = False) -> dict[str, Any]:
    """A ConfigMap of a little more than `SIZE` bytes with what the server adds; `whole` with what
    `load` wants to be told.
    """
    return {
        **({"apiVersion": "v1", "kind": "ConfigMap"} if whole else {}),
        "metadata": {
            "name": name,
            "labels": {"app": "web"},
            **({"namespace": NAMESPACE} if whole else {}),
        },
        "data": {"revision": str(revision), "padding": "x" * (SIZE - 300)},
    }


def body_of(name: str, revision: int) -> bytes:
    return json.dumps(kilobyte(name, revision), separators=(",", ":")).encode()


def name_of(number: int) -> str:
    return f"object-{number:06}"


def new_core() -> APIServer:
    return APIServer(clock=time.monotonic, wall=lambda: datetime.now(UTC), rng=Random(1))


def say(what: str, figure: str) -> None:
    print(f"  {what:<52}{figure}", flush=True)


def memory(line: str = "VmRSS") -> float:
    """MB that this process has; NaN where the system does not tell. `VmHWM`: has had at most."""
    # The kernel's ru_maxrss will not do: on Linux a child begins with that of its parent.
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(status.partition(f"{line}:")[2].split()[0]) / 1024


# Starting


async def ready(server: EmbeddedServer) -> None:
    async with Connection(server.url) as connection:
        status, body = await connection.ask("GET", "/readyz")
        if (status, body) != (200, b"ok"):
            raise AssertionError(f"/readyz: {status} {body!r}")


async def start_times(*, tls: bool, runs: int) -> list[float]:
    """Seconds from nothing to listening, for each of some servers."""
    found = []
    for _ in range(runs):
        begin = time.perf_counter()
        async with EmbeddedServer(tls=tls) as server:
            found.append(time.perf_counter() - begin)
            if not tls:
                await ready(server)
    return found


def measure_start(short: bool) -> None:
    print("Starting one")
    command = (
        "import time; a=time.perf_counter();"
        "import asyncio; from listwatch.testing.apiserver import EmbeddedServer;"
        "b=time.perf_counter()\n"
        "async def up():\n"
        "    async with EmbeddedServer(): return time.perf_counter()\n"
        "print(b-a, asyncio.run(up())-b)"
    )
    imports, first = [], []
    for _ in range(3 if short else 10):
        done = subprocess.run([sys.executable, "-c", command], capture_output=True, check=True)
        imported, started = done.stdout.split()
        imports.append(float(imported))
        first.append(float(started))
    say("the first in a process, imports apart", milliseconds(first))
    say("the imports before it", milliseconds(imports))
    for tls in (False, True):
        times = asyncio.run(start_times(tls=tls, runs=10 if short else 50))
        say(f"the next ones{', TLS' if tls else ''}", milliseconds(times))


def milliseconds(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    late = ordered[int(len(ordered) * 0.99)]
    figures = {"median": statistics.median(ordered), "99 %": late, "at most": ordered[-1]}
    if len(ordered) < 100:
        del figures["99 %"]
    return "".join(f"{figure * 1e3:8.1f} ms {name}" for name, figure in figures.items())


def measure_many(short: bool) -> None:
    count = 10 if short else 100
    print(f"{count} in one process")

    async def run() -> None:
        before = memory()
        async with contextlib.AsyncExitStack() as stack:
            begin = time.perf_counter()
            servers = [await stack.enter_async_context(EmbeddedServer()) for _ in range(count)]
            say("all of them started in", f"{time.perf_counter() - begin:8.2f} s")
            begin = time.perf_counter()
            await asyncio.gather(*(exercise(server) for server in servers))
            took = time.perf_counter() - begin
            say("a watch, a write and a list on each, together", f"{took:8.2f} s")
            say("memory for each", f"{(memory() - before) / count:8.2f} MB")
            begin = time.perf_counter()
        say("all of them stopped in", f"{time.perf_counter() - begin:8.2f} s")

    asyncio.run(run())


async def exercise(server: EmbeddedServer) -> None:
    async with Connection(server.url) as connection, Watcher(server.url, COLLECTION) as watcher:
        status, _ = await connection.ask("POST", COLLECTION, body_of("one", 1))
        _, listed = await connection.ask("GET", COLLECTION)
        await watcher.wait(1)
        if status != 201 or len(json.loads(listed)["items"]) != 1:
            raise AssertionError("a server lost a write")


# The core, without HTTP


def measure_core(short: bool) -> None:
    count = 2_000 if short else 20_000
    print(f"The core: {WATCHERS} watchers, objects of {SIZE} bytes")
    for verb in ("create", "update", "patch", "delete"):
        core = new_core()
        requests = core_requests(core, verb, count)
        streams = [open_watch(core) for _ in range(WATCHERS)]
        frames: list[list[bytes]] = [[] for _ in streams]
        begin = time.perf_counter()
        for position, request in enumerate(requests):
            answer = core.handle(request)
            if not isinstance(answer, Answer) or answer.status >= 300:
                raise AssertionError(f"{verb}: {answer}")
            if position % 20 == 19:  # a reader takes what came since it looked last
                for stream, taken in zip(streams, frames, strict=True):
                    taken += stream.take()
        for stream, taken in zip(streams, frames, strict=True):
            taken += stream.take()
        took = time.perf_counter() - begin
        if any(len(taken) != count for taken in frames):
            raise AssertionError(f"{verb}: a watcher has {[len(taken) for taken in frames]} events")
        size = statistics.mean(len(frame) for frame in frames[0])
        say(f"{verb}, events of {size:.0f} bytes", f"{count / took:8,.0f} writes/s")


def core_requests(core: APIServer, verb: str, count: int) -> list[ServerRequest]:
    """Requests that may be sent to the core; what they need is in it already."""
    if verb == "create":
        return [core_request("POST", "", body_of(name_of(n), n)) for n in range(count)]
    stored = count if verb == "delete" else OBJECTS
    core.load(kilobyte(name_of(n), n, whole=True) for n in range(stored))
    if verb == "delete":
        return [core_request("DELETE", name_of(n)) for n in range(count)]
    if verb == "patch":
        return [
            core_request("PATCH", name_of(n % OBJECTS), b'{"data":{"revision":"%d"}}' % (n + count))
            for n in range(count)
        ]
    return [
        core_request("PUT", name_of(n % OBJECTS), body_of(name_of(n % OBJECTS), n + count))
        for n in range(count)
    ]


def core_request(method: str, name: str, body: bytes = b"", **query: str) -> ServerRequest:
    kind = "merge-patch+json" if method == "PATCH" else "json"
    return ServerRequest(
        method=method,
        path=f"{COLLECTION}/{name}" if name else COLLECTION,
        query=tuple(query.items()),
        headers={"accept": "application/json", "content-type": f"application/{kind}"},
        body=body,
    )


def open_watch(core: APIServer) -> WatchStream:
    version = str(core.state.log.revision)
    stream = core.handle(core_request("GET", "", watch="1", resourceVersion=version))
    if isinstance(stream, Answer):
        raise AssertionError(f"no watch: {stream}")
    return cast("WatchStream", stream)


# HTTP


@asynccontextmanager
async def server_process(objects: int) -> AsyncIterator[str]:
    """The URL of a server in a process of its own, with so many objects in it."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "bench.server", "--serve", str(objects)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        if process.stdout is None or process.stdin is None:
            raise AssertionError("the server has no pipes")
        yield (await process.stdout.readline()).decode().strip()
        process.stdin.close()  # it ends with its input, also when we are killed
        told = (await process.stdout.read()).decode().strip()
        if told:
            say("memory of the server at most", f"{float(told):8,.0f} MB")
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def serve(objects: int) -> None:
    async with EmbeddedServer() as server:
        server.core.load(kilobyte(name_of(n), n, whole=True) for n in range(objects))
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)
        print(memory("VmHWM"))


def measure_http(short: bool) -> None:
    count, writers = (2_000 if short else 10_000), 8
    print(f"HTTP: {WATCHERS} watchers, {writers} connections that write, objects of {SIZE} bytes")
    for method in ("POST", "PUT"):
        rate, slowest, times = asyncio.run(write_over_http(method, count, writers))
        say(f"{method}, all of it with the watchers", f"{rate:8,.0f} writes/s")
        say("    an answer takes", milliseconds(times))
        say("    after the last answer the watchers have all in", f"{slowest * 1e3:8.1f} ms")


async def write_over_http(
    method: str, count: int, writers: int
) -> tuple[float, float, list[float]]:
    times: list[float] = []
    async with (
        server_process(0 if method == "POST" else OBJECTS) as url,
        contextlib.AsyncExitStack() as stack,
    ):
        enter: Callable[[Any], Awaitable[Any]] = stack.enter_async_context
        watchers = [await enter(Watcher(url, COLLECTION)) for _ in range(WATCHERS)]
        connections = [await enter(Connection(url)) for _ in range(writers)]
        numbers = iter(range(count))
        begin = time.perf_counter()
        await asyncio.gather(
            *(write_all(connection, method, numbers, times) for connection in connections)
        )
        answered = time.perf_counter()
        await asyncio.gather(*(watcher.wait(count) for watcher in watchers))
        seen = time.perf_counter()
        if any(watcher.events != count for watcher in watchers):
            raise AssertionError("a watcher has more events than there were writes")
    return count / (seen - begin), seen - answered, times


async def write_all(
    connection: Connection, method: str, numbers: Iterator[int], times: list[float]
) -> None:
    for number in numbers:
        name = name_of(number if method == "POST" else number % OBJECTS)
        target = COLLECTION if method == "POST" else f"{COLLECTION}/{name}"
        begin = time.perf_counter()
        status, answer = await connection.ask(method, target, body_of(name, number + OBJECTS))
        times.append(time.perf_counter() - begin)
        if status >= 300:
            raise AssertionError(f"{method}: {status} {answer!r}")


def measure_list(short: bool) -> None:
    count = 10_000 if short else 100_000
    print(f"{count:,} objects of {SIZE} bytes listed over HTTP; another client asks all the time")
    asyncio.run(list_over_http(count))


async def list_over_http(count: int) -> None:
    begin = time.perf_counter()
    async with (
        server_process(count) as url,
        Connection(url) as connection,
        Connection(url) as other,
    ):
        say("a process started and its objects loaded in", f"{time.perf_counter() - begin:8.2f} s")
        for limit in (500, 5_000, 0):
            pings: list[float] = []
            pinging = asyncio.create_task(ping(other, pings))
            begin = time.perf_counter()
            pages, found = await list_all(connection, limit)
            took = time.perf_counter() - begin
            await asyncio.sleep(0.01)
            pinging.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await pinging
            await other.__aexit__()
            await other.__aenter__()  # it may have been cancelled within an answer
            if found != count:
                raise AssertionError(f"{found} of {count} objects listed")
            what = f"pages of {limit}" if limit else "all at once"
            say(f"{what}: {len(pages)}, each", milliseconds(pages))
            say("    all of it", f"{took:8.2f} s, {count / took:,.0f} objects/s")
            say("    the other client's answers", milliseconds(pings))


async def list_all(connection: Connection, limit: int) -> tuple[list[float], int]:
    """Seconds for each page, and how many objects there were."""
    pages, found, token = [], 0, ""
    while True:
        target = f"{COLLECTION}?limit={limit}" + (f"&continue={token}" if token else "")
        begin = time.perf_counter()
        status, body = await connection.ask("GET", target)
        pages.append(time.perf_counter() - begin)
        if status != 200:
            raise AssertionError(f"LIST: {status} {body[:200]!r}")
        found += body.count(b'"uid":')
        # Only the head is looked at: reading it all would cost more than making it.
        head = body[: body.index(b'"items":')]
        token = json.loads(head.rstrip(b",") + b"}")["metadata"].get("continue", "")
        if not token:
            return pages, found


async def ping(connection: Connection, times: list[float]) -> None:
    while True:
        begin = time.perf_counter()
        await connection.ask("GET", "/readyz")
        times.append(time.perf_counter() - begin)
        await asyncio.sleep(0.002)


PARTS: dict[str, Callable[[bool], None]] = {
    "start": measure_start,
    "many": measure_many,
    "core": measure_core,
    "http": measure_http,
    "list": measure_list,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="*", help=f"{', '.join(PARTS)}; all if none is named")
    parser.add_argument("--short", action="store_true", help="a tenth of it")
    parser.add_argument("--serve", type=int, metavar="OBJECTS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.serve))
        return
    if unknown := set(options.part) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in options.part or PARTS:
        PARTS[name](options.short)


if __name__ == "__main__":
    main()
