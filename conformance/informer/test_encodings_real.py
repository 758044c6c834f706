"""The same set in every encoding, from a real server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from conformance.binaries import Binaries
from conformance.cluster import Cluster
from conformance.mirror.scene import CONFIG_MAPS, collection
from conformance.mirror.writer import Writer
from conformance.namespaces import create_namespace
from conformance.objects import WIDGET, config_map, install_crd
from listwatch import Client, Encoding, NotFound, SharedInformer, load_config, metadata_only
from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.transport import HTTPRequest, HTTPResponse
from listwatch.wire.media import CBOR, CBOR_SEQUENCE, JSON, PROTOBUF, media_type

pytestmark = [pytest.mark.timeout(180), pytest.mark.clause("B9")]

_FAR_AWAY = 60.0


@pytest.fixture(scope="module")
def cluster(binaries: Binaries) -> Iterator[Cluster]:
    """One that speaks CBOR, too."""
    gates = {"CBORServingAndStorage": True}
    with Cluster(binaries=binaries, feature_gates=gates) as cluster:
        install_crd(cluster)
        yield cluster


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """With objects in it whose metadata has all there is."""
    name = create_namespace(cluster)
    for number in range(30):
        made = config_map(f"there-{number:02}", {"app": f"a{number % 3}"} if number % 2 else {})
        made["metadata"]["annotations"] = {"words": 'a "quoted" \\ line\nand é 漢 \u2028'}
        cluster.create(collection(name), made)
    owner = cluster.get(collection(name, "there-00"))["metadata"]
    held = config_map("held", n="0")
    held["metadata"] |= {
        "finalizers": ["example.com/hold"],
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "name": owner["name"],
                "uid": owner["uid"],
                "blockOwnerDeletion": True,
            }
        ],
    }
    cluster.create(collection(name), held)
    cluster.delete(collection(name, "held"))  # which leaves it, deleted at a time
    for number in range(5):
        cluster.create(WIDGET.path(name), WIDGET.object(f"w{number}", color="red"))
    return name


class Told(AiohttpTransport):
    """Keeps the types of the answers."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.types: set[str] = set()

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        response = await super().send(request)
        if response.status == 200:
            self.types.add(media_type(response.headers.get("Content-Type")))
        return response


@asynccontextmanager
async def client_of(cluster: Cluster, *encodings: Encoding) -> AsyncIterator[tuple[Client, Told]]:
    config = load_config(kubeconfig=cluster.kubeconfig())
    transport = Told(config)
    async with Client(config=config, transport=transport, encodings=encodings) as client:
        yield client, transport


def metadata_of(informer: SharedInformer[Any]) -> dict[str, Any]:
    """All metadata but what `metadata_only` leaves out, by key."""
    found = {}
    for obj in informer.store.list():
        metadata = obj.to_dict()["metadata"]
        metadata.pop("managedFields", None)
        found[obj.key] = (obj.kind, obj.api_version, metadata)
    return found


async def agree(cluster: Cluster, *informers: SharedInformer[Any]) -> dict[str, Any]:
    """Wait until all of them are at the newest RV, and see that they hold the same."""
    version = cluster.get("/api/v1/namespaces?limit=1")["metadata"]["resourceVersion"]
    for informer in informers:
        await informer.at_least(version, timeout=_FAR_AWAY)
    first, *others = map(metadata_of, informers)
    for other in others:
        assert other == first
    return first


@pytest.mark.parametrize("resource", ["configmaps", f"{WIDGET.plural}.{WIDGET.group}"])
async def test_metadata_by_protobuf_and_whole_objects_by_json_are_the_same_set(
    cluster: Cluster, namespace: str, resource: str
) -> None:
    async with (
        client_of(cluster, Encoding.PROTOBUF) as (compact, told),
        client_of(cluster) as (plain, told_plainly),
        compact.informer(resource, namespaces=[namespace], decoder=metadata_only()) as metadata,
        plain.informer(resource, namespaces=[namespace]) as whole,
    ):
        for informer in (metadata, whole):
            await informer.synced(timeout=_FAR_AWAY)
        at_first = await agree(cluster, metadata, whole)
        if resource == "configmaps":
            with Writer(cluster, namespace, rate=100) as writer:
                await asyncio.sleep(3)
                writer.pause()
            assert writer.writes > 100
        else:
            for number in range(5, 10):
                cluster.create(WIDGET.path(namespace), WIDGET.object(f"w{number}", color="red"))
            cluster.delete(WIDGET.path(namespace, "w0"))
        assert await agree(cluster, metadata, whole) != at_first
    assert PROTOBUF in told.types
    assert told_plainly.types == {JSON}


async def test_whole_objects_by_cbor_and_by_json_are_the_same(
    cluster: Cluster, namespace: str
) -> None:
    async with (
        client_of(cluster, Encoding.CBOR) as (binary, told),
        client_of(cluster) as (plain, _),
        binary.informer("configmaps", namespaces=[namespace]) as one,
        plain.informer("configmaps", namespaces=[namespace]) as other,
    ):
        for informer in (one, other):
            await informer.synced(timeout=_FAR_AWAY)
        with Writer(cluster, namespace, rate=100) as writer:
            await asyncio.sleep(3)
            writer.pause()
        assert len(await agree(cluster, one, other)) > 30
        for obj in other.store.list():
            same = one.store.get(obj.key)
            assert same is not None
            assert same.to_dict() == obj.to_dict()
    assert CBOR_SEQUENCE in told.types
    assert told.types <= {CBOR, CBOR_SEQUENCE, JSON}


@pytest.mark.parametrize("encoding", [Encoding.CBOR, Encoding.PROTOBUF])
async def test_one_object_a_write_and_an_error_in_each_encoding(
    cluster: Cluster, namespace: str, encoding: Encoding
) -> None:
    async with client_of(cluster, encoding) as (client, _), client_of(cluster) as (plain, _):
        found = await client.get("configmaps", "there-01", namespace=namespace)
        same = await plain.get("configmaps", "there-01", namespace=namespace)
        assert found.to_dict() == same.to_dict()
        await client.patch("configmaps", "there-01", {"data": {"n": "1"}}, namespace=namespace)
        listed = await client.list("configmaps", namespace=namespace, page_size=7)
        assert len(listed) == 31
        with pytest.raises(NotFound, match='configmaps "none" not found'):
            await client.get("configmaps", "none", namespace=namespace)
        with pytest.raises(NotFound, match='configmaps "none" not found'):
            await client.rest.get(
                CONFIG_MAPS, "none", namespace=namespace, decoder=metadata_only()
            ).form("PartialObjectMetadata")
