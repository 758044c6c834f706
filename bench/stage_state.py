"""What a stage has ready, and who waits for it."""

from __future__ import annotations

import base64
import json
import resource
import select
import socket
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bench.data import Dataset, checksum

__all__ = ["EXPIRE", "EXPIRED", "PATIENCE", "START", "Stage", "Stats", "Stream", "chunk_of"]

_BUFFER = 2048
"""What Go's server collects before it writes a chunk."""
PATIENCE = 60.0
"""Seconds that a start waits for its watch."""
START, EXPIRE = b"s", b"e"
EXPIRED = (
    b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",'
    b'"message":"The resourceVersion for the provided watch is too old.","reason":"Expired",'
    b'"code":410}}\n'
)


@dataclass(slots=True)
class Stream:
    """The events of one watch, ready to send: chunk by chunk in one piece."""

    versions: list[int]
    ends: list[int]
    """Where the chunk of each event ends."""
    data: bytes

    def after(self, version: int) -> int:
        """How many events are not after this resourceVersion."""
        return sum(found <= version for found in self.versions)


@dataclass(slots=True)
class Stats:
    """What was sent."""

    connections: int = 0
    requests: int = 0
    bytes: int = 0
    streams: int = 0
    stream_events: int = 0
    stream_seconds: float = 0.0
    """From a start until the last byte of the last stream was taken by its socket."""
    stream_cpu: float = 0.0
    """CPU of this process in that time, in seconds."""


