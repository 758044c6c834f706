"""Labels and annotations that are there whatever of an object a client changes (K27)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.write_server import Writing

JOBS = "/apis/batch/v1/namespaces/default/jobs"
OLD = "/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers"
NEW = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"


@pytest.mark.parametrize("labels", [None, {"own": None}, {}])
def test_a_job_whose_labels_are_taken_away_has_those_of_its_pods(labels: Any) -> None:
    server = Writing()
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}
    metadata = {"name": "a", "labels": {"own": "label"}}
    job = server.made(JOBS, {"metadata": metadata, "spec": {"template": template}})
    changed = server.merged(f"{JOBS}/a", {"metadata": {"labels": labels}})
    of_pods = job["spec"]["template"]["metadata"]["labels"]
    assert changed["metadata"]["labels"] == (metadata["labels"] if labels == {} else of_pods)


def test_annotations_of_an_old_autoscaler_are_not_its_status() -> None:
    server = Writing()
    target = {"kind": "Deployment", "name": "x", "apiVersion": "apps/v1"}
    spec = {"maxReplicas": 3, "scaleTargetRef": target}
    server.made(NEW, {"metadata": {"name": "a"}, "spec": spec})
    condition = {"type": "AbleToScale", "status": "True"}
    status = {"currentReplicas": 1, "conditions": [condition]}
    before = server.merged(f"{NEW}/a/status", {"status": status})["status"]
    changed = server.merged(f"{OLD}/a", {"metadata": {"annotations": None}})
    assert list(changed["metadata"]["annotations"]) == [
        "autoscaling.alpha.kubernetes.io/conditions"
    ]
    after = server.merged(f"{NEW}/a", {"metadata": {"labels": {"x": "y"}}})
    assert after["status"] == before
