"""Changes: a mirror's events for one consumer, who sets the pace."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import nullcontext
from random import Random
from types import TracebackType
from typing import Generic, Self, TypeVar

from .delta import Delta
from .health import Health
from .identity import Identify, identity_of
from .mirror import Mirror, MirrorStopped
from .notes import Note
from .protocols import AsyncListerWatcher
from .reflector import ErrorHandler
from .reflector_options import ReflectorOptions
from .store import Store

__all__ = ["Changes"]

T = TypeVar("T")


class Changes(Generic[T]):
    """What changes in a set of objects, for ever: first each object of it as ADDED, then each
    change.

        async with Changes(source) as changes:
            async for change in changes:
                print(change.type, change.key, change.old)

    It never repeats a change, and turns a list that had to be read again into exactly what changed,
    deletions included, whose `object` is then the last known one (`final_state_unknown`). Changes
    that come while the consumer is busy wait in the network: of one read, or of one list, they are
    at hand. It keeps the set, since nobody else could tell what has vanished.

    It ends only with an error: what `fail_fast` says, or a bug. It is for one consumer. A bare
    `async for` starts and stops it, too; leaving that by `break` stops it as soon as the iterator
    is collected, leaving the `async with` at once. For the arguments see `Reflector`.
    """

    def __init__(
        self,
        source: AsyncListerWatcher[T],
        *,
        name: str = "",
        kind: str = "",
        identify: Identify = identity_of,
        options: ReflectorOptions | None = None,
        on_error: ErrorHandler | None = None,
        on_note: Callable[[Note], None] | None = None,
        on_progress: Callable[[int, int | None], None] | None = None,
        rng: Random | None = None,
    ) -> None:
        self._mirror: Mirror[T] = Mirror(
            source,
            name=name,
            kind=kind,
            identify=identify,
            options=options,
            on_deltas=self._put,
            on_end=self._ended,
            on_error=on_error,
            on_note=on_note,
            on_progress=on_progress,
            ready=self._taken,
            rng=rng,
        )
        self._waiting: deque[Delta[T]] = deque()
        self._arrived = asyncio.Event()
        self._empty = asyncio.Event()
        self._empty.set()
        self._entered = False
        self._stopped = False
        self._over = False  # the mirror is
        self._reading = False

    @property
    def health(self) -> Health:
        """How it is (K10)."""
        return self._mirror.health

    @property
    def store(self) -> Store[T]:
        """The set as it is now: at or past the last change that was delivered."""
        return self._mirror.store

    async def batches(self) -> AsyncGenerator[list[Delta[T]], None]:
        """The changes as they arrive, never empty: what one read, or one list, brought. The faster
        way for many.
        """
        async with nullcontext() if self._entered else self:
            while await self._more():
                batch = list(self._waiting)
                self._waiting.clear()
                self._empty.set()
                yield batch

    def __aiter__(self) -> AsyncIterator[Delta[T]]:
        # Two ways: who leaves a generator early must wait for its end, who leaves an iterator need
        # not; only the former can start and stop the mirror.
        return _OneByOne(self._next) if self._entered else self._one_by_one()

    async def _one_by_one(self) -> AsyncGenerator[Delta[T], None]:
        async with self:
            async for delta in self:
                yield delta

    def __repr__(self) -> str:
        return f"<Changes {self._mirror.reflector.name}: {self.health}>"

    def stop(self) -> None:
        """End the iteration, from any task or thread; nothing comes afterwards. Idempotent."""
        self._stopped = True
        self._mirror.stop()

    async def __aenter__(self) -> Self:
        await self._mirror.__aenter__()
        self._entered = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._waiting.clear()
        await self._mirror.__aexit__(kind, error, traceback)

    def _put(self, deltas: Sequence[Delta[T]]) -> None:
        self._waiting.extend(deltas)
        self._empty.clear()
        self._arrived.set()

    async def _taken(self) -> None:
        await self._empty.wait()

    def _ended(self) -> None:
        self._over = True
        self._arrived.set()

    async def _next(self) -> Delta[T]:
        # Without a call for what is at hand: this is the way of each change.
        if (not self._waiting or self._stopped or self._reading) and not await self._more():
            raise StopAsyncIteration
        delta = self._waiting.popleft()
        if not self._waiting:
            self._empty.set()
        return delta

    async def _more(self) -> bool:
        """Wait until something is at hand; False once stopped."""
        if self._reading:
            raise RuntimeError("these changes are being read already: they have one consumer")
        self._reading = True
        try:
            while not self._waiting and not self._stopped:
                self._arrived.clear()
                if self._over:
                    await self._mirror.until(self._arrived.wait())  # which says why
                await self._arrived.wait()
        except MirrorStopped:
            if not self._stopped:
                raise
        finally:
            self._reading = False
        return not self._stopped


class _OneByOne(Generic[T]):
    def __init__(self, take: Callable[[], Awaitable[Delta[T]]]) -> None:
        self._take = take

    def __aiter__(self) -> Self:
        return self

    def __anext__(self) -> Awaitable[Delta[T]]:
        return self._take()
