"""PyPI ``kr8s``, by its asynchronous half."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

import pytest

from conformance.clients.place import LABEL, Forgotten, Place, Step, increasing
from conformance.objects import WIDGET, config_map, deployment, pod
from conformance.users import NOBODY

pytest.importorskip("kr8s", reason="the extra peers brings kr8s")

import kr8s
from kr8s.asyncio.objects import (
    APIObject,
    ConfigMap,
    CustomResourceDefinition,
    Deployment,
    Pod,
    new_class,
)

# It tells of every Kubernetes newer than those that it was released for.
pytestmark = pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")

Connect = Callable[[Path], Awaitable[Any]]

Widget = new_class(f"{WIDGET.kind}.{WIDGET.group}/{WIDGET.version}", plural=WIDGET.plural)


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes clients of a kubeconfig."""
    made: list[Any] = []

    async def connected(kubeconfig: Path) -> Any:
        made.append(await kr8s.asyncio.api(kubeconfig=str(kubeconfig)))
        return made[-1]

    yield connected
    for api in made:  # it leaves its connections to the garbage collector
        if api._session is not None:
            await api._session.aclose()


class Client:
    """Objects that belong to one client and one namespace: by itself each would look for one."""

    def __init__(self, api: Any, place: Place) -> None:
        self.api = api
        self._namespace = place.namespace

    def config_map(self, name: str, app: str = "web", **data: str) -> Any:
        return ConfigMap(config_map(name, {"app": app}, **data), self._namespace, self.api)

    def widget(self, name: str, **spec: Any) -> Any:
        return Widget(WIDGET.object(name, **spec), self._namespace, self.api)

    def pod(self, name: str) -> Any:
        return Pod(pod(name), self._namespace, self.api)

    def deployment(self, name: str, replicas: int) -> Any:
        return Deployment(deployment(name, replicas), self._namespace, self.api)

    async def apply(self, made: Any, by: str, **query: str) -> Any:
        """It has no server-side apply of its own: this is how one asks for it."""
        async with self.api.call_api(
            "PATCH",
            version=made.version,
            namespace=self._namespace,
            url=f"{made.endpoint}/{made.name}",
            params={"fieldManager": by, **query},
            headers={"Content-Type": "application/apply-patch+yaml"},
            content=json.dumps(made.raw),
        ) as response:
            return type(made)(response.json(), self._namespace, self.api)

    async def get(self, kind: str | type, **selectors: Any) -> list[Any]:
        return [found async for found in self.api.get(kind, **selectors)]

    async def names(self, kind: str | type, **selectors: Any) -> list[str]:
        return [found.name for found in await self.get(kind, **selectors)]

    async def watch(self, kind: Any, count: int, **options: Any) -> list[tuple[str, Any]]:
        """So many events."""
        events: list[tuple[str, Any]] = []
        async with aclosing(self.api.async_watch(kind, **options)) as watch:
            async for event in watch:
                events.append(event)
                if len(events) == count:
                    break
        return events


@pytest.fixture
async def client(connect: Connect, place: Place) -> Client:
    return Client(await connect(place.kubeconfig()), place)


def step(event: tuple[str, Any]) -> Step:
    return Step(event[0], event[1].name)


def versions(events: list[tuple[str, Any]]) -> list[str]:
    return [obj.metadata.resourceVersion for _, obj in events]


def refusal(error: kr8s.ServerError) -> tuple[int, str]:
    assert error.response is not None
    status = error.response.json()
    assert status["code"] == error.response.status_code
    return status["code"], status["reason"]


async def test_creates_reads_and_lists_by_selectors(client: Client, place: Place) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        made = client.config_map(name, app, n=name)
        await made.create()
        assert made.metadata.uid
        assert made.metadata.creationTimestamp
    found = await ConfigMap.get("b", place.namespace, client.api)
    assert found.data == {"n": "b"}
    assert await found.exists()
    assert not await client.config_map("d").exists()
    assert await client.names("configmaps") == ["a", "b", "c"]
    assert await client.names("cm", label_selector=LABEL) == ["a", "c"]
    assert await client.names("ConfigMap", label_selector="app notin (web)") == ["b"]
    assert await client.names(ConfigMap, field_selector={"metadata.name": "c"}) == ["c"]


async def test_follows_the_pages(client: Client, place: Place) -> None:
    with place.server.session() as session:  # its pages have 100 objects
        for number in range(205):
            session.create(place.path(), config_map(f"c-{number:03}"))
    assert await client.names("configmaps") == [f"c-{number:03}" for number in range(205)]


async def test_watches_what_it_does_itself(client: Client, place: Place) -> None:
    start = place.resource_version()
    made = client.config_map("a", n="1")
    await made.create()
    seen = []
    async with aclosing(client.api.async_watch("configmaps", since=start)) as watch:
        async for kind, obj in watch:
            seen.append((kind, obj.raw.data))
            match seen:
                case [_]:
                    await made.patch({"data": {"m": "2"}})
                case [_, _]:
                    await made.delete()
                case _:
                    break
    both = {"m": "2", "n": "1"}
    assert seen == [("ADDED", {"n": "1"}), ("MODIFIED", both), ("DELETED", both)]


