"""Ctrl-C, which has to end the program at once and quietly, wherever it is: while it imports, while
it waits for the server, while a pager does not read what it writes.

asyncio's own way waits for a blocked write for ever, and Python's leaves a traceback at unlucky
moments.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["INTERRUPTED", "Interrupts"]

INTERRUPTED = 130
"""The exit code: 128 plus the number of SIGINT, as shells have it."""


class Interrupts:
    """While entered, Ctrl-C cancels the current `task`, so that it can close its connections. Where
    there is none, where it cannot be cancelled, and at the second time, the program ends.

    `owned` says that nothing else is going on in this process, so that it may be ended abruptly;
    else `KeyboardInterrupt` is raised.
    """

    def __init__(self, *, owned: bool) -> None:
        self.owned = owned
        self.interrupted = False
        """Whether the task was cancelled from here."""
        self._task: asyncio.Task[Any] | None = None
        self._is_blocked: Callable[[], bool] = bool
        self._before: Any = None

    def __enter__(self) -> Self:
        if (
            threading.current_thread() is threading.main_thread()
            # Not where a shell has the signal ignored, as it does for `command &`.
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # An owned process keeps the handler: the interpreter's own end must be quiet, too.
        if self._before is not None and not self.owned:
            signal.signal(signal.SIGINT, self._before)

    @contextmanager
    def cancelling(self, *, unless: Callable[[], bool]) -> Iterator[None]:
        """While inside, the running task is what is cancelled, `unless` it is blocked then."""
        self._is_blocked = unless
        self._task = asyncio.current_task()
        try:
            with _waking() if self._before is not None else nullcontext():
                yield
        finally:
            self._task = None

    def leave(self) -> None:
        """End an owned process without a word."""
        if self.owned:
            os._exit(INTERRUPTED)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        task = self._task
        if task is not None and not self.interrupted and not self._is_blocked():
            self.interrupted = True
            task.get_loop().call_soon_threadsafe(task.cancel)
            return
        self.leave()
        raise KeyboardInterrupt


@contextmanager
def _waking() -> Iterator[None]:
    """Have every signal wake the running loop.

    Python runs a handler between two steps of the main thread. A signal that comes when the loop
    has taken its last step before it waits would lie there until something else happens.
    """
    loop = asyncio.get_running_loop()
    woken, waker = socket.socketpair()
    with woken, waker:
        woken.setblocking(False)
        waker.setblocking(False)
        try:
            loop.add_reader(woken, woken.recv, 4096)
        except NotImplementedError:  # the loop of Windows, which sees to it itself
            yield
            return
        before = signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(woken)
