"""Watches of types that come and go. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from listwatch import (
    GroupVersionResource,
)
from listwatch.client import Client

from .conftest import (
    Bench,
    ask,
    turn,
    widget,
    widget_definition,
)
from .following import Following

pytestmark = pytest.mark.virtual_time


WIDGETS = GroupVersionResource.parse("example.com/v1/widgets")


@pytest.mark.parametrize("resource", ["widgets", "wd.example.com", WIDGETS], ids=str)
async def test_a_type_that_is_installed_later_is_watched_then(
    bench: Bench, client: Client, resource: Any
) -> None:
    following = Following(client.watch(resource))
    await asyncio.sleep(200)
    assert bench.transport.in_first(10) <= 10
    bench.load(widget_definition(), widget("a"))
    assert await following.until(1) == [("ADDED", "default/a")]
    await following.end()


async def test_a_type_that_goes_takes_its_objects_along_and_may_come_back(
    bench: Bench, client: Client
) -> None:
    bench.load(widget_definition(), widget("a"))
    following = Following(client.watch("widgets"))
    await following.until(1)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
    assert ask(bench.core, "DELETE", path) == 200
    assert await following.until(2) == [("ADDED", "default/a"), ("DELETED", "default/a")]
    await asyncio.sleep(100)
    bench.load(widget_definition(), widget("b"))
    assert (await following.until(3))[2:] == [("ADDED", "default/b")]
    await following.end()


async def test_a_type_that_comes_back_at_another_version_is_found_there(
    bench: Bench, client: Client
) -> None:
    bench.load(widget_definition("v1beta1"), widget("a", "example.com/v1beta1"))
    following = Following(client.watch("widgets"))
    await following.until(1)
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
    assert ask(bench.core, "DELETE", path) == 200
    await following.until(2)
    await asyncio.sleep(10)
    bench.load(widget_definition("v1"), widget("b"))
    assert (await following.until(3))[2:] == [("ADDED", "default/b")]
    assert following.events[-1].object.api_version == "example.com/v1"
    await following.end()


@pytest.mark.clause("H9")
@pytest.mark.parametrize(
    "refusal",
    [
        "refuse",
        "any: answer 401",
        "any: answer 403",
        "any: answer 404",
        "any: answer 410",
        "any: answer 429",
        "any: answer 429 with retry-after 1",
        "any: answer 500",
        "any: answer 503 as text",
        "any: answer 503 as html",
        "any: cut",
        "any: reset",
        "any /apis: answer 503",
        "any widgets: answer 404",
        "any widgets: answer 410",
        "any widgets: answer 500",
        "any widgets: cut",
        "watch widgets: end",
        "watch widgets: error 410",
        "watch widgets: error 500",
        "watch widgets: garbage",
    ],
)
async def test_discovery_counts_in_what_a_reflector_may_send(
    bench: Bench, client: Client, refusal: str
) -> None:
    bench.load(widget_definition(), widget("a"))
    await turn()
    fault = bench.faults.add(refusal)
    following = Following(client.watch("widgets"))
    await asyncio.sleep(10)
    assert bench.transport.in_first(10) <= 10
    bench.faults.remove(fault)
    assert await following.until(1) == [("ADDED", "default/a")]
    await following.end()
