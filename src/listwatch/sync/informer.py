"""SharedInformer: one mirror of a set, many handlers, for threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

from listwatch.cache import Health, Store
from listwatch.cache import Registration as AsyncRegistration
from listwatch.cache import SharedInformer as AsyncSharedInformer

from .blocking import A, Blocking, Running, blocking, without_async

__all__ = ["Registration", "SharedInformer", "informed"]

P = ParamSpec("P")
T = TypeVar("T")


class Registration(Blocking[AsyncRegistration[T]], Generic[T]):
    """`listwatch.Registration` for threads: what `add_handler` gives."""

    @property
    def name(self) -> str:
        """For logs."""
        return self._inner.name

    @property
    def told(self) -> int:
        """Notifications that the handler has got."""
        return self._inner.told

    @property
    def failures(self) -> int:
        """How often it, or its filter, has raised."""
        return self._inner.failures

    @property
    def is_synced(self) -> bool:
        """Whether the handler has finished the adds of the initial set (K3)."""
        return self._inner.is_synced

    @property
    def queued(self) -> int:
        """Notifications that wait for the handler."""
        return self._inner.queued

    @property
    def is_removed(self) -> bool:
        """Whether `remove` was called."""
        return self._inner.is_removed

    def remove(self) -> None:
        """Tell the handler nothing more; what it is being told, it finishes. Idempotent (K5). From
        any thread, that of the loop too.
        """
        self._inner.remove()

    synced = blocking(AsyncRegistration[T].synced)
    removed = blocking(AsyncRegistration[T].removed)


def registered(
    method: Callable[Concatenate[A, P], AsyncRegistration[T]],
) -> Callable[Concatenate[Blocking[A], P], Registration[T]]:
    @wraps(method)
    def add(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Registration[T]:
        inner = self._call(lambda: method(self._inner, *args, **kwargs))
        return Registration(self, inner)

    return without_async(add)


class SharedInformer(Running[AsyncSharedInformer[T]], Generic[T]):
    """`listwatch.SharedInformer` for threads. `Client.informer` makes it.

        informer = client.informer("pods")
        informer.add_handler(on_add=added, on_update=updated, on_delete=deleted)
        with informer:
            informer.synced(timeout=60)

    A handler of plain functions has a thread of its own, and may make blocking calls. An `inline`
    or async one is called in the thread of the background loop, and cannot.
    """

    @property
    def name(self) -> str:
        """For logs."""
        return self._inner.name

    @property
    def store(self) -> Store[T]:
        """What it shows. Read it at any time, from any thread."""
        return self._inner.store

    @property
    def is_synced(self) -> bool:
        """Whether the store is complete (K3)."""
        return self._inner.is_synced

    @property
    def health(self) -> Health:
        """How it is (K10); `sources` has each of several."""
        return self._inner.health

    add_handler = registered(AsyncSharedInformer[T].add_handler)

    def remove_handler(self, registration: Registration[T]) -> None:
        """The same as `registration.remove()` (K5)."""
        registration.remove()

    def stop(self) -> None:
        """End it, from any thread; the store stays as it is. Idempotent."""
        self._inner.stop()

    synced = blocking(AsyncSharedInformer[T].synced)
    at_least = blocking(AsyncSharedInformer[T].at_least)
    fresh = blocking(AsyncSharedInformer[T].fresh)
    ended = blocking(AsyncSharedInformer[T].ended)
    run = blocking(AsyncSharedInformer[T].run)


def informed(
    method: Callable[Concatenate[A, P], AsyncSharedInformer[T]],
) -> Callable[Concatenate[Blocking[A], P], SharedInformer[T]]:
    """A method that makes a blocking informer of what that of the async object makes."""

    @wraps(method)
    def make(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> SharedInformer[T]:
        inner = self._call(lambda: method(self._inner, *args, **kwargs))
        return SharedInformer(self, inner)

    return without_async(make)
