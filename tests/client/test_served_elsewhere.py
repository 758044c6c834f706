"""Types that are denied by a 404 though the client knows them. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from listwatch import (
    APIResource,
    Conflict,
    Forbidden,
    GroupVersionResource,
    InvalidRequest,
    NotFound,
    ServiceUnavailable,
    UnknownResource,
)
from listwatch.cache import Mirror
from listwatch.client import Client

from .conftest import (
    WIDGET_DEFINITION,
    Bench,
    widget,
    widget_definition,
)
from .following import Following

pytestmark = pytest.mark.virtual_time

DISCOVERY = ["GET /api", "GET /apis"]
V1, V2 = (f"/apis/example.com/{version}/namespaces/default/widgets" for version in ("v1", "v2"))

Verb = Callable[[Client], Awaitable[Any]]

VERBS: dict[str, Verb] = {
    "get": lambda client: client.get("widgets", "a"),
    "list": lambda client: client.list("widgets", namespace="default"),
    "patch": lambda client: client.patch("widgets", "a", {"spec": {"n": 1}}),
    "delete": lambda client: client.delete("widgets", "a"),
    "create": lambda client: client.create({"metadata": {"name": "b"}}, resource="widgets"),
    "replace": lambda client: client.replace(
        {"metadata": {"name": "a", "resourceVersion": "1"}}, resource="widgets"
    ),
}
verbs = pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS.keys())


async def known(bench: Bench, client: Client, *versions: str) -> None:
    """Widgets are there, and the client has learnt it."""
    bench.load(widget_definition(*versions))
    bench.load(widget("a", f"example.com/{(*versions, 'v1')[0]}"))
    await client.list("widgets", namespace="default")
    bench.transport.asked.clear()


async def until(is_so: Callable[[], bool], *, within: float) -> None:
    async with asyncio.timeout(within):
        while not is_so():  # noqa: ASYNC110 - time is virtual
            await asyncio.sleep(0.1)


def versions(mirror: Mirror[Any]) -> set[str]:
    return {obj.api_version for obj in mirror.store.list()}


@verbs
async def test_a_request_goes_to_where_the_type_is_served_now(
    bench: Bench, client: Client, verb: Verb
) -> None:
    await known(bench, client, "v1")
    await bench.redefine("v2")
    await asyncio.sleep(3)
    with suppress(Conflict):  # nobody has read what is replaced
        await verb(client)
    # The first request to a storage that was set up anew is answered 429 (K43), and repeated.
    old, *discovery, new = dict.fromkeys(bench.transport.paths)
    assert discovery == DISCOVERY
    assert (old.split("/")[3], new.split("/")[3]) == ("v1", "v2")
    assert old.replace("/v1/", "/v2/") == new
    bench.transport.asked.clear()
    await client.list("widgets", namespace="default")
    assert bench.transport.paths == [f"GET {V2}"]


@verbs
async def test_a_type_that_is_gone_is_unknown(bench: Bench, client: Client, verb: Verb) -> None:
    await known(bench, client)
    await bench.ask("DELETE", WIDGET_DEFINITION)
    await asyncio.sleep(3)
    with pytest.raises(UnknownResource) as caught:
        await verb(client)
    assert isinstance(caught.value.__context__, NotFound)
    assert bench.transport.paths[1:] == DISCOVERY


async def test_an_object_that_is_not_there_is_no_reason_to_ask(
    bench: Bench, client: Client
) -> None:
    await known(bench, client)
    for _ in range(3):
        with pytest.raises(NotFound):
            await client.get("widgets", "nothing")
    assert bench.transport.paths == [f"GET {V1}/nothing"] * 3


async def test_a_type_of_another_scope_is_asked_for_there(bench: Bench, client: Client) -> None:
    await known(bench, client)
    await bench.redefine("v1", scope="Cluster")
    bare = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "b"}}
    await asyncio.sleep(3)
    assert (await client.create(bare)).key == "b"
    assert (await client.get("widgets", "b")).key == "b"
    with pytest.raises(InvalidRequest, match="not namespaced"):
        await client.get("widgets", "b", namespace="default")


async def test_requests_that_are_denied_at_the_same_time_ask_once(
    bench: Bench, client: Client
) -> None:
    await known(bench, client, "v1")
    await bench.redefine("v2")
    await asyncio.sleep(3)
    await asyncio.gather(*(client.list("widgets", namespace="default") for _ in range(9)))
    paths = bench.transport.paths
    assert (paths.count("GET /api"), paths.count("GET /apis")) == (1, 1)
    assert set(paths) == {f"GET {V1}", *DISCOVERY, f"GET {V2}"}


async def test_a_path_that_is_denied_for_ever_does_not_flood_the_server(
    bench: Bench, client: Client
) -> None:
    await known(bench, client)
    bench.faults.add("any widgets: answer 404")
    for _ in range(30):
        with pytest.raises(NotFound):
            await client.list("widgets", namespace="default")
        await asyncio.sleep(1)
    assert bench.transport.paths.count("GET /apis") <= 30 / 5 + 1
    assert bench.transport.paths.count(f"GET {V1}") == 30


async def test_where_the_server_cannot_say_it_is_not_found(bench: Bench, client: Client) -> None:
    await known(bench, client)
    await bench.ask("DELETE", WIDGET_DEFINITION)
    await asyncio.sleep(3)
    bench.faults.add("any /apis: answer 503")
    with pytest.raises(NotFound) as caught:
        await client.get("widgets", "a")
    [note] = caught.value.__notes__
    assert "what the server has could not be asked again: 503" in note


@pytest.mark.parametrize(
    "resource",
    [
        GroupVersionResource("example.com", "v1", "widgets"),
        APIResource(
            group="example.com", version="v1", name="widgets", kind="Widget", namespaced=True
        ),
    ],
    ids=["address", "resource"],
)
async def test_what_the_program_says_is_believed(
    bench: Bench, client: Client, resource: Any
) -> None:
    await known(bench, client)
    await bench.redefine("v2")
    await asyncio.sleep(3)
    with pytest.raises(NotFound):
        await client.list(resource, namespace="default")
    assert bench.transport.paths == [f"GET {V1}"]


async def test_a_built_in_type_is_known_without_asking(bench: Bench, client: Client) -> None:
    bench.faults.add("any pods: answer 404")
    with pytest.raises(NotFound):
        await client.list("pods")
    assert bench.transport.paths == ["GET /api/v1/pods"]


# Mirrors


@pytest.mark.clause("H9")
async def test_a_mirror_goes_on_at_another_version_and_shows_all_of_it(
    bench: Bench, client: Client
) -> None:
    await known(bench, client, "v1")
    bench.load(widget("b", "example.com/v1"))
    notes: list[str] = []
    async with client.mirror("widgets", on_note=lambda note: notes.append(str(note))) as mirror:
        await mirror.synced()
        assert versions(mirror) == {"example.com/v1"}
        await bench.redefine("v2")
        await until(lambda: versions(mirror) == {"example.com/v2"}, within=60)
        assert len(mirror.store) == 2
        assert mirror.health.relists == {"served elsewhere": 1}
        await bench.ask("POST", V2, widget("c", "example.com/v2"))
        await until(lambda: "default/c" in mirror.store, within=60)
    told = "\n".join(notes)
    assert "nothing is served as example.com/v1/widgets: is the type (CRD) gone?" in told
    assert "served elsewhere (it is served as example.com/v2/widgets now)" in told
    assert "relisted after 'served elsewhere': 2 changed" in told


@pytest.mark.clause("H9")
async def test_a_mirror_of_a_type_that_is_gone_says_so_and_is_no_flood(
    bench: Bench, client: Client
) -> None:
    await known(bench, client)
    async with client.mirror("widgets") as mirror:
        await mirror.synced()
        await bench.ask("DELETE", WIDGET_DEFINITION)
        await asyncio.sleep(20)
        assert len(mirror.store) == 0
        begin = asyncio.get_running_loop().time()
        errors = set()
        for _ in range(600):
            errors.add(mirror.health.last_error)
            await asyncio.sleep(1)
        assert len([when for when, _ in bench.transport.asked if when >= begin]) <= 4 * 10 + 1
        assert {error.partition(":")[0] for error in errors} == {"NotFound", "UnknownResource"}
        assert any("is the type (CRD) gone?" in error for error in errors)
        bench.load(widget_definition(), widget("b"))
        await until(lambda: "default/b" in mirror.store, within=60)


@pytest.mark.clause("H17")
async def test_a_watch_in_a_namespace_outlives_that_the_type_has_none(
    bench: Bench, client: Client
) -> None:
    await known(bench, client)
    following = Following(client.watch("widgets", namespace="default"))
    await following.until(1)
    await bench.redefine("v1", scope="Cluster")
    await asyncio.sleep(200)
    assert (
        "is not what it was: widgets are not namespaced" in (following.changes.health.last_error)
        or "is the type (CRD) gone?" in following.changes.health.last_error
    )
    await bench.redefine("v1", scope="Namespaced")
    bench.load(widget("c"))
    assert (await following.until(3))[1:] == [("DELETED", "default/a"), ("ADDED", "default/c")]
    await following.end()


async def test_a_mirror_may_go_on_without_discovery(bench: Bench, client: Client) -> None:
    """Where nobody may read it any more, what is known stays."""
    await known(bench, client)
    async with client.mirror("example.com/v1/widgets") as mirror:
        await mirror.synced()
        for path in ("/api", "/apis"):
            bench.faults.add(f"any {path}: answer 403")
        await bench.ask("DELETE", WIDGET_DEFINITION)
        await asyncio.sleep(100)
        bench.load(widget_definition(), widget("b"))
        await until(lambda: "default/b" in mirror.store, within=90)


# What there is


async def test_a_client_says_what_the_server_has(bench: Bench, client: Client) -> None:
    bench.load(widget_definition("v2", "v1"))
    preferred = {str(each) for each in await client.resources()}
    assert {"v1/pods", "apps/v1/deployments", "example.com/v2/widgets"} <= preferred
    assert "example.com/v1/widgets" not in preferred
    assert "example.com/v1/widgets" in {str(each) for each in await client.discovery.resources()}
    members = [str(each) for each in await client.resources(category="all")]
    assert members[:3] == ["v1/pods", "v1/replicationcontrollers", "v1/services"]
    assert bench.transport.paths == DISCOVERY


async def test_what_has_not_changed_is_not_read_again(bench: Bench, client: Client) -> None:
    await client.resources()
    before = bench.transport.statuses.copy()
    await client.discovery.refresh()
    assert bench.transport.statuses[len(before) :] == [304, 304]


async def test_who_may_not_know_is_told(bench: Bench, client: Client) -> None:
    bench.faults.add("any /api: answer 403")
    bench.faults.add("any /apis: answer 403")
    with pytest.raises(Forbidden):
        await client.resources()
    assert {str(each) for each in await client.resources(category="all")} >= {"v1/pods"}


async def test_a_server_that_fails_is_told(bench: Bench, client: Client) -> None:
    bench.faults.add("any /apis: answer 503")
    with pytest.raises(ServiceUnavailable):
        await client.resources()
