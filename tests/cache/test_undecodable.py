"""An object that nobody here could read keeps its place."""

from __future__ import annotations

import gc
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from listwatch import GroupVersionResource, MalformedObject, ObjectDecodeError
from listwatch.cache import ListWatch, Mirror, Undecodable
from listwatch.cache.reflector_options import ReflectorOptions
from listwatch.rest import ClientConfig, RESTClient
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import HANG, MemoryTransport, Reply
from listwatch.wire import Encoding, ObjectDecoder, decode_unstructured
from listwatch.wire.decoders import object_decode_error
from listwatch.wire.protobuf_object import ProtobufObject, decode_protobuf
from tests.wire import protobuf_bytes
from tests.wire.cbor_items import item

from .pods import in_protobuf
from .scripted import settle

pytestmark = pytest.mark.clause("H10")

PODS = GroupVersionResource.parse("v1/pods")
RAW = b'{"metadata":{"name":"web","namespace":"default","uid":"u1","resourceVersion":"7"},"x":1}'


def test_it_knows_which_object_it_is_and_keeps_its_bytes() -> None:
    broken = Undecodable.of(RAW, "it has no spec")
    assert (broken.key, broken.uid, broken.resource_version) == ("default/web", "u1", "7")
    assert broken.raw == RAW
    assert broken.reason == "it has no spec"


@pytest.mark.parametrize(
    "reason", [ValueError("no spec"), object_decode_error(RAW, ValueError("no spec"))]
)
def test_its_reason_is_what_the_decoder_raised(reason: Exception) -> None:
    assert Undecodable.of(RAW, reason).reason == "ValueError: no spec"


def test_its_error_names_the_object_and_the_reason() -> None:
    error = Undecodable.of(RAW, ValueError("no spec")).error
    assert isinstance(error, ObjectDecodeError)
    assert str(error) == "cannot decode object default/web: ValueError: no spec"
    assert (error.key, error.raw) == ("default/web", RAW)


def test_each_reader_gets_an_error_of_its_own() -> None:
    broken = Undecodable.of(RAW, "broken")
    assert broken.error is not broken.error


@pytest.mark.parametrize(
    "raw",
    [
        b'{"kind":7,"metadata":{"name":"web","namespace":"default"}}',
        b'{"metadata":{"name":"web","namespace":"default","uid":7,"resourceVersion":8}}',
        b'{"metadata":{"name":"web","namespace":"default","labels":7}}',
    ],
)
def test_the_key_is_read_whatever_else_is_wrong_with_the_object(raw: bytes) -> None:
    broken = Undecodable.of(raw, "broken")
    assert (broken.key, broken.uid, broken.resource_version) == ("default/web", "", "")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b"{}",
        b'{"metadata":null}',
        b'{"metadata":{"name":""}}',
        b'{"metadata":{"name":7}}',
        b'{"a":' * 100_000,
    ],
    ids=lambda raw: repr(raw[:30]),
)
def test_an_object_whose_key_cannot_be_read_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedObject, match="whose key cannot be read"):
        Undecodable.of(raw, "broken")


@pytest.mark.clause("A7")
def test_it_holds_bytes_of_its_own() -> None:
    buffer = bytearray(RAW)
    broken = Undecodable.of(buffer, "broken")  # type: ignore[arg-type]  # a careless caller
    buffer[2:10] = b"METADATA"
    assert broken.raw == RAW


def test_it_pickles_cannot_be_changed_and_costs_the_gc_nothing() -> None:
    broken = Undecodable.of(RAW, "broken")
    assert pickle.loads(pickle.dumps(broken)) == broken
    with pytest.raises(AttributeError):
        broken.key = "other"  # type: ignore[misc]
    assert not gc.is_tracked(broken)


@pytest.mark.clause("B9")
def test_in_protobuf_too_it_knows_which_object_it_is() -> None:
    whole = in_protobuf("default/web", 7)
    broken = Undecodable.of(whole.raw, ValueError("no spec"))
    assert (broken.key, broken.uid, broken.resource_version) == ("default/web", "u1", "7")
    assert (broken.raw, broken.reason) == (whole.raw, "ValueError: no spec")


@pytest.mark.clause("B9")
@pytest.mark.parametrize("raw", [in_protobuf("", 7).raw, b"k8s\0", b"k8s\0\xff", b"k8s\0\x12\xff"])
def test_so_it_is_refused_where_that_cannot_be_read(raw: bytes) -> None:
    with pytest.raises(MalformedObject):
        Undecodable.of(raw, "broken")


class Choosy:
    """Reads pods in protobuf, but for one."""

    reads = frozenset({Encoding.PROTOBUF})

    def __call__(self, raw: bytes) -> ProtobufObject:
        found = decode_protobuf(raw)
        if found.name == "bad":
            raise ValueError("not this one")
        return found


@asynccontextmanager
async def mirrored(
    encoding: Encoding, listed: bytes, watched: bytes, decoder: ObjectDecoder[Any]
) -> AsyncIterator[Mirror[Any]]:
    """What is made of these bodies, of which no list is asked for twice."""

    def handle(request: HTTPRequest) -> Reply:
        asked.append(request.path)
        if dict(request.query).get("watch"):
            return Reply(body=[watched, HANG], headers=headers)
        return Reply(body=listed, headers=headers)

    asked: list[str] = []
    headers = {"Content-Type": str(encoding)}
    client = RESTClient(
        ClientConfig(server="http://x"),
        transport=MemoryTransport(handle),
        max_retries=0,
        encodings=(encoding,),
    )
    source = ListWatch.from_client(client, PODS, decoder=decoder)
    async with Mirror(source, options=ReflectorOptions(watch_list=False)) as mirror:
        await mirror.synced(timeout=100)
        await settle()
        yield mirror
    assert len(asked) == 2


@pytest.mark.virtual_time
@pytest.mark.clause("B9", "D6")
@pytest.mark.parametrize("where", ["list", "watch"])
async def test_in_a_mirror_of_protobuf_it_costs_no_other(where: str) -> None:
    good, bad = protobuf_bytes.pod("good", (6, "41")), protobuf_bytes.pod("bad", (6, "43"))
    listed = protobuf_bytes.pod_list(*([good, bad] if where == "list" else [good]))
    event = protobuf_bytes.event("ADDED", protobuf_bytes.envelope("v1", "Pod", bad))
    watched = len(event).to_bytes(4, "big") + event if where == "watch" else b""
    async with mirrored(Encoding.PROTOBUF, listed, watched, Choosy()) as mirror:
        assert mirror.health.undecodable == ("default/bad",)
        assert set(mirror.store.keys()) == {"default/good", "default/bad"}


@pytest.mark.virtual_time
@pytest.mark.clause("B9", "D6")
@pytest.mark.parametrize("odd", [b"\x41\xff", b"\xf9\x7e\x00"], ids=["no UTF-8", "NaN"])
async def test_so_it_does_in_one_of_cbor_where_json_cannot_say_it(odd: bytes) -> None:
    def pod(name: str, value: bytes) -> bytes:
        metadata = {"name": name, "namespace": "default", "uid": name, "resourceVersion": "7"}
        return b"\xa2" + item("spec") + value + item("metadata") + item(metadata)

    head = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "9"}}
    items = b"\x82" + pod("good", item("x")) + pod("bad", odd)
    listed = b"\xa4" + item(head)[1:] + item("items") + items
    async with mirrored(Encoding.CBOR, listed, b"", decode_unstructured) as mirror:
        assert mirror.health.undecodable == ("default/bad",)
        assert set(mirror.store.keys()) == {"default/good", "default/bad"}
