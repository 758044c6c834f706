"""What a mirror can be filled from (F4). Any object with either pair of methods will do; ListWatch
makes one from functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, TypeVar

from listwatch.api import Event, ListOptions
from listwatch.watch import Watch
from listwatch.wire import ObjectList

__all__ = [
    "AsyncLister",
    "AsyncListerWatcher",
    "AsyncWatcher",
    "BlockingWatch",
    "Lister",
    "ListerWatcher",
    "Watcher",
]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class BlockingWatch(Protocol[T]):
    """A stream of events for a program without an event loop."""

    def __iter__(self) -> Iterator[Event[T]]:
        """The events, until the stream ends or is closed. Waiting for one blocks the thread."""
        ...

    def close(self) -> None:
        """End it, from any thread, and wake the thread that waits for an event. Idempotent."""
        ...


class Lister(Protocol[T]):
    """Lists, blocking its thread."""

    def list(self, options: ListOptions, /) -> ObjectList[T]: ...


class Watcher(Protocol[T]):
    """Opens watches, blocking its thread."""

    def watch(self, options: ListOptions, /) -> BlockingWatch[T]: ...


class ListerWatcher(Lister[T], Watcher[T], Protocol[T]):
    """Lists and watches one set of objects, blocking its thread."""


class AsyncLister(Protocol[T]):
    """Lists."""

    async def alist(self, options: ListOptions, /) -> ObjectList[T]: ...


class AsyncWatcher(Protocol[T]):
    """Opens watches."""

    async def awatch(self, options: ListOptions, /) -> Watch[T]: ...


class AsyncListerWatcher(AsyncLister[T], AsyncWatcher[T], Protocol[T]):
    """Lists and watches one set of objects."""
