"""The server of the comparison: it has everything ready, and only sends.

    python -m bench.stage --objects 10000 --events 20000    # prints its URL
    python -m bench.stage --data pretty --tls --ca-file ca.pem --port 8443
    python -m bench.stage --rate 2000                       # events at a steady pace

It serves `pods` and `widgets` of `bench.data`: LIST, in pages or whole, WATCH, WatchList, metadata
only, one namespace or all, and enough discovery for other people's clients. A watch from the list's
resourceVersion says nothing until `POST /bench/start`, which waits until such a watch is open
(`?watches=2`: two of them). Then the events come, each in an HTTP chunk of its own as from
kube-apiserver, as fast as the socket takes them; after the last the watch stays open and silent.
The next player may then list again, and watch from the start.

`POST /bench/expire` ends the watches that wait with a 410, and from then on lists what is there
after all events, so that whoever had the set must list again; `POST /bench/reset` takes that back.
`GET /bench/stats` says what must come to whoever counts, and what sending has cost here.

Each connection has a thread that writes bytes which are all there before: what is measured on the
other side waits for nothing here (the player `floor` shows by how much).
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import socket
import ssl
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote

from bench.data import DATA, RESOURCES, make_dataset
from bench.stage_plain import PLAIN, collection, not_found
from bench.stage_state import EXPIRE, EXPIRED, PATIENCE, START, Stage, Stream, chunk_of

_SLICE = 1 << 18
"""Bytes a call of `send`."""


@dataclass(slots=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    accept: str


class Connection:
    """One client's connection, and the thread that serves it."""

    def __init__(self, stage: Stage, peer: socket.socket, context: ssl.SSLContext | None) -> None:
        self._stage = stage
        self._peer = peer
        self._context = context
        self._received = b""

    def run(self) -> None:
        self._stage.stats.connections += 1
        # A client that goes away in the middle of something is how a player ends.
        with contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
            self._peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._context is not None:
                self._peer = self._context.wrap_socket(self._peer, server_side=True)
            while (request := self._request()) is not None:
                self._stage.stats.requests += 1
                self._answer(request)
        self._peer.close()

    def _request(self) -> Request | None:
        while (end := self._received.find(b"\r\n\r\n")) < 0:
            data = self._peer.recv(1 << 16)
            if not data:
                return None
            self._received += data
        head, self._received = self._received[:end].decode("latin-1"), self._received[end + 4 :]
        first, *lines = head.split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = {}
        for line in lines:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = int(headers.get("content-length", 0))
        while len(self._received) < length:
            self._received += self._peer.recv(1 << 16)
        self._received = self._received[length:]
        path, _, query = target.partition("?")
        given = {name: values[-1] for name, values in parse_qs(query).items()}
        return Request(method, unquote(path), given, headers.get("accept", ""))

    def _answer(self, request: Request) -> None:
        match request.method, request.path:
            case "POST", "/bench/start":
                count = self._stage.start(int(request.query.get("watches", 1)))
                if count:
                    self._json({"watches": count})
                else:
                    self._json({"message": f"no watch within {PATIENCE:.0f} s"}, status=503)
            case "POST", "/bench/expire":
                self._json({"watches": self._stage.expire()})
            case "POST", "/bench/reset":
                self._stage.reset()
                self._json({})
            case "GET", "/bench/stats":
                self._json(self._stage.report())
            case "GET", path if path in PLAIN:
                self._json(PLAIN[path])
            case "GET", path if (found := collection(path)) is not None:
                self._read(request, *found)
            case _:
                self._json(not_found(request.path), status=404)

    def _read(self, request: Request, plural: str, namespace: str) -> None:
        partial = "as=PartialObjectMetadata" in request.accept
        query = request.query
        if query.get("watch", "") in ("1", "true", "True"):
            self._watch(plural, partial, namespace, query)
            return
        start = 0
        if token := query.get("continue", ""):
            start = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))["n"]
        body = self._stage.page(plural, partial, namespace, start, int(query.get("limit", 0)))
        self._send(_head(b"Transfer-Encoding: chunked\r\n"))
        self._send(body)

    def _watch(self, plural: str, partial: bool, namespace: str, query: dict[str, str]) -> None:
        stage = self._stage
        dataset = stage.datasets[plural]
        stream = stage.stream(plural, partial, namespace)
        version = int(query.get("resourceVersion") or 0)
        whole = query.get("sendInitialEvents") == "true"
        initial = stage.initial(plural, partial, namespace) if whole else b""
        self._send(_head(b"Transfer-Encoding: chunked\r\n"))
        self._send(initial)
        first = stream.after(version) if version > dataset.version else 0
        # Without a resourceVersion of the list, or with a later one, there is nothing to wait for.
        order = stage.wait_for_start(self._peer) if first == 0 and stream.ends else START
        if order == EXPIRE:
            self._send(chunk_of(EXPIRED) + b"0\r\n\r\n")
            return
        if not order:
            raise ConnectionResetError
        began, cpu = time.perf_counter(), time.process_time()
        begin = stream.ends[first - 1] if first else 0
        if stage.rate is None:
            self._send(memoryview(stream.data)[begin:])
        else:
            self._paced(stream, first, stage.rate)
        stats = stage.stats
        stats.streams += 1
        stats.stream_events += len(stream.ends) - first
        stats.stream_seconds = max(stats.stream_seconds, time.perf_counter() - began)
        stats.stream_cpu = max(stats.stream_cpu, time.process_time() - cpu)
        if self._peer.recv(1):  # nobody says anything in a watch but that he goes
            raise ConnectionResetError

    def _paced(self, stream: Stream, first: int, rate: float) -> None:
        began = time.perf_counter()
        view = memoryview(stream.data)
        sent = first
        while sent < len(stream.ends):
            due = first + int((time.perf_counter() - began) * rate) + 1
            while sent < min(due, len(stream.ends)):  # a write each, as a server that just got them
                self._send(view[stream.ends[sent - 1] if sent else 0 : stream.ends[sent]])
                sent += 1
            time.sleep(max(0.0, began + (sent - first) / rate - time.perf_counter()))

    def _json(self, value: Any, *, status: int = 200) -> None:
        body = json.dumps(value, separators=(",", ":")).encode()
        self._send(_head(b"Content-Length: %d\r\n" % len(body), status) + body)

    def _send(self, data: bytes | memoryview) -> None:
        view = memoryview(data)
        for start in range(0, len(view), _SLICE):
            self._peer.sendall(view[start : start + _SLICE])
        self._stage.stats.bytes += len(view)


