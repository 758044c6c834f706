"""What client-go tries of its informer factories, listers and transforms, against a server without
sockets, told as stories of ours (docs/parity.md).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from listwatch.api import NotFound, Unstructured, key_of
from listwatch.cache import ReflectorOptions
from listwatch.cache.factory import InformerFactory
from listwatch.cache.handlers import Tombstone
from listwatch.cache.lister import ObjectLister
from listwatch.client import Client
from listwatch.wire import decode_partial_metadata, decode_unstructured
from tests.client.conftest import Bench, ask, config_map, erase, memory_bench, write

pytestmark = pytest.mark.virtual_time


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with memory_bench() as bench:
        yield bench


@pytest.fixture
async def client(bench: Bench) -> AsyncIterator[Client]:
    async with bench.client() as client:
        yield client


class Handler:
    def __init__(self) -> None:
        self.told: list[str] = []

    async def on_add(self, obj: Unstructured, in_initial_list: bool) -> None:
        self.told.append(f"ADDED {key_of(obj)}")

    async def on_update(self, old: Unstructured, new: Unstructured) -> None:
        self.told.append(f"MODIFIED {key_of(new)}")

    async def on_delete(self, gone: Unstructured | Tombstone[Unstructured]) -> None:
        self.told.append(f"DELETED {gone.key if isinstance(gone, Tombstone) else key_of(gone)}")


def labelled(name: str, namespace: str, **labels: str) -> dict[str, Any]:
    made = config_map(name, namespace)
    made["metadata"]["labels"] = labels
    return made


@pytest.mark.clause("K8", "A4", "B1")
@pytest.mark.parametrize(
    ("asked", "is_told"),
    [
        ({"namespaces": ["ns-bar"]}, False),
        ({"namespaces": ["ns-foo"]}, True),
        ({"namespaces": ["ns-foo"], "field_selector": "metadata.name=bar"}, False),
        ({"namespaces": ["ns-foo"], "field_selector": "metadata.name=foo"}, True),
        ({"namespaces": ["ns-foo"], "label_selector": "app=other"}, False),
        ({"namespaces": ["ns-foo"], "label_selector": "app=web"}, True),
        ({}, True),
    ],
)
async def test_an_informer_of_a_factory_sees_its_namespace_and_what_its_selectors_match(
    bench: Bench, client: Client, asked: dict[str, Any], is_told: bool
) -> None:
    factory = InformerFactory(client)
    handler = Handler()
    factory.informer("configmaps", **asked).add_handler(handler)
    async with factory:
        await factory.synced(timeout=60)
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns-foo"}}
        assert ask(bench.core, "POST", "/api/v1/namespaces", namespace) == 201
        path = "/api/v1/namespaces/ns-foo/configmaps"
        assert ask(bench.core, "POST", path, labelled("foo", "ns-foo", app="web")) == 201
        await asyncio.sleep(5)
    assert handler.told == (["ADDED ns-foo/foo"] if is_told else [])


@pytest.mark.clause("K1", "K8", "D6")
@pytest.mark.parametrize("what", ["ADDED", "MODIFIED", "DELETED"])
@pytest.mark.parametrize("decoder", [decode_unstructured, decode_partial_metadata])
async def test_what_happens_on_the_server_reaches_the_handler(
    bench: Bench, client: Client, what: str, decoder: Any
) -> None:
    if what != "ADDED":
        write(bench.core, "foo")
    factory = InformerFactory(client)
    informer = factory.informer("cm", decoder=decoder)
    handler = Handler()
    informer.add_handler(handler)
    async with factory:
        await factory.synced(timeout=60)
        await asyncio.sleep(1)
        handler.told.clear()
        match what:
            case "ADDED" | "MODIFIED":
                write(bench.core, "foo", x="1")
            case _:
                erase(bench.core, "foo")
        await asyncio.sleep(5)
    assert handler.told == [f"{what} default/foo"]


@pytest.mark.clause("H4", "H19")
@pytest.mark.parametrize("watch_list", [True, False])
async def test_the_set_comes_through_a_watch_where_that_is_wanted(
    bench: Bench, client: Client, watch_list: bool
) -> None:
    write(bench.core, "foo")
    factory = InformerFactory(client)
    handler = Handler()
    options = ReflectorOptions(watch_list=watch_list)
    factory.informer("cm", options=options).add_handler(handler)
    async with factory:
        await factory.synced(timeout=60)
        await asyncio.sleep(1)
        assert len(bench.transport.asked) == (1 if watch_list else 2)
    assert handler.told == ["ADDED default/foo"]


@pytest.mark.clause("K3", "K8")
async def test_whoever_waits_for_several_is_told_which_of_them_is_late(
    bench: Bench, client: Client
) -> None:
    """client-go's WaitFor logs the names; here the error has them."""
    factory = InformerFactory(client)
    factory.informer("secrets")
    late = factory.informer("configmaps", options=ReflectorOptions(watch_list=False))
    bench.faults.add("list configmaps: answer 500")
    async with factory:
        with pytest.raises(TimeoutError) as caught:
            await factory.synced(timeout=10)
        said = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
        assert "configmaps" in said
        assert not late.is_synced
        assert asyncio.get_running_loop().time() == 10


