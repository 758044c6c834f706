"""A handler at an informer: its queue, whoever empties it, and how far it is (K1, K4)."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ._thread import OneThread
from .delta import Delta
from .handlers import Calls
from .mirror import MirrorStopped
from .queues import Bounded, Mark, NotificationQueue, QueuePolicy, Unbounded

__all__ = ["Listener", "Owner", "end"]

T = TypeVar("T")

_log = logging.getLogger("listwatch.cache")

_GRACE = 5.0
"""Seconds that a handler is waited for at the end: nobody can interrupt a function in a thread."""

_telling: contextvars.ContextVar[Listener[Any] | None] = contextvars.ContextVar(
    "listwatch_telling", default=None
)
"""In a thread: for whom it is."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The informer, to a listener."""

    in_loop: Callable[[Callable[[], None]], None]
    """Calls something in the informer's loop: at once if this is its thread."""
    forgets: Callable[[Listener[Any]], None]
    synced: Callable[[], Awaitable[None]]
    """Waits until the store is complete; raises where it never will be."""


class Listener(Generic[T]):
    """What an informer tells, and what a `Registration` shows of that."""

    def __init__(
        self, calls: Calls[T], owner: Owner, *, name: str, inline: bool, policy: QueuePolicy
    ) -> None:
        if inline and calls.is_async:
            raise TypeError(f"{name}: inline is for plain functions, and one of these is async")
        if not isinstance(policy, Unbounded | Bounded):
            raise TypeError(f"{name}: queue must be Unbounded() or Bounded(size), not {policy!r}")
        if inline and isinstance(policy, Bounded):
            raise TypeError(f"{name}: an inline handler has no queue that could be bounded")
        self.name = name
        """For logs."""
        self.told = 0
        """Notifications that the handler has got."""
        self.failures = 0
        """How often it, or its filter, has raised."""
        self._calls = calls
        self._owner = owner
        self._queue: NotificationQueue[T] | None = None if inline else NotificationQueue(policy)
        self._is_complete = False
        """Whether the initial set has been put."""
        self._synced = False
        self._settled = asyncio.Event()
        """It is synced, or never will be."""
        self._removed = False
        self._enough = False
        """Whether it is told nothing more; a thread looks at it before each notification."""
        self._task: asyncio.Task[None] | None = None
        self._thread: OneThread | None = None

    @property
    def is_synced(self) -> bool:
        """Whether the handler has finished the adds of the initial set (K3)."""
        return self._synced

    @property
    def queued(self) -> int:
        """Notifications that wait for the handler."""
        return 0 if self._queue is None else len(self._queue)

    async def synced(self, timeout: float | None = None) -> None:
        """Wait until the handler has finished the adds of the initial set.

        Raises `TimeoutError` after `timeout` seconds, what ended the informer before, as its own
        `synced` does, and `MirrorStopped` where the handler was removed before.
        """
        try:
            async with asyncio.timeout(timeout) as limit:
                await self._told_the_set()
        except TimeoutError:
            if not limit.expired():
                raise
            why = f"{self.queued} notifications wait for it"
            if not self._is_complete:
                why = "the store is not complete"
            raise TimeoutError(
                f"handler {self.name} had not finished the initial set within {timeout} s; {why}"
            ) from None

    async def _told_the_set(self) -> None:
        if self._synced:
            return
        settled = asyncio.ensure_future(self._settled.wait())
        there = asyncio.ensure_future(self._owner.synced())
        try:
            await asyncio.wait([settled, there], return_when=asyncio.FIRST_COMPLETED)
            if not settled.done():
                there.result()
                await settled
        finally:
            for waiting in (settled, there):
                waiting.cancel()
            await asyncio.wait([settled, there])
            if not there.cancelled():
                there.exception()  # seen: where it says why, it was raised above
        if not self._synced:
            raise MirrorStopped(f"handler {self.name} was ended before the initial set was told")

    def remove(self) -> None:
        """Tell the handler nothing more; what it is being told, it finishes. Idempotent (K5). From
        any thread.
        """
        if self._removed:
            return
        self._removed = self._enough = True
        self._owner.in_loop(self._leave)

    async def removed(self) -> None:
        """Remove the handler, and wait until its last notification has finished (K5).

        Raises `RuntimeError` in the handler itself, which would wait for its own end; for one in a
        thread, also in whatever that has started.
        """
        inside = self._task is not None and asyncio.current_task() is self._task
        if inside or _telling.get() is self:
            raise RuntimeError(f"handler {self.name} cannot wait for its own end: use remove()")
        self.remove()
        if self._task is not None:
            await asyncio.wait([self._task])

    # What an informer does with it

    @property
    def is_removed(self) -> bool:
        """Whether `remove` was called."""
        return self._removed

    def starts(self, on_end: Callable[[], None]) -> bool:
        """Begin to tell; False where that needs no task, which then calls `on_end`."""
        if self._queue is None:
            return False
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._run(self._queue), name=f"handler {self.name}")
        self._task.add_done_callback(lambda _: on_end())
        return True

    def put(self, deltas: Sequence[Delta[T]]) -> None:
        """Tell of these, when their turn comes."""
        if self._queue is not None:
            self._queue.put(deltas)
            return
        for delta in deltas:
            if self._enough:
                return
            self._tell_here(delta)

    def mark_synced(self) -> None:
        """The initial set has been put: synced when it has been told."""
        self._is_complete = True
        if self._queue is None:
            self._is_synced()
        else:
            self._queue.mark(self._is_synced)

    def _is_synced(self) -> None:
        if not self._enough:
            self._synced = True
            self._settled.set()

    @property
    def blocks(self) -> bool:
        """Whether nothing more shall be read until this handler has caught up."""
        return self._queue is not None and self._queue.blocks

    async def room(self) -> None:
        """Wait until it has."""
        if self._queue is not None:
            await self._queue.room()

    def no_more(self) -> None:
        """Nothing more comes: it ends by itself when all is told."""
        if self._queue is not None:
            self._queue.close(drop=False)

    def ends(self) -> asyncio.Task[None] | None:
        """Begin to end it: what waits is dropped, an async handler is cancelled. The task that is
        still to end.
        """
        self._ends()
        if self._task is None or self._task.done():
            return None
        if self._thread is None:
            self._task.cancel()
        return self._task

    def gives_up(self) -> None:
        """Wait no longer for a function in a thread, which nobody can interrupt."""
        if self._task is not None and not self._task.done():
            if self._thread is not None:
                self.left_behind()
            self._task.cancel()

    def left_behind(self) -> None:
        """Say that it did not end."""
        _log.warning("handler %s does not come to an end: it is left behind", self.name)

    def _leave(self) -> None:
        self._owner.forgets(self)
        self._ends()

    def _ends(self) -> None:
        self._enough = True
        if self._queue is not None:
            self._queue.close(drop=True)
        self._settled.set()

    # Telling

    async def _run(self, queue: NotificationQueue[T]) -> None:
        _telling.set(None)  # whoever has added it may be a handler
        try:
            if not self._calls.is_async:
                self._thread = OneThread(f"handler {self.name}")
            while items := await queue.take():
                await self._tell(queue, items)
                items.clear()  # nothing of it is held while it waits for the next
        except Exception:
            _log.exception("handler %s has ended, and is told nothing more", self.name)
            self.remove()
        finally:
            if self._thread is not None:
                self._thread.shutdown(wait=False)

    async def _tell(self, queue: NotificationQueue[T], items: Sequence[Delta[T] | Mark]) -> None:
        batch: list[Delta[T]] = []
        for item in items:
            if isinstance(item, Delta):
                batch.append(item)
                continue
            await self._tell_batch(queue, batch)
            batch = []
            item()
        await self._tell_batch(queue, batch)

    async def _tell_batch(self, queue: NotificationQueue[T], batch: list[Delta[T]]) -> None:
        if not batch:
            return
        if self._thread is not None:
            # One hand-over for many: a thread switch costs more than most handlers.
            loop, context = asyncio.get_running_loop(), contextvars.copy_context()
            await loop.run_in_executor(
                self._thread, context.run, self._tell_in_thread, queue, batch
            )
            return
        for delta in batch:
            if self._enough:
                return
            queue.in_hand -= 1
            await self._tell_async(delta)
        await asyncio.sleep(0)  # a coroutine that never waits must not keep the loop to itself

    def _tell_in_thread(self, queue: NotificationQueue[T], batch: list[Delta[T]]) -> None:
        _telling.set(self)
        for delta in batch:
            if self._enough:
                return
            queue.in_hand -= 1
            self._tell_here(delta)

    def _tell_here(self, delta: Delta[T]) -> None:
        for function, arguments in self._calls.of(delta, self._failed):
            if self._enough:  # one change may be two calls
                return
            self.told += 1
            try:
                result = function(*arguments)
                if result is not None and inspect.isawaitable(result):
                    _discard(result)
                    raise TypeError("it gave something to be awaited, but is no async function")
            except Exception:
                self._failed(delta)

    async def _tell_async(self, delta: Delta[T]) -> None:
        for function, arguments in self._calls.of(delta, self._failed):
            if self._enough:  # one change may be two calls
                return
            self.told += 1
            try:
                result = function(*arguments)
                if inspect.isawaitable(result):
                    await result
            except asyncio.CancelledError:
                # Where it is not this task that is cancelled, it is something that the handler has
                # waited for.
                if self._task is None or self._task.cancelling():
                    raise
                self._failed(delta)
            except Exception:
                self._failed(delta)

    def _failed(self, delta: Delta[T]) -> None:
        self.failures += 1
        where = threading.current_thread().name
        _log.exception("handler %s failed on %s %s (%s)", self.name, delta.type, delta.key, where)


async def end(listeners: Iterable[Listener[Any]]) -> None:
    """End them: those that do not come to an end in a while are left behind."""
    ending = {task: each for each in listeners if (task := each.ends()) is not None}
    if not ending:
        return
    try:
        await asyncio.wait(ending, timeout=_GRACE)
    finally:
        late = {task: each for task, each in ending.items() if not task.done()}
        for each in late.values():
            each.gives_up()
        if late:
            await asyncio.wait(late, timeout=_GRACE)
        for task, each in late.items():
            if not task.done():
                each.left_behind()


def _discard(awaitable: Any) -> None:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()  # or Python warns of it, too
