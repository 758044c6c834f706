"""Nodes that are heard of, and those that are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.asking import names
from tests.testing.apiserver.controllers.acting import (
    DEPLOYMENTS,
    NODES,
    PODS,
    Acting,
    container,
    workload,
)

LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
NODE = f"{NODES}/node-1"
KUBELET = "listwatch.testing/kubelet"


@pytest.fixture
def server() -> Acting:
    server = Acting("garbage-collector", "deployment", "replicaset", "node-lifecycle")
    server.server.run_controllers(
        ["deployment", "replicaset", "node-lifecycle", "taint-eviction", "kubelet"]
    )
    server.wait(1)
    return server


def stop(server: Acting, node: str = NODE, *, again: bool = False) -> None:
    annotations = {KUBELET: None if again else "stopped"}
    server.merge(node, {"metadata": {"annotations": annotations}})


def taints(server: Acting, node: str = NODE) -> list[tuple[str, str]]:
    found = server.found(node)["spec"].get("taints", ())
    return [(one["key"].removeprefix("node.kubernetes.io/"), one["effect"]) for one in found]


def add_node(server: Acting, name: str) -> None:
    ready = {"type": "Ready", "status": "True", "lastHeartbeatTime": "2026-01-01T00:00:00Z"}
    server.made(NODES, {"metadata": {"name": name}, "status": {"conditions": [ready]}})


def test_a_kubelet_renews_a_lease(server: Acting) -> None:
    def renewed() -> str:
        text: str = server.found(f"{LEASES}/node-1")["spec"]["renewTime"]
        return text[-16:]

    [owner] = server.found(f"{LEASES}/node-1")["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("Node", "node-1")
    first = renewed()
    server.wait(10)
    assert renewed() != first
    server.write("DELETE", f"{LEASES}/node-1")
    server.wait(10)
    assert server.is_there(f"{LEASES}/node-1")


def test_and_its_status_now_and_then(server: Acting) -> None:
    before = server.condition(NODE, "Ready")["lastHeartbeatTime"]
    server.wait(290)
    assert server.condition(NODE, "Ready")["lastHeartbeatTime"] == before
    server.wait(30)
    assert server.condition(NODE, "Ready")["lastHeartbeatTime"] != before


def test_nobody_knows_how_a_node_is_whose_kubelet_is_stopped(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(5)
    stop(server)
    server.wait(40)
    assert server.condition(NODE, "Ready")["status"] == "True"
    server.wait(20)
    ready = server.condition(NODE, "Ready")
    assert (ready["status"], ready["reason"]) == ("Unknown", "NodeStatusUnknown")
    assert taints(server) == [("unreachable", "NoSchedule")]
    assert server.status(f"{DEPLOYMENTS}/web")["unavailableReplicas"] == 2
    assert "NodeNotReady: Node node-1 status is now: NodeNotReady" in server.events()


def test_it_is_as_it_was_when_the_kubelet_is_back(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(5)
    stop(server)
    server.wait(70)
    stop(server, again=True)
    server.wait(5)
    assert server.condition(NODE, "Ready")["status"] == "True"
    assert taints(server) == []
    assert server.status(f"{DEPLOYMENTS}/web")["availableReplicas"] == 2


def test_a_stopped_kubelet_does_nothing_to_its_pods(server: Acting) -> None:
    stop(server)
    server.made(PODS, {"metadata": {"name": "a"}, "spec": {"containers": [container()]}})
    server.wait(5)
    assert server.status(f"{PODS}/a")["phase"] == "Pending"
    server.write("DELETE", f"{PODS}/a")
    server.wait(5)
    assert "deletionTimestamp" in server.found(f"{PODS}/a")["metadata"]
    stop(server, again=True)
    server.wait(5)
    assert not server.is_there(f"{PODS}/a")


def test_pods_leave_a_lost_node_after_five_minutes_while_there_is_another(
    server: Acting,
) -> None:
    server.made(DEPLOYMENTS, workload("web", 1))
    server.wait(5)
    add_node(server, "node-2")
    [pod] = server.items(PODS)
    stop(server)
    server.wait(60)
    assert taints(server) == [("unreachable", "NoSchedule"), ("unreachable", "NoExecute")]
    server.wait(280)
    assert names(server.items(PODS)) == [pod["metadata"]["name"]]
    server.wait(30)
    places = {one["metadata"]["name"]: one["spec"]["nodeName"] for one in server.items(PODS)}
    assert sorted(places.values()) == ["node-1", "node-2"]
    left = server.found(f"{PODS}/{pod['metadata']['name']}")
    assert "deletionTimestamp" in left["metadata"]  # nobody there to end it
    assert server.status(f"{DEPLOYMENTS}/web")["availableReplicas"] == 1


def test_a_cordon_is_a_taint(server: Acting) -> None:
    server.merge(NODE, {"spec": {"unschedulable": True}})
    server.wait(1)
    assert taints(server) == [("unschedulable", "NoSchedule")]
    server.merge(NODE, {"spec": {"unschedulable": None}})
    server.wait(1)
    assert taints(server) == []


def test_taints_of_somebody_else_stay(server: Acting) -> None:
    taint: dict[str, Any] = {"key": "example.com/x", "effect": "NoSchedule"}
    server.merge(NODE, {"spec": {"taints": [taint], "unschedulable": True}})
    server.wait(1)
    assert taints(server) == [("example.com/x", "NoSchedule"), ("unschedulable", "NoSchedule")]


def test_pods_go_with_their_node() -> None:
    server = Acting("deployment", "replicaset", "kubelet", "podgc")
    add_node(server, "node-2")
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(5)
    server.write("DELETE", f"{NODES}/node-2")
    server.wait(35)
    assert len({one["spec"]["nodeName"] for one in server.items(PODS)}) == 2
    server.wait(10)
    assert [one["spec"]["nodeName"] for one in server.items(PODS)] == ["node-1", "node-1"]
