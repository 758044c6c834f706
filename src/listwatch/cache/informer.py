"""SharedInformer: one mirror of a set, many handlers (K)."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from random import Random
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.api import EventType

from ._listener import Listener, Owner, end
from ._merge import Merge
from ._readable import Readable
from ._together import all_of
from .delta import Delta
from .handlers import AddHandler, DeleteHandler, UpdateHandler, calls_of
from .health import Health, merged_health
from .identity import Identify, identity_of
from .indexes import IndexFunction
from .mirror import Mirror
from .notes import Note
from .protocols import AsyncListerWatcher
from .queues import UNBOUNDED, QueuePolicy
from .reflector import ErrorHandler
from .reflector_options import ReflectorOptions
from .registration import Registration
from .store import Store

__all__ = ["SharedInformer"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")


class SharedInformer(Generic[T]):
    """A mirror that tells any number of handlers what changes in it.

        informer = SharedInformer(source)
        informer.add_handler(on_add=added, on_update=updated, on_delete=deleted)
        async with informer:
            await informer.synced()

    - Handlers are told after the store has changed, each in the order of the changes, and do not
      wait for one another. `add_handler` has the rest.
    - `source` may be several, by name: one informer over many namespaces or selectors, with one
      store. One that fails holds no other back; `synced` waits for all but the `optional` ones, and
      `health.sources` says how each is (K9). Their pace, and the requests that it allows, are each
      its own.
    - With `recreate_as_two` an object that was deleted and made again under the same name, between
      two looks, is a deletion and an addition; else it is an update with two uids (K6).
    - A resync (`options.resync_period`) tells an update of every object to itself (H11).

    For the other arguments see `Reflector`. Where `options.fail_fast` ends it, or a bug, `synced`
    and the end of the `async with` raise it.
    """

    def __init__(
        self,
        source: AsyncListerWatcher[T] | Mapping[str, AsyncListerWatcher[T]],
        *,
        name: str = "",
        kind: str = "",
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        identify: Identify = identity_of,
        options: ReflectorOptions | None = None,
        optional: Collection[str] = (),
        recreate_as_two: bool = False,
        on_error: ErrorHandler | None = None,
        on_note: Callable[[Note], None] | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        rng: Random | None = None,
    ) -> None:
        sources: Mapping[str, AsyncListerWatcher[T]] = (
            source if isinstance(source, Mapping) else {"": source}
        )
        if not sources:
            raise ValueError("an informer needs a source")
        if unknown := set(optional) - set(sources):
            raise ValueError(f"optional, but no source: {', '.join(sorted(unknown))}")
        self.name = name
        self._optional = frozenset(optional)
        self._recreate_as_two = recreate_as_two
        self._readable: Readable[T] = Readable()
        self._listeners: list[Listener[T]] = []
        """Those that are told."""
        self._at_work: set[Listener[T]] = set()
        """Those that have a task, some of them removed meanwhile."""
        self._owner = Owner(self._in_loop, self._forget, self.synced)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._running = False
        self._ended = False
        self._synced = False
        several = len(sources) > 1
        self._mirrors: dict[str, Mirror[T]] = {
            part: Mirror(
                each,
                name=f"{name} {part}".strip(),
                kind=kind,
                indexes=None if several else indexes,
                identify=identify,
                options=_lasting(options) if part in self._optional else options,
                on_deltas=partial(self._merged, part) if several else self._tell,
                on_set=partial(self._has_set, part),
                on_error=on_error,
                on_note=on_note,
                on_progress=on_progress,
                ready=self._room,
                rng=rng,
            )
            for part, each in sources.items()
        }
        [first, *_] = self._mirrors.values()
        self.store: Store[T] = Store(indexes=indexes, identify=identify) if several else first.store
        """What it shows. Read it at any time, from any thread; of what you write into it no handler
        is told.
        """
        self._merge: Merge[T] = Merge(
            self.store,
            {part: mirror.store for part, mirror in self._mirrors.items()},
            identify,
            self._tell,
            self._index_failed,
        )

    # Handlers

    def add_handler(
        self,
        handler: object | None = None,
        *,
        on_add: AddHandler | None = None,
        on_update: UpdateHandler | None = None,
        on_delete: DeleteHandler | None = None,
        filter: Callable[[T], bool] | None = None,
        inline: bool = False,
        queue: QueuePolicy = UNBOUNDED,
        name: str = "",
    ) -> Registration[T]:
        """Tell a handler what is there, as additions, and then what changes. At any time.

        `handler` is an object with `on_add(obj, in_initial_list)`, `on_update(old, new)` and
        `on_delete(obj)`, or some of them; or give functions. `on_delete` gets the last state, or a
        `Tombstone` where nobody saw the end.

        - If one of them is async, they run in a task of their own; else in a thread of their own,
          fed in batches, so that one that blocks holds up nothing. `inline` calls plain functions
          at once, in the informer's own step: for those that promise to be quick. What is there
          they are told before this returns.
        - One that raises is logged with its name and the key, and told the next thing (K4).
        - `filter`, a plain function, makes what does not match invisible: an object that begins to
          match is added, one that stops is deleted (K7). What it raises for does not match, and is
          logged.
        - `queue` bounds what waits for it (K4).
        - What cannot be decoded is no handler's business: to it such an object is as it was.
        - Added to an informer that has ended, it is told what is there, and nothing more.
        - Any thread may call this, a handler in its own too. Outside of the informer's thread the
          set is that of a moment later.

        Raises `TypeError` for a handler without any of the functions, for what is no function, and
        for an async `filter`.
        """
        calls = calls_of(handler, on_add, on_update, on_delete, filter, self._recreate_as_two)
        given = (handler, on_add, on_update, on_delete)
        listener: Listener[T] = Listener(
            calls,
            self._owner,
            name=name or _name_of(next(each for each in given if each is not None)),
            inline=inline,
            policy=queue,
        )
        self._in_loop(lambda: self._enlist(listener))
        return Registration(listener)

    def _enlist(self, listener: Listener[T]) -> None:
        if listener.is_removed:
            return
        if self._running or self._ended:
            self._start(listener)
        listener.put(self._present())
        if self._synced:
            listener.mark_synced()
        if self._ended:
            listener.no_more()
        elif not listener.is_removed:
            self._listeners.append(listener)

    def remove_handler(self, registration: Registration[T]) -> None:
        """The same as `registration.remove()` (K5)."""
        registration.remove()

    def _start(self, listener: Listener[T]) -> None:
        if listener.starts(lambda: self._at_work.discard(listener)):
            self._at_work.add(listener)

    def _forget(self, listener: Listener[Any]) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)

    def _in_loop(self, function: Callable[[], None]) -> None:
        loop = self._loop
        if loop is None or loop.is_closed() or _running_loop() is loop:
            function()
        else:
            loop.call_soon_threadsafe(function)

    def _present(self) -> list[Delta[T]]:
        """What handlers know by now, as additions (K2)."""
        there = {**dict(self.store.items()), **dict(self._readable.last_known)}
        return [
            Delta(EventType.ADDED, obj, getattr(obj, "raw", b""), None, key, initial=True)
            for key, obj in there.items()
        ]

    # What changes

    def _merged(self, part: str, deltas: Sequence[Delta[T]]) -> None:
        self._merge.take(part, deltas)

    def _tell(self, deltas: Sequence[Delta[T]]) -> None:
        told = self._readable.of(deltas)
        if not told:
            return
        for listener in tuple(self._listeners):
            # Who has not caught up is not told again of what it has not heard yet.
            if not (told[0].resync and listener.blocks):
                listener.put(told)

    def _has_set(self, part: str) -> None:
        if len(self._mirrors) > 1:
            self._merge.has_set(part)
        self._look_if_synced()

    def _look_if_synced(self) -> None:
        if self._synced or not all(
            mirror.is_synced for part, mirror in self._mirrors.items() if part not in self._optional
        ):
            return
        self._synced = True
        for listener in tuple(self._listeners):
            listener.mark_synced()

    async def _room(self) -> None:
        for listener in tuple(self._listeners):
            if listener.blocks:
                await listener.room()

    def _index_failed(self, error: Exception) -> None:
        _log.warning("%s: %s", self.name or "informer", error)

    # How it is

    @property
    def is_synced(self) -> bool:
        """Whether the store is complete (K3)."""
        return self._synced

    async def synced(self, timeout: float | None = None) -> None:
        """Wait until the store is complete: all sources have sent their sets, but for the optional.

        Raises as `Mirror.synced` does.
        """
        await self._all(lambda mirror: mirror.synced(timeout), but=self._optional)

    async def fresh(self, within: float, timeout: float | None = 30.0) -> None:
        """Return when the store shows a state of the server no older than `within` seconds. See
        `Mirror.fresh`; of several sources, each that is not optional must be so fresh.
        """
        await self._all(lambda mirror: mirror.fresh(within, timeout), but=self._optional)

    async def at_least(
        self, resource_version: str, timeout: float | None = None, *, source: str | None = None
    ) -> None:
        """Wait until the store has seen this RV, from every source that is not optional, or from
        this one: the one that was written to. See `Mirror.at_least`.

        A source in which nothing happens says so with its next bookmark, which a server sends once
        a minute or so: with many of them, name the one. Raises `KeyError` for one that is none.
        """
        if source is not None:
            await self._mirrors[source].at_least(resource_version, timeout)
            return
        await self._all(
            lambda mirror: mirror.at_least(resource_version, timeout), but=self._optional
        )

    @property
    def health(self) -> Health:
        """How it is (K10); `sources` has each of several."""
        healths = {part: mirror.health for part, mirror in self._mirrors.items()}
        if len(healths) == 1:
            return next(iter(healths.values()))
        return merged_health(healths, synced=self._synced, objects=len(self.store))

    async def _all(self, wait: Callable[[Mirror[T]], Any], *, but: Collection[str] = ()) -> None:
        waits = [wait(mirror) for part, mirror in self._mirrors.items() if part not in but]
        if len(waits) == 1:
            await waits[0]
        else:
            await all_of(waits)

    def __repr__(self) -> str:
        return f"<SharedInformer {self.name}: {self.health}>"

    # Life

    async def run(self) -> None:
        """Run until stopped or cancelled, as `async with` does while one is inside."""
        async with self:
            await self.ended()

    async def ended(self) -> None:
        """Wait until it is stopped. Raises what ended it, if that was something else."""
        await self._all(lambda mirror: mirror.ended())

    def stop(self) -> None:
        """End it, from any task or thread; the store stays as it is. Idempotent."""
        for mirror in self._mirrors.values():
            mirror.stop()

    def begin(self) -> None:
        """What `async with` does on its way in. Whoever calls this must leave it by `__aexit__`."""
        if self._running or self._ended:
            raise RuntimeError("this informer has run already: make another")
        self._loop = asyncio.get_running_loop()
        self._running = True
        self._stack = AsyncExitStack()
        for mirror in self._mirrors.values():
            mirror.begin()
            self._stack.push_async_exit(mirror)
        for listener in tuple(self._listeners):
            self._start(listener)
        self._look_if_synced()

    async def __aenter__(self) -> Self:
        self.begin()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()
        self._running, self._ended = False, True
        try:
            await self._stack.__aexit__(kind, error, traceback)
        finally:
            await end(dict.fromkeys((*self._listeners, *self._at_work)))


def _lasting(options: ReflectorOptions | None) -> ReflectorOptions | None:
    """Options of a source that may fail: it ends nothing."""
    return None if options is None else dataclasses.replace(options, fail_fast=False)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _name_of(handler: Any) -> str:
    return str(getattr(handler, "__qualname__", None) or type(handler).__qualname__)
