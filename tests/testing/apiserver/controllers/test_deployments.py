"""Deployments and ReplicaSets. That their objects are those of the real controllers is tested in
conformance/controllers.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.controllers.acting import (
    DEPLOYMENTS,
    PODS,
    SETS,
    Acting,
    container,
    image,
    workload,
)

WEB = f"{DEPLOYMENTS}/web"
REVISION = "deployment.kubernetes.io/revision"


@pytest.fixture
def server() -> Acting:
    return Acting("garbage-collector", "deployment", "replicaset", "kubelet")


def sizes(server: Acting) -> dict[str, int]:
    """Of each ReplicaSet, by its revision."""
    return {
        one["metadata"]["annotations"][REVISION]: one["spec"]["replicas"]
        for one in server.items(SETS)
    }


def images(server: Acting) -> list[str]:
    return sorted(one["spec"]["containers"][0]["image"] for one in server.items(PODS))


def test_a_deployment_comes_to_life(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 3))
    server.wait(2)
    assert server.status(WEB)["availableReplicas"] == 3
    assert server.condition(WEB, "Available")["status"] == "True"
    assert server.condition(WEB, "Progressing")["reason"] == "NewReplicaSetAvailable"
    [group] = server.items(SETS)
    digest = group["metadata"]["labels"]["pod-template-hash"]
    assert group["metadata"]["name"] == f"web-{digest}"
    for pod in server.items(PODS):
        assert pod["metadata"]["labels"] == {"app": "web", "pod-template-hash": digest}
        assert pod["metadata"]["name"].startswith(f"web-{digest}-")
        assert pod["status"]["phase"] == "Running"


def test_a_pod_that_goes_is_replaced(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(2)
    [first, second] = (one["metadata"]["name"] for one in server.items(PODS))
    server.delete(f"{PODS}/{first}")
    server.wait(2)
    left = [one["metadata"]["name"] for one in server.items(PODS)]
    assert len(left) == 2
    assert second in left
    assert first not in left


def test_a_rolling_update_keeps_within_its_limits(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 4))
    server.wait(2)
    server.merge(WEB, image(2))
    seen = []
    for _ in range(300):
        server.wait(0.01)
        pods = [one for one in server.items(PODS) if "deletionTimestamp" not in one["metadata"]]
        ready = [
            one
            for one in pods
            if {"Ready": "True"}.items()
            <= {c["type"]: c["status"] for c in one["status"].get("conditions", [])}.items()
        ]
        seen.append((len(pods), len(ready)))
    assert max(total for total, _ in seen) == 5
    assert min(ready for _, ready in seen) == 3
    assert seen[-1] == (4, 4)
    assert images(server) == ["app:2"] * 4
    assert sizes(server) == {"1": 0, "2": 4}


def test_an_update_that_cannot_start_leaves_enough_of_the_old(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 4))
    server.wait(2)
    server.merge(WEB, {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}})
    server.wait(5)
    assert sizes(server) == {"1": 3, "2": 2}
    assert server.condition(WEB, "Available")["status"] == "True"
    assert server.condition(WEB, "Progressing")["reason"] == "ReplicaSetUpdated"
    server.wait(700)
    late = server.condition(WEB, "Progressing")
    assert (late["status"], late["reason"]) == ("False", "ProgressDeadlineExceeded")


def test_an_old_template_is_the_next_revision(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 1))
    server.wait(2)
    for number in (2, 1):
        server.merge(WEB, image(number))
        server.wait(3)
    assert sizes(server) == {"2": 0, "3": 1}
    [current] = [one for one in server.items(SETS) if one["spec"]["replicas"]]
    annotations = current["metadata"]["annotations"]
    assert annotations["deployment.kubernetes.io/revision-history"] == "1"
    assert server.found(WEB)["metadata"]["annotations"][REVISION] == "3"


def test_only_so_many_old_ones_are_kept(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 1, revisionHistoryLimit=2))
    for number in range(2, 7):
        server.wait(3)
        server.merge(WEB, image(number))
    server.wait(3)
    assert sorted(sizes(server)) == ["4", "5", "6"]


def test_recreate_lets_all_go_first(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 3, strategy={"type": "Recreate"}))
    server.wait(2)
    server.merge(WEB, image(2))
    seen = set()
    for _ in range(200):
        server.wait(0.01)
        seen.add(tuple(dict.fromkeys(images(server))))
    assert ("app:1", "app:2") not in seen
    assert images(server) == ["app:2"] * 3


def test_it_scales_and_says_how_many_it_wants(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(2)
    for number in (5, 0):
        server.merge(f"{WEB}/scale", {"spec": {"replicas": number}})
        server.wait(2)
        assert len(server.items(PODS)) == number
        [group] = server.items(SETS)
        annotations = group["metadata"]["annotations"]
        assert annotations["deployment.kubernetes.io/desired-replicas"] == str(number)


def test_in_the_middle_of_a_rollout_each_gets_its_share(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 10))
    server.wait(2)
    server.merge(WEB, {"spec": {"template": {"spec": {"nodeSelector": {"no": "where"}}}}})
    server.wait(2)
    assert sizes(server) == {"1": 8, "2": 5}
    server.merge(f"{WEB}/scale", {"spec": {"replicas": 20}})
    server.wait(2)
    found = sizes(server)
    assert sum(found.values()) == 25
    assert found["1"] > 8
    assert found["2"] > 5


def test_a_pause_holds_a_rollout_but_not_a_scale(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 1))
    server.wait(2)
    server.merge(WEB, {"spec": {"paused": True}})
    server.merge(WEB, image(2))
    server.merge(f"{WEB}/scale", {"spec": {"replicas": 2}})
    server.wait(2)
    assert images(server) == ["app:1"] * 2
    assert server.condition(WEB, "Progressing")["reason"] == "DeploymentPaused"
    server.merge(WEB, {"spec": {"paused": None}})
    server.wait(3)
    assert images(server) == ["app:2"] * 2
    assert server.condition(WEB, "Progressing")["reason"] == "NewReplicaSetAvailable"


def test_orphaned_sets_are_adopted_again(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(2)
    before = [one["metadata"]["uid"] for one in server.items(PODS)]
    server.delete(WEB, "Orphan")
    server.wait(1)
    made = server.made(DEPLOYMENTS, workload("web", 2))
    server.wait(2)
    [group] = server.items(SETS)
    assert group["metadata"]["ownerReferences"][0]["uid"] == made["metadata"]["uid"]
    assert [one["metadata"]["uid"] for one in server.items(PODS)] == before


def test_a_pod_whose_labels_change_is_let_go(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 1))
    server.wait(2)
    [pod] = server.items(PODS)
    path = f"{PODS}/{pod['metadata']['name']}"
    server.merge(path, {"metadata": {"labels": {"app": "other"}}})
    server.wait(2)
    assert len(server.items(PODS)) == 2
    assert "ownerReferences" not in server.found(path)["metadata"]


def test_pods_are_available_after_their_time_only(server: Acting) -> None:
    server.made(DEPLOYMENTS, workload("web", 1, minReadySeconds=30))
    server.wait(10)
    assert server.status(WEB)["readyReplicas"] == 1
    assert "availableReplicas" not in server.status(WEB)
    server.wait(25)
    assert server.status(WEB)["availableReplicas"] == 1


def test_what_the_server_refuses_is_told(server: Acting) -> None:
    bad = workload("web", 1)
    bad["spec"]["template"]["spec"]["containers"] = [container(name="No Name")]
    bad["metadata"]["namespace"] = "default"
    # Past the checks, as one that an older server has let through.
    server.server.load([{"apiVersion": "apps/v1", "kind": "ReplicaSet", **bad}])
    server.wait(2)
    assert server.items(PODS) == []
    failure = server.condition(f"{SETS}/web", "ReplicaFailure")
    assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
    assert any(event.startswith("FailedCreate: Error creating: ") for event in server.events())


@pytest.mark.parametrize(
    ("cost", "goes"), [({"a": "5", "b": "-1", "c": "7"}, "b"), ({"a": "-9"}, "a")]
)
def test_the_cheapest_pod_goes_first(server: Acting, cost: dict[str, str], goes: str) -> None:
    names: dict[str, Any] = {}
    server.made(DEPLOYMENTS, workload("web", 3))
    server.wait(2)
    for letter, pod in zip("abc", server.items(PODS), strict=True):
        names[letter] = pod["metadata"]["name"]
        annotations = {"controller.kubernetes.io/pod-deletion-cost": cost.get(letter)}
        server.merge(f"{PODS}/{names[letter]}", {"metadata": {"annotations": annotations}})
    server.merge(f"{WEB}/scale", {"spec": {"replicas": 2}})
    server.wait(2)
    assert not server.is_there(f"{PODS}/{names[goes]}")
