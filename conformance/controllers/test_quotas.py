"""What ResourceQuotas say is used is the same on both servers."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.controllers.manifests import CONTAINER, Stages, both, workload
from conformance.controllers.stage import Stage
from conformance.requests import Json


def _quota(hard: Json, **spec: Any) -> Json:
    return {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}


def _pod(name: str, cpu: str, **spec: Any) -> Json:
    resources = {"requests": {"cpu": cpu, "memory": "64Mi"}, "limits": {"memory": "1Gi"}}
    made = {"containers": [{**CONTAINER, "resources": resources}], **spec}
    return {"metadata": {"name": name, "labels": {"app": name}}, "spec": made}


def _used(stage: Stage) -> Json:
    used = stage.get("resourcequotas", "q").get("status", {}).get("used", {})
    assert isinstance(used, dict)
    return used


def test_a_quota_of_everything(stages: Stages) -> None:
    """What is there when it comes, what comes later, and what is there when it has gone."""
    hard = {
        "pods": "10",
        "requests.cpu": "4",
        "cpu": "5000m",
        "limits.memory": "8Gi",
        "configmaps": "10",
        "count/configmaps": "20",
        "count/deployments.apps": "3",
        "services": "5",
        "services.nodeports": "2",
        "persistentvolumeclaims": "4",
        "requests.storage": "100Gi",
        "gold.storageclass.storage.k8s.io/requests.storage": "10Gi",
        "count/things.example.com": "1",
        "requests.example.com/gpu": "3",
    }

    def play(stage: Stage) -> Any:
        stage.create("pods", _pod("a", "500m"))
        port = {"port": 80}
        stage.create(
            "services",
            {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [port]}},
        )
        claim = {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "gold",
            "resources": {"requests": {"storage": "1500Mi"}},
        }
        stage.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": claim})
        # A namespace has its ConfigMap first: it counts.
        stage.until(lambda: stage.exists("configmaps", "kube-root-ca.crt"), "a ConfigMap")
        stage.create("resourcequotas", _quota(hard))
        stage.until(lambda: _used(stage), "a status")
        first = stage.told("resourcequotas")
        stage.create("pods", _pod("b", "1250m"))
        stage.until(lambda: _used(stage)["pods"] == "2", "another pod")
        second = stage.told("resourcequotas")
        stage.delete("pods", "a", "Background")
        stage.until(lambda: _used(stage)["pods"] == "1", "a pod less")
        return first, second, stage.told("resourcequotas")

    both(stages, play)


@pytest.mark.parametrize(
    "scopes",
    [
        {"scopes": ["BestEffort"]},
        {"scopes": ["NotTerminating"]},
        {"scopes": ["Terminating", "NotBestEffort"]},
    ],
)
def test_a_quota_of_some_pods(stages: Stages, scopes: Json) -> None:
    """Only those in its scopes count."""

    def play(stage: Stage) -> Any:
        stage.create("pods", _pod("a", "500m"))
        stage.create("pods", _pod("b", "100m", activeDeadlineSeconds=1000))
        for name in ("c", "d", "e"):
            spec = {"containers": [CONTAINER]}
            stage.create("pods", {"metadata": {"name": name}, "spec": spec})
        stage.create("resourcequotas", _quota({"pods": "10"}, **scopes))
        stage.until(lambda: _used(stage), "a status")
        return stage.told("resourcequotas")

    both(stages, play)


def test_a_quota_that_changes(stages: Stages) -> None:
    """The status follows what it limits."""

    def play(stage: Stage) -> Any:
        stage.create("resourcequotas", _quota({"pods": "1", "services": "2"}))
        stage.until(lambda: _used(stage), "a status")
        change = {"spec": {"hard": {"pods": "3", "services": None, "secrets": "4"}}}
        stage.change("resourcequotas", "q", change)
        stage.until(lambda: "secrets" in _used(stage), "another status")
        return stage.told("resourcequotas")

    both(stages, play)


_HELD = [
    ("Available", "False", "MinimumReplicasUnavailable"),
    ("Progressing", "True", "ReplicaSetUpdated"),
    ("ReplicaFailure", "True", "FailedCreate"),
]


def _conditions(stage: Stage) -> list[tuple[str, str, str]]:
    conditions = stage.get("deployments", "web").get("status", {}).get("conditions", [])
    return sorted((one["type"], one["status"], one["reason"]) for one in conditions)


def test_a_deployment_that_is_held(stages: Stages) -> None:
    """As many pods as the quota lets in, and who wanted more says so."""

    def play(stage: Stage) -> Any:
        stage.create("resourcequotas", _quota({"pods": "2"}))
        stage.until(lambda: _used(stage), "a status")
        stage.create("deployments", workload("web", 4))

        stage.until(lambda: _used(stage) == {"pods": "2"}, "two pods")
        stage.until(lambda: _conditions(stage) == _HELD, "the conditions")  # one after the other
        return stage.get("deployments", "web")["status"]["unavailableReplicas"]

    both(stages, play)
