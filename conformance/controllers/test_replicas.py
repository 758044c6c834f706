"""What ReplicationControllers make is the same on both servers."""

from __future__ import annotations

from typing import Any

from conformance.controllers.manifests import Stages, both, template
from conformance.controllers.stage import Stage

_CONTROLLERS = "replicationcontrollers"


def _is_available(stage: Stage, count: int) -> bool:
    status = stage.get(_CONTROLLERS, "old").get("status", {})
    told = [status.get(name, 0) for name in ("replicas", "availableReplicas")]
    return told == [count, count] and len(stage.objects("pods")) == count


def test_a_replication_controller(stages: Stages) -> None:
    """Its pods and its status, and a scale."""

    def play(stage: Stage) -> Any:
        spec = {"replicas": 2, "template": template("old")}
        stage.create(_CONTROLLERS, {"metadata": {"name": "old"}, "spec": spec})
        stage.wait(lambda: _is_available(stage, 2), "two pods")
        first = stage.told(_CONTROLLERS, "pods")
        stage.change(_CONTROLLERS, "old", {"spec": {"replicas": 1}}, "scale")
        stage.wait(lambda: _is_available(stage, 1), "one pod")
        return first, stage.told(_CONTROLLERS, "pods", generations=False), stage.events()

    both(stages, play)


def test_a_pod_that_is_selected_no_more(stages: Stages) -> None:
    """It is let go, and another one made."""

    def play(stage: Stage) -> Any:
        spec = {"replicas": 1, "selector": {"app": "old"}, "template": template("old")}
        stage.create(_CONTROLLERS, {"metadata": {"name": "old"}, "spec": spec})
        stage.wait(lambda: _is_available(stage, 1), "a pod")
        [pod] = stage.objects("pods")
        labels = {"app": "another"}
        stage.change("pods", pod["metadata"]["name"], {"metadata": {"labels": labels}})
        stage.wait(lambda: len(stage.objects("pods")) == 2, "another pod")
        stage.wait(lambda: _is_free(stage, pod["metadata"]["name"]), "the pod to be let go")
        return len([one for one in stage.objects("pods") if "ownerReferences" in one["metadata"]])

    both(stages, play)


def _is_free(stage: Stage, name: str) -> bool:
    return "ownerReferences" not in stage.get("pods", name)["metadata"]
