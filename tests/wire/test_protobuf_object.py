"""A whole object in protobuf, alone and in a store."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from listwatch.api import MalformedObject, PartialObjectMetadata, key_of
from listwatch.cache import Identity, Store, identity_of
from listwatch.wire import Encoding, WatchDecoder, decode_list
from listwatch.wire.protobuf_codec import PROTOBUF_CODEC
from listwatch.wire.protobuf_object import ProtobufObject, decode_protobuf
from listwatch.wire.protobuf_unknown import unwrap, wrap
from tests.support.vectors import vector
from tests.wire.protobuf_bytes import Value, envelope, field, message, pod
from tests.wire.protobuf_pairs import json_objects

pytestmark = pytest.mark.clause("B9")


def recorded() -> ProtobufObject:
    return decode_protobuf(vector("k-get-pods-protobuf").body)


def made(name: str, version: str = "1", uid: str = "u", kind: str = "Pod") -> ProtobufObject:
    metadata: tuple[tuple[int, Value], ...] = ((1, name), (3, "default"), (5, uid), (6, version))
    return decode_protobuf(envelope("v1", kind, message((1, metadata))))


@pytest.mark.clause("A3")
def test_who_it_is_is_at_hand() -> None:
    found = recorded()
    assert (found.api_version, found.kind) == ("v1", "Pod")
    assert (found.key, found.namespace, found.name) == ("rec/web-00", "rec", "web-00")
    assert found.resource_version == "228"
    assert found.identity == ("rec/web-00", found.uid, "228")
    assert repr(found) == "<Pod rec/web-00 in protobuf rv=228>"
    node = decode_protobuf(envelope("v1", "Node", message((1, ((1, "node-0"),)))))
    assert (node.key, node.namespace, node.name) == ("node-0", "", "node-0")
    assert (
        repr(decode_protobuf(envelope("", "", b""))) == "<object (no name) in protobuf rv=(none)>"
    )


def test_its_metadata_is_what_the_server_says_of_it_in_json() -> None:
    [there] = json_objects(vector("k-get-pods-metadata"))
    metadata = PartialObjectMetadata.from_bytes(there).metadata
    found = recorded()
    assert found.metadata == metadata
    assert metadata.managed_fields
    assert found.uid == metadata.uid


def test_its_message_is_that_of_its_type() -> None:
    item = pod("a") + field(2, ((5, "Always"),))
    found = decode_protobuf(envelope("v1", "Pod", item))
    assert found.message == item
    assert recorded().message == unwrap(vector("k-get-pods-protobuf").body).message


@pytest.mark.parametrize("size", [0, 1, 127, 128, 16383, 16384])
def test_an_envelope_that_is_written_is_read_as_it_was(size: int) -> None:
    raw = wrap("apps/v1", "Deployment", memoryview(b"x" * size))
    assert unwrap(raw) == ("apps/v1", "Deployment", b"x" * size)
    assert raw == envelope("apps/v1", "Deployment", b"x" * size)


def test_an_envelope_is_written_as_the_server_does_it() -> None:
    body = vector("k-get-pods-protobuf").body
    assert wrap(*unwrap(body)) == body


def test_two_are_equal_by_what_names_an_object_and_its_state() -> None:
    pod = made("a")
    assert pod == made("a")
    assert hash(pod) == hash(made("a"))
    others = [made("b"), made("a", version="2"), made("a", uid="v"), made("a", kind="Job"), "a"]
    assert all(pod != other for other in others)


def test_it_pickles_and_is_its_own_copy() -> None:
    found = recorded()
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.raw == found.raw
    assert copy.copy(found) is copy.deepcopy(found) is found


def test_metadata_that_does_not_decode_is_said_when_it_is_read() -> None:
    raw = envelope("v1", "Pod", message((1, ((1, "a"), (8, b"\xff")))))
    found = decode_protobuf(raw)
    assert found.key == "a"
    with pytest.raises(MalformedObject):
        _ = found.metadata


@pytest.mark.clause("A3", "D6")
def test_a_store_knows_it() -> None:
    store: Store[ProtobufObject] = Store()
    nodes = decode_list(vector("k-list-nodes-protobuf").body, decode_protobuf, codec=PROTOBUF_CODEC)
    store.replace(nodes.items, nodes.resource_version)
    assert sorted(store.keys()) == ["node-0", "node-1"]
    watch = WatchDecoder(decode_protobuf, codec=PROTOBUF_CODEC)
    for event in watch.feed(vector("k-bookmarks-nodes-protobuf-70s").body):
        found = getattr(event, "object", None)
        if isinstance(found, ProtobufObject):
            store.update(found)
    node = store.get("node-0")
    assert node is not None
    assert node.resource_version == "668"
    assert identity_of(node) == ("node-0", node.uid, "668")
    assert key_of(node) == "node-0"


class Generated:
    """A decoder to messages of a class such as protoc makes of Kubernetes' own definitions."""

    reads = frozenset({Encoding.PROTOBUF})

    def __init__(self) -> None:
        file = descriptor_pb2.FileDescriptorProto(name="k8s.proto", package="k8s", syntax="proto2")
        meta = file.message_type.add(name="ObjectMeta")
        for name, number in (("name", 1), ("namespace", 3), ("uid", 5), ("resourceVersion", 6)):
            meta.field.add(name=name, number=number, type=9, label=1)
        spec = file.message_type.add(name="PodSpec")
        spec.field.add(name="nodeName", number=10, type=9, label=1)
        pod = file.message_type.add(name="Pod")
        for number, (name, kind) in enumerate([("metadata", "ObjectMeta"), ("spec", "PodSpec")], 1):
            pod.field.add(name=name, number=number, type=11, label=1, type_name=f".k8s.{kind}")
        pool = DescriptorPool()
        pool.AddSerializedFile(file.SerializeToString())
        self._pod = GetMessageClass(pool.FindMessageTypeByName("k8s.Pod"))

    def __call__(self, raw: bytes) -> Any:
        return self._pod.FromString(decode_protobuf(raw).message)


