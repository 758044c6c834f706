"""An embedded server for programs that block: on an event loop in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import TracebackType
from typing import Self, TypeVar

from .apiserver import EmbeddedServer

__all__ = ["ServerThread"]

T = TypeVar("T")


class ServerThread:
    """Runs an `EmbeddedServer` beside whatever the test does: tests with and without an event loop,
    programs in threads and in other processes.

    >>> from listwatch.sync import Client
    >>> with ServerThread() as running, Client(config=running.server.client_config()) as client:
    ...     made = client.create({"metadata": {"name": "a"}}, resource="configmaps")
    ...     made.key
    'default/a'

    `make` makes the server. It belongs to its thread: to change anything about it while it runs,
    `call`. Entering raises what starting it raises.
    """

    def __init__(self, make: Callable[[], EmbeddedServer] = EmbeddedServer) -> None:
        self.server = make()
        """It may be read from anywhere: `url`, `client_config()`, `kubeconfig()`, `ca_data`."""
        self._thread = threading.Thread(target=self._run, name="kube-apiserver", daemon=True)
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._end: asyncio.Event | None = None

    def call(self, function: Callable[[EmbeddedServer], T]) -> T:
        """What `function` gives, called in the server's thread: `running.call(lambda server:
        server.restart("lost"))`. Raises what it raises.
        """
        done: Future[T] = Future()

        def call() -> None:
            try:
                done.set_result(function(self.server))
            except Exception as error:
                done.set_exception(error)

        self._started.result().call_soon_threadsafe(call)
        return done.result()

    def start(self) -> None:
        """Returns when it is up."""
        self._thread.start()
        self._started.result()

    def stop(self) -> None:
        """Ends every connection; returns when all of it is gone."""
        if self._end is not None:
            end = self._end
            self._started.result().call_soon_threadsafe(end.set)
        self._thread.join()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            # Whoever starts it is to see that, and nobody else is there to.
            if self._started.done():
                raise
            self._started.set_exception(error)

    async def _serve(self) -> None:
        async with self.server:
            self._end = asyncio.Event()
            self._started.set_result(asyncio.get_running_loop())
            await self._end.wait()
