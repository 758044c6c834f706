"""Blocking: an async object for threads; its methods are those of the async one, waited for."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from functools import wraps
from types import TracebackType
from typing import Concatenate, Generic, ParamSpec, Protocol, Self, TypeVar

from .call import Closed
from .share import Entered, Share

__all__ = ["Blocking", "Running", "blocking", "without_async"]

A = TypeVar("A")
A_co = TypeVar("A_co", covariant=True)
P = ParamSpec("P")
R = TypeVar("R")


class Blocking(Generic[A_co]):
    """Something async, and the share of the loop that it lives in, which is that of its `parent`,
    who is kept for as long.
    """

    def __init__(self, parent: Blocking[object] | Share, inner: A_co) -> None:
        self._parent = parent
        self._share: Share = parent if isinstance(parent, Share) else parent._share
        self._inner = inner

    def _run(self, make: Callable[[], Awaitable[R]]) -> R:
        return self._share.run(make)

    def _call(self, function: Callable[[], R]) -> R:
        """Call something that is quick, where nothing else happens meanwhile: in the loop."""

        async def called() -> R:
            return function()

        return self._share.run(called)

    def __repr__(self) -> str:
        return f"<blocking {self._inner!r}>"


def blocking(
    method: Callable[Concatenate[A, P], Awaitable[R]],
) -> Callable[Concatenate[Blocking[A], P], R]:
    """A method that awaits that of the async object, with its signature and its words."""

    @wraps(method)
    def wait(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._run(lambda: method(self._inner, *args, **kwargs))

    return without_async(wait)


def without_async(function: A) -> A:
    """Says what its docstring says in the words of blocking code."""
    words = function.__doc__ or ""
    words = words.replace("async with", "with").replace("async for", "for")
    function.__doc__ = words.replace("await ", "")
    return function


class AsyncRunning(Protocol):
    """What an `async with` starts and ends."""

    async def __aenter__(self) -> object: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


X = TypeVar("X", bound=AsyncRunning, covariant=True)


class Running(Blocking[X], ABC, Generic[X]):
    """Something that runs inside of its `with`. It is left when that is, or when the client is
    closed.
    """

    _leaving: asyncio.Task[None] | None = None

    @abstractmethod
    def stop(self) -> None:
        """End it, from any thread, without waiting for its end. Idempotent."""

    def __enter__(self) -> Self:
        try:
            self._run(self._enter)
        except BaseException as error:
            if not isinstance(error, Exception):
                self.stop()  # this was interrupted, and that may have begun
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._run(self._end)
        except Closed:
            pass  # the client is, and so this has been left
        except BaseException:
            self.stop()  # where nobody waits for the end, as in a finalizer in the loop's thread
            raise
        ended = self._leaving
        if error is None and ended is not None and ended.done() and not ended.cancelled():
            ended.result()

    async def _end(self) -> None:
        """End it, in the loop, once. Raises nothing."""
        if self._leaving is None:
            self._leaving = asyncio.create_task(self._leave())
        await asyncio.wait([self._leaving])
        if not self._leaving.cancelled():
            self._leaving.exception()  # seen: `__exit__` raises it where there is nothing worse
        self._share.entered.discard(Entered(self.stop, self._end))

    async def _enter(self) -> None:
        await self._inner.__aenter__()
        self._share.entered.add(Entered(self.stop, self._end))

    async def _leave(self) -> None:
        await self._inner.__aexit__(None, None, None)
