"""Unstructured: an object that is its bytes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypedDict

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.api import FrozenDict, ListWatchError, MalformedObject, Unstructured

POD: dict[str, Any] = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {
        "name": "web-0",
        "namespace": "default",
        "uid": "7c3b9266",
        "resourceVersion": "228",
        "labels": {"app": "web"},
    },
    "spec": {"nodeName": "node-1", "containers": [{"name": "web", "ports": [{"port": 80}]}]},
    "status": {"phase": "Running", "message": None},
}
RAW = msgspec.json.encode(POD)


@pytest.fixture
def pod() -> Unstructured:
    return Unstructured.from_bytes(RAW)


# --- the way in


@pytest.mark.clause("A7")
def test_routing_fields_are_read_from_the_bytes(pod: Unstructured) -> None:
    assert (pod.kind, pod.api_version) == ("Pod", "v1")
    assert (pod.name, pod.namespace, pod.uid, pod.resource_version) == (
        "web-0",
        "default",
        "7c3b9266",
        "228",
    )
    assert (pod.key, pod.group, pod.version) == ("default/web-0", "", "v1")
    assert pod.raw is RAW


@pytest.mark.clause("A7")
def test_group_and_version_come_from_api_version() -> None:
    lease = Unstructured.from_dict({"kind": "Lease", "apiVersion": "coordination.k8s.io/v1"})
    assert (lease.group, lease.version) == ("coordination.k8s.io", "v1")


@pytest.mark.clause("A7")
@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"metadata":null}',
        b'{"metadata":{}}',
        b'{"kind":null,"apiVersion":null,"metadata":{"name":null,"namespace":null,"uid":null,'
        b'"resourceVersion":null}}',
    ],
)
def test_null_and_absent_names_are_empty(raw: bytes) -> None:
    obj = Unstructured.from_bytes(raw)
    assert (obj.kind, obj.api_version, obj.name, obj.namespace, obj.uid) == ("", "", "", "", "")
    assert (obj.resource_version, obj.raw, repr(obj)) == ("", raw, "<object (no name) rv=(none)>")


@pytest.mark.clause("A7")
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"null",
        b"[]",
        b"1",
        b'"pod"',
        b"{",
        b"{}{}",
        b'{"metadata":[]}',
        b'{"metadata":"web"}',
        b'{"metadata":{"name":7}}',
        b'{"metadata":{"namespace":{}}}',
        b'{"metadata":{"uid":true}}',
        b'{"metadata":{"resourceVersion":228}}',
        b'{"kind":7}',
        b'{"apiVersion":["v1"]}',
        b'{"metadata":{"name":"\xff"}}',
        b'{"spec":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
def test_what_is_no_object_is_a_clear_value_error(raw: bytes) -> None:
    with pytest.raises(ValueError, match="this is no Kubernetes object") as caught:
        Unstructured.from_bytes(raw)
    assert isinstance(caught.value, MalformedObject)
    assert isinstance(caught.value, ListWatchError)


@pytest.mark.clause("A7")
def test_a_slice_of_a_larger_buffer_is_copied() -> None:
    page = bytearray(b'{"items":[' + RAW + b"]}")
    pod = Unstructured.from_bytes(memoryview(page)[10:-2])
    raw = Unstructured.from_bytes(msgspec.Raw(memoryview(page)[10:-2])).raw
    page.clear()  # refused by Python as long as anybody looks into it
    assert pod.raw == raw == RAW
    assert type(pod.raw) is type(raw) is bytes


@pytest.mark.clause("A7")
def test_a_bytearray_is_copied() -> None:
    buffer = bytearray(RAW)
    pod = Unstructured.from_bytes(buffer)
    buffer[:] = b"x" * len(buffer)
    assert pod.raw == RAW


@pytest.mark.clause("A7", "D7")
def test_an_item_of_a_typed_list_equals_the_same_object_from_a_watch(pod: Unstructured) -> None:
    item = {key: value for key, value in POD.items() if key not in ("kind", "apiVersion")}
    page = bytearray(msgspec.json.encode(item))
    listed = Unstructured.from_bytes(memoryview(page), api_version="v1", kind="Pod")
    page.clear()
    assert listed == pod
    assert (listed.kind, listed.api_version) == (pod.kind, pod.api_version)
    assert listed.to_dict() == pod.to_dict()


@pytest.mark.clause("D7")
def test_what_the_bytes_say_of_themselves_stands() -> None:
    pod = Unstructured.from_bytes(RAW, api_version="v2", kind="Other")
    assert (pod.kind, pod.api_version, pod.raw) == ("Pod", "v1", RAW)


@pytest.mark.clause("A7")
def test_thousands_of_objects_share_their_kind_version_and_namespace() -> None:
    one, other = Unstructured.from_bytes(RAW), Unstructured.from_bytes(bytes(bytearray(RAW)))
    assert one.kind is other.kind
    assert one.api_version is other.api_version
    assert one.namespace is other.namespace


@pytest.mark.clause("A6")
def test_an_object_made_from_a_dict_does_not_share_it() -> None:
    value = copy.deepcopy(POD)
    pod = Unstructured.from_dict(value)
    value["spec"]["nodeName"] = "other"
    assert pod.to_dict() == POD


@pytest.mark.clause("A7")
def test_a_dict_that_cannot_be_json_is_refused() -> None:
    with pytest.raises(MalformedObject, match="cannot be JSON"):
        Unstructured.from_dict({"spec": object()})


# --- reading


@pytest.mark.clause("A6", "A7")
def test_nested_reads_are_frozen(pod: Unstructured) -> None:
    assert pod["spec"]["containers"][0]["ports"] == ({"port": 80},)
    assert type(pod["spec"]) is FrozenDict
    assert type(pod["spec"]["containers"][0]) is FrozenDict
    with pytest.raises(TypeError, match="read-only"):
        pod["spec"]["nodeName"] = "node-2"
    assert type(pod.get("status")) is FrozenDict


@pytest.mark.clause("A7")
def test_nothing_that_was_read_is_remembered(pod: Unstructured) -> None:
    assert pod["spec"] is not pod["spec"]
    assert pod.metadata is not pod.metadata
    assert pod.to_dict() is not pod.to_dict()


@pytest.mark.clause("A7")
def test_it_reads_like_a_mapping(pod: Unstructured) -> None:
    assert list(pod) == list(POD)
    assert len(pod) == 5
    assert "spec" in pod
    assert "data" not in pod
    assert pod["kind"] == "Pod"
    assert pod.get("data") is None
    assert pod.get("data", 5) == 5
    with pytest.raises(KeyError, match="data"):
        pod["data"]


@pytest.mark.clause("A7")
def test_a_member_that_is_null_is_there() -> None:
    obj = Unstructured.from_bytes(b'{"spec":null}')
    assert "spec" in obj
    assert obj["spec"] is None
    assert obj.get("spec", 5) is None


@pytest.mark.clause("A7")
def test_even_an_object_without_members_is_true() -> None:
    assert Unstructured.from_bytes(b"{}")
    assert len(Unstructured.from_bytes(b"{}")) == 0


@pytest.mark.clause("A7")
def test_metadata_is_typed(pod: Unstructured) -> None:
    assert pod.metadata.labels == {"app": "web"}
    assert pod.metadata.annotations == {}


@pytest.mark.clause("A7")
def test_a_fault_found_only_when_reading_names_the_object() -> None:
    obj = Unstructured.from_bytes(b'{"kind":"Pod","metadata":{"name":"web-0","labels":7}}')
    with pytest.raises(MalformedObject, match=r"<Pod web-0 rv=\(none\)>: bad metadata"):
        obj.metadata  # noqa: B018
    bad = Unstructured.from_bytes(b'{"kind":"Pod","metadata":{"name":"web-0"},"spec":{"a":"\xff"}}')
    with pytest.raises(MalformedObject, match="<Pod web-0"):
        bad["spec"]
    with pytest.raises(MalformedObject, match="<Pod web-0"):
        bad.to_dict()


@pytest.mark.clause("A6")
def test_edit_gives_a_dict_of_the_whole_object_to_change(pod: Unstructured) -> None:
    changed = pod.edit()
    assert changed == POD
    changed["metadata"]["labels"]["app"] = "db"
    changed["spec"]["containers"].append({})
    assert changed["metadata"]["resourceVersion"] == "228"  # the optimistic lock goes with it
    assert pod.to_dict() == POD
    assert Unstructured.from_dict(changed).metadata.labels == {"app": "db"}


class PodSpec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class Pod(msgspec.Struct):
    metadata: dict[str, Any]
    spec: PodSpec


@dataclass
class PodData:
    kind: str
    status: dict[str, Any] = field(default_factory=dict)


class PodDict(TypedDict):
    kind: str


@pytest.mark.clause("A7", "D6")
def test_it_decodes_to_the_types_of_a_program(pod: Unstructured) -> None:
    assert pod.decode(Pod).spec.node_name == "node-1"
    assert pod.decode(PodData) == PodData("Pod", POD["status"])
    assert pod.decode(PodDict) == {"kind": "Pod"}
    assert pod.decode(dict) == POD


@pytest.mark.clause("A7", "D6")
def test_a_type_that_does_not_fit_is_named_with_object_and_field() -> None:
    node = Unstructured.from_bytes(b'{"kind":"Node","metadata":{"name":"n"},"spec":7}')
    with pytest.raises(MalformedObject, match=r"<Node n .* does not fit Pod: .*\$\.spec"):
        node.decode(Pod)


# --- identity


names = st.sampled_from(["", "a", "b"])


@pytest.mark.clause("A7")
@given(st.lists(st.tuples(names, names, names, names, names, st.text(max_size=2)), max_size=6))
def test_equality_and_hash_are_of_kind_names_uid_and_rv_and_never_of_bytes(
    rows: list[tuple[str, ...]],
) -> None:
    objects = [
        Unstructured.from_dict(
            {
                "kind": kind,
                "metadata": {"namespace": ns, "name": name, "uid": uid, "resourceVersion": rv},
                "data": data,
            }
        )
        for kind, ns, name, uid, rv, data in rows
    ]
    for row, obj in zip(rows, objects, strict=True):
        for other_row, other in zip(rows, objects, strict=True):
            same = row[:5] == other_row[:5]
            assert (obj == other) is same
            assert (hash(obj) == hash(other)) is same
    assert len(set(objects)) == len({row[:5] for row in rows})


@pytest.mark.clause("A7")
def test_it_equals_nothing_that_is_no_unstructured(pod: Unstructured) -> None:
    assert pod != POD
    assert pod != RAW


@pytest.mark.clause("A7")
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_it_pickles_as_its_bytes(pod: Unstructured, protocol: int) -> None:
    loaded = pickle.loads(pickle.dumps(pod, protocol))
    assert loaded == pod
    assert (loaded.raw, loaded.api_version, loaded.kind) == (pod.raw, "v1", "Pod")
    assert loaded.uid == pod.uid


@pytest.mark.clause("A7")
def test_copies_are_the_immutable_object_itself(pod: Unstructured) -> None:
    assert copy.copy(pod) is pod
    assert copy.deepcopy([pod])[0] is pod


@pytest.mark.clause("A6")
@pytest.mark.parametrize("name", ["raw", "kind", "name", "resource_version", "other"])
def test_it_cannot_be_changed(pod: Unstructured, name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(pod, name, "x")
    with pytest.raises((AttributeError, TypeError)):
        delattr(pod, name)
    with pytest.raises(TypeError):
        pod["spec"] = {}  # type: ignore[index]


@pytest.mark.clause("A7")
def test_the_garbage_collector_does_not_track_it(pod: Unstructured) -> None:
    import gc

    assert not gc.is_tracked(pod)


@pytest.mark.clause("A7")
@pytest.mark.parametrize(
    ("obj", "text"),
    [
        (POD, "<Pod default/web-0 rv=228>"),
        ({"kind": "Node", "metadata": {"name": "n", "resourceVersion": "1"}}, "<Node n rv=1>"),
    ],
)
def test_its_repr_is_short(obj: dict[str, Any], text: str) -> None:
    assert repr(Unstructured.from_dict(obj)) == text


@pytest.mark.clause("A7")
@pytest.mark.parametrize("read", [lambda obj: obj["spec"], lambda obj: obj.get("spec")])
def test_what_is_nested_too_deep_is_refused_in_words(read: Callable[[Unstructured], Any]) -> None:
    deep = b'{"metadata":{"name":"a"},"spec":' + b"[" * 3_000 + b"]" * 3_000 + b"}"
    with pytest.raises(MalformedObject, match=r"nested|recursion"):
        read(Unstructured.from_bytes(deep))
