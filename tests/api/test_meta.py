"""Metadata of objects: typed, immutable, tolerant of what servers leave out."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from listwatch.api import (
    FrozenDict,
    MalformedObject,
    ManagedFieldsEntry,
    ObjectMeta,
    OwnerReference,
    PartialObjectMetadata,
)

FULL = {
    "name": "web-0",
    "generateName": "web-",
    "namespace": "default",
    "selfLink": "/api/v1/namespaces/default/pods/web-0",
    "uid": "7c3b9266",
    "resourceVersion": "228",
    "generation": 3,
    "creationTimestamp": "2026-11-29T19:34:15Z",
    "deletionTimestamp": "2026-11-29T19:35:15Z",
    "deletionGracePeriodSeconds": 30,
    "labels": {"app": "web"},
    "annotations": {"note": "x"},
    "ownerReferences": [
        {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "web",
            "uid": "1",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ],
    "finalizers": ["example.com/hold"],
    "managedFields": [
        {
            "manager": "kubectl",
            "operation": "Apply",
            "apiVersion": "v1",
            "time": "2026-11-29T19:34:15Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:metadata": {"f:labels": {".": {}}}},
            "subresource": "status",
        }
    ],
}


def read(metadata: Any) -> ObjectMeta:
    raw = msgspec.json.encode({"kind": "Pod", "apiVersion": "v1", "metadata": metadata})
    return PartialObjectMetadata.from_bytes(raw).metadata


@pytest.mark.clause("A6")
def test_every_field_of_object_metadata_is_read_and_written_back() -> None:
    meta = read(FULL)
    assert msgspec.to_builtins(meta, builtin_types=(msgspec.Raw,), str_keys=True)["name"] == "web-0"
    assert msgspec.json.decode(msgspec.json.encode(meta)) == FULL
    assert meta.creation_timestamp == datetime(2026, 11, 29, 19, 34, 15, tzinfo=UTC)
    assert meta.owner_references == (
        OwnerReference(
            "apps/v1", "ReplicaSet", "web", "1", controller=True, block_owner_deletion=True
        ),
    )
    assert meta.managed_fields[0].fields_v1 == {"f:metadata": {"f:labels": {".": {}}}}


@pytest.mark.clause("A6")
def test_nothing_in_metadata_can_be_changed() -> None:
    meta = read(FULL)
    assert type(meta.labels) is type(meta.annotations) is FrozenDict
    assert (
        type(meta.finalizers) is type(meta.owner_references) is type(meta.managed_fields) is tuple
    )
    assert type(meta.managed_fields[0].fields_v1) is FrozenDict
    with pytest.raises(AttributeError):
        meta.name = "other"  # type: ignore[misc]


@pytest.mark.clause("A6")
def test_metadata_does_not_share_the_dict_it_was_made_from() -> None:
    labels = {"app": "web"}
    meta = ObjectMeta(labels=labels)
    labels["app"] = "db"
    assert meta.labels == {"app": "web"}


@pytest.mark.clause("A7")
def test_metadata_hashes_and_pickles() -> None:
    meta = read(FULL)
    loaded = pickle.loads(pickle.dumps(meta))
    assert loaded == meta
    assert hash(loaded) == hash(meta)


@pytest.mark.clause("D4")
@pytest.mark.parametrize("name", FULL)
def test_null_is_the_same_as_absent_for_every_field(name: str) -> None:
    without = {key: value for key, value in FULL.items() if key != name}
    assert read({**without, name: None}) == read(without)


@pytest.mark.clause("D4")
@pytest.mark.parametrize(
    "raw",
    [
        b"{}",
        b'{"metadata":null}',
        b'{"metadata":{}}',
        b'{"kind":null,"apiVersion":null,"metadata":{"labels":null,"creationTimestamp":null}}',
        b'{"spec":{"containers":null},"status":{}}',
    ],
)
def test_a_bookmark_may_lack_nearly_everything(raw: bytes) -> None:
    assert PartialObjectMetadata.from_bytes(raw) == PartialObjectMetadata()


@pytest.mark.clause("D4")
def test_a_typed_bookmark_is_read_for_its_rv_and_annotations() -> None:
    bookmark = PartialObjectMetadata.from_bytes(
        b'{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"12746","creationTimestamp":'
        b'null,"annotations":{"k8s.io/initial-events-end":"true"}},"spec":{"containers":null},'
        b'"status":{}}'
    )
    assert bookmark.resource_version == "12746"
    assert bookmark.metadata.annotations == {"k8s.io/initial-events-end": "true"}


@pytest.mark.clause("A3")
def test_partial_metadata_gives_names_and_key() -> None:
    partial = PartialObjectMetadata.from_bytes(msgspec.json.encode({"metadata": FULL}))
    assert (partial.name, partial.namespace, partial.uid) == ("web-0", "default", "7c3b9266")
    assert partial.key == "default/web-0"


@pytest.mark.clause("A7")
def test_metadata_read_from_a_page_does_not_hold_the_page() -> None:
    page = bytearray(msgspec.json.encode({"metadata": FULL}) + b" " * 1000)
    partial = PartialObjectMetadata.from_bytes(memoryview(page))
    page.clear()  # refused by Python as long as anybody looks into it
    assert partial.metadata.managed_fields[0].fields_v1 == {"f:metadata": {"f:labels": {".": {}}}}


@pytest.mark.clause("A6")
@pytest.mark.parametrize(
    "raw", [b"null", b"[]", b"", b'{"metadata":[]}', b'{"metadata":{"name":7}}']
)
def test_what_is_no_object_is_refused(raw: bytes) -> None:
    with pytest.raises(MalformedObject, match="no Kubernetes object"):
        PartialObjectMetadata.from_bytes(raw)


@pytest.mark.clause("A6")
def test_an_entry_without_a_field_set_has_an_empty_one() -> None:
    assert ManagedFieldsEntry(manager="x").fields_v1 == {}
    assert msgspec.json.encode(ManagedFieldsEntry(manager="x")) == b'{"manager":"x"}'
