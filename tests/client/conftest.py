"""A server inside the test, and what this folder asks of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from listwatch import ClientConfig
from listwatch.client import Client
from listwatch.rest.transport import HTTPRequest
from listwatch.testing.apiserver import APIServer, Auth, EmbeddedServer, Faults, ServerTransport
from listwatch.testing.apiserver.messages import Answer, ServerRequest

CRD = "customresourcedefinitions"


def config_map(name: str, namespace: str = "default", **data: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def widget_definition(*versions: str, scope: str = "Namespaced") -> dict[str, Any]:
    """The definition of widgets.example.com, short name `wd`."""
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    served = versions or ("v1",)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": scope,
            "names": {
                "plural": "widgets",
                "singular": "widget",
                "kind": "Widget",
                "shortNames": ["wd"],
            },
            "versions": [
                {"name": name, "served": True, "storage": name == served[0], "schema": schema}
                for name in served
            ],
        },
    }


def widget(name: str, api_version: str = "example.com/v1", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": api_version,
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", **metadata},
    }


def ask(core: APIServer, method: str, path: str, obj: dict[str, Any] | None = None) -> int:
    """Do something to the server, now, behind the back of every client; the status."""
    body = b"" if obj is None else json.dumps(obj).encode()
    reaction = core.handle(ServerRequest(method=method, path=path, body=body))
    assert isinstance(reaction, Answer)
    return reaction.status


WIDGET_DEFINITION = f"/apis/apiextensions.k8s.io/v1/{CRD}/widgets.example.com"


def write(core: APIServer, name: str, namespace: str = "default", **data: str) -> None:
    """Make a config map, or change the one that is there."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    obj = config_map(name, namespace, **data)
    if ask(core, "PUT", f"{path}/{name}", obj) == 404:
        assert ask(core, "POST", path, obj) == 201


def erase(core: APIServer, name: str, namespace: str = "default") -> None:
    assert ask(core, "DELETE", f"/api/v1/namespaces/{namespace}/configmaps/{name}") == 200


def on_server(core: APIServer) -> dict[str, str]:
    """Keys and RVs of all config maps."""
    reaction = core.handle(ServerRequest(method="GET", path="/api/v1/configmaps"))
    assert isinstance(reaction, Answer)
    metas = [item["metadata"] for item in json.loads(reaction.body)["items"]]
    return {f"{meta['namespace']}/{meta['name']}": meta["resourceVersion"] for meta in metas}


def tasks_besides_this() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]


async def turn(times: int = 20) -> None:
    """Let the loop turn, so that what was told to end can end."""
    for _ in range(times):
        await asyncio.sleep(0)


class Asked(ServerTransport):
    """The server without sockets, which remembers what it was asked and when."""

    def __init__(self, core: APIServer, faults: Faults) -> None:
        super().__init__(core, faults)
        self.asked: list[tuple[float, str]] = []
        """The loop's time, and method and path."""
        self.statuses: list[int] = []
        """What was answered."""

    async def send(self, request: HTTPRequest) -> Any:
        now = asyncio.get_running_loop().time()
        self.asked.append((now, f"{request.method} {request.path}"))
        response = await super().send(request)
        self.statuses.append(response.status)
        return response

    @property
    def paths(self) -> list[str]:
        return [path for _, path in self.asked]

    def in_first(self, seconds: float) -> int:
        """How many requests came in so many seconds from the first."""
        return sum(1 for when, _ in self.asked if when < self.asked[0][0] + seconds)


class Bench:
    """A server core, the transport to it, and its faults."""

    def __init__(self, *, auth: Auth | None = None, seed: int = 0) -> None:
        loop = asyncio.get_running_loop()
        self.core = APIServer(
            clock=loop.time,
            wall=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            rng=Random(seed),
            auth=auth,
        )
        self.faults = Faults(rng=Random(seed))
        self.transport = Asked(self.core, self.faults)

    def client(self, **config: Any) -> Client:
        return Client(
            config=ClientConfig(server="http://memory", **config), transport=self.transport
        )

    def load(self, *objects: dict[str, Any]) -> None:
        self.core.load(objects)

    async def ask(self, method: str, path: str, obj: dict[str, Any] | None = None) -> Any:
        """Do something to the server as somebody else, so that what it does later is done, too."""
        body = None if obj is None else json.dumps(obj).encode()
        headers = {"Content-Type": "application/json"} if body else {}
        request = HTTPRequest(method=method, path=path, headers=headers, body=body)
        answer = await ServerTransport.send(self.transport, request)
        found = await answer.read()
        assert answer.status < 300, found
        return json.loads(found)

    async def redefine(self, *versions: str, scope: str = "Namespaced") -> None:
        """Serve widgets at these versions, the first of which is stored; those that are served no
        more stay in the definition, as they must. Another scope takes another definition, and the
        objects along with the old one.
        """
        there = await self.ask("GET", WIDGET_DEFINITION)
        if there["spec"]["scope"] != scope:
            await self.ask("DELETE", WIDGET_DEFINITION)
            await asyncio.sleep(3)
            self.load(widget_definition(*versions, scope=scope))
            return
        new = widget_definition(*versions)["spec"]
        old = [item for item in there["spec"]["versions"] if item["name"] not in versions]
        new["versions"] += [{**item, "served": False, "storage": False} for item in old]
        there["spec"] |= new
        await self.ask("PUT", WIDGET_DEFINITION, there)

    def restart(self) -> None:
        """Kill it, and start it again with all that it had. What it did before, it may not be able
        to tell event by event, once its history is compacted.
        """
        self.transport.service.restart("kept")


@asynccontextmanager
async def memory_bench(**options: Any) -> AsyncIterator[Bench]:
    bench = Bench(**options)
    try:
        yield bench
    finally:
        await bench.transport.close()
        assert bench.transport.open_responses == 0


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Without sockets, for virtual time."""
    async with memory_bench() as bench:
        yield bench


@pytest.fixture
async def client(bench: Bench) -> AsyncIterator[Client]:
    """Of the server without sockets."""
    async with bench.client() as client:
        yield client


@pytest.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    """With sockets."""
    async with EmbeddedServer() as server:
        yield server
