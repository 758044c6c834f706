"""The whole way: what a client asks for, and what it makes of recorded answers in protobuf."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from listwatch.api import GroupVersionResource, ListOptions, NotAcceptable, NotFound, Unstructured
from listwatch.cache import ListWatch, MetadataObject, Mirror, metadata_only
from listwatch.rest import ClientConfig, RESTClient
from listwatch.testing import HANG, MemoryTransport
from listwatch.wire import Encoding, ObjectDecoder
from listwatch.wire.protobuf_object import ProtobufObject, decode_protobuf
from tests.support.vectors import vector
from tests.wire.protobuf_pairs import json_objects

pytestmark = [pytest.mark.clause("B9"), pytest.mark.virtual_time]

PODS = GroupVersionResource.parse("v1/pods")
NODES = GroupVersionResource.parse("v1/nodes")
METADATA = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata"


@contextmanager
def answering(*names: str, encodings: tuple[Encoding, ...] = ()) -> Iterator[RESTClient]:
    """A client whose requests are answered by these recordings, each at once, in turn."""
    replies = [vector(name).reply(speed=None) for name in names]
    transport = MemoryTransport(lambda request: replies.pop(0) if replies else HANG)
    yield RESTClient(
        ClientConfig(server="http://x"), transport=transport, encodings=encodings, max_retries=0
    )
    assert transport.open_responses == 0


def accepted(client: RESTClient, request: int = 0) -> str:
    transport = client.transport
    assert isinstance(transport, MemoryTransport)
    return transport.requests[request].headers["Accept"]


async def test_a_decoder_of_protobuf_is_enough_to_ask_for_it() -> None:
    with answering("k-list-pods-protobuf", "k-get-pods-protobuf") as client:
        found = await client.get().resource(PODS).decoder(decode_protobuf).list()
        assert [pod.key for pod in found] == ["rec/web-00", "rec/web-01"]
        one = await client.get().resource(PODS).name("web-00").decoder(decode_protobuf)
        assert one == found.items[0]
        assert one.raw == found.items[0].raw
        assert accepted(client, 0) == accepted(client, 1) == "application/vnd.kubernetes.protobuf"


async def test_who_reads_whole_objects_in_json_asks_for_json() -> None:
    with answering("k-list-pods", encodings=(Encoding.PROTOBUF,)) as client:
        found = await client.get().resource(PODS).list()
        assert isinstance(found.items[0], Unstructured)
        assert accepted(client) == "application/json"


async def test_metadata_is_asked_for_in_protobuf_with_json_behind_it() -> None:
    with answering("k-list-pods-metadata-protobuf", encodings=(Encoding.PROTOBUF,)) as client:
        source = ListWatch.from_client(client, PODS, "rec", decoder=metadata_only())
        found = await source.alist(ListOptions())
        assert accepted(client).startswith(f"{METADATA}List;")
        assert accepted(client).endswith("application/json")
    there = json_objects(vector("k-list-pods-metadata"))
    keep = metadata_only()
    assert [pod.raw for pod in found] == [keep(raw).raw for raw in there]


async def test_an_answer_in_json_is_read_nevertheless() -> None:
    with answering("k-list-pods-metadata", encodings=(Encoding.PROTOBUF,)) as client:
        source = ListWatch.from_client(client, PODS, "rec", decoder=metadata_only())
        assert [pod.key for pod in await source.alist(ListOptions())] == [
            "rec/web-00",
            "rec/web-01",
        ]


async def test_a_refusal_in_protobuf_is_its_error() -> None:
    refusals = ("k-get-pods-missing-protobuf", "k-cr-list-protobuf")
    with answering(*refusals, encodings=(Encoding.PROTOBUF,)) as client:
        asked = client.get().resource(PODS).decoder(decode_protobuf)
        with pytest.raises(NotFound, match='pods "nope" not found'):
            await asked.name("nope")
        with pytest.raises(NotAcceptable, match="only the following media types"):
            await asked.list()


@pytest.mark.parametrize(
    ("name", "decoder", "kind"),
    [
        ("k-watchlist-nodes-metadata-protobuf", metadata_only(), MetadataObject),
        ("k-watchlist-nodes-protobuf", decode_protobuf, ProtobufObject),
    ],
)
async def test_a_mirror_holds_what_a_stream_in_protobuf_says(
    name: str, decoder: ObjectDecoder[Any], kind: type
) -> None:
    with answering(name, encodings=(Encoding.PROTOBUF,)) as client:
        source = ListWatch.from_client(client, NODES, decoder=decoder)
        async with Mirror(source) as mirror:
            await mirror.synced()
            assert sorted(mirror.store.keys()) == ["node-0", "node-1", "node-2"]
            assert {type(mirror.store[key]) for key in mirror.store.snapshot()} == {kind}
        assert accepted(client).startswith("application/vnd.kubernetes.protobuf")
