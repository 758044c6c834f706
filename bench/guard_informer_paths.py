"""All but the network: from the bytes of a watch to who reads it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, NoReturn, Self

from bench.guard_data import Data
from bench.guard_path import Halves, event_line, list_body, path, reads
from bench.guard_store_paths import BASE_RV, INDEXES, PODS, batches
from bench.guard_watch_paths import pods_of
from listwatch import (
    ClientConfig,
    Event,
    ListMeta,
    ListOptions,
    ListWatch,
    ObjectList,
    RESTClient,
    SharedInformer,
    Unstructured,
)
from listwatch.cache import ReflectorOptions
from listwatch.rest import HTTPRequest
from listwatch.testing import MemoryBody, MemoryTransport, Reply

__all__ = ["PATHS"]

Push = Callable[[int], None]
"""Lets the first or second half of the events come."""


class _Counter:
    """A handler that reads name and RV, and knows when it has seen enough."""

    def __init__(self) -> None:
        self._left = 0
        self._enough = asyncio.Event()

    def on_update(self, old: Unstructured, new: Unstructured) -> None:
        if not (new.name and new.resource_version):
            raise AssertionError(f"{new!r} has no name or RV")
        self._left -= 1
        if not self._left:
            self._enough.set()

    async def count(self, events: int) -> None:
        self._left = events
        self._enough.clear()
        await self._enough.wait()


def _informed(source: Any, push: Push, data: Data) -> Halves:
    """An informer with one handler and one index."""
    loop = asyncio.new_event_loop()
    counter = _Counter()
    informer: SharedInformer[Any] = SharedInformer(
        source, indexes=INDEXES, options=ReflectorOptions(watch_list=False), on_error=_fail
    )
    informer.add_handler(counter, inline=True)

    async def begin() -> None:
        informer.begin()
        await informer.synced()

    async def half(number: int) -> None:
        push(number)
        await counter.count(len(data.first))

    loop.run_until_complete(begin())
    return _halves(loop, half)


def _halves(loop: asyncio.AbstractEventLoop, half: Callable[[int], Any]) -> Halves:
    def first() -> object:
        return loop.run_until_complete(half(0))

    def second() -> object:
        return loop.run_until_complete(half(1))

    return [first], [second]


def _fail(source: object, error: Exception) -> NoReturn:
    raise AssertionError("an informer of the guard met an error") from error


def _served(data: Data) -> tuple[RESTClient, Push]:
    """A client of a server that has these pods, and changes them when told to."""
    body = MemoryBody()
    arriving = [reads([event_line(raw) for raw in half]) for half in (data.first, data.second)]

    def answer(request: HTTPRequest) -> Reply:
        watch = dict(request.query).get("watch")
        return Reply(
            200, body if watch else list_body(data.base), {"Content-Type": "application/json"}
        )

    config = ClientConfig(server="http://guard.invalid")
    client = RESTClient(config, transport=MemoryTransport(answer), max_retries=0)
    return client, lambda number: body.push(*arriving[number])


@path("informer", "bytes of a watch to an inline handler, with an index", untracked=True)
def _informer(data: Data) -> Halves:
    client, push = _served(data)
    return _informed(ListWatch.from_client(client, PODS), push, data)


@path(
    "informer-small",
    "the same with leases of half a KB: what is done once an event",
    kind="leases",
    untracked=True,
)
def _informer_small(data: Data) -> Halves:
    client, push = _served(data)
    return _informed(ListWatch.from_client(client, PODS), push, data)


class _BatchWatch:
    """A watch of somebody else's: batches of events that are there already."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[list[Event[Any]]] = asyncio.Queue()

    async def batches(self) -> AsyncIterator[list[Event[Any]]]:
        while True:
            yield await self.arrived.get()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        pass

    def stop(self) -> None:
        pass


@path("informer-decoded", "decoded events to an inline handler, with an index", untracked=True)
def _informer_decoded(data: Data) -> Halves:
    watch = _BatchWatch()
    arriving = [batches(half) for half in (data.first, data.second)]

    async def alist(options: ListOptions) -> ObjectList[Unstructured]:
        return ObjectList(pods_of(data.base), ListMeta(resource_version=BASE_RV))

    async def awatch(options: ListOptions) -> Any:
        return watch

    def push(number: int) -> None:
        for batch in arriving[number]:
            watch.arrived.put_nowait(batch)

    return _informed(ListWatch(alist=alist, awatch=awatch), push, data)


@path("client-watch", "bytes of a watch to `async for event in watch`", untracked=True)
def _client_watch(data: Data) -> Halves:
    loop = asyncio.new_event_loop()
    client, push = _served(data)
    watch = loop.run_until_complete(client.watch(PODS))
    events = watch.__aiter__()

    async def half(number: int) -> None:
        push(number)
        left = len(data.first)
        async for event in events:
            if not event.object.name:
                raise AssertionError(f"{event!r} has no name")
            left -= 1
            if not left:
                break

    return _halves(loop, half)


PATHS = (_informer, _informer_small, _informer_decoded, _client_watch)
