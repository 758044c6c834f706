"""Labels and annotations that a server completes, whatever of an object a client changes."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space
from conformance.requests import Json

CONDITION = {
    "type": "AbleToScale",
    "status": "True",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "reason": "ReadyForNewScale",
    "message": "It is.",
}
KEPT = "autoscaling.alpha.kubernetes.io"


@pytest.mark.parametrize("labels", [None, {"own": None}])
def test_a_job_without_labels_has_those_of_its_pods(space: Space, labels: Json | None) -> None:
    """A PATCH that takes a Job's labels away gives it those of its template, as a create does; they
    are then owned by who has sent it.
    """
    container = {"name": "c", "image": "i"}
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }
    made = space.put(
        {
            "metadata": {"name": "a", "labels": {"own": "label"}},
            "spec": {"suspend": True, "template": template},
        },
        "jobs",
    )
    of_pods = made["spec"]["template"]["metadata"]["labels"]
    path = space.path("jobs", "a", fieldManager="taker")
    changed = space.server.patch(path, {"metadata": {"labels": labels}})
    assert changed["metadata"]["labels"] == of_pods
    assert of_pods["a"] == "b"
    (entry,) = (
        found for found in changed["metadata"]["managedFields"] if found["manager"] == "taker"
    )
    assert set(entry["fieldsV1"]["f:metadata"]["f:labels"]) == {f"f:{name}" for name in of_pods}


@pytest.mark.parametrize("annotations", [None, {f"{KEPT}/conditions": None}, {"a": "b"}])
def test_annotations_do_not_change_the_status_of_a_v1_autoscaler(
    space: Space, annotations: Json | None
) -> None:
    """`autoscaling/v1` shows conditions and current metrics as annotations. A PATCH or PUT of the
    annotations leaves them as they are; only one of the status changes them.
    """
    old, new = (
        f"/apis/autoscaling/{version}/namespaces/{space.name}/horizontalpodautoscalers"
        for version in ("v1", "v2")
    )
    target = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}
    space.server.create(
        new, {"metadata": {"name": "a"}, "spec": {"maxReplicas": 3, "scaleTargetRef": target}}
    )
    status = {"currentReplicas": 1, "desiredReplicas": 1, "conditions": [CONDITION]}
    before = space.server.patch(f"{new}/a/status", {"status": status})["status"]
    space.server.patch(f"{old}/a", {"metadata": {"annotations": annotations}})
    assert space.server.get(f"{new}/a")["status"] == before
    shown = space.server.get(f"{old}/a")
    shown["metadata"]["annotations"] = {"z": "z"}
    put = space.server.replace(f"{old}/a", shown)
    assert set(put["metadata"]["annotations"]) == {"z", f"{KEPT}/conditions"}
    assert space.server.get(f"{new}/a")["status"] == before


def test_a_v1_autoscaler_without_metrics_scales_by_the_processor(space: Space) -> None:
    """Taking the annotation with its metrics away from an `autoscaling/v1` object makes it aim at
    80 % of the processor.
    """
    old, new = (
        f"/apis/autoscaling/{version}/namespaces/{space.name}/horizontalpodautoscalers"
        for version in ("v1", "v2")
    )
    aim = {"type": "AverageValue", "averageValue": "1"}
    metric = {"type": "Pods", "pods": {"metric": {"name": "q"}, "target": aim}}
    target = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target, "metrics": [metric]}
    space.server.create(new, {"metadata": {"name": "a"}, "spec": spec})
    gone = {"metadata": {"annotations": {f"{KEPT}/metrics": None}}}
    changed = space.server.patch(f"{old}/a", gone)
    assert changed["spec"]["targetCPUUtilizationPercentage"] == 80
    (found,) = space.server.get(f"{new}/a")["spec"]["metrics"]
    assert found["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}
