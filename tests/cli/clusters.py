"""An embedded server in another thread, to which a test makes things happen."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any, TypeVar

from listwatch.testing.apiserver import EmbeddedServer
from listwatch.testing.apiserver.faults.current import Faults
from listwatch.testing.apiserver.messages import ServerRequest
from tests.cli.servers import in_thread

T = TypeVar("T")

_PATH = "/api/v1/namespaces/default/configmaps"


class Cluster:
    """A server with ConfigMaps. Each call is one step of the server: nobody is served meanwhile."""

    def __init__(self, server: EmbeddedServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self.url = server.url

    def do(self, step: Callable[[EmbeddedServer], T]) -> T:
        done = threading.Event()
        results: list[T] = []

        def run() -> None:
            try:
                results.append(step(self._server))
            finally:
                done.set()

        self._loop.call_soon_threadsafe(run)
        done.wait()
        return results[0]

    def put(self, *names: str) -> None:
        for name in names:
            self.do(lambda server, name=name: put(server, name))

    def change(self, name: str, value: str) -> None:
        self.do(lambda server: change(server, name, value))

    def delete(self, name: str) -> None:
        self.do(lambda server: delete(server, name))

    def add(self, fault: str) -> None:
        self.do(lambda server: server.faults.add(fault))


def put(server: EmbeddedServer, name: str) -> None:
    _ask(server, "POST", _PATH, {"metadata": {"name": name}, "data": {"a": "1"}})


def change(server: EmbeddedServer, name: str, value: str) -> None:
    _ask(server, "PATCH", f"{_PATH}/{name}", {"data": {"a": value}})


def delete(server: EmbeddedServer, name: str) -> None:
    _ask(server, "DELETE", f"{_PATH}/{name}")


def _ask(server: EmbeddedServer, method: str, path: str, body: Any = None) -> None:
    headers = {"accept": "application/json"}
    if body is not None:
        kind = "merge-patch+json" if method == "PATCH" else "json"
        headers["content-type"] = f"application/{kind}"
    data = b"" if body is None else json.dumps(body).encode()
    server.core.handle(
        ServerRequest(method=method, path=path, query=(), headers=headers, body=data)
    )


@contextmanager
def cluster(*names: str, faults: Sequence[str] = ()) -> Iterator[Cluster]:
    """One with ConfigMaps of these names."""

    @asynccontextmanager
    async def make() -> AsyncIterator[Cluster]:
        async with EmbeddedServer(faults=Faults(*faults)) as server:
            for name in names:
                put(server, name)
            yield Cluster(server, asyncio.get_running_loop())

    with in_thread(make) as found:
        yield found