@pytest.mark.clause("D6")
def test_a_store_knows_the_messages_of_generated_classes() -> None:
    store: Store[Any] = Store()
    pods = decode_list(vector("k-list-pods-protobuf").body, Generated(), codec=PROTOBUF_CODEC)
    store.replace(pods.items, pods.resource_version)
    pod = store["rec/web-00"]
    assert identity_of(pod) == Identity(*recorded().identity)
    assert pod.spec.nodeName == "node-0"


def test_it_does_not_clash_with_other_definitions_of_the_same_types() -> None:
    """A program may have generated ones, in the pool that everybody shares."""
    program = """
from google.protobuf import descriptor_pb2, descriptor_pool
from listwatch.wire import protobuf_codec

pool = descriptor_pool.Default()
for package in ("listwatch", "k8s.io.apimachinery.pkg.apis.meta.v1"):
    file = descriptor_pb2.FileDescriptorProto(
        name=package.replace(".", "/") + ".proto", package=package, syntax="proto3"
    )
    file.message_type.add(name="ObjectMeta").field.add(
        name="name", number=1, type=9, label=1
    )
    pool.AddSerializedFile(file.SerializeToString())
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)


def test_the_library_does_not_need_protobuf_until_it_is_asked_for() -> None:
    program = """
import sys
sys.modules["google.protobuf"] = None
import listwatch.cache, listwatch.rest
from listwatch.wire.encodings import Encoding, EncodingUnavailable, codecs_of
try:
    codecs_of([Encoding.PROTOBUF])
except EncodingUnavailable as error:
    assert "listwatch[protobuf]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)


def test_every_public_name_can_be_imported_without_the_extras() -> None:
    program = """
import sys
sys.modules["google.protobuf"] = sys.modules["cbor2"] = None
from listwatch import *
try:
    decode_protobuf(b"k8s\\0")
except EncodingUnavailable as error:
    assert "listwatch[protobuf]" in str(error)
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=60)
