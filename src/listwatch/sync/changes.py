"""Changes: every change of a set of objects, for a thread that goes through them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import wraps
from threading import get_ident
from typing import Concatenate, Generic, ParamSpec, TypeVar

from listwatch.cache import Changes as AsyncChanges
from listwatch.cache import Delta, Health, MirrorStopped, Store

from .blocking import A, Blocking, Running, without_async
from .call import Closed

__all__ = ["Changes", "watched"]

P = ParamSpec("P")
T = TypeVar("T")


class Changes(Running[AsyncChanges[T]], Generic[T]):
    """`listwatch.Changes` for a thread. `Client.watch` makes it.

        with client.watch("pods") as changes:
            for change in changes:
                print(change.type, change.key, change.old)

    It is for one consumer, who sets the pace: of what comes while it is busy, what one read or one
    list has brought is at hand, and the rest waits in the network. A bare `for` starts and stops
    it, too; leaving that stops it as soon as the iterator is collected, leaving the `with` at once.

    Ctrl-C comes out of the waiting for the next change. Nothing is lost by that: whoever catches it
    may go on.
    """

    def __init__(self, parent: Blocking[object], inner: AsyncChanges[T]) -> None:
        super().__init__(parent, inner)
        self._batches = inner.batches()
        self._coming: asyncio.Task[list[Delta[T]]] | None = None
        self._at_hand: deque[Delta[T]] = deque()
        self._entered = False
        self._stopped = False
        self._reader: int | None = None

    @property
    def health(self) -> Health:
        """How it is (K10)."""
        return self._inner.health

    @property
    def store(self) -> Store[T]:
        """The set as it is now: at or past the last change that was delivered."""
        return self._inner.store

    def __iter__(self) -> Iterator[Delta[T]]:
        with nullcontext() if self._entered else self:
            while self._more():
                yield self._at_hand.popleft()

    def batches(self) -> Iterator[list[Delta[T]]]:
        """The changes as they arrive, never empty: what one read, or one list, brought. The faster
        way for many.
        """
        with nullcontext() if self._entered else self:
            while self._more():
                batch = list(self._at_hand)
                self._at_hand.clear()
                yield batch

    def stop(self) -> None:
        """End the iteration, from any thread; nothing comes afterwards. Idempotent."""
        self._stopped = True
        self._inner.stop()

    def _more(self) -> bool:
        """Wait until something is at hand; False once stopped."""
        # Not a lock: Ctrl-C right after it was taken would leave it so.
        if self._reader not in (None, me := get_ident()):
            raise RuntimeError("these changes are being read already: they have one consumer")
        self._reader = me
        try:
            if self._leaving is not None and not self._stopped:
                raise MirrorStopped("these changes have been left: make others")
            if not self._at_hand and not self._stopped:
                self._run(self._arrival)
        except Closed:
            if not self._stopped:
                raise
        finally:
            self._reader = None
        return bool(self._at_hand) and not self._stopped

    # In the loop

    async def _arrival(self) -> None:
        # What comes is put where it is found by whoever asks next: who is interrupted here cancels
        # this, but not that.
        if self._coming is None:
            self._coming = asyncio.create_task(self._next())
        coming = self._coming
        await asyncio.wait([coming])
        if self._coming is coming:
            self._coming = None
            self._at_hand.extend(coming.result())

    async def _next(self) -> list[Delta[T]]:
        return await anext(self._batches, [])

    async def _enter(self) -> None:
        await super()._enter()
        self._entered = True

    async def _leave(self) -> None:
        try:
            await super()._leave()
        finally:
            if (coming := self._coming) is not None:
                await asyncio.wait([coming])  # soon: there is nothing more to come
                if not coming.cancelled():
                    coming.exception()  # seen: that of `super()._leave()`
            await self._batches.aclose()


def watched(
    method: Callable[Concatenate[A, P], AsyncChanges[T]],
) -> Callable[Concatenate[Blocking[A], P], Changes[T]]:
    """A method that makes blocking changes of what that of the async object makes."""

    @wraps(method)
    def make(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Changes[T]:
        inner = self._call(lambda: method(self._inner, *args, **kwargs))
        return Changes(self, inner)

    return without_async(make)
