"""Handlers: who is told what changed, and in which words (K1, K6, K7)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from listwatch.api import EventType

from .delta import Delta

__all__ = ["Calls", "DeleteHandler", "Tombstone", "calls_of"]

T = TypeVar("T")

Told = Awaitable[None] | None


@dataclass(frozen=True, slots=True)
class Tombstone(Generic[T]):
    """Stands in `on_delete` for an object that is gone, and whose end nobody saw (J2)."""

    key: str
    """`namespace/name`, or `name` for cluster-scoped objects (A3)."""
    object: T
    """The last state of it that was seen."""


class AddHandler(Protocol):
    def __call__(self, obj: Any, in_initial_list: bool, /) -> Told: ...


class UpdateHandler(Protocol):
    def __call__(self, old: Any, new: Any, /) -> Told: ...


class DeleteHandler(Protocol):
    def __call__(self, obj: Any, /) -> Told: ...


Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and what it is called with."""


@dataclass(frozen=True, slots=True)
class Calls(Generic[T]):
    """What is called for a Delta. `filter` decides what the handler sees at all: an object that
    begins to match is added, one that stops is deleted (K7). What it raises for does not match.
    With `recreate_as_two`, an object that was made again under the same name is a deletion and an
    addition, else an update (K6).
    """

    on_add: Callable[..., Any] | None = None
    on_update: Callable[..., Any] | None = None
    on_delete: Callable[..., Any] | None = None
    filter: Callable[[T], bool] | None = None
    recreate_as_two: bool = False

    @property
    def is_async(self) -> bool:
        """Whether one of the functions is a coroutine function."""
        functions = (self.on_add, self.on_update, self.on_delete)
        return any(_is_async(function) for function in functions if function is not None)

    def of(self, delta: Delta[T], failed: Callable[[Delta[T]], None]) -> Sequence[Call]:
        """The calls that this change is. `failed` is called where `filter` raises."""
        old: Any = delta.old
        new: Any = delta.object
        kind = delta.type
        if kind is EventType.MODIFIED:
            if self.filter is None and not delta.recreated:  # by far the most
                return () if self.on_update is None else ((self.on_update, (old, new)),)
            before = self._wanted(old)
            return self._update(delta, before, self._begins(delta, failed))
        if kind is EventType.ADDED:
            return self._add(new, delta.initial) if self._begins(delta, failed) else ()
        if not self._wanted(old):
            return ()
        return self._delete(Tombstone(delta.key, new) if delta.final_state_unknown else new)

    def _update(self, delta: Delta[T], before: bool, now: bool) -> Sequence[Call]:
        old: Any = delta.old
        new: Any = delta.object
        if before and now and not (delta.recreated and self.recreate_as_two):
            return () if self.on_update is None else ((self.on_update, (old, new)),)
        calls: tuple[Call, ...] = ()
        if before:
            # What it was at its end nobody saw; one that only stopped to match is there still.
            calls += self._delete(Tombstone(delta.key, old) if delta.recreated else new)
        if now:
            calls += self._add(new, False)
        return calls

    def _begins(self, delta: Delta[T], failed: Callable[[Delta[T]], None]) -> bool:
        if self.filter is None:
            return True
        try:
            return _truth(self.filter(delta.object))
        except Exception:
            failed(delta)
            return False

    def _wanted(self, old: Any) -> bool:
        if self.filter is None:
            return True
        try:
            return _truth(self.filter(old))
        except Exception:  # it was reported when that state was new, and told to nobody
            return False

    def _add(self, obj: Any, initial: bool) -> tuple[Call, ...]:
        return () if self.on_add is None else ((self.on_add, (obj, initial)),)

    def _delete(self, obj: Any) -> tuple[Call, ...]:
        return () if self.on_delete is None else ((self.on_delete, (obj,)),)


def calls_of(
    handler: object | None,
    on_add: Callable[..., Any] | None,
    on_update: Callable[..., Any] | None,
    on_delete: Callable[..., Any] | None,
    filter: Callable[[Any], bool] | None,
    recreate_as_two: bool,
) -> Calls[Any]:
    """The functions of a handler, or those that were given one by one. Raises `TypeError` where
    there is none, for what is no function, and for a `filter` that is async.
    """
    names = ("on_add", "on_update", "on_delete")
    given = (on_add, on_update, on_delete)
    if handler is not None:
        if any(function is not None for function in given):
            raise TypeError("give a handler, or functions, not both")
        given = (
            getattr(handler, names[0], None),
            getattr(handler, names[1], None),
            getattr(handler, names[2], None),
        )
    if all(function is None for function in given):
        raise TypeError("a handler needs at least one of on_add, on_update and on_delete")
    for name, function in zip((*names, "filter"), (*given, filter), strict=True):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, not {function!r}")
    if filter is not None and _is_async(filter):
        raise TypeError(_ASYNC_FILTER)
    return Calls(*given, filter, recreate_as_two)


_ASYNC_FILTER = "a filter must be a plain function: this one is async"


def _truth(matches: Any) -> bool:
    if not inspect.isawaitable(matches):
        return bool(matches)
    if inspect.iscoroutine(matches):
        matches.close()  # or Python warns of it, too
    raise TypeError(_ASYNC_FILTER)


def _is_async(function: Any) -> bool:
    # An object with an async __call__ counts, too.
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    )
