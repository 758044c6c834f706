"""PyPI ``lightkube``: its server-side apply, its manifests and its strategic merge patch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.clients.place import Place
from conformance.objects import WIDGET

pytest.importorskip("lightkube", reason="the extra peers brings lightkube")

from lightkube import ApiError, Client, codecs
from lightkube.generic_resource import load_in_cluster_generic_resources
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

from conformance.clients.lightkube_client import (
    MERGE,
    Widget,
    a_config_map,
    a_widget,
    configuration,
    connect,
)


@pytest.fixture
def client(place: Place) -> Iterator[Any]:
    with connect(place) as client:
        yield client


def owned(obj: Any) -> dict[str, Any]:
    """What each manager has, by its name, operation and subresource."""
    return {
        " ".join(filter(None, (entry.manager, entry.operation, entry.subresource))): entry.fieldsV1
        for entry in obj.metadata.managedFields
    }


def test_applies(client: Any, place: Place) -> None:
    first = client.apply(a_config_map("a", x="1", y="2"), field_manager="alice")
    names: dict[str, Any] = {"f:labels": {"f:app": {}}}
    both = {"f:data": {"f:x": {}, "f:y": {}}, "f:metadata": names}
    assert owned(first) == {"alice Apply": both}
    again = client.apply(a_config_map("a", x="1", y="2"), field_manager="alice")
    assert again.metadata.resourceVersion == first.metadata.resourceVersion
    # What its only owner no longer says goes; what another has says too stays.
    client.apply(ConfigMap(metadata=ObjectMeta(name="a"), data={"z": "3"}), field_manager="bob")
    less = client.apply(a_config_map("a", x="1"), field_manager="alice")
    assert less.data == {"x": "1", "z": "3"}
    assert owned(less) == {
        "alice Apply": {"f:data": {"f:x": {}}, "f:metadata": names},
        "bob Apply": {"f:data": {"f:z": {}}},
    }
    tried = client.apply(a_config_map("a", x="9"), field_manager="alice", dry_run=True)
    assert tried.data == {"x": "9", "z": "3"}
    tried = client.apply(a_config_map("b"), field_manager="alice", dry_run=True)
    assert tried.metadata.uid
    assert not place.exists("b")
    assert client.get(ConfigMap, "a").data == {"x": "1", "z": "3"}
    with pytest.raises(ValueError, match="field_manager"):
        client.apply(a_config_map("a"))


def test_conflicts_with_another_manager_unless_forced(client: Any, place: Place) -> None:
    client.apply(a_config_map("a", x="1", y="1"), field_manager="alice")
    wanted = ConfigMap(metadata=ObjectMeta(name="a"), data={"x": "2"})
    with pytest.raises(ApiError) as raised:
        client.apply(wanted, field_manager="bob")
    status = raised.value.status
    assert (status.code, status.reason) == (409, "Conflict")
    assert status.message == 'Apply failed with 1 conflict: conflict with "alice": .data.x'
    assert status.details is not None
    assert status.details.causes is not None
    [cause] = status.details.causes
    assert (cause.reason, cause.field) == ("FieldManagerConflict", ".data.x")
    taken = client.apply(wanted, field_manager="bob", force=True)
    assert taken.data == {"x": "2", "y": "1"}
    assert owned(taken) == {
        "alice Apply": {"f:data": {"f:y": {}}, "f:metadata": {"f:labels": {"f:app": {}}}},
        "bob Apply": {"f:data": {"f:x": {}}},
    }
    with pytest.raises(ApiError) as raised:
        client.apply(a_config_map("a", x="1", y="1"), field_manager="alice")
    assert raised.value.status.message == (
        'Apply failed with 1 conflict: conflict with "bob": .data.x'
    )
    # A write that is no apply owns what it changes, and an apply conflicts with that too.
    client.patch(ConfigMap, "a", {"data": {"y": "5"}}, patch_type=MERGE, field_manager="carol")
    with pytest.raises(ApiError, match=r'conflict with "carol" using v1: \.data\.y'):
        client.apply(a_config_map("a", y="1"), field_manager="alice")
    with Client(configuration(place), field_manager="dave", trust_env=False) as other:
        shared = other.apply(ConfigMap(metadata=ObjectMeta(name="a"), data={"y": "5"}))
    assert owned(shared)["dave Apply"] == {"f:data": {"f:y": {}}}


MANIFEST = f"""
apiVersion: v1
kind: ConfigMap
metadata: {{name: settings}}
data: {{mode: fast}}
---
apiVersion: v1
kind: List
items:
- apiVersion: apps/v1
  kind: Deployment
  metadata: {{name: web}}
  spec:
    replicas: 2
    selector: {{matchLabels: {{app: web}}}}
    template:
      metadata: {{labels: {{app: web}}}}
      spec:
        containers:
        - {{name: main, image: "example.invalid/main:1", ports: [{{containerPort: 80}}]}}
        - {{name: side, image: "example.invalid/side:1"}}
