"""A thread of its own for functions that may block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from queue import SimpleQueue
from typing import Any, ParamSpec, TypeAlias, TypeVar

__all__ = ["OneThread"]

P = ParamSpec("P")
T = TypeVar("T")

_Calls: TypeAlias = "SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]"


class OneThread(Executor):
    """Runs calls one after another in one thread, which begins with the first.

    The thread is a daemon: a call that blocks for ever keeps nobody from leaving the interpreter,
    as it would in a `ThreadPoolExecutor`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls: _Calls = SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call it when those before are over."""
        if self._thread is None:
            self._thread = threading.Thread(
                target=_work, args=(self._calls,), name=self._name, daemon=True
            )
            self._thread.start()
        future: Future[T] = Future()
        self._calls.put((future, partial(fn, *args, **kwargs)))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """The thread ends after the calls that it has."""
        self._calls.put(None)
        if wait and self._thread is not None:
            self._thread.join()


def _work(calls: _Calls) -> None:
    while (call := calls.get()) is not None:
        future, function = call
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function())
            except StopIteration as error:
                # No asyncio future takes it: whoever awaits this would never hear of it.
                raised = RuntimeError("a call in a thread raised StopIteration")
                raised.__cause__ = error
                future.set_exception(raised)
            except BaseException as error:  # it is raised where the future is awaited
                future.set_exception(error)
        del call, future, function  # nothing of them is held while it waits for the next