@pytest.mark.clause("K8")
async def test_waiting_for_none_is_short(client: Client) -> None:
    async with InformerFactory(client) as factory:
        await factory.synced(timeout=10)
    assert asyncio.get_running_loop().time() == 0


# Transforms


def upper(raw: bytes) -> bytes:
    obj = json.loads(raw)
    obj["metadata"]["name"] = obj["metadata"]["name"].upper()
    return json.dumps(obj).encode()


@pytest.mark.clause("I4")
async def test_handlers_and_store_have_what_the_transform_made(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "pod1")
    write(bench.core, "pod2")
    informer = client.informer("cm", transforms=[upper])
    handler = Handler()
    informer.add_handler(handler)
    async with informer:
        await informer.synced(timeout=60)
        await asyncio.sleep(1)
        assert sorted(handler.told) == ["ADDED default/POD1", "ADDED default/POD2"]
        handler.told.clear()
        write(bench.core, "pod2", x="1")
        write(bench.core, "pod3")
        erase(bench.core, "pod1")
        await asyncio.sleep(1)
        assert handler.told == [
            "MODIFIED default/POD2",
            "ADDED default/POD3",
            "DELETED default/POD1",
        ]
        assert sorted(informer.store.keys()) == ["default/POD2", "default/POD3"]


@pytest.mark.clause("I4")
@pytest.mark.parametrize("watch_list", [True, False])
async def test_a_transform_runs_once_for_each_object_that_comes_and_never_on_what_is_there(
    bench: Bench, client: Client, watch_list: bool
) -> None:
    """client-go's runs on its temporary store and again on the real one."""
    runs: list[str] = []

    def counted(raw: bytes) -> bytes:
        name = Unstructured.from_bytes(raw).name
        assert b"transformed" not in raw, "it sees no output of its own here"
        runs.append(name)
        obj = json.loads(raw)
        obj["data"] = {"transformed": "yes"}
        return json.dumps(obj).encode()

    write(bench.core, "foo-1")
    write(bench.core, "foo-2")
    options = ReflectorOptions(watch_list=watch_list, resync_period=5)
    informer = client.informer("cm", transforms=[counted], options=options)
    handler = Handler()
    informer.add_handler(handler)
    async with informer:
        await informer.synced(timeout=60)
        write(bench.core, "foo-3")
        await asyncio.sleep(12)  # two resyncs
        assert sorted(runs) == ["foo-1", "foo-2", "foo-3"]
        assert len(handler.told) == 3 + 2 * 3
        assert [obj["data"]["transformed"] for obj in informer.store.list()] == ["yes"] * 3


@pytest.mark.clause("I3", "H13")
async def test_the_rv_of_the_store_is_that_of_the_newest_change_deletions_too(
    bench: Bench, client: Client
) -> None:
    write(bench.core, "foo")
    informer = client.informer("cm")
    versions: list[str] = []
    informer.add_handler(
        on_add=lambda obj, initial: None,
        on_update=lambda old, new: versions.append(new.resource_version),
        on_delete=lambda obj: versions.append(obj.resource_version),
        inline=True,
    )
    async with informer:
        await informer.synced(timeout=60)
        for act in (lambda: write(bench.core, "foo", x="1"), lambda: erase(bench.core, "foo")):
            act()
            await asyncio.sleep(1)
            assert informer.store.resource_version == versions[-1]
    assert len(versions) == 2


# Listers


@pytest.mark.clause("I1", "A4")
@pytest.mark.parametrize(
    ("selector", "found"), [("match=true", 1000), ("", 10_000), ("match=no", 0)]
)
async def test_a_lister_finds_what_a_selector_matches(
    bench: Bench, client: Client, selector: str, found: int
) -> None:
    labels = [{"match": "true"} if n < 1000 else {} for n in range(10_000)]
    bench.load(*[labelled(f"obj-{n}", "default", **each) for n, each in enumerate(labels)])
    informer = client.informer("cm", options=ReflectorOptions(watch_list=False))
    async with informer:
        await informer.synced(timeout=60)
        lister = ObjectLister(informer.store)
        assert len(lister.list(selector)) == found
        assert len(lister.list(selector, namespace="elsewhere")) == 0
        assert lister.get("obj-7", "default").name == "obj-7"
        with pytest.raises(NotFound):
            lister.get("obj-7", "elsewhere")
