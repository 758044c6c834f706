"""Mirror: a store that shows what the server has, for threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar

from listwatch.cache import Health, Store
from listwatch.cache import Mirror as AsyncMirror

from .blocking import A, Blocking, Running, blocking, without_async

__all__ = ["Mirror", "mirrored"]

P = ParamSpec("P")
T = TypeVar("T")


class Mirror(Running[AsyncMirror[T]], Generic[T]):
    """`listwatch.Mirror` for threads. `Client.mirror` makes it.

        with client.mirror("pods") as mirror:
            mirror.synced(timeout=60)
            print(len(mirror.store), mirror.health)

    It runs inside of its `with`. All of it may be used from any thread; reading `store` and
    `health` waits for nobody. What it is told, such as `on_deltas`, is called in the thread of the
    background loop, must be quick, and can make no blocking call.
    """

    @property
    def store(self) -> Store[T]:
        """The copy."""
        return self._inner.store

    @property
    def health(self) -> Health:
        """How it is (K10)."""
        return self._inner.health

    @property
    def is_synced(self) -> bool:
        """Whether the store shows a whole set."""
        return self._inner.is_synced

    def stop(self) -> None:
        """End it, from any thread; the store stays as it is. Idempotent."""
        self._inner.stop()

    synced = blocking(AsyncMirror[T].synced)
    at_least = blocking(AsyncMirror[T].at_least)
    fresh = blocking(AsyncMirror[T].fresh)
    ended = blocking(AsyncMirror[T].ended)


def mirrored(
    method: Callable[Concatenate[A, P], AsyncMirror[T]],
) -> Callable[Concatenate[Blocking[A], P], Mirror[T]]:
    """A method that makes a blocking mirror of what that of the async object makes."""

    @wraps(method)
    def make(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Mirror[T]:
        inner = self._call(lambda: method(self._inner, *args, **kwargs))
        return Mirror(self, inner)

    return without_async(make)