async def test_an_object_watches_itself(client: Client, place: Place) -> None:
    made = client.config_map("a", n="1")
    await made.create()
    await client.config_map("b").create()
    place.server.patch(place.path(name="a"), {"data": {"n": "2"}})
    async with aclosing(made.watch()) as watch:
        async for kind, obj in watch:
            assert (kind, obj.name, obj.data) == ("MODIFIED", "a", {"n": "2"})
            break


@pytest.mark.parametrize("selector", [None, LABEL], ids=["all", "selected"])
@pytest.mark.parametrize("plural", ["configmaps", WIDGET.plural])
async def test_watches_from_a_version_on(
    client: Client, place: Place, plural: str, selector: str | None
) -> None:
    churn = place.churn(plural)
    expected = churn.selected if selector else churn.all
    events = await client.watch(plural, len(expected), since=churn.start, label_selector=selector)
    assert tuple(step(event) for event in events) == expected
    assert increasing(versions(events))


async def test_a_version_too_old_is_410(connect: Connect, forgotten: Forgotten) -> None:
    # Its own watch meets a 410 by asking for the same version again, without end, so this looks
    # at the answer that it gets.
    api = await connect(forgotten.place.kubeconfig())
    async with api.call_api(
        "GET",
        namespace=forgotten.place.namespace,
        url="configmaps",
        params={"watch": "true", "resourceVersion": forgotten.version},
        stream=True,
    ) as response:
        [line] = [line async for line in response.aiter_lines()]
    assert '"code":410' in line
    assert '"kind":"Status"' in line


async def test_patches_in_two_ways(client: Client) -> None:
    made = client.config_map("a", x="1", y="2")
    await made.create()
    await made.patch({"data": {"x": None, "z": "3"}})
    assert made.data == {"y": "2", "z": "3"}
    replace = [
        {"op": "test", "path": "/data/y", "value": "2"},
        {"op": "replace", "path": "/data/y", "value": "4"},
    ]
    await made.patch(replace, type="json")
    assert made.data == {"y": "4", "z": "3"}
    with pytest.raises(kr8s.ServerError) as raised:
        await made.patch(replace, type="json")
    assert refusal(raised.value) == (422, "Invalid")
    await made.label({"more": "x"})
    await made.annotate({"note": "y"})
    assert (made.labels, made.annotations) == ({"app": "web", "more": "x"}, {"note": "y"})


async def test_a_patch_of_an_old_version_conflicts(client: Client) -> None:
    # It has no replace: the version in a patch is its optimistic lock.
    made = client.config_map("a", n="1")
    await made.create()
    old = made.metadata.resourceVersion
    await made.patch({"data": {"n": "2"}})
    with pytest.raises(kr8s.ServerError) as raised:
        await made.patch({"metadata": {"resourceVersion": old}, "data": {"n": "3"}})
    assert refusal(raised.value) == (409, "Conflict")
    assert "the object has been modified" in str(raised.value)


async def test_writes_the_status_of_a_pod(client: Client, place: Place) -> None:
    made = client.pod("p")
    await made.create()
    assert made.status.phase == "Pending"
    assert not await made.ready()
    # The main resource leaves the status alone, the subresource all else.
    await made.patch({"status": {"phase": "Running"}})
    assert made.status.phase == "Pending"
    ready = [{"type": kind, "status": "True"} for kind in ("Ready", "ContainersReady")]
    await made.patch({"status": {"phase": "Running", "conditions": ready}}, subresource="status")
    await made.wait("condition=Ready", timeout=10)
    assert await made.ready()
    assert await client.names("pods", field_selector="status.phase=Running") == ["p"]
    await made.delete(force=True)
    await made.wait("delete", timeout=10)
    assert not place.exists("p", "pods")


async def test_refusals_are_its_exceptions(client: Client, connect: Connect, place: Place) -> None:
    await client.config_map("a").create()
    missing = client.config_map("b")
    for attempt in (missing.delete(), missing.refresh(), missing.patch({"data": {}})):
        with pytest.raises(kr8s.NotFoundError):
            await attempt
    nowhere = ConfigMap(config_map("a"), "no-such", client.api)
    forbidden = Client(await connect(place.kubeconfig(NOBODY)), place)
    kubeconfig = place.kubeconfig(NOBODY)
    unknown = Client(await connect(kubeconfig), place)
    # It reads the file anew when it is refused, so this is the token that it goes on with.
    token = place.server.tokens[NOBODY]
    kubeconfig.write_text(kubeconfig.read_text().replace(token, "made-up"))
    attempts: list[tuple[int, str, Awaitable[object]]] = [
        (404, "NotFound", nowhere.create()),
        (409, "AlreadyExists", client.config_map("a").create()),
        (422, "Invalid", client.config_map("No").create()),
        (400, "BadRequest", client.get(ConfigMap, label_selector="a in")),
        (403, "Forbidden", forbidden.get(ConfigMap)),
        (401, "Unauthorized", unknown.get(ConfigMap)),
    ]
    for code, reason, attempt in attempts:
        with pytest.raises(kr8s.ServerError) as raised:
            await attempt
        assert refusal(raised.value) == (code, reason)


