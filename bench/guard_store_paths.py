"""Writing and reading a store, and lists on their way into one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from itertools import cycle
from typing import Any

from bench.guard_data import Data
from bench.guard_models import Pod
from bench.guard_path import BATCH, Halves, Path, Step, event_line, list_body, path, reads
from bench.guard_watch_paths import pods_of
from listwatch import ClientConfig, Event, EventType, GroupVersionResource, RESTClient, Unstructured
from listwatch.cache import Store, by_namespace, compact, metadata_only, typed
from listwatch.rest import HTTPRequest
from listwatch.testing import MemoryTransport, Reply
from listwatch.wire import ObjectDecoder, WatchDecoder, decode_list, decode_unstructured

__all__ = ["BASE_RV", "INDEXES", "PATHS", "PODS", "batches"]

BASE_RV = "19999999"
"""The RV of the set that the changes are made to."""

INDEXES = {"namespace": by_namespace}

PODS = GroupVersionResource.parse("v1/pods")

_READS = 2000
_SNAPSHOTS = 100


def batches(half: Sequence[bytes]) -> list[list[Event[Any]]]:
    """Changes, decoded beforehand."""
    events = [Event(EventType.MODIFIED, pod, pod.raw) for pod in pods_of(half)]
    return [events[start : start + BATCH] for start in range(0, len(events), BATCH)]


def _filled(data: Data, **options: Any) -> Store[Unstructured]:
    store: Store[Unstructured] = Store(**options)
    store.replace(pods_of(data.base), BASE_RV)
    return store


def _applied(data: Data, **options: Any) -> Halves:
    store = _filled(data, **options)
    first, second = (
        [partial(store.apply, batch) for batch in batches(half)]
        for half in (data.first, data.second)
    )
    return first, second


@path("store-apply", "an update brought into a store, in batches of ten", untracked=True)
def _apply(data: Data) -> Halves:
    return _applied(data)


@path("store-apply-index", "the same with an index on the namespace", untracked=True)
def _apply_index(data: Data) -> Halves:
    return _applied(data, indexes=INDEXES)


def _filling(decoder: ObjectDecoder[Any], data: Data) -> Halves:
    store: Store[Any] = Store(indexes=INDEXES)
    stream = WatchDecoder(decoder)

    def take(read: bytes) -> None:
        store.apply([event for event in stream.feed(read) if isinstance(event, Event)])

    # Of the same shape, but other keys, or the second half would find them there.
    name = b'"metadata":{"name":"'
    others = [raw.replace(name, name + b"other-", 1) for raw in data.second]
    first, second = (
        [partial(take, read) for read in reads([event_line(raw, "ADDED") for raw in half])]
        for half in (data.first, others)
    )
    return first, second


_FILLING = [
    Path(name, f"a new pod from a stream, kept {how}", make, untracked=untracked)
    for name, how, make, untracked in (
        ("keep", "as it came, with that index", partial(_filling, decode_unstructured), True),
        ("keep-typed", "as a Struct", lambda data: _filling(typed(Pod), data), False),
        ("keep-compact", "by zlib", lambda data: _filling(compact("zlib"), data), True),
        ("keep-metadata", "without the rest", lambda data: _filling(metadata_only(), data), True),
    )
]


@path("relist-same", "an object of a relist that is as it was, with that index", untracked=True)
def _relist(data: Data) -> Halves:
    store = _filled(data, indexes=INDEXES)
    first, second = (
        [partial(store.replace, pods_of(data.base), version)] for version in ("30000000", "4000000")
    )
    return first, second


@path("get", "a read by key", times=_READS)
def _get(data: Data) -> Halves:
    store = _filled(data)
    keys = cycle(store.keys())
    steps: list[Step] = [partial(store.get, next(keys)) for _ in range(_READS)]
    return steps, steps


@path("list-namespace", "a list of one namespace, of about five objects", times=_READS)
def _list_namespace(data: Data) -> Halves:
    store = _filled(data)
    namespaces = cycle(sorted({pod.namespace for pod in store.list()}))
    steps: list[Step] = [partial(store.list, next(namespaces)) for _ in range(_READS)]
    return steps, steps


@path("by-index", "a read by index, of about five objects", times=_READS)
def _by_index(data: Data) -> Halves:
    store = _filled(data, indexes=INDEXES)
    values = cycle(store.index_values("namespace"))
    steps: list[Step] = [partial(store.by_index, "namespace", next(values)) for _ in range(_READS)]
    return steps, steps


@path("snapshot", "a snapshot of 256 pods, with that index", times=_SNAPSHOTS)
def _snapshot(data: Data) -> Halves:
    store = _filled(data, indexes=INDEXES)
    steps: list[Step] = [store.snapshot] * _SNAPSHOTS
    return steps, steps


@path("list-decode", "an item of a LIST whose body is there", untracked=True)
def _list_decode(data: Data) -> Halves:
    first, second = (
        [partial(decode_list, list_body(half), decode_unstructured)]
        for half in (data.first, data.second)
    )
    return first, second


@path("list-request", "an item of a LIST that comes in pieces, by RESTClient", untracked=True)
def _list_request(data: Data) -> Halves:
    loop = asyncio.new_event_loop()
    bodies = [reads([list_body(half)]) for half in (data.first, data.second)]

    def answer(request: HTTPRequest) -> Reply:
        return Reply(200, bodies.pop(0), {"Content-Type": "application/json"})

    config = ClientConfig(server="http://guard.invalid")
    client = RESTClient(config, transport=MemoryTransport(answer), max_retries=0)

    def step() -> object:
        return loop.run_until_complete(client.list(PODS)).items

    return [step], [step]


PATHS = (
    _apply,
    _apply_index,
    *_FILLING,
    _relist,
    _get,
    _list_namespace,
    _by_index,
    _snapshot,
    _list_decode,
    _list_request,
)
