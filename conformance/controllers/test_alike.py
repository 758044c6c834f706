"""What controllers make of a manifest is the same on both servers but for names, uids, times."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controllers.manifests import Stages, both, image, job, rolled_out, workload
from conformance.controllers.stage import Stage
from conformance.requests import Json
from conformance.waiting import until

_OF_DEPLOYMENT = ("deployments", "replicasets", "pods")


def test_a_deployment(stages: Stages) -> None:
    """Its ReplicaSet and its pods: every field, managedFields and status included."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 3))
        stage.wait(rolled_out(stage), "a rollout")
        return stage.told(*_OF_DEPLOYMENT), stage.events()

    both(stages, play)


def test_a_deployment_that_nobody_runs(stages: Stages) -> None:
    """Without a kubelet it says that it is not available, and that it goes on."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2))

        def told() -> bool:
            status = stage.get("deployments", "web").get("status", {})
            return bool(status.get("updatedReplicas") == 2)

        until(told, what="a status")
        return stage.told(*_OF_DEPLOYMENT)

    both(stages, play)


def test_a_rolling_update(stages: Stages) -> None:
    """Two ReplicaSets with their revisions, and only pods of the new one."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 3))
        stage.wait(rolled_out(stage), "a rollout")
        stage.change("deployments", "web", image(2))
        stage.wait(rolled_out(stage), "another rollout")
        return stage.told(*_OF_DEPLOYMENT, generations=False), stage.events()

    both(stages, play)


def test_a_recreation(stages: Stages) -> None:
    """Strategy Recreate comes to the same end."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2, strategy={"type": "Recreate"}))
        stage.wait(rolled_out(stage), "a rollout")
        stage.change("deployments", "web", image(2))
        stage.wait(rolled_out(stage), "another rollout")
        return stage.told(*_OF_DEPLOYMENT, generations=False), stage.events()

    both(stages, play)


def test_a_rollback(stages: Stages) -> None:
    """The old ReplicaSet is the new one, with the next revision, and says which it was."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2))
        stage.wait(rolled_out(stage), "a rollout")
        for number in (2, 1):
            stage.change("deployments", "web", image(number))
            stage.wait(rolled_out(stage), "another rollout")
        return stage.told(*_OF_DEPLOYMENT, generations=False)

    both(stages, play)


def test_a_scale_up_and_down(stages: Stages) -> None:
    """The number of pods, and what the ReplicaSet's annotations say of it."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2))
        stage.wait(rolled_out(stage), "a rollout")
        for number in (5, 1):
            stage.change("deployments", "web", {"spec": {"replicas": number}}, "scale")
            stage.wait(rolled_out(stage), "a scale")
        return stage.told(*_OF_DEPLOYMENT, generations=False), stage.events()

    both(stages, play)


def test_a_pause(stages: Stages) -> None:
    """While paused no ReplicaSet is made, and the condition says so."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2))
        stage.wait(rolled_out(stage), "a rollout")
        stage.change("deployments", "web", {"spec": {"paused": True}})

        def paused() -> bool:
            status = stage.get("deployments", "web")["status"]
            reasons = [one["reason"] for one in status["conditions"]]
            return "DeploymentPaused" in reasons and status["observedGeneration"] == 2

        stage.wait(paused, "a pause")
        return stage.told(*_OF_DEPLOYMENT)

    both(stages, play)


def test_a_stateful_set(stages: Stages) -> None:
    """Pods in their order, their revision, and the status."""

    def play(stage: Stage) -> Any:
        stage.create("statefulsets", workload("db", 2, serviceName="db"))

        def done() -> bool:
            status = stage.get("statefulsets", "db").get("status", {})
            return bool(status.get("availableReplicas") == 2)

        stage.wait(done, "a StatefulSet")
        return stage.told("statefulsets", "controllerrevisions", "pods"), stage.events()

    both(stages, play)


