"""What is filled in of workloads and jobs."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.defaulting.job_defaults import (
    JOB_DEFAULTS,
    missing_labels,
    with_selector,
)
from listwatch.testing.apiserver.defaulting.workload_defaults import WORKLOAD_DEFAULTS

FILL = {**WORKLOAD_DEFAULTS, **JOB_DEFAULTS}
POD = {"containers": [{"name": "c", "image": "i"}]}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": POD}


def filled(storage: str, spec: Any = None, **members: Any) -> dict[str, Any]:
    value: dict[str, Any] = {"metadata": {"name": "n", "uid": "u"}, "spec": spec, **members}
    FILL[storage](value)
    return value


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        (
            None,
            {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
            },
        ),
        ({"type": "Recreate"}, {"type": "Recreate"}),
        (
            {"rollingUpdate": {"maxSurge": 0}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": 0}},
        ),
    ],
)
def test_the_strategy_of_a_deployment(given: Any, strategy: dict[str, Any]) -> None:
    assert filled("apps/deployments", {"strategy": given})["spec"]["strategy"] == strategy


@pytest.mark.parametrize(
    ("given", "strategy"),
    [
        (None, {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
        ({"type": "RollingUpdate"}, {"type": "RollingUpdate"}),
        ({"type": "OnDelete"}, {"type": "OnDelete"}),
        (
            {"rollingUpdate": {"partition": 2, "maxUnavailable": 3}},
            {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}},
        ),
    ],
)
def test_the_strategy_of_a_stateful_set(given: Any, strategy: dict[str, Any]) -> None:
    made = filled("apps/statefulsets", {"updateStrategy": given})
    assert made["spec"]["updateStrategy"] == strategy


def test_a_template_that_is_not_there_is_filled_in() -> None:
    template = filled("apps/daemonsets")["spec"]["template"]
    assert template["spec"]["restartPolicy"] == "Always"


def test_claims_of_a_stateful_set_are_whole_claims() -> None:
    (claim,) = filled("apps/statefulsets", {"volumeClaimTemplates": [{"spec": {}}]})["spec"][
        "volumeClaimTemplates"
    ]
    assert (claim["kind"], claim["apiVersion"]) == ("PersistentVolumeClaim", "v1")
    assert claim["spec"] == {"volumeMode": "Filesystem"}
    assert claim["status"] == {"phase": "Pending"}


def test_a_replication_controller_selects_by_the_labels_of_its_pods() -> None:
    made = filled("replicationcontrollers", {"template": TEMPLATE, "selector": {}})
    assert made["spec"]["selector"] == made["metadata"]["labels"] == {"a": "b"}
    assert filled("replicationcontrollers")["spec"] == {"replicas": 1}


@pytest.mark.parametrize(
    ("given", "full"),
    [
        ({}, {"parallelism": 1, "completions": 1, "backoffLimit": 6}),
        ({"parallelism": 3}, {"parallelism": 3, "completions": None, "backoffLimit": 6}),
        ({"completions": 3}, {"parallelism": 1, "completions": 3}),
        ({"backoffLimitPerIndex": 1}, {"backoffLimit": 2**31 - 1}),
        ({"podFailurePolicy": {"rules": []}}, {"podReplacementPolicy": "Failed"}),
        ({"podFailurePolicy": None}, {"podReplacementPolicy": "TerminatingOrFailed"}),
    ],
)
def test_a_job(given: dict[str, Any], full: dict[str, Any]) -> None:
    spec = filled("batch/jobs", given)["spec"]
    assert {name: spec.get(name) for name in full} == full


def test_conditions_of_pods_are_those_that_are_true() -> None:
    policy = {"rules": [{"onPodConditions": [{"type": "a"}, {"type": "b", "status": "False"}]}]}
    for storage, spec in (
        ("batch/jobs", {"podFailurePolicy": policy}),
        ("batch/cronjobs", {"jobTemplate": {"spec": {"podFailurePolicy": policy}}}),
    ):
        made = filled(storage, spec)["spec"]
        job = made.get("jobTemplate", {}).get("spec", made)
        patterns = job["podFailurePolicy"]["rules"][0]["onPodConditions"]
        assert [pattern["status"] for pattern in patterns] == ["True", "False"]


def test_a_job_gets_a_selector_and_what_its_client_said_stays() -> None:
    labels = {"app": "x", "job-name": "other"}
    job = filled("batch/jobs", {"template": {"metadata": {"labels": labels}, "spec": POD}})
    with_selector(job)
    assert job["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert (
        job["metadata"]["labels"]
        == job["spec"]["template"]["metadata"]["labels"]
        == {
            "app": "x",
            "batch.kubernetes.io/controller-uid": "u",
            "batch.kubernetes.io/job-name": "n",
            "controller-uid": "u",
            "job-name": "other",
        }
    )


def test_a_job_whose_selector_is_the_clients_gets_none() -> None:
    job = filled("batch/jobs", {"manualSelector": True, "template": TEMPLATE})
    with_selector(job)
    assert "selector" not in job["spec"]
    assert job["metadata"]["labels"] == {"a": "b"}


def test_labels_that_a_job_has_stay() -> None:
    job = {"metadata": {"labels": {"x": "y"}}, "spec": {"template": TEMPLATE}}
    assert missing_labels(job) == {}
    assert missing_labels({"metadata": {}, "spec": None}) == {}


@pytest.mark.parametrize("storage", sorted(FILL))
@pytest.mark.parametrize(
    "nonsense",
    [None, 5, "x", [], {"template": 5, "jobTemplate": [], "strategy": 5, "updateStrategy": "x"}],
)
def test_nonsense_does_no_harm(storage: str, nonsense: Any) -> None:
    filled(storage, nonsense, template=nonsense)