def _head(framing: bytes, status: int = 200) -> bytes:
    reason = {200: b"OK", 404: b"Not Found", 503: b"Service Unavailable"}[status]
    return (
        b"HTTP/1.1 %d %b\r\nAudit-Id: 9d0c4e0a-7a70-4f3b-9f7a-6f4f6f9d6a31\r\n"
        b"Cache-Control: no-cache, private\r\nContent-Type: application/json\r\n"
        b"Date: Sun, 01 Mar 2026 00:00:00 GMT\r\n%b\r\n" % (status, reason, framing)
    )


def serve(stage: Stage, port: int, context: ssl.SSLContext | None, *, tell: Any = print) -> None:
    """Serve for ever. `tell` is given the URL once it is listening."""
    with socket.create_server(("127.0.0.1", port), backlog=256) as listener:
        scheme = "http" if context is None else "https"
        tell(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")
        while True:
            peer, _ = listener.accept()
            connection = Connection(stage, peer, context)
            threading.Thread(target=connection.run, daemon=True).start()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--objects", type=int, default=10_000, metavar="M")
    parser.add_argument("--events", type=int, default=20_000, metavar="N")
    parser.add_argument("--data", choices=DATA, default="usual")
    parser.add_argument("--resource", choices=[*RESOURCES, "both"], default="both")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--rate", type=float, help="events a second; as fast as it goes if not given"
    )
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--tls", action="store_true")
    parser.add_argument("--ca-file", help="where to write what a client must trust, with --tls")
    given = parser.parse_args()
    wanted = list(RESOURCES) if given.resource == "both" else [given.resource]
    datasets = {
        plural: make_dataset(plural, given.objects, given.events, data=given.data, seed=given.seed)
        for plural in wanted
    }
    context = None
    if given.tls:
        from listwatch.testing.apiserver.http.tls import Authority

        authority = Authority.make()
        context = authority.server_context()
        if given.ca_file:
            Path(given.ca_file).write_bytes(authority.ca_data)
    stage = Stage(datasets, rate=given.rate)
    stage.expected  # noqa: B018  made now, and with it what every watch sends
    with contextlib.suppress(KeyboardInterrupt):
        serve(stage, given.port, context, tell=lambda url: print(url, flush=True))


if __name__ == "__main__":
    sys.exit(main())
