"""ReplicationControllers, and how those who make many pods let others have their turn."""

from __future__ import annotations

import pytest

from tests.testing.apiserver.controllers.acting import CORE, PODS, Acting, container, workload

CONTROLLERS = f"{CORE}/replicationcontrollers"


@pytest.fixture
def server() -> Acting:
    return Acting("garbage-collector", "replicationcontroller", "kubelet")


def test_there_are_as_many_pods_as_wanted(server: Acting) -> None:
    template = workload("old")["spec"]["template"]
    server.made(CONTROLLERS, {"metadata": {"name": "old"}, "spec": {"template": template}})
    server.merge(f"{CONTROLLERS}/old/scale", {"spec": {"replicas": 3}})
    server.wait(2)
    status = server.status(f"{CONTROLLERS}/old")
    assert (status["replicas"], status["availableReplicas"]) == (3, 3)
    assert "terminatingReplicas" not in status
    [owner] = server.items(PODS)[0]["metadata"]["ownerReferences"]
    assert (owner["apiVersion"], owner["kind"]) == ("v1", "ReplicationController")


def test_a_selected_pod_of_nobody_is_adopted(server: Acting) -> None:
    metadata = {"name": "free", "labels": {"app": "old"}}
    server.made(PODS, {"metadata": metadata, "spec": {"containers": [container()]}})
    template = workload("old")["spec"]["template"]
    server.made(CONTROLLERS, {"metadata": {"name": "old"}, "spec": {"template": template}})
    server.wait(2)
    [pod] = server.items(PODS)
    assert pod["metadata"]["ownerReferences"][0]["name"] == "old"


def test_many_pods_come_and_go(server: Acting) -> None:
    spec = {"replicas": 600, "template": workload("old")["spec"]["template"]}
    server.made(CONTROLLERS, {"metadata": {"name": "old"}, "spec": spec})
    server.wait(5)
    assert server.status(f"{CONTROLLERS}/old")["availableReplicas"] == 600
    server.merge(f"{CONTROLLERS}/old/scale", {"spec": {"replicas": 1}})
    server.wait(5)
    assert len(server.items(PODS)) == 1
