"""What the tests of controllers have them work on, and how they compare what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.controllers.stage import Stage
from conformance.requests import Json

__all__ = ["CONTAINER", "Stages", "both", "image", "job", "rolled_out", "template", "workload"]

Stages = tuple[Stage, Stage]

CONTAINER = {"name": "main", "image": "example.invalid/app:1"}


def template(name: str, **spec: Any) -> Json:
    return {
        "metadata": {"labels": {"app": name}, "annotations": {"note": "x"}},
        "spec": {"containers": [CONTAINER], **spec},
    }


def workload(name: str, replicas: int | None = None, **spec: Any) -> Json:
    count = {} if replicas is None else {"replicas": replicas}
    selector = {"matchLabels": {"app": name}}
    return {
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {**count, "selector": selector, "template": template(name), **spec},
    }


def job(name: str, **spec: Any) -> Json:
    template = {"spec": {"containers": [CONTAINER], "restartPolicy": "Never"}}
    return {"metadata": {"name": name}, "spec": {"template": template, **spec}}


def rolled_out(stage: Stage, name: str = "web") -> Callable[[], bool]:
    def is_rolled_out() -> bool:
        found = stage.get("deployments", name)
        status, wanted = found.get("status", {}), found["spec"]["replicas"]
        return (
            status.get("observedGeneration") == found["metadata"]["generation"]
            and all(
                status.get(count, 0) == wanted
                for count in ("replicas", "updatedReplicas", "availableReplicas")
            )
            and not status.get("terminatingReplicas")
            and all("deletionTimestamp" not in pod["metadata"] for pod in stage.objects("pods"))
        )

    return is_rolled_out


def image(number: int) -> Json:
    containers = [{**CONTAINER, "image": f"example.invalid/app:{number}"}]
    return {"spec": {"template": {"spec": {"containers": containers}}}}


def both(stages: Stages, play: Callable[[Stage], Any]) -> None:
    """Assert that it comes to the same on both."""
    embedded, real = (play(stage) for stage in stages)
    assert embedded == real
