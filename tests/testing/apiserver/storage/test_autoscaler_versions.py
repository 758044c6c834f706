"""HorizontalPodAutoscalers as `autoscaling/v1` shows them, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.storage.autoscaler_versions import (
    as_new_autoscaler,
    as_old_autoscaler,
    with_old_status,
    with_status_kept,
    without_kept,
)

PREFIX = "autoscaling.alpha.kubernetes.io/"
TARGET = {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"}
CPU: dict[str, Any] = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
OTHERS: list[dict[str, Any]] = [
    {
        "type": "Resource",
        "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
    },
    {
        "type": "ContainerResource",
        "containerResource": {
            "name": "memory",
            "target": {"type": "Utilization", "averageUtilization": 5},
            "container": "c",
        },
    },
    {
        "type": "Pods",
        "pods": {
            "metric": {"name": "packets", "selector": {"matchLabels": {"a": "b"}}},
            "target": {"type": "AverageValue", "averageValue": "10"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Ingress", "name": "web"},
            "target": {"type": "Value", "value": "100"},
            "metric": {"name": "requests"},
        },
    },
    {
        "type": "Object",
        "object": {
            "describedObject": {"kind": "Ingress", "name": "web"},
            "target": {"type": "AverageValue", "averageValue": "7"},
            "metric": {"name": "requests"},
        },
    },
    {
        "type": "External",
        "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "30"}},
    },
]
BEHAVIOR = {
    "scaleUp": {
        "stabilizationWindowSeconds": 60,
        "selectPolicy": "Max",
        "policies": [{"type": "Pods", "value": 4, "periodSeconds": 60}],
        "tolerance": "100m",
    }
}
CURRENT: list[dict[str, Any]] = [
    {
        "type": "Resource",
        "resource": {"name": "cpu", "current": {"averageValue": "5m", "averageUtilization": 10}},
    },
    {
        "type": "Object",
        "object": {
            "metric": {"name": "requests"},
            "current": {"value": "5"},
            "describedObject": {"kind": "Ingress", "name": "web"},
        },
    },
    {"type": "Pods", "pods": {"metric": {"name": "p"}, "current": {"averageValue": "5"}}},
    {
        "type": "External",
        "external": {
            "metric": {"name": "q", "selector": {"matchLabels": {"a": "b"}}},
            "current": {"value": "1", "averageValue": "2"},
        },
    },
    {
        "type": "ContainerResource",
        "containerResource": {"name": "memory", "current": {"averageValue": "2"}, "container": "c"},
    },
]
STATUS = {
    "currentReplicas": 1,
    "desiredReplicas": 2,
    "currentMetrics": CURRENT,
    "conditions": [{"type": "AbleToScale", "status": "True", "lastTransitionTime": None}],
}


def autoscaler(*metrics: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "metadata": {"name": "h", "annotations": {"own": "x"}},
        "spec": {
            "scaleTargetRef": TARGET,
            "minReplicas": 1,
            "maxReplicas": 5,
            "metrics": list(metrics),
            **spec,
        },
    }


def annotation(value: dict[str, Any], name: str) -> Any:
    text = value["metadata"]["annotations"].get(PREFIX + name)
    return None if text is None else json.loads(text)


def test_what_the_old_form_has_no_members_for_is_in_annotations() -> None:
    old = as_old_autoscaler(autoscaler(OTHERS[2], CPU, behavior=BEHAVIOR))
    assert old["spec"] == {
        "scaleTargetRef": TARGET,
        "minReplicas": 1,
        "maxReplicas": 5,
        "targetCPUUtilizationPercentage": 50,
    }
    assert annotation(old, "metrics") == [
        {
            "type": "Pods",
            "pods": {
                "metricName": "packets",
                "targetAverageValue": "10",
                "selector": {"matchLabels": {"a": "b"}},
            },
        }
    ]
    assert annotation(old, "behavior")["ScaleUp"]["SelectPolicy"] == "Max"
    assert annotation(old, "behavior")["ScaleDown"] is None


def test_the_way_there_and_back_loses_nothing() -> None:
    value = {**autoscaler(*OTHERS, CPU, behavior=BEHAVIOR), "status": STATUS}
    again = as_new_autoscaler(as_old_autoscaler(value))
    assert again["spec"] == value["spec"]
    assert again["metadata"] == value["metadata"]
    assert again["status"]["currentMetrics"] == CURRENT
    assert [found["type"] for found in again["status"]["conditions"]] == ["AbleToScale"]


def test_where_nothing_is_looked_at_it_is_the_use_of_the_processor() -> None:
    old = {"metadata": {}, "spec": {"maxReplicas": 1}}
    (metric,) = as_new_autoscaler(old)["spec"]["metrics"]
    assert metric["resource"]["target"]["averageUtilization"] == 80


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("metrics", "no JSON"),
        ("metrics", "5"),
        ("metrics", "[1]"),
        ("metrics", '[{"type": 5}]'),
        ("metrics", '[{"type":"Pods","pods":{"metricName":"a","targetAverageValue":"x"}}]'),
        ("behavior", "[]"),
        ("behavior", '{"ScaleUp":{"Policies":5}}'),
        ("current-metrics", '[{"type":"Pods","pods":5}]'),
        ("conditions", '[{"status":5}]'),
        ("metrics", "[" * 100_000),
    ],
)
def test_annotations_that_make_no_sense_are_nothing(name: str, text: str) -> None:
    old = {"metadata": {"annotations": {PREFIX + name: text}}, "spec": {"maxReplicas": 1}}
    new = as_new_autoscaler(old)
    assert len(new["spec"]["metrics"]) == 1
    assert "behavior" not in new["spec"]
    assert "annotations" not in new["metadata"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "pods", "object", "external", "resource", "metricName"]), inner
        )
    ),
    max_leaves=8,
)


@given(JSON, st.sampled_from(["metrics", "behavior", "current-metrics", "conditions"]))
def test_whatever_an_annotation_says_does_no_harm(said: Any, name: str) -> None:
    annotations = {PREFIX + name: json.dumps(said)}
    old = {"metadata": {"annotations": annotations}, "spec": {"maxReplicas": 1}}
    as_old_autoscaler(as_new_autoscaler(old))


def test_the_new_form_has_none_of_these_annotations() -> None:
    metadata = {"name": "h", "annotations": {"own": "x", f"{PREFIX}metrics": "[]"}}
    assert without_kept(metadata) == {"name": "h", "annotations": {"own": "x"}}
    plain = {"name": "h"}
    assert without_kept(plain) is plain


def test_an_update_leaves_the_annotations_of_the_status_as_they_are() -> None:
    old = as_old_autoscaler({**autoscaler(CPU), "status": STATUS})
    kept = with_status_kept(old, {"name": "h"})["annotations"]
    assert sorted(kept) == [f"{PREFIX}conditions", f"{PREFIX}current-metrics"]
    wrong = {"annotations": {**kept, f"{PREFIX}conditions": "[]"}}
    assert with_status_kept(old, wrong)["annotations"] == kept
    same = {"annotations": kept}
    assert with_status_kept(old, same) is same


def test_a_status_leaves_the_annotations_of_the_spec_as_they_are() -> None:
    old = as_old_autoscaler(autoscaler(OTHERS[0], CPU))
    changed = {**old, "metadata": {"name": "h"}, "status": {"currentReplicas": 3}}
    made = with_old_status(old, changed)
    assert annotation(made, "metrics") == annotation(old, "metrics")
    assert made["status"] == {"currentReplicas": 3, "desiredReplicas": 0}
