"""Names into resources: which requests that costs, and when. Virtual time, no sockets."""

from __future__ import annotations

import asyncio

import pytest

from listwatch import (
    APIResource,
    GroupVersionResource,
    InvalidRequest,
    ServiceUnavailable,
    UnknownResource,
)

from .conftest import Bench, config_map, memory_bench, widget, widget_definition

pytestmark = pytest.mark.virtual_time

WIDGETS = GroupVersionResource.parse("example.com/v1/widgets")
DISCOVERY = ["GET /api", "GET /apis"]


async def after(seconds: float) -> None:
    await asyncio.sleep(seconds)


async def test_built_in_types_are_known_without_asking(bench: Bench) -> None:
    async with bench.client() as client:
        made = await client.create(config_map("a"))
        await client.replace(made)
        await client.get("cm", "a")
        await client.list("v1/configmaps")
        await client.patch("ConfigMap", "a", {})
        await client.delete("configmap", "a")
    assert not {"GET /api", "GET /apis"} & set(bench.transport.paths)
    assert len(bench.transport.paths) == 6


async def test_what_the_server_has_is_asked_once(bench: Bench) -> None:
    bench.load(widget_definition(), widget("a"))
    async with bench.client() as client:
        await client.list("widgets")
        await client.get("wd", "a")
        await client.replace(
            widget("a", resourceVersion=(await client.get("wd", "a")).resource_version)
        )
    assert bench.transport.paths[:2] == DISCOVERY
    assert not {"GET /api", "GET /apis"} & set(bench.transport.paths[2:])


@pytest.mark.parametrize("resource", ["widgets", "wd", "example.com/v1/widgets"])
async def test_a_type_that_is_installed_later_is_found_later(bench: Bench, resource: str) -> None:
    async with bench.client() as client:
        with pytest.raises(UnknownResource):
            await client.list(resource)
        await client.create(widget_definition())
        await after(6)
        assert len(await client.list(resource)) == 0
        assert (await client.create(widget("a"))).key == "default/a"


async def test_an_address_needs_no_discovery_where_the_namespace_is_said(bench: Bench) -> None:
    bench.load(widget_definition(), widget("a"))
    async with bench.client() as client:
        await client.list(WIDGETS)
        await client.get(WIDGETS, "a", namespace="default")
        await client.create(widget("b"), resource=WIDGETS)
        assert not {"GET /api", "GET /apis"} & set(bench.transport.paths)
        await client.get(WIDGETS, "a")  # is it namespaced? That must be asked
        assert bench.transport.paths[-3:-1] == DISCOVERY


async def test_a_cluster_scoped_type_is_addressed_without_a_namespace(bench: Bench) -> None:
    bench.load(widget_definition(scope="Cluster"))
    bare = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a"}}
    async with bench.client() as client:
        await client.list("widgets")
        assert (await client.create(bare)).key == "a"
        assert (await client.get("widgets", "a")).key == "a"
        assert (await client.get(WIDGETS, "a")).key == "a"
        with pytest.raises(InvalidRequest, match="widgets are not namespaced"):
            await client.create(widget("b"))


async def test_an_address_is_believed_where_nobody_may_read_what_there_is() -> None:
    async with memory_bench() as bench:
        bench.load(widget_definition(), widget("a"))
        bench.faults.add("any /api: answer 403")
        bench.faults.add("any /apis: answer 403")
        async with bench.client() as client:
            assert len(await client.list("example.com/v1/widgets")) == 1
            found = await client.get("example.com/v1/widgets", "a", namespace="default")
            assert found.name == "a"
            with pytest.raises(UnknownResource, match="a program can also pass an APIResource"):
                await client.get("example.com/v1/widgets", "a")
            with pytest.raises(UnknownResource, match="told nothing of its resources"):
                await client.list("widgets")
            known = APIResource(
                group="example.com", version="v1", name="widgets", kind="Widget", namespaced=True
            )
            assert (await client.get(known, "a")).name == "a"


async def test_a_server_that_says_when_to_ask_again_is_asked_again(bench: Bench) -> None:
    bench.load(widget_definition(), widget("a"))
    bench.faults.add("any /apis: answer 503 with retry-after 3, once")
    async with bench.client() as client:
        assert (await client.get("widgets", "a")).name == "a"
    assert bench.transport.in_first(3) == 2


async def test_a_server_that_does_not_answer_is_told_as_that(bench: Bench) -> None:
    bench.faults.add("any /api: answer 503, once")
    async with bench.client() as client:
        with pytest.raises(ServiceUnavailable):
            await client.list("widgets")
        with pytest.raises(UnknownResource):
            await client.list("widgets")


async def test_what_can_be_no_name_is_refused_without_a_request(bench: Bench) -> None:
    async with bench.client() as client:
        for text in ("pods/log", "", "a b", "apps/v1"):
            with pytest.raises(UnknownResource, match="Expected something like pods"):
                await client.list(text)
    assert bench.transport.paths == []
