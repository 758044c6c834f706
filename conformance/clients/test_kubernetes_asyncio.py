"""PyPI ``kubernetes_asyncio``."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from conformance.clients.place import LABEL, Forgotten, Place, Step, increasing
from conformance.objects import WIDGET, config_map, pod
from conformance.users import ADMIN, NOBODY

pytest.importorskip("kubernetes_asyncio", reason="the extra peers brings kubernetes_asyncio")

from kubernetes_asyncio import client, config, dynamic, watch
from kubernetes_asyncio.client.exceptions import ApiException

# A patch that is a dict goes out as a strategic merge patch unless told otherwise, one that is a
# list as a JSON patch.
MERGE = {"_content_type": "application/merge-patch+json"}


# `Any` for its clients and APIs: their types want models where dicts do as well.
@asynccontextmanager
async def connect(place: Place, user: str = ADMIN, token: str | None = None) -> AsyncIterator[Any]:
    """A client of a place's server, as one of the users or with another token."""
    kubeconfig = str(place.kubeconfig(user, token=token))
    async with await config.new_client_from_config(kubeconfig, persist_config=False) as api:
        yield api


@pytest.fixture
async def api(place: Place) -> AsyncIterator[Any]:
    async with connect(place) as api:
        yield api


@pytest.fixture
def core(api: Any) -> Any:
    return client.CoreV1Api(api)


class Widgets:
    """Widgets of one namespace by `CustomObjectsApi`, whose methods want to be told it all."""

    def __init__(self, api: Any, namespace: str) -> None:
        self._api = client.CustomObjectsApi(api)
        self._where = (WIDGET.group, WIDGET.version, namespace, WIDGET.plural)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        verb, _, subresource = verb.partition("_")
        name = f"{verb}_namespaced_custom_object" + (subresource and f"_{subresource}")
        method = getattr(self._api, name)
        return lambda *given, **options: method(*self._where, *given, **options)

    async def watch(self, **options: Any) -> list[Any]:
        """The events until the watch ends."""
        listing = self._api.list_namespaced_custom_object
        return await collected(listing, *self._where, **options)


@pytest.fixture
def widgets(api: Any, place: Place) -> Widgets:
    return Widgets(api, place.namespace)


async def collected(listing: object, *where: str, **options: Any) -> list[Any]:
    async with watch.Watch().stream(listing, *where, **options) as events:
        return [event async for event in events]


def step(event: Any) -> Step:
    return Step(event["type"], event["raw_object"]["metadata"]["name"])


def status_of(error: ApiException) -> Any:
    """The Status that came with a refusal."""
    assert error.body is not None
    return json.loads(error.body)


def versions(events: list[Any]) -> list[str]:
    return [event["raw_object"]["metadata"]["resourceVersion"] for event in events]


async def test_creates_reads_and_lists_by_selectors(core: Any, place: Place) -> None:
    for name, app in (("a", "web"), ("b", "db"), ("c", "web")):
        created = await core.create_namespaced_config_map(
            place.namespace, config_map(name, {"app": app}, n=name)
        )
        assert created.metadata.uid
        assert created.metadata.creation_timestamp is not None
    assert (await core.read_namespaced_config_map("b", place.namespace)).data == {"n": "b"}

    async def listed(**selectors: str) -> list[str]:
        found = await core.list_namespaced_config_map(place.namespace, **selectors)
        assert int(found.metadata.resource_version) > 0
        return [item.metadata.name for item in found.items]

    assert await listed() == ["a", "b", "c"]
    assert await listed(label_selector=LABEL) == ["a", "c"]
    assert await listed(label_selector="app notin (web)") == ["b"]
    assert await listed(field_selector="metadata.name!=a") == ["b", "c"]


async def test_pages(core: Any, place: Place) -> None:
    for number in range(5):
        place.add(f"c-{number}")
    pages: list[list[str]] = []
    more: dict[str, str] = {}
    while len(pages) == 0 or more["_continue"]:
        page = await core.list_namespaced_config_map(place.namespace, limit=2, **more)
        pages.append([item.metadata.name for item in page.items])
        more = {"_continue": page.metadata._continue}
    assert pages == [["c-0", "c-1"], ["c-2", "c-3"], ["c-4"]]


