"""StatefulSets, DaemonSets and disruption budgets."""

from __future__ import annotations

import pytest

from tests.testing.apiserver.controllers.acting import (
    APPS,
    CORE,
    DEPLOYMENTS,
    NODES,
    PODS,
    Acting,
    image,
    workload,
)

SETS = f"{APPS}/statefulsets"
DAEMONS = f"{APPS}/daemonsets"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"


@pytest.fixture
def server() -> Acting:
    return Acting("all")


def names(server: Acting) -> list[str]:
    return [one["metadata"]["name"] for one in server.items(PODS)]


def test_stateful_pods_come_one_after_the_other(server: Acting) -> None:
    server.made(SETS, workload("db", 3, serviceName="db"))
    server.wait(0.1)
    assert names(server) == ["db-0"]
    server.wait(3)
    assert names(server) == ["db-0", "db-1", "db-2"]
    first = server.found(f"{PODS}/db-0")
    assert first["spec"]["hostname"] == "db-0"
    assert first["metadata"]["labels"]["apps.kubernetes.io/pod-index"] == "0"


def test_or_all_at_once(server: Acting) -> None:
    server.made(SETS, workload("db", 3, podManagementPolicy="Parallel"))
    server.wait(0.1)
    assert names(server) == ["db-0", "db-1", "db-2"]


def test_they_go_from_the_last_to_the_first(server: Acting) -> None:
    server.made(SETS, workload("db", 3))
    server.wait(3)
    server.merge(f"{SETS}/db/scale", {"spec": {"replicas": 1}})
    server.wait(0.2)
    assert names(server) == ["db-0", "db-1", "db-2"]
    assert "deletionTimestamp" not in server.found(f"{PODS}/db-1")["metadata"]
    server.wait(3)
    assert names(server) == ["db-0"]


def test_an_update_begins_with_the_last_and_ends_at_the_partition(server: Acting) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}
    server.made(SETS, workload("db", 3, updateStrategy=strategy))
    server.wait(3)
    server.merge(f"{SETS}/db", image(2))
    server.wait(5)
    images = [one["spec"]["containers"][0]["image"] for one in server.items(PODS)]
    assert images == ["app:1", "app:2", "app:2"]
    status = server.status(f"{SETS}/db")
    assert status["currentRevision"] != status["updateRevision"]
    server.merge(f"{SETS}/db", {"spec": {"updateStrategy": {"rollingUpdate": {"partition": 0}}}})
    server.wait(3)
    status = server.status(f"{SETS}/db")
    assert status["currentRevision"] == status["updateRevision"]
    assert status["currentReplicas"] == 3


def test_claims_outlive_their_pods(server: Acting) -> None:
    resources = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": resources}
    claim = {"metadata": {"name": "data"}, "spec": spec}
    server.made(SETS, workload("db", 2, volumeClaimTemplates=[claim]))
    server.wait(3)
    server.delete(f"{SETS}/db")
    server.wait(3)
    assert names(server) == []
    claims = server.items(f"{CORE}/persistentvolumeclaims")
    assert [one["metadata"]["name"] for one in claims] == ["data-db-0", "data-db-1"]


def test_each_node_has_a_daemon(server: Acting) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    server.made(NODES, {"metadata": {"name": "second"}, "status": ready})
    server.made(DAEMONS, workload("agent"))
    server.wait(2)
    nodes = sorted(one["spec"]["nodeName"] for one in server.items(PODS))
    assert nodes == ["node-1", "second"]
    assert server.status(f"{DAEMONS}/agent")["numberAvailable"] == 2
    server.merge(f"{DAEMONS}/agent", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
    server.wait(3)
    assert names(server) == []


def test_daemons_are_updated_one_by_one(server: Acting) -> None:
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    server.made(NODES, {"metadata": {"name": "second"}, "status": ready})
    server.made(DAEMONS, workload("agent"))
    server.wait(2)
    server.merge(f"{DAEMONS}/agent", image(2))
    least = 2
    for _ in range(100):
        server.wait(0.02)
        least = min(least, server.status(f"{DAEMONS}/agent").get("numberAvailable", 0))
    assert least == 1
    images = {one["spec"]["containers"][0]["image"] for one in server.items(PODS)}
    assert images == {"app:2"}


@pytest.mark.parametrize(
    ("spec", "allowed"),
    [
        ({"minAvailable": 3}, 1),
        ({"minAvailable": "50%"}, 2),
        ({"maxUnavailable": 1}, 1),
        ({"maxUnavailable": "25%"}, 1),
        ({"minAvailable": 9}, 0),
    ],
)
def test_a_budget_says_how_many_may_go(
    server: Acting, spec: dict[str, object], allowed: int
) -> None:
    server.made(DEPLOYMENTS, workload("web", 4))
    selector = {"matchLabels": {"app": "web"}}
    server.made(BUDGETS, {"metadata": {"name": "b"}, "spec": {**spec, "selector": selector}})
    server.wait(3)
    status = server.status(f"{BUDGETS}/b")
    assert (status["currentHealthy"], status["disruptionsAllowed"]) == (4, allowed)


def test_a_drained_pod_waits_for_its_successor(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    selector = {"matchLabels": {"app": "web"}}
    spec = {"minAvailable": 1, "selector": selector}
    server.made(BUDGETS, {"metadata": {"name": "b"}, "spec": spec})
    server.wait(3)

    def evict(name: str) -> int:
        body = {"metadata": {"name": name}}
        return server.write("POST", f"{PODS}/{name}/eviction", body).status

    first, second = names(server)
    assert (evict(first), evict(second)) == (201, 429)
    server.wait(3)
    assert evict(second) == 201


def test_a_taint_that_only_keeps_away_leaves_what_is_there(server: Acting) -> None:
    server.made(DAEMONS, workload("log"))
    server.wait(3)
    before = names(server)
    assert before
    taint = {"key": "a", "value": "b", "effect": "NoSchedule"}
    server.merge(f"{NODES}/node-1", {"spec": {"taints": [taint]}})
    server.wait(3)
    assert names(server) == before


def test_the_templates_of_a_daemon_set_are_counted(server: Acting) -> None:
    server.made(DAEMONS, workload("log"))
    server.merge(f"{DAEMONS}/log", image(2))
    annotations = server.found(f"{DAEMONS}/log")["metadata"]["annotations"]
    assert annotations["deprecated.daemonset.template.generation"] == "2"
