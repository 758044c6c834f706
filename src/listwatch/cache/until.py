"""Waiting for something to become true of a set of objects (L3)."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from random import Random
from typing import Any, Generic, TypeVar, cast

from listwatch.api import Event, EventType, ListWatchError, MalformedObject

from .causes import cause_of_end
from .delta import Delta
from .handlers import Tombstone
from .identity import Identify, for_entries, identity_of
from .informer import SharedInformer
from .liveness import Liveness
from .mirror import MirrorStopped
from .notes import Note
from .pacing import Pacing
from .protocols import AsyncListerWatcher, AsyncWatcher
from .reflector import ErrorHandler
from .reflector_options import ReflectorOptions
from .retry_watcher import RetryWatcher
from .store import Store

__all__ = ["NotMet", "until", "until_with_sync"]

T = TypeVar("T")
E = TypeVar("E", bound=Event[Any])


class NotMet(ListWatchError, TimeoutError):
    """The conditions were not met in time. The message says what was seen last."""

    def __init__(self, told: str, *, met: int, last: Event[Any] | None) -> None:
        super().__init__(told)
        self.met = met
        """How many of the conditions were."""
        self.last = last
        """The last Event or Delta that was seen; None where there was none."""


async def until(
    source: AsyncWatcher[T],
    resource_version: str,
    *conditions: Callable[[Event[T]], bool],
    timeout: float | None = None,
    pacing: Pacing | None = None,
    liveness: Liveness | None = None,
    rng: Random | None = None,
) -> Event[T]:
    """Watch from `resource_version` on until each of `conditions` has been met, one after the
    other; the event that met the last.

        event = await until(source, pods.resource_version, lambda event: event.type == "DELETED")

    Every event is seen, in order, each once: see `RetryWatcher`. The event that meets a condition
    is shown to the next one, too. An event whose object cannot be decoded is shown to none, unless
    it is a deletion.

    Raises `NotMet`, which is a `TimeoutError`, after `timeout` seconds; `Expired`, `Forbidden` and
    `Unauthorized` where the watch cannot go on; what a condition raises; `ValueError` for an RV of
    `""` or `"0"`.
    """
    turn: _InTurn[Event[T]] = _InTurn(conditions)
    limit = asyncio.timeout(timeout)
    try:
        async with (
            limit,
            RetryWatcher(
                source, resource_version, pacing=pacing, liveness=liveness, rng=rng
            ) as watcher,
            # Every watch's iterator is a generator, and one that is left must be closed at once.
            aclosing(cast(AsyncGenerator[list[Event[T]], None], watcher.batches())) as batches,
        ):
            async for batch in batches:
                for event in batch:
                    if event.type is EventType.ERROR:
                        raise cause_of_end(event)[1]
                    if turn.is_over_with(event):
                        return event
    except TimeoutError:
        if not limit.expired():
            raise
        raise turn.not_met(f"{timeout:g} s") from None
    raise AssertionError("a RetryWatcher ends with an ERROR event")


async def until_with_sync(
    source: AsyncListerWatcher[T] | SharedInformer[T],
    *conditions: Callable[[Delta[T]], bool],
    precondition: Callable[[Store[T]], bool] | None = None,
    timeout: float | None = None,
    name: str = "",
    kind: str = "",
    identify: Identify = identity_of,
    options: ReflectorOptions | None = None,
    on_error: ErrorHandler | None = None,
    on_note: Callable[[Note], None] | None = None,
    on_progress: Callable[[int, int | None], None] | None = None,
    rng: Random | None = None,
) -> Delta[T] | None:
    """Keep a copy of the set until each of `conditions` has been met, one after the other; the
    change that met the last.

        await until_with_sync(source, lambda change: change.object["status"]["phase"] == "Running")

    They are shown what is there, as ADDED, then what changes. Whatever happens to the server or on
    the way to it, an expired RV too, it goes on; then changes in between come as what they came to.
    So ask for a state rather than for a step. The change that meets a condition is shown to the
    next one, too. An object that cannot be decoded is shown to none: it is as it was before.

    `precondition` is asked first, once the set is complete; where it says True nothing is waited
    for, and None is given.

    `source` may be a `SharedInformer` that runs: then nothing is asked of the server, and the
    arguments after `timeout` are the informer's own.

    Raises `NotMet`, which is a `TimeoutError`, after `timeout` seconds, what a condition raises,
    and what ends the copy: with `options.fail_fast` a first set that is refused for good.
    `MirrorStopped` where an informer is stopped meanwhile.
    """
    if not isinstance(source, SharedInformer) and not hasattr(source, "alist"):
        raise TypeError(
            f"a {type(source).__name__} can be neither listed nor listened to: give a source with"
            " alist and awatch, or a SharedInformer"
        )
    turn: _InTurn[Delta[T]] = _InTurn(conditions)
    limit = asyncio.timeout(timeout)
    informer = source if isinstance(source, SharedInformer) else None
    health = ""
    try:
        async with limit, AsyncExitStack() as stack:
            if informer is None:
                informer = SharedInformer(
                    cast(AsyncListerWatcher[T], source),
                    name=name,
                    kind=kind,
                    identify=identify,
                    options=options,
                    on_error=on_error,
                    on_note=on_note,
                    on_progress=on_progress,
                    rng=rng,
                )
                await stack.enter_async_context(informer)
            try:
                if precondition is not None:
                    await informer.synced()
                    if precondition(informer.store):
                        return None
                return await _first(informer, turn, identify)
            finally:
                health = f"; {informer.health}"  # before it is stopped
    except TimeoutError:
        if not limit.expired():
            raise
        raise turn.not_met(f"{timeout:g} s", health) from None


class _InTurn(Generic[E]):
    """Conditions, to be met one after the other."""

    def __init__(self, conditions: Sequence[Callable[[E], bool]]) -> None:
        if not conditions:
            raise ValueError("what is to be waited for? give a condition")
        self._conditions = conditions
        self._met = 0
        self._last: E | None = None

    def is_over_with(self, event: E) -> bool:
        """Show them an event; whether all have been met."""
        if event.error is not None and event.type is not EventType.DELETED:
            return False
        self._last = event
        while self._holds(event):
            self._met += 1
            if self._met == len(self._conditions):
                return True
        return False

    def _holds(self, event: E) -> bool:
        held: Any = self._conditions[self._met](event)
        if inspect.isawaitable(held):
            if inspect.iscoroutine(held):
                held.close()
            raise TypeError("a condition must be a plain function: this one is async")
        return bool(held)

    def not_met(self, within: str, more: str = "") -> NotMet:
        """The error when time is over."""
        which = "the condition was"
        if len(self._conditions) > 1:
            which = f"{self._met} of {len(self._conditions)} conditions were"
        seen = "nothing was seen" if self._last is None else f"last seen: {_told(self._last)}"
        negated = "" if len(self._conditions) > 1 else " not"
        return NotMet(
            f"{which}{negated} met within {within}; {seen}{more}", met=self._met, last=self._last
        )


def _told(event: Event[Any]) -> str:
    try:
        key, _, version = identity_of(event.object)
    except MalformedObject:
        return str(event.type)
    return f"{event.type} {key}" + (f" at resourceVersion {version}" if version else "")


async def _first(
    informer: SharedInformer[T], turn: _InTurn[Delta[T]], identify: Identify
) -> Delta[T]:
    """The first change that meets the last condition."""
    waiting: deque[Delta[T]] = deque()
    arrived = asyncio.Event()

    def put(delta: Delta[T]) -> None:
        waiting.append(delta)
        arrived.set()

    registration = informer.add_handler(_Deltas(put, for_entries(identify)), inline=True)
    end = asyncio.create_task(informer.ended())
    end.add_done_callback(lambda _: arrived.set())
    try:
        while True:
            while waiting:
                delta = waiting.popleft()
                if turn.is_over_with(delta):
                    return delta
            if end.done():
                end.result()
                raise MirrorStopped(f"the informer was stopped meanwhile: {informer.health}")
            arrived.clear()
            await arrived.wait()
    finally:
        registration.remove()
        end.cancel()
        await asyncio.wait([end])
        if not end.cancelled():
            end.exception()  # seen: it is raised above, or by whoever runs the informer


class _Deltas(Generic[T]):
    """A handler that puts its notifications together again."""

    def __init__(self, put: Callable[[Delta[T]], None], identify: Identify) -> None:
        self._put = put
        self._identify = identify

    def on_add(self, obj: T, in_initial_list: bool) -> None:
        self._tell(EventType.ADDED, obj, None, initial=in_initial_list)

    def on_update(self, old: T, new: T) -> None:
        before, now = self._identify(old).uid, self._identify(new).uid
        recreated = bool(before and now and before != now)
        self._tell(EventType.MODIFIED, new, old, recreated=recreated, resync=old is new)

    def on_delete(self, obj: T | Tombstone[T]) -> None:
        unknown = isinstance(obj, Tombstone)
        last = obj.object if isinstance(obj, Tombstone) else obj
        self._tell(EventType.DELETED, last, last, final_state_unknown=unknown)

    def _tell(self, kind: EventType, obj: T, old: T | None, **more: bool) -> None:
        raw = getattr(obj, "raw", b"")
        self._put(Delta(kind, obj, raw, None, self._identify(obj).key, old, **more))
