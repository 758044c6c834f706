"""The stage sends what it says, to our own client as to anybody's."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.measure import checksum
from listwatch import Client, GroupVersionResource, ReflectorOptions, metadata_only

OBJECTS, EVENTS = 60, 150
PODS = GroupVersionResource.parse("v1/pods")
WIDGETS = GroupVersionResource.parse("bench.listwatch.dev/v1/widgets")


@pytest.fixture(scope="module", params=["usual", "pretty", "late"])
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    arguments = ("--objects", str(OBJECTS), "--events", str(EVENTS), "--data", request.param)
    with subprocess.Popen(
        (sys.executable, "-m", "bench.stage", *arguments),
        cwd=Path(bench.__file__).parents[1],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def ask(url: str, method: str = "GET", accept: str = "application/json") -> Any:
    asked = urllib.request.Request(url, method=method, headers={"Accept": accept})
    with urllib.request.urlopen(asked) as answer:
        return json.load(answer)


@pytest.mark.parametrize("watch_list", [False, True], ids=["list", "watchlist"])
@pytest.mark.parametrize("resource", [PODS, WIDGETS], ids=["pods", "widgets"])
async def test_an_informer_sees_every_object_and_every_event(
    url: str, resource: GroupVersionResource, watch_list: bool
) -> None:
    expected = (await asyncio.to_thread(ask, f"{url}/bench/stats"))["expected"][resource.resource]
    seen: list[Any] = []
    done = asyncio.Event()

    def take(obj: Any) -> None:
        seen.append(obj)
        if len(seen) == expected["events"]:
            done.set()

    async with Client(server=url) as client:
        informer = client.informer(
            resource, options=ReflectorOptions(watch_list=watch_list, page_size=25)
        )
        informer.add_handler(
            on_add=lambda obj, initial: None if initial else take(obj),
            on_update=lambda old, new: take(new),
            on_delete=take,
        )
        async with informer:
            await informer.synced()
            assert summed(informer.store.list()) == expected["objects_checksum"]
            assert len(informer.store) == expected["objects"] == OBJECTS
            started = await asyncio.to_thread(ask, f"{url}/bench/start", "POST")
            await done.wait()
            assert started == {"watches": 1}
            assert len(seen) == expected["events"] == EVENTS
            assert summed(seen) == expected["events_checksum"]
            assert summed(informer.store.list()) == expected["end_checksum"]


def summed(objects: list[Any]) -> str:
    return checksum((obj.key for obj in objects), (obj.resource_version for obj in objects))


async def test_after_an_expiry_the_list_is_what_is_there_after_all_events(url: str) -> None:
    expected = (await asyncio.to_thread(ask, f"{url}/bench/stats"))["expected"]["pods"]
    async with (
        Client(server=url) as client,
        client.mirror(PODS, options=ReflectorOptions(watch_list=False)) as mirror,
    ):
        await mirror.synced()
        while await asyncio.to_thread(ask, f"{url}/bench/expire", "POST") != {"watches": 1}:
            pass
        await mirror.at_least(expected["last_resource_version"])
        assert summed(mirror.store.list()) == expected["end_checksum"]
    await asyncio.to_thread(ask, f"{url}/bench/reset", "POST")


async def test_metadata_alone_is_sent_where_it_is_asked_for(url: str) -> None:
    expected = (await asyncio.to_thread(ask, f"{url}/bench/stats"))["expected"]["pods"]
    async with (
        Client(server=url) as client,
        client.mirror(PODS, decoder=metadata_only()) as mirror,
    ):
        await mirror.synced()
        assert summed(mirror.store.list()) == expected["objects_checksum"]
        assert "spec" not in mirror.store.list()[0]


def test_pages_make_up_the_list_and_namespaces_make_up_the_whole(url: str) -> None:
    whole = ask(f"{url}/api/v1/pods")
    items, token = [], ""
    while True:
        page = ask(f"{url}/api/v1/pods?limit=7&continue={token}")
        items += page["items"]
        token = page["metadata"].get("continue", "")
        if not token:
            break
        assert page["metadata"]["remainingItemCount"] == OBJECTS - len(items)
    assert items == whole["items"]
    spaces = [item["metadata"]["name"] for item in ask(f"{url}/api/v1/namespaces")["items"]]
    parts = [ask(f"{url}/api/v1/namespaces/{name}/pods")["items"] for name in spaces]
    assert [item for part in parts for item in part] == whole["items"]


@pytest.mark.parametrize("path", ["api", "api/v1", "apis", "version"])
def test_there_is_as_much_discovery_as_clients_want(url: str, path: str) -> None:
    assert ask(f"{url}/{path}")