@dataclass
class Stage:
    """What is there, and who waits for it."""

    datasets: dict[str, Dataset]
    rate: float | None = None
    stats: Stats = field(default_factory=Stats)

    def __post_init__(self) -> None:
        self._first = self.datasets
        self._streams: dict[tuple[str, bool, str], Stream] = {}
        self._pages: dict[tuple[str, bool, str, int, int], bytes] = {}
        self._initial: dict[tuple[str, bool, str], bytes] = {}
        self._lock = threading.Lock()
        self._waiting: dict[int, socket.socket] = {}
        self._opened = threading.Condition(self._lock)

    def stream(self, plural: str, metadata_only: bool, namespace: str) -> Stream:
        key = (plural, metadata_only, namespace)
        with self._lock:
            if key not in self._streams:
                self._streams[key] = self._make_stream(*key)
            return self._streams[key]

    def _make_stream(self, plural: str, metadata_only: bool, namespace: str) -> Stream:
        dataset = self.datasets[plural]
        events = dataset.events_in(namespace)
        chunks: list[bytes] = []
        ends: list[int] = []
        size = 0
        for found in events:
            obj = dataset.watched(found, metadata_only=metadata_only)
            chunk = chunk_of(dataset.event(found.type.encode(), obj))
            chunks.append(chunk)
            size += len(chunk)
            ends.append(size)
        return Stream([found.version for found in events], ends, b"".join(chunks))

    def page(
        self, plural: str, metadata_only: bool, namespace: str, start: int, limit: int
    ) -> bytes:
        """The body of one page in its chunks, from object number `start` of the namespace on."""
        key = (plural, metadata_only, namespace, start, limit)
        with self._lock:
            if key not in self._pages:
                self._pages[key] = self._make_page(*key)
            return self._pages[key]

    def _make_page(
        self, plural: str, metadata_only: bool, namespace: str, start: int, limit: int
    ) -> bytes:
        dataset = self.datasets[plural]
        whole = dataset.slice_of(namespace)
        begin = whole.start + start
        end = min(whole.stop, begin + limit) if limit else whole.stop
        remaining = whole.stop - end
        more = ""
        if remaining:
            at = "/".join(dataset.keys[end - 1])
            token = {
                "v": "meta.k8s.io/v1",
                "rv": dataset.version,
                "start": f"/{at}\0",
                "n": end - whole.start,
            }
            more = base64.urlsafe_b64encode(json.dumps(token).encode()).rstrip(b"=").decode()
        pieces = dataset.page(slice(begin, end), more, remaining, metadata_only=metadata_only)
        return b"".join(_buffered(pieces)) + b"0\r\n\r\n"

    def initial(self, plural: str, metadata_only: bool, namespace: str) -> bytes:
        """What a WatchList begins with, in its chunks."""
        key = (plural, metadata_only, namespace)
        with self._lock:
            if key not in self._initial:
                self._initial[key] = self._make_initial(*key)
            return self._initial[key]

    def _make_initial(self, plural: str, metadata_only: bool, namespace: str) -> bytes:
        dataset = self.datasets[plural]
        chunks = [
            chunk_of(dataset.event(b"ADDED", dataset.watched(found, metadata_only=metadata_only)))
            for found in dataset.items[dataset.slice_of(namespace)]
        ]
        kind = {"kind": dataset.kind.kind, "apiVersion": dataset.kind.api_version}
        if metadata_only:
            kind = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}
        version = {"resourceVersion": str(dataset.version)}
        marks = {"annotations": {"k8s.io/initial-events-end": "true"}}
        typed = dataset.kind.kind == "Pod"
        metadata = {**version, **marks} if typed or metadata_only else {**marks, **version}
        mark: dict[str, Any] = {**kind, "metadata": metadata}
        if typed and not metadata_only:
            mark |= {"spec": {"containers": None}, "status": {}}
        if not typed and not metadata_only:
            mark = dict(sorted(mark.items()))
        line = json.dumps(mark, separators=(",", ":")).encode()
        return b"".join(chunks) + chunk_of(dataset.event(b"BOOKMARK", line))

    def expire(self) -> int:
        """Tell every watch that waits that its resourceVersion is too old; whoever lists from now
        on gets what is there after all events. Gives how many watches there were.
        """
        with self._lock:
            self.datasets = {plural: found.at_the_end() for plural, found in self.datasets.items()}
            self._pages.clear()
            self._initial.clear()
            return self._release(EXPIRE)

    def reset(self) -> None:
        """As it was at first."""
        with self._lock:
            self.datasets = self._first
            self._pages.clear()
            self._initial.clear()

    def wait_for_start(self, peer: socket.socket) -> bytes:
        """What to do now: `START`, `EXPIRE`, or nothing where the peer has gone."""
        here, there = socket.socketpair()
        with here, there:
            with self._opened:
                self._waiting[here.fileno()] = there
                self._opened.notify_all()
            ready, _, _ = select.select([here, peer], [], [])
            with self._lock:
                self._waiting.pop(here.fileno(), None)
            return here.recv(1) if here in ready else b""

    def start(self, watches: int) -> int:
        """Let all who wait begin, once there are so many; gives how many there were."""
        with self._opened:
            if not self._opened.wait_for(lambda: len(self._waiting) >= watches, PATIENCE):
                return 0
            self.stats.streams = self.stats.stream_events = 0
            self.stats.stream_seconds = self.stats.stream_cpu = 0.0
            return self._release(START)

    def _release(self, how: bytes) -> int:
        for waiting in self._waiting.values():
            waiting.send(how)
        count = len(self._waiting)
        self._waiting.clear()
        return count

    def report(self) -> dict[str, Any]:
        usage = resource.getrusage(resource.RUSAGE_SELF)
        with self._lock:
            watches = len(self._waiting)
        return {
            **{name: getattr(self.stats, name) for name in Stats.__slots__},
            "watches": watches,
            "cpu": usage.ru_utime + usage.ru_stime,
            "expected": self.expected,
        }

    @cached_property
    def expected(self) -> dict[str, dict[str, Any]]:
        """What each who counts must come to."""
        return {
            plural: {
                "objects": len(dataset.items),
                "objects_checksum": checksum(dataset.items),
                "objects_bytes": sum(len(dataset.listed(found)) for found in dataset.items),
                "events": len(dataset.events),
                "events_checksum": checksum(dataset.events),
                "events_bytes": sum(len(dataset.watched(found)) for found in dataset.events),
                "stream_bytes": len(self.stream(plural, False, "").data),
                "resource_version": str(dataset.version),
                "last_resource_version": str(dataset.last_version),
                "end_objects": len(end.items),
                "end_checksum": checksum(end.items),
            }
            for plural, dataset in self._first.items()
            for end in (dataset.at_the_end(),)
        }


def chunk_of(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _buffered(pieces: Iterable[bytes]) -> Iterable[bytes]:
    """The chunks that Go's server makes of these writes: what fills its buffer goes out with it,
    what is larger goes out by itself.
    """
    held = bytearray()
    for piece in pieces:
        rest = memoryview(piece)
        while len(rest) > _BUFFER - len(held):
            if held:
                room = _BUFFER - len(held)
                held += rest[:room]
                rest = rest[room:]
                yield chunk_of(bytes(held))
                held.clear()
            else:
                yield chunk_of(bytes(rest))
                rest = rest[:0]
        held += rest
    if held:
        yield chunk_of(bytes(held))
