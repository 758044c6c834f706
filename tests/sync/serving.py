"""A server with sockets in a thread of its own, and threads that a test waits for."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from listwatch.sync import Client
from listwatch.testing.apiserver import EmbeddedServer

T = TypeVar("T")

LIMIT = 20.0
"""Seconds in which anything must happen that a test waits for."""


class Serving:
    """The server, which is touched in its own thread only."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.server = EmbeddedServer()

    def wait(self, waiting: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(waiting, self._loop).result(LIMIT)

    def do(self, function: Callable[[EmbeddedServer], T]) -> T:
        async def done() -> T:
            return function(self.server)

        return self.wait(done())

    def until(self, true: Callable[[EmbeddedServer], bool]) -> None:
        """Wait for something that the server can see, such as the end of a watch."""

        until = time.monotonic() + LIMIT
        while not self.do(true):
            assert time.monotonic() < until

    def client(self) -> Client:
        return Client(config=self.server.client_config())

    def load(self, *names: str, **data: str) -> None:
        self.do(lambda server: server.core.load([config_map(name, **data) for name in names]))


def config_map(name: str, **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": data,
    }


@contextmanager
def served() -> Iterator[Serving]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server")
    thread.start()
    serving = Serving(loop)
    try:
        serving.wait(serving.server.start())
        yield serving
    finally:
        serving.wait(serving.server.stop())
        serving.wait(loop.shutdown_asyncgens())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class Worker(Generic[T]):
    """A function in a thread, and what became of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self._result: T
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="worker")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._result = self._function()
        except BaseException as error:
            self._error = error

    def blocked(self) -> None:
        """Wait until it waits for the background loop."""
        blocked(self._thread)

    def result(self) -> T:
        """What it gives or raises."""
        self._thread.join(LIMIT)
        assert not self._thread.is_alive(), "it is still at work"
        if self._error is not None:
            raise self._error
        return self._result


def blocked(thread: threading.Thread) -> None:
    """Wait until a thread waits for a call."""
    until = time.monotonic() + LIMIT
    while True:
        frame = sys._current_frames().get(thread.ident or 0)
        codes = []
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        if [code.co_name for code in codes[:2]] == ["ends", "result"]:
            return
        assert time.monotonic() < until, codes
        time.sleep(0)  # lets it run


def loop_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "listwatch loop"]
