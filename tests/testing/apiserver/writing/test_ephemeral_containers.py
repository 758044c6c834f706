"""The paths of a pod that change one part of it: `ephemeralcontainers` and `resize`."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import MERGE, Writing, causes, parsed

REC = "/api/v1/namespaces/rec"
POD = f"{REC}/pods/web"
DEBUG = f"{POD}/ephemeralcontainers"
RESIZE = f"{POD}/resize"
STRATEGIC = "application/strategic-merge-patch+json"
RESOURCES = {"requests": {"cpu": "100m"}, "limits": {"cpu": "200m"}}
CONTAINER = {"name": "main", "image": "nginx:1", "resources": RESOURCES}


@pytest.fixture
def server() -> Writing:
    server = Writing()
    server.made("/api/v1/namespaces", {"metadata": {"name": "rec"}})
    spec = {"containers": [CONTAINER]}
    server.made(f"{REC}/pods", {"metadata": {"name": "web", "labels": {"a": "b"}}, "spec": spec})
    return server


def added(server: Writing, *containers: dict[str, Any], kind: str = STRATEGIC) -> Answer:
    return server.write("PATCH", DEBUG, {"spec": {"ephemeralContainers": [*containers]}}, kind=kind)


def resized(server: Writing, resources: dict[str, Any], **spec: Any) -> Answer:
    body = {"spec": {"containers": [{"name": "main", "resources": resources}], **spec}}
    return server.write("PATCH", RESIZE, body, kind=STRATEGIC)


def test_a_container_is_added_to_a_pod_that_runs(server: Writing) -> None:
    assert added(server, {"name": "debug", "image": "busybox"}).status == 200
    more = {"name": "more", "image": "busybox:1", "targetContainerName": "main"}
    pod = parsed(added(server, more))
    found = {each["name"]: each["imagePullPolicy"] for each in pod["spec"]["ephemeralContainers"]}
    assert found == {"debug": "Always", "more": "IfNotPresent"}
    assert pod["metadata"]["generation"] == 3
    assert parsed(server.get(DEBUG)) == parsed(server.get(POD)) == pod


def test_nothing_else_of_a_pod_changes_with_its_ephemeral_containers(server: Writing) -> None:
    pod = parsed(server.get(DEBUG))
    pod["metadata"]["labels"] = {"c": "d"}
    pod["spec"]["hostname"] = "other"
    pod["spec"]["ephemeralContainers"] = [{"name": "debug", "image": "busybox"}]
    made = parsed(server.write("PUT", DEBUG, pod))
    assert made["metadata"]["labels"] == {"a": "b"}
    assert "hostname" not in made["spec"]
    assert len(made["spec"]["ephemeralContainers"]) == 1


def test_ephemeral_containers_stay_as_they_are(server: Writing) -> None:
    added(server, {"name": "debug", "image": "busybox"})
    changed = added(server, {"name": "debug", "image": "other"})
    assert changed.status == 422
    assert 'existing ephemeral containers "debug" may not be changed' in message(changed)
    assert '- "Image": "busybox",\n+ "Image": "other",' in message(changed)
    removed = added(server, {"name": "new", "image": "busybox"}, kind=MERGE)
    assert 'existing ephemeral containers "debug" may not be removed' in message(removed)


def test_what_is_wrong_with_an_ephemeral_container_is_told(server: Writing) -> None:
    answer = added(server, {"name": "debug", "image": "i", "targetContainerName": "none"})
    field = "spec.ephemeralContainers[0].targetContainerName"
    assert causes(answer) == [(field, 'Not found: "none"')]


def test_a_pod_is_resized_and_nothing_else_of_it_changes(server: Writing) -> None:
    pod = parsed(resized(server, {"requests": {"cpu": "150m"}}, hostname="other"))
    assert pod["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "150m"}
    assert pod["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "200m"}
    assert "hostname" not in pod["spec"]


@pytest.mark.parametrize(
    ("resources", "field"),
    [
        ({"limits": {"cpu": None}}, "spec.containers[0].resources.limits"),
        ({"requests": {"ephemeral-storage": "1Gi"}}, "spec"),
        ({"requests": {"cpu": "1"}}, "spec.containers[0].resources.requests"),
    ],
)
def test_only_cpu_and_memory_change_and_they_do_not_go(
    server: Writing, resources: dict[str, Any], field: str
) -> None:
    answer = resized(server, resources)
    assert answer.status == 422
    assert [where for where, _ in causes(answer)] == [field]


def test_containers_do_not_come_with_new_resources(server: Writing) -> None:
    body = {"spec": {"containers": [{"name": "new", "image": "i"}]}}
    answer = server.write("PATCH", RESIZE, body, kind=STRATEGIC)
    assert "containers may not be added or removed on resize" in message(answer)


def test_a_pod_that_a_kubelet_shows_has_neither(server: Writing) -> None:
    metadata = {"name": "static", "annotations": {"kubernetes.io/config.mirror": "x"}}
    spec = {"containers": [CONTAINER], "nodeName": "n"}
    server.made(f"{REC}/pods", {"metadata": metadata, "spec": spec})
    for part, text in (
        ("ephemeralcontainers", "static pods do not support ephemeral containers"),
        ("resize", "static pods cannot be resized"),
    ):
        path = f"{REC}/pods/static/{part}"
        assert text in message(server.write("PATCH", path, {"spec": {}}, kind=MERGE))