async def test_watches_what_it_does_itself(core: Any, place: Place) -> None:
    start = (await core.list_namespaced_config_map(place.namespace)).metadata.resource_version
    await core.create_namespaced_config_map(place.namespace, config_map("a", n="1"))
    seen = []
    async with watch.Watch().stream(
        core.list_namespaced_config_map, place.namespace, resource_version=start
    ) as events:
        async for event in events:
            seen.append((event["type"], event["object"].data))
            match seen:
                case [_]:
                    body = {"data": {"m": "2"}}
                    await core.patch_namespaced_config_map("a", place.namespace, body, **MERGE)
                case [_, _]:
                    await core.delete_namespaced_config_map("a", place.namespace)
                case _:
                    break
    both = {"m": "2", "n": "1"}
    assert seen == [("ADDED", {"n": "1"}), ("MODIFIED", both), ("DELETED", both)]


@pytest.mark.parametrize("options", [{}, {"label_selector": LABEL}], ids=["all", "selected"])
async def test_watches_from_a_version_on(
    core: Any, widgets: Widgets, place: Place, options: dict[str, str]
) -> None:
    for plural in ("configmaps", WIDGET.plural):
        churn = place.churn(plural)
        bounds = {"resource_version": churn.start, "timeout_seconds": 1}
        if plural == WIDGET.plural:
            events = await widgets.watch(**options, **bounds)
        else:
            listing = core.list_namespaced_config_map
            events = await collected(listing, place.namespace, **options, **bounds)
        expected = churn.selected if options else churn.all
        assert tuple(step(event) for event in events) == expected
        assert increasing(versions(events))


async def test_a_version_too_old_is_410(forgotten: Forgotten) -> None:
    async with connect(forgotten.place) as api:
        listing = client.CoreV1Api(api).list_namespaced_config_map
        with pytest.raises(ApiException) as raised:
            await collected(listing, forgotten.place.namespace, resource_version=forgotten.version)
    assert raised.value.status == 410
    assert str(raised.value.reason).startswith("Expired: too old resource version: ")


