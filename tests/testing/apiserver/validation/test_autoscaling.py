"""What is wrong with autoscalers (K28). The bulk of it is compared with a real server, in
`conformance/validation`.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.workloads.autoscaling import CHECKS

AUTOSCALERS = CHECKS["autoscaling/horizontalpodautoscalers"]
TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}


def autoscaler(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "spec": {"maxReplicas": 3, "scaleTargetRef": TARGET, **spec},
    }


def fields(value: dict[str, Any], old: dict[str, Any] | None = None) -> list[str]:
    found = AUTOSCALERS.create(value) if old is None else AUTOSCALERS.of_update(value, old)
    return [problem.field for problem in found]


def test_a_target_of_no_group_is_left_alone_where_it_was_before() -> None:
    odd = autoscaler(scaleTargetRef={"apiVersion": "v1", "kind": "Pod", "name": "a"})
    assert fields(odd) == ["spec.scaleTargetRef.apiVersion"]
    assert fields(odd, odd) == []
    assert fields(odd, autoscaler()) == ["spec.scaleTargetRef.apiVersion"]


def test_one_that_scales_to_zero_already_may_go_on() -> None:
    metric = {
        "type": "External",
        "external": {"metric": {"name": "a"}, "target": {"type": "Value", "value": "1"}},
    }
    zero = autoscaler(minReplicas=0, metrics=[metric])
    assert fields(zero) == ["spec.minReplicas"]
    assert fields(zero, zero) == []


def test_v1_is_looked_at_as_v2_would_be() -> None:
    old = {
        "apiVersion": "autoscaling/v1",
        "metadata": {
            "annotations": {
                "autoscaling.alpha.kubernetes.io/metrics": '[{"type":"Pods","pods":{}}]'
            }
        },
        "spec": {
            "maxReplicas": 1,
            "scaleTargetRef": TARGET,
            "targetCPUUtilizationPercentage": 0,
        },
    }
    assert fields(old) == [
        "spec.metrics[0].pods.metric.name",
        "spec.metrics[0].pods.target.averageValue",
        "spec.metrics[1].resource.target.averageUtilization",
    ]


@pytest.mark.parametrize("version", ["autoscaling/v1", "autoscaling/v2"])
@pytest.mark.parametrize(
    "spec",
    [
        None,
        {},
        {"metrics": [{}], "behavior": {}},
        {"metrics": [{"type": "Object", "object": {}}, {"type": "Resource", "pods": {}}]},
        {"behavior": {"scaleUp": {"policies": [{}]}, "scaleDown": {}}},
    ],
)
def test_whatever_is_missing_is_told_and_never_raised(
    version: str, spec: dict[str, Any] | None
) -> None:
    value = {"apiVersion": version, "spec": spec}
    assert "spec.maxReplicas" in fields(value)
    assert "spec.maxReplicas" in fields(value, value)
    assert list(AUTOSCALERS.status(value, value)) == []