def test_a_daemon_set(stages: Stages) -> None:
    """A pod for the node, its revision, and the status."""

    def play(stage: Stage) -> Any:
        stage.create("daemonsets", workload("agent"))

        def done() -> bool:
            status = stage.get("daemonsets", "agent").get("status", {})
            return bool(status.get("numberAvailable") == 1)

        stage.wait(done, "a DaemonSet")
        return stage.told("daemonsets", "controllerrevisions", "pods"), stage.events()

    both(stages, play)


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("good", {"completions": 3, "parallelism": 2}),
        ("bad", {"backoffLimit": 0}),
        ("rows", {"completions": 3, "parallelism": 3, "completionMode": "Indexed"}),
    ],
)
def test_a_job(stages: Stages, name: str, spec: Json) -> None:
    """Its pods, how they are counted, and the conditions at the end."""

    def play(stage: Stage) -> Any:
        stage.create("jobs", job(name, **spec))

        def over() -> bool:
            conditions = stage.get("jobs", name).get("status", {}).get("conditions", [])
            return any(one["type"] in ("Complete", "Failed") for one in conditions)

        stage.wait(over, "the end of a Job")
        return stage.told("jobs", "pods"), stage.events()

    both(stages, play)


# Deletion


def _owned(stage: Stage, name: str, *owners: tuple[Json, bool], **metadata: Any) -> Json:
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner, blocks in owners
    ]
    made = {"name": name, "ownerReferences": references, **metadata}
    return stage.create("configmaps", {"metadata": made})


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_what_is_left_of_a_family(stages: Stages, policy: str) -> None:
    """By each policy: who goes, who stays, and what those that stay still say of their owners."""

    def play(stage: Stage) -> Any:
        top = _owned(stage, "top")
        other = _owned(stage, "other")
        child = _owned(stage, "child", (top, True))
        _owned(stage, "loose", (top, False))
        _owned(stage, "shared", (top, True), (other, False))
        _owned(stage, "grandchild", (child, True))
        held = _owned(stage, "held", (top, True), finalizers=["example.com/hold"])
        assert held["metadata"]["finalizers"]
        stage.delete("configmaps", "top", policy)
        stage.wait(lambda: not _mentions(stage, "shared", "top"), "the garbage collector")
        stage.wait(lambda: _is_settled(stage, policy), "the garbage collector")
        before = stage.told("configmaps")
        stage.change("configmaps", "held", {"metadata": {"finalizers": None}})
        stage.wait(lambda: not stage.exists("configmaps", "top"), "the end of the owner")
        return before, stage.told("configmaps")

    both(stages, play)


def _mentions(stage: Stage, name: str, owner: str) -> bool:
    references = stage.get("configmaps", name)["metadata"].get("ownerReferences", ())
    return any(one["name"] == owner for one in references)


def _is_settled(stage: Stage, policy: str) -> bool:
    if policy == "Orphan":
        return not stage.exists("configmaps", "top")
    gone = ("child", "loose", "grandchild")
    held = stage.get("configmaps", "held")["metadata"]
    return "deletionTimestamp" in held and not any(
        stage.exists("configmaps", name) for name in gone
    )


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_what_is_left_of_a_deployment(stages: Stages, policy: str) -> None:
    """By each policy: of its ReplicaSets and pods."""

    def play(stage: Stage) -> Any:
        stage.create("deployments", workload("web", 2))
        stage.wait(rolled_out(stage), "a rollout")
        stage.delete("deployments", "web", policy)

        def over() -> bool:
            if stage.exists("deployments", "web"):
                return False
            left = stage.objects("replicasets") + stage.objects("pods")
            return policy == "Orphan" or not left

        stage.wait(over, "the garbage collector")
        return stage.told(*_OF_DEPLOYMENT, generations=False)

    both(stages, play)


@pytest.mark.parametrize("name", ["dangling", "elsewhere"])
def test_a_dependent_of_nothing_goes(stages: Stages, name: str) -> None:
    """Whose owner is not there, or is in another namespace, is deleted."""

    def play(stage: Stage) -> Any:
        owner = {"metadata": {"name": "x", "uid": "11111111-1111-4111-8111-111111111111"}}
        if name == "elsewhere":
            owner = stage.elsewhere().create("configmaps", {"metadata": {"name": "x"}})
        _owned(stage, name, (owner, False))
        stage.wait(lambda: not stage.exists("configmaps", name), "the garbage collector")
        return True

    both(stages, play)


def test_a_namespace_has_an_account_and_a_certificate(stages: Stages) -> None:
    """The ServiceAccount default, and the ConfigMap kube-root-ca.crt."""

    def play(stage: Stage) -> Any:
        stage.wait(
            lambda: (
                stage.exists("serviceaccounts", "default")
                and stage.exists("configmaps", "kube-root-ca.crt")
            ),
            "what every namespace has",
        )
        stage.change("configmaps", "kube-root-ca.crt", {"data": {"ca.crt": "x"}})
        return stage.get("serviceaccounts", "default")["metadata"].keys()

    both(stages, play)
