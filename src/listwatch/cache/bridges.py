"""From blocking code to asyncio and back, one call or one watch at a time (F1)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

from listwatch.api import Event
from listwatch.watch import StreamWatcher, Watch

from .protocols import BlockingWatch

__all__ = ["blocking_watch", "in_thread", "open_blocking", "run_blocking"]

T = TypeVar("T")


def run_blocking(call: Callable[[], Awaitable[T]]) -> T:
    """Run an async call to its end on an event loop of its own. Raises `RuntimeError` inside a
    running one, which would stand still.
    """
    with _runner() as runner:
        return runner.run(_awaited(call))


async def _awaited(call: Callable[[], Awaitable[T]]) -> T:
    return await call()


def _runner() -> asyncio.Runner:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner()
    raise RuntimeError(
        "a blocking call inside a running event loop would stop everything in it: "
        "use alist() or awatch() here"
    )


async def in_thread(call: Callable[[], T]) -> T:
    """Run a blocking call in a thread of the loop's pool. Cancelled, it returns at once; the call
    goes on.
    """
    return await asyncio.to_thread(_without_stop_iteration, call)


def _without_stop_iteration(call: Callable[[], T]) -> T:
    try:
        return call()
    except StopIteration as error:
        # No future takes it: whoever awaits this would never hear of it.
        raise RuntimeError("a blocking call raised StopIteration") from error


async def open_blocking(open_watch: Callable[[], BlockingWatch[T]]) -> Watch[T]:
    """A Watch over a blocking one, which is read in a thread of its own, when asked (E1). One that
    is opened after the caller was cancelled is closed.
    """
    opening = _Opening(open_watch)
    try:
        return StreamWatcher(_ThreadDecoder(await in_thread(opening.open)))
    except asyncio.CancelledError:
        opening.abandon()
        raise


class _Opening(Generic[T]):
    """A blocking watch on its way from the thread that opens it to who asked for it."""

    def __init__(self, open_watch: Callable[[], BlockingWatch[T]]) -> None:
        self._open = open_watch
        self._lock = threading.Lock()
        self._watch: BlockingWatch[T] | None = None
        self._abandoned = False

    def open(self) -> BlockingWatch[T]:
        watch = self._open()
        with self._lock:
            self._watch = watch
            abandoned = self._abandoned
        if abandoned:
            watch.close()
        return watch

    def abandon(self) -> None:
        """Nobody waits for it any more."""
        with self._lock:
            self._abandoned = True
            watch = self._watch
        if watch is not None:
            watch.close()


class _ThreadDecoder(Generic[T]):
    def __init__(self, watch: BlockingWatch[T]) -> None:
        self._watch = watch
        self._events: Iterator[Event[T]] | None = None
        # Its own thread: in the loop's shared pool a handful of quiet watches would keep everybody
        # else out.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="listwatch-watch")

    async def decode(self) -> list[Event[T]]:
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, _without_stop_iteration, self._next
        )

    def _next(self) -> list[Event[T]]:
        if self._events is None:
            self._events = iter(self._watch)
        for event in self._events:
            return [event]
        return []

    def close(self) -> None:
        self._thread.shutdown(wait=False)
        self._watch.close()


def blocking_watch(open_watch: Callable[[], Awaitable[Watch[T]]]) -> BlockingWatch[T]:
    """A blocking watch over an async one, which lives on an event loop of its own that runs while
    somebody waits for an event.
    """
    return _LoopWatch(open_watch)


class _LoopWatch(Generic[T]):
    def __init__(self, open_watch: Callable[[], Awaitable[Watch[T]]]) -> None:
        self._runner = _runner()
        self._turn = threading.Lock()  # held by the thread that runs the loop
        self._closed = False
        try:
            self._watch = self._runner.run(_awaited(open_watch))
        except BaseException:
            self._runner.close()
            raise

    def __iter__(self) -> Iterator[Event[T]]:
        batches = self._watch.batches()
        try:
            while batch := self._next(batches):
                yield from batch
        finally:
            self.close()

    def _next(self, batches: AsyncIterator[list[Event[T]]]) -> list[Event[T]]:
        with self._turn:
            return [] if self._closed else self._runner.run(_awaited(lambda: anext(batches, [])))

    def close(self) -> None:
        self._watch.stop()  # this brings a thread that waits in the loop out of it
        with self._turn:
            if not self._closed:
                self._closed = True
                self._runner.close()
