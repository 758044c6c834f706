"""Mirror: a reflector, the store that it fills, and how both are."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from random import Random
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from listwatch.api import ListWatchError

from ._told import Told
from .delta import Delta
from .freshness import Freshness
from .health import Health
from .identity import Identify, identity_of
from .indexes import IndexFunction
from .notes import Note
from .protocols import AsyncListerWatcher
from .reflector import ErrorHandler, Reflector
from .reflector_options import ReflectorOptions
from .store import Store

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
    raises is logged. `on_set` is called after each whole set, when `on_deltas` has been told of it,
    and `on_end` when it has ended, for whatever reason. For the other arguments see `Reflector`.

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
        on_set: Callable[[], None] | None = None,
        on_end: Callable[[], None] | None = None,
        on_error: ErrorHandler | None = None,
        on_note: Callable[[Note], None] | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        ready: Callable[[], Awaitable[None]] | None = None,
        rng: Random | None = None,
    ) -> None:
        self.store: Store[T] = Store(indexes=indexes, identify=identify)
        """The copy."""
        self._on_set = on_set
        self._on_end = on_end
        self._target = Told(self.store, on_deltas, self._replaced)
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

    async def ended(self) -> None:
        """Wait until it is stopped. Raises what ended it, if that was something else."""
        if self._task is not None:
            await asyncio.wait([self._task])
            self._task.result()

    def __repr__(self) -> str:
        return f"<Mirror {self.reflector.name}: {self.health}>"

    def stop(self) -> None:
        """End it, from any task or thread; the store stays as it is. Idempotent."""
        self.reflector.stop()

    def begin(self) -> None:
        """What `async with` does on its way in. Whoever calls this must leave it by `__aexit__`."""
        if self._task is not None:
            raise RuntimeError("this mirror has run already: make another")
        self._task = asyncio.create_task(self.reflector.run(), name=f"mirror {self.reflector.name}")
        if (on_end := self._on_end) is not None:
            self._task.add_done_callback(lambda _: on_end())

    async def __aenter__(self) -> Self:
        self.begin()
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

    @property
    def is_synced(self) -> bool:
        """Whether the store shows a whole set."""
        return self._synced.is_set()

    def _replaced(self) -> None:
        self._synced.set()
        self._freshness.replaced.set()
        if self._on_set is not None:
            try:
                self._on_set()
            except Exception:
                _log.exception("what is told of a whole set failed")

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
        who = f"the mirror {self.reflector.name}".rstrip()
        if self._running():
            raise TimeoutError(f"{who} was not {what} within {timeout} s: {self.health}")
        if self._task is not None:
            self._task.result()
        raise MirrorStopped(f"{who} is not running, and was not {what}: {self.health}")

    def _running(self) -> bool:
        return self._task is not None and not self._task.done()
