"""What bringing in a watch costs: CPU of the client per event of about 7 KB, one chunk an event.

    python -m bench.transport            # the table, about five minutes
    python -m bench.transport --short    # one round, on asyncio alone, half a minute

Two ways are in the tree: chunked bodies are read by us, past aiohttp; or by aiohttp, where it is
not as we know it. "body" takes the bytes only, "whole" decodes them and applies them to a store. In
a burst the server sends as fast as it can; in a trickle it sends one event, then sleeps, so that
each is a read of its own, as in a cluster at rest. The server is a process of its own and sends
what was made before. The ways take turns, each time in a new process, since what a read costs
depends on what the heap has seen. Figures are medians, and only their ratios are worth anything.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.util
import json
import random
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.data import make_dataset
from listwatch import ClientConfig
from listwatch.cache.store import Store
from listwatch.rest import _aiohttp
from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.transport import HTTPRequest, HTTPResponse
from listwatch.watch import BodyDecoder, StreamWatcher
from listwatch.wire import WatchDecoder, decode_unstructured

BURST = 3000
TRICKLE = 500
PAUSE = 0.0004  # seconds, between two events of a trickle

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
END = b"0\r\n\r\n"


# The server


def chunks_of_events(count: int) -> list[bytes]:
    data = make_dataset("pods", 1000, count)
    lines = [data.event(b"MODIFIED", data.watched(event)) for event in data.events]
    return [b"%x\r\n%b\r\n" % (len(line), line) for line in lines]


def serve(ca_file: str | None) -> None:
    """Say the port, then answer `/burst` and `/trickle` for ever."""
    context = None
    if ca_file is not None:
        from listwatch.testing.apiserver.http.tls import Authority

        authority = Authority.make()
        context = authority.server_context()
        Path(ca_file).write_bytes(authority.ca_data)
    chunks = chunks_of_events(BURST)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            peer, _ = listener.accept()
            threading.Thread(target=answer, args=(peer, context, chunks), daemon=True).start()


def answer(peer: socket.socket, context: ssl.SSLContext | None, chunks: list[bytes]) -> None:
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with contextlib.suppress(OSError):
        connection = peer if context is None else context.wrap_socket(peer, server_side=True)
        with connection:
            asked = connection.recv(65536)
            connection.sendall(HEAD)
            if asked.startswith(b"GET /burst"):
                body = memoryview(b"".join(chunks))
                for begin in range(0, len(body), 1 << 20):
                    connection.sendall(body[begin : begin + (1 << 20)])
            else:
                for chunk in chunks[:TRICKLE]:
                    connection.sendall(chunk)
                    time.sleep(PAUSE)
            connection.sendall(END)
            connection.recv(1)  # whoever closes first drops what the other has not read


@contextlib.contextmanager
def server(*, tls: bool) -> Iterator[list[str]]:
    """Its address, as arguments of a player."""
    with tempfile.TemporaryDirectory() as folder:
        trust = [f"--ca-file={Path(folder, 'ca.pem')}"] if tls else []
        command = [sys.executable, "-m", "bench.transport", "--serve", *trust]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                address = f"127.0.0.1:{int(process.stdout.readline())}"
                yield [f"{'https' if tls else 'http'}://{address}", *trust]
            finally:
                process.kill()


# The ways


READ_BY_US = _aiohttp._take_bodies
"""How a connector is made to leave the bodies to us."""


def leave_to_aiohttp(connector: object) -> None:
    """Nothing is taken from it."""


WAYS: dict[str, Callable[..., None]] = {
    "read by us": READ_BY_US,
    "read by aiohttp": leave_to_aiohttp,
}


@contextlib.asynccontextmanager
async def opened(config: ClientConfig, way: str, path: str) -> AsyncIterator[HTTPResponse]:
    _aiohttp._take_bodies = WAYS[way]  # type: ignore[assignment]
    transport = AiohttpTransport(config)
    try:
        yield await transport.send(HTTPRequest(method="GET", path=path))
    finally:
        await transport.close()


@dataclass
class Cost:
    cpu: float  # microseconds an event
    reads: float  # an event


async def measure(config: ClientConfig, way: str, what: str, path: str) -> Cost:
    expected = BURST if path == "/burst" else TRICKLE
    async with opened(config, way, path) as response:
        reads = events = 0
        if what == "body":
            begin = cpu()
            while data := await response.receive():
                reads += 1
                events += data.count(b"\n")
        else:
            store = Store()
            decoder = BodyDecoder(response, WatchDecoder(decode_unstructured))
            watcher = StreamWatcher(decoder)
            begin = cpu()
            async for batch in watcher.batches():
                reads += 1
                events += len(batch)
                store.apply(batch)
        spent = cpu() - begin
    if events != expected:
        raise AssertionError(f"{way}, {what}, {path}: {events} events of {expected} came")
    return Cost(spent * 1e6 / events, reads / events)


def cpu() -> float:
    """Seconds that this process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def loops() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    found = {"asyncio": asyncio.new_event_loop}
    if importlib.util.find_spec("uvloop"):
        import uvloop

        found["uvloop"] = uvloop.new_event_loop
    return found


def play(loop: str, way: str, what: str, path: str, server_url: str, ca_file: str | None) -> None:
    """Say what each of three streams cost; one before them warms up."""
    ca = Path(ca_file).read_bytes() if ca_file is not None else None
    config = ClientConfig(server=server_url, ca_data=ca)

    async def streams() -> list[Cost]:
        return [await measure(config, way, what, path) for _ in range(4)][1:]

    with asyncio.Runner(loop_factory=loops()[loop]) as runner:
        print(json.dumps([[cost.cpu, cost.reads] for cost in runner.run(streams())]))


def compare(case: Sequence[str], server: Sequence[str], rounds: int) -> dict[str, Cost]:
    found: dict[str, list[list[float]]] = {way: [] for way in WAYS}
    loop, *rest = case
    for _ in range(rounds):
        for way in random.sample(list(WAYS), len(WAYS)):
            command = [sys.executable, "-m", "bench.transport", "--play", loop, way, *rest, *server]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
            found[way] += json.loads(done.stdout)
    return {
        way: Cost(*(statistics.median(column) for column in zip(*costs, strict=True)))
        for way, costs in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="one round, on asyncio alone")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--play", nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--ca-file", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve:
        serve(asked.ca_file)
    elif asked.play:
        play(*asked.play, asked.ca_file)
    else:
        table(rounds=1 if asked.short else 4, used=["asyncio"] if asked.short else list(loops()))


def table(*, rounds: int, used: Sequence[str]) -> None:
    us, aiohttp = WAYS
    print(f"{'us of CPU an event':<36}{us:>14}{aiohttp:>18}{'ratio':>8}   reads an event")
    for tls in (False, True):
        with server(tls=tls) as address:
            for loop in used:
                for path in ("/burst", "/trickle"):
                    for what in ("body", "whole"):
                        costs = compare((loop, what, path), address, rounds)
                        ours, theirs = costs[us], costs[aiohttp]
                        label = f"{path[1:]}, {what}, {'TLS' if tls else 'plain'}, {loop}"
                        ratio = ours.cpu / theirs.cpu
                        figures = f"{ours.cpu:>14.1f}{theirs.cpu:>18.1f}{ratio:>8.2f}"
                        reads = f"{ours.reads:.2f} / {theirs.reads:.2f}"
                        print(f"{label:<36}{figures}   {reads}", flush=True)


if __name__ == "__main__":
    main()
