"""What waits for a handler, and how much of it may (K4)."""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from listwatch.api import EventType

from .delta import Delta

__all__ = ["UNBOUNDED", "Bounded", "NotificationQueue", "QueuePolicy", "Unbounded", "collapsed"]

T = TypeVar("T")

_HANDFUL = 128
"""Notifications that are handed over at once: enough to make a thread switch cheap, few enough that
a handler gives way to others."""


@dataclass(frozen=True, slots=True)
class Unbounded:
    """All of it waits, for as long as it takes. `Registration.queued` says how much that is."""


@dataclass(frozen=True, slots=True)
class Bounded:
    """About `size` notifications wait; when there are more:

    - `block`: nothing more is read from the server until no more than `size` wait. What one read
      or one list has brought is still queued, so that is the most beyond `size`. A resync is left
      out for this handler.
    - `collapse`: until the handler has caught up, of each object only what is new since the handler
      heard of it is kept, an update from the state it knows to the newest. So no more waits than
      there are objects.

    Raises `ValueError` for a size below 1.
    """

    size: int
    when_full: Literal["block", "collapse"] = "collapse"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"a queue of {self.size} notifications: it needs at least 1")
        if self.when_full not in ("block", "collapse"):
            raise ValueError(f"when_full must be 'block' or 'collapse', not {self.when_full!r}")


QueuePolicy: TypeAlias = Unbounded | Bounded

UNBOUNDED = Unbounded()

Mark: TypeAlias = Callable[[], None]
"""Something to be called when all before it has been told."""

Item: TypeAlias = Delta[T] | Mark


class NotificationQueue(Generic[T]):
    """Notifications in their order, for one handler, which takes a handful at a time."""

    def __init__(self, policy: QueuePolicy) -> None:
        self._policy = policy
        self._handful = _HANDFUL if isinstance(policy, Unbounded) else min(_HANDFUL, policy.size)
        self._items: deque[Item[T]] = deque()
        self._collapsed: OrderedDict[object, Item[T]] = OrderedDict()
        """All that waits, by key, in place of `_items`, once that was too long and until the
        handler has caught up."""
        self._marks = 0
        self.in_hand = 0
        """Notifications that were taken, and whose turn has not come yet: whoever tells them counts
        this down."""
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._closed = False

    def __len__(self) -> int:
        """How many notifications wait, those in hand included."""
        # Not below 0: a thread may count its last one down when all has been dropped already.
        return max(len(self._items) + len(self._collapsed) - self._marks + self.in_hand, 0)

    @property
    def blocks(self) -> bool:
        """Whether nothing more shall be read until there is room."""
        return not self._room.is_set()

    async def room(self) -> None:
        """Wait until there is room."""
        await self._room.wait()

    def put(self, items: Sequence[Item[T]]) -> None:
        """Queue them; once it is closed, nothing."""
        if self._closed or not items:
            return
        if self._collapsed:
            _collapse(self._collapsed, items)
        else:
            self._items.extend(items)
        self._arrived.set()
        if isinstance(self._policy, Bounded) and len(self) > self._policy.size:
            if self._policy.when_full == "block":
                self._room.clear()
            elif self._items:
                _collapse(self._collapsed, self._items)
                self._items.clear()

    def mark(self, mark: Mark) -> None:
        """Call this when all that waits now has been told."""
        if not self._closed:
            self._marks += 1
            self.put([mark])

    async def take(self) -> list[Item[T]]:
        """Some of what waits, at least one; nothing once it is closed and empty. What was taken
        before has been told.
        """
        self.in_hand = 0
        if not isinstance(self._policy, Bounded) or len(self) <= self._policy.size:
            self._room.set()
        while not (self._items or self._collapsed or self._closed):
            self._arrived.clear()
            await self._arrived.wait()
        if self._collapsed:
            count = min(self._handful, len(self._collapsed))
            taken = [self._collapsed.popitem(last=False)[1] for _ in range(count)]
        else:
            count = min(self._handful, len(self._items))
            taken = [self._items.popleft() for _ in range(count)]
        self.in_hand = sum(isinstance(item, Delta) for item in taken)
        self._marks -= count - self.in_hand
        return taken

    def close(self, *, drop: bool) -> None:
        """Nothing more comes; with `drop`, what waits is forgotten, too."""
        self._closed = True
        if drop:
            self._items.clear()
            self._collapsed.clear()
            self._marks = self.in_hand = 0
        self._arrived.set()
        self._room.set()


def collapsed(items: Iterable[Item[T]]) -> list[Item[T]]:
    """The same news in as few notifications as there are objects: each from the state that was told
    last to the newest, in the place of the first. An object that came and went is no news.
    """
    pending: OrderedDict[object, Item[T]] = OrderedDict()
    _collapse(pending, items)
    return list(pending.values())


def _collapse(pending: OrderedDict[object, Item[T]], items: Iterable[Item[T]]) -> None:
    for item in items:
        if not isinstance(item, Delta):
            # What it waits for stays before it, at most in a newer state.
            pending[object()] = item
            continue
        before = pending.get(item.key)
        after = item if before is None else _joined(before, item)
        if after is None:
            del pending[item.key]
        else:
            pending[item.key] = after


def _joined(first: Any, last: Delta[T]) -> Delta[T] | None:
    """One change that leads where these two lead; None where that is nowhere."""
    known: Any = first.old
    if first.type is EventType.ADDED:
        if last.type is EventType.DELETED:
            return None
        return _delta(EventType.ADDED, last, None, initial=first.initial)
    if last.type is EventType.DELETED:
        return _delta(EventType.DELETED, last, known)
    recreated = first.type is EventType.DELETED or first.recreated or last.recreated
    resync = first.resync and last.resync
    return _delta(EventType.MODIFIED, last, known, recreated=recreated, resync=resync)


def _delta(
    type: EventType,
    newest: Delta[T],
    old: T | None,
    *,
    initial: bool = False,
    recreated: bool = False,
    resync: bool = False,
) -> Delta[T]:
    return Delta(
        type,
        newest.object,
        newest.raw,
        newest.error,
        newest.key,
        old,
        newest.final_state_unknown,
        initial,
        recreated,
        resync,
    )