async def test_streams_a_list(core: Any, place: Place) -> None:
    place.add("a")
    last = place.add("b")
    events = await collected(
        core.list_namespaced_config_map,
        place.namespace,
        send_initial_events=True,
        resource_version_match="NotOlderThan",
        allow_watch_bookmarks=True,
        timeout_seconds=1,
    )
    assert [event["type"] for event in events[:3]] == ["ADDED", "ADDED", "BOOKMARK"]
    assert [step(event).name for event in events[:2]] == ["a", "b"]
    end = events[2]["raw_object"]["metadata"]
    assert end["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(end["resourceVersion"]) >= int(last)


async def test_patches_in_two_ways(core: Any, place: Place) -> None:
    await core.create_namespaced_config_map(place.namespace, config_map("a", x="1", y="2"))
    merged = await core.patch_namespaced_config_map(
        "a", place.namespace, {"data": {"x": None, "z": "3"}}, **MERGE
    )
    assert merged.data == {"y": "2", "z": "3"}
    replace = [
        {"op": "test", "path": "/data/y", "value": "2"},
        {"op": "replace", "path": "/data/y", "value": "4"},
    ]
    patched = await core.patch_namespaced_config_map("a", place.namespace, replace)
    assert patched.data["y"] == "4"
    with pytest.raises(ApiException) as raised:
        await core.patch_namespaced_config_map("a", place.namespace, replace)
    assert (raised.value.status, raised.value.reason) == (422, "Unprocessable Entity")


async def test_replaces_and_conflicts(core: Any, place: Place) -> None:
    old = await core.create_namespaced_config_map(place.namespace, config_map("a", n="1"))
    old.data = {"n": "2"}
    new = await core.replace_namespaced_config_map("a", place.namespace, old)
    assert new.data == {"n": "2"}
    assert increasing([old.metadata.resource_version, new.metadata.resource_version])
    with pytest.raises(ApiException) as raised:
        await core.replace_namespaced_config_map("a", place.namespace, old)
    status = status_of(raised.value)
    assert (raised.value.status, status["reason"]) == (409, "Conflict")
    assert "the object has been modified" in status["message"]


async def test_writes_the_status_of_a_pod(core: Any, place: Place) -> None:
    created = await core.create_namespaced_pod(place.namespace, pod("p"))
    assert created.status.phase == "Pending"
    # The main resource leaves the status alone, the subresource all else.
    body = {"status": {"phase": "Running"}, "metadata": {"labels": {"a": "b"}}}
    await core.patch_namespaced_pod("p", place.namespace, body, **MERGE)
    assert (await core.read_namespaced_pod("p", place.namespace)).status.phase == "Pending"
    await core.patch_namespaced_pod_status("p", place.namespace, body, **MERGE)
    found = await core.read_namespaced_pod_status("p", place.namespace)
    assert (found.status.phase, found.metadata.labels) == ("Running", {"a": "b"})
    running = await core.list_namespaced_pod(place.namespace, field_selector="status.phase=Running")
    assert [item.metadata.name for item in running.items] == ["p"]
    deleted = await core.delete_namespaced_pod("p", place.namespace)
    assert deleted.metadata.name == "p"


async def test_deletes_one_and_many(core: Any, place: Place) -> None:
    for name, app in (("a", "web"), ("b", "web"), ("c", "db")):
        await core.create_namespaced_config_map(place.namespace, config_map(name, {"app": app}))
    status = await core.delete_namespaced_config_map("c", place.namespace)
    assert status.status == "Success"
    assert (status.details.name, status.details.kind) == ("c", "configmaps")
    await core.create_namespaced_config_map(place.namespace, config_map("c"))
    await core.delete_collection_namespaced_config_map(place.namespace, label_selector=LABEL)
    left = await core.list_namespaced_config_map(place.namespace)
    assert [item.metadata.name for item in left.items] == ["c"]


async def test_refusals_are_its_exceptions(core: Any, place: Place) -> None:
    here = place.namespace
    await core.create_namespaced_config_map(here, config_map("a"))
    async with connect(place, NOBODY) as api, connect(place, token="made-up") as wrong:
        forbidden, unknown = client.CoreV1Api(api), client.CoreV1Api(wrong)
        attempts: list[tuple[int, str, Awaitable[object]]] = [
            (404, "NotFound", core.read_namespaced_config_map("b", here)),
            (404, "NotFound", core.delete_namespaced_config_map("b", here)),
            (404, "NotFound", core.create_namespaced_config_map("no-such", config_map("a"))),
            (409, "AlreadyExists", core.create_namespaced_config_map(here, config_map("a"))),
            (422, "Invalid", core.create_namespaced_config_map(here, config_map("No"))),
            (400, "BadRequest", core.list_namespaced_config_map(here, label_selector="a in")),
            (403, "Forbidden", forbidden.list_namespaced_config_map(here)),
            (401, "Unauthorized", unknown.list_namespaced_config_map(here)),
        ]
        for code, reason, attempt in attempts:
            with pytest.raises(ApiException) as raised:
                await attempt
            status = status_of(raised.value)
            assert (raised.value.status, status["code"], status["reason"]) == (code, code, reason)


async def test_a_custom_resource(widgets: Widgets, place: Place) -> None:
    start = (await widgets.list())["metadata"]["resourceVersion"]
    red = await widgets.create(WIDGET.object("red", color="red", size=1))
    await widgets.create(WIDGET.object("blue", color="blue"))
    chosen = (await widgets.list(field_selector="spec.color=red"))["items"]
    assert [item["metadata"]["name"] for item in chosen] == ["red"]

    patched = await widgets.patch("red", {"spec": {"size": 2}}, **MERGE)
    assert (patched["spec"], patched["metadata"]["generation"]) == ({"color": "red", "size": 2}, 2)
    told = {"status": {"ready": True}}
    await widgets.patch("red", told, **MERGE)
    assert "status" not in await widgets.get("red")
    await widgets.patch_status("red", told, **MERGE)
    found = await widgets.get("red")
    assert (found["status"], found["metadata"]["generation"]) == ({"ready": True}, 2)
    with pytest.raises(ApiException) as raised:
        await widgets.replace("red", red)
    assert raised.value.status == 409
    found["spec"] = {"color": "green"}
    assert (await widgets.replace("red", found))["spec"] == {"color": "green"}
    await widgets.delete("red")
    with pytest.raises(ApiException) as raised:
        await widgets.get("red")
    assert raised.value.status == 404
    events = await widgets.watch(resource_version=start, timeout_seconds=1)
    assert [step(event) for event in events] == [
        ("ADDED", "red"),
        ("ADDED", "blue"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("MODIFIED", "red"),
        ("DELETED", "red"),
    ]


async def test_its_dynamic_client_finds_a_resource(api: Any, place: Place) -> None:
    found = await dynamic.DynamicClient(api)
    things = await found.resources.get(api_version="example.com/v1", kind="Widget")
    made = await things.create(WIDGET.object("a", color="red"), namespace=place.namespace)
    assert made.spec.color == "red"
    listed = await things.get(namespace=place.namespace, field_selector="spec.color=red")
    assert [item.metadata.name for item in listed.items] == ["a"]
    await things.delete(name="a", namespace=place.namespace)
    assert not place.exists("a", WIDGET.plural)