- apiVersion: {WIDGET.group}/{WIDGET.version}
  kind: {WIDGET.kind}
  metadata: {{name: one}}
  spec: {{color: red}}
"""


def test_applies_manifests(client: Any) -> None:
    load_in_cluster_generic_resources(client)
    for obj in codecs.load_all_yaml(MANIFEST):
        client.apply(obj, field_manager="alice")
    assert client.get(ConfigMap, "settings").data == {"mode": "fast"}
    assert client.get(Widget, "one")["spec"] == {"color": "red"}
    [_, web, _] = codecs.load_all_yaml(MANIFEST.replace("main:1", "main:2"))
    changed: Any = client.apply(web, field_manager="alice")
    images = [container.image for container in changed.spec.template.spec.containers]
    assert images == ["example.invalid/main:2", "example.invalid/side:1"]
    assert changed.metadata.generation == 2
    # A container is known by its name: one that somebody else applies stands beside the others.
    container = {"name": "more", "image": "example.invalid/more:1"}
    more = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    grown = client.patch(Deployment, "web", more, patch_type=PatchType.APPLY, field_manager="bob")
    names = [container.name for container in grown.spec.template.spec.containers]
    assert names == ["main", "side", "more"]
    # What it has read it can apply, but for the managed fields.
    read = client.get(Deployment, "web")
    with pytest.raises(ApiError, match=r"metadata\.managedFields must be nil"):
        client.apply(read, field_manager="carol")
    read.metadata.managedFields = None
    assert client.apply(read, field_manager="carol").metadata.generation == 3


def test_applies_the_status_of_a_custom_resource(client: Any) -> None:
    client.apply(a_widget("a", color="red"), field_manager="alice")
    told = Widget.Status(metadata=ObjectMeta(name="a"), status={"ready": True})
    client.apply(told, field_manager="carol")
    found = client.get(Widget, "a")
    assert found.status == {"ready": True}
    assert owned(found)["carol Apply status"] == {"f:status": {"f:ready": {}}}
    with pytest.raises(ApiError, match=r'conflict with "alice": \.spec\.color'):
        client.apply(a_widget("a", color="blue"), field_manager="bob")


def test_a_strategic_merge_patch_is_its_usual_one(client: Any) -> None:
    [_, web, _] = codecs.load_all_yaml(MANIFEST)
    client.create(web)
    patch = {
        "spec": {
            "template": {
                "spec": {
                    "containers": [
                        {"name": "side", "image": "example.invalid/side:2"},
                        {"name": "main", "$patch": "delete"},
                    ]
                }
            }
        }
    }
    patched: Any = client.patch(Deployment, "web", patch)
    [left] = patched.spec.template.spec.containers
    assert (left.name, left.image) == ("side", "example.invalid/side:2")
    scaled = client.patch(Deployment.Scale, "web", {"spec": {"replicas": 5}}, patch_type=MERGE)
    assert scaled.spec.replicas == 5
    assert client.get(Deployment.Scale, "web").spec.replicas == 5
    assert client.get(Deployment, "web").spec.replicas == 5