async def test_a_custom_resource(client: Client, place: Place) -> None:
    start = place.resource_version(WIDGET.plural)
    red = client.widget("red", color="red", size=1)
    await red.create()
    await client.widget("blue", color="blue").create()
    assert await client.names("wd", field_selector="spec.color=red") == ["red"]

    await red.patch({"spec": {"size": 2}})
    assert (red.spec, red.metadata.generation) == ({"color": "red", "size": 2}, 2)
    await red.patch({"status": {"ready": True}})
    assert "status" not in red.raw
    await red.patch({"status": {"ready": True}}, subresource="status")
    assert (red.status, red.metadata.generation) == ({"ready": True}, 2)
    await red.wait("jsonpath='{.status.ready}'=True", timeout=10)
    await red.delete()
    assert not await red.exists()
    events = await client.watch("widgets", 5, since=start)
    assert [step(event) for event in events] == [
        ("ADDED", "red"),
        ("ADDED", "blue"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("DELETED", "red"),
    ]


async def test_finds_what_the_server_has(client: Client) -> None:
    assert (await client.api.version())["gitVersion"].startswith("v1.")
    found = {resource["name"]: resource for resource in await client.api.api_resources()}
    assert found["configmaps"]["shortNames"] == ["cm"]
    assert found["widgets"]["version"] == "example.com/v1"
    crds = await client.get(CustomResourceDefinition)
    assert "widgets.example.com" in [crd.name for crd in crds]
    assert all(isinstance(crd, APIObject) for crd in crds)


def owners(made: Any) -> dict[str, str]:
    return {entry.manager: entry.operation for entry in made.metadata.managedFields}


async def test_applies_by_its_own_request(client: Client) -> None:
    made = await client.apply(client.config_map("a", x="1", y="1"), "alice")
    assert made.data == {"x": "1", "y": "1"}
    assert owners(made) == {"alice": "Apply"}
    with pytest.raises(kr8s.ServerError, match=r'conflict with "alice": \.data\.x') as raised:
        await client.apply(client.config_map("a", x="2"), "bob")
    assert refusal(raised.value) == (409, "Conflict")
    taken = await client.apply(client.config_map("a", x="2"), "bob", force="true")
    assert taken.data == {"x": "2", "y": "1"}
    assert owners(taken) == {"alice": "Apply", "bob": "Apply"}
    await taken.patch({"data": {"y": None}})
    assert taken.data == {"x": "2"}
    tried = await client.apply(client.config_map("a", x="3"), "bob", dryRun="All")
    assert tried.data == {"x": "3"}
    await taken.refresh()
    assert taken.data == {"x": "2"}


async def test_creates_many_at_once(client: Client) -> None:
    await client.api.create([client.config_map(name) for name in ("a", "b", "c")])
    assert sorted(await client.names("configmaps")) == ["a", "b", "c"]


async def test_scales_a_deployment(client: Client) -> None:
    made = client.deployment("web", 1)
    await made.create()
    assert (made.replicas, made.metadata.generation) == (1, 1)
    await made.scale(3)
    assert (made.replicas, made.metadata.generation) == (3, 2)


async def test_waits_for_what_others_do(client: Client, place: Place) -> None:
    made = client.pod("p")
    await made.create()
    started = asyncio.Event()

    async def wait(*conditions: str, mode: Literal["any", "all"] = "any") -> None:
        started.set()
        await client_pod.wait(list(conditions), mode=mode, timeout=30)

    async def tell(**values: str) -> None:
        listed = [{"type": kind, "status": value} for kind, value in values.items()]
        await made.patch({"status": {"conditions": listed}}, subresource="status")

    client_pod = await Pod.get("p", place.namespace, client.api)
    async with asyncio.TaskGroup() as tasks:
        both = tasks.create_task(wait("condition=Ready", "condition=ContainersReady", mode="all"))
        await started.wait()
        await tell(Ready="False", ContainersReady="True")
        assert not both.done()
        await tell(Ready="True", ContainersReady="True")
    assert client_pod.metadata.resourceVersion == made.metadata.resourceVersion
    started.clear()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(wait("delete"))
        await started.wait()
        await made.delete(grace_period=0)
    assert not place.exists("p", "pods")


async def test_waits_for_a_finalizer(client: Client, place: Place) -> None:
    made = client.widget("a")
    made.raw["metadata"]["finalizers"] = ["example.com/hold"]
    await made.create()
    await made.delete()
    assert await made.exists()
    await made.refresh()
    assert made.metadata.deletionTimestamp
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(made.wait("delete", timeout=30))
        other = await Widget.get("a", place.namespace, client.api)
        await other.patch([{"op": "remove", "path": "/metadata/finalizers"}], type="json")
    assert not await made.exists()
