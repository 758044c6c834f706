"""Mirror: a reflector, the store that it fills, and how both are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from random import Random
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.api import Event, ListWatchError

from .delta import Delta
from .freshness import Freshness
from .health import Health
from .identity import Identify, identity_of
from .indexes import IndexFunction
from .notes import Note
from .protocols import AsyncListerWatcher
from .reflector import ErrorHandler, Reflector
from .reflector_options import ReflectorOptions
from .store import Replaced, Report, Store
from .undecodable import Undecodable

__all__ = ["Mirror", "MirrorStopped"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")


class MirrorStopped(ListWatchError):
    """Somebody waits for a mirror that has been stopped, or was never started."""


class Mirror(Generic[T]):
    """An exact, live copy of what `source` lists.

        async with Mirror(source) as mirror:
            await mirror.synced()
            print(len(mirror.store), mirror.health)

    It keeps on whatever happens, until it is left. `store` may be read at any time, from any
    thread; before `synced` it is empty. `indexes` are those of the store. `on_deltas` is told what
    changed, each time after the store did, in the reflector's own step: it must be quick; one that
    raises is logged. For the other arguments see `Reflector`.

    Where `options.fail_fast` ends it, or a bug, `synced` and the end of the `async with` raise it.
    """

    def __init__(
        self,
        source: AsyncListerWatcher[T],
        *,
        name: str = "",
        kind: str = "",
        indexes: Mapping[str, IndexFunction[T]] | None = None,
        identify: Identify = identity_of,
        options: ReflectorOptions | None = None,
        on_deltas: Callable[[Sequence[Delta[T]]], None] | None = None,
        on_error: ErrorHandler | None = None,
        on_note: Callable[[Note], None] | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
        rng: Random | None = None,
    ) -> None:
        self.store: Store[T] = Store(indexes=indexes, identify=identify)
        """The copy."""
        self._target = _Told(self.store, on_deltas, self._replaced)
        self.reflector: Reflector[T] = Reflector(
            source,
            self._target,
            name=name,
            kind=kind,
            options=options,
            identify=identify,
            on_error=on_error,
            on_note=on_note,
            on_progress=on_progress,
            ready=ready,
            rng=rng,
        )
        self._freshness = Freshness(self.reflector, self.store, identify)
        self._synced = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def health(self) -> Health:
        """How it is (K10)."""
        return self.reflector.health

    async def synced(self, timeout: float | None = None) -> None:
        """Wait until the store shows a whole set. Once true it stays so.

        Raises what ended the mirror, if something did, `MirrorStopped` if nobody runs it, and
        `TimeoutError` after `timeout` seconds, which says how far it is.
        """
        await self.until(self._synced.wait(), timeout, "synced")

    async def at_least(self, resource_version: str, timeout: float | None = None) -> None:
        """Wait until the store has seen this RV: read your own writes (I3).

        Raises as `synced` does, and `ValueError` for an RV that cannot be compared.
        """
        waiting = self.store.at_least(resource_version)
        await self.until(waiting, timeout, f"at resourceVersion {resource_version}")

    async def fresh(self, within: float, timeout: float | None = 30.0) -> None:
        """Return when the store shows a state of the server that is no older than `within` seconds
        (K11). It asks the server only where that is not known yet.

        Raises `NotFresh`, a `TimeoutError`, where that is not to be had within `timeout` seconds,
        and what ended the mirror, as `synced` does.
        """
        await self.until(self._freshness.prove(within, timeout), what="proven to be fresh")

    def stop(self) -> None:
        """End it, from any task or thread; the store stays as it is. Idempotent."""
        self.reflector.stop()

    async def __aenter__(self) -> Self:
        if self._task is not None:
            raise RuntimeError("this mirror has run already: make another")
        self._task = asyncio.create_task(self.reflector.run(), name=f"mirror {self.reflector.name}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._task is not None
        self.reflector.stop()
        try:
            await asyncio.wait([self._task])
        finally:
            await asyncio.wait([self._task])  # again where this was cancelled: it ends soon
        if error is None:
            self._task.result()
        elif not self._task.cancelled():
            self._task.exception()  # seen: the error inside is the one to be raised

    def _replaced(self) -> None:
        self._synced.set()
        self._freshness.replaced.set()

    async def until(
        self, waiting: Coroutine[Any, Any, object], timeout: float | None = None, what: str = "done"
    ) -> None:
        """Await something that the mirror will bring about, or raise what ended the mirror before.

        Raises as `synced` does; `what` stands in the message.
        """
        waiter = asyncio.ensure_future(waiting)
        try:
            await asyncio.wait(
                [waiter, self._task] if self._task is not None else [waiter],
                timeout=timeout if self._running() else 0,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if waiter.done():
                waiter.result()
                return
        finally:
            if not waiter.done():
                waiter.cancel()
                await asyncio.wait([waiter])
        if self._running():
            raise TimeoutError(f"the mirror was not {what} within {timeout} s: {self.health}")
        if self._task is not None:
            self._task.result()
        raise MirrorStopped(f"the mirror is not running, and was not {what}: {self.health}")

    def _running(self) -> bool:
        return self._task is not None and not self._task.done()


class _Told(Generic[T]):
    """A store, with somebody who is told what changed in it once it has."""

    def __init__(
        self,
        store: Store[T],
        on_deltas: Callable[[Sequence[Delta[T]]], None] | None,
        on_replaced: Callable[[], None],
    ) -> None:
        self._store = store
        self._on_deltas = on_deltas
        self._on_replaced = on_replaced

    @property
    def resource_version(self) -> str:
        return self._store.resource_version

    @property
    def epoch(self) -> int:
        return self._store.epoch

    @property
    def late_writes(self) -> int:
        return self._store.late_writes

    @property
    def undecodable(self) -> Mapping[str, Undecodable]:
        return self._store.undecodable

    def __len__(self) -> int:
        return len(self._store)

    def known(self, key: str, /) -> T | Undecodable | None:
        return self._store.known(key)

    def apply(
        self, events: Sequence[Event[T]], *, moves_rv: bool = True, report: Report | None = None
    ) -> None:
        self._tell(self._store.apply(events, moves_rv=moves_rv, report=report))

    def replace(
        self,
        items: Iterable[T | Undecodable],
        resource_version: str,
        *,
        new_epoch: bool = False,
        report: Report | None = None,
    ) -> Replaced[T]:
        replaced = self._store.replace(items, resource_version, new_epoch=new_epoch, report=report)
        self._on_replaced()
        self._tell(replaced.deltas)
        return replaced

    def bookmark(self, resource_version: str, /) -> None:
        self._store.bookmark(resource_version)

    def resync(self) -> None:
        self._store.resync()

    def _tell(self, deltas: Sequence[Delta[T]]) -> None:
        if deltas and self._on_deltas is not None:
            try:
                self._on_deltas(deltas)
            except Exception:
                _log.exception("what is told of changes failed")
