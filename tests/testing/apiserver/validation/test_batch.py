"""What is wrong with Jobs and CronJobs (K28). The bulk of it is compared with a real server, in
`conformance/validation`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.jobs.index_intervals import (
    IntervalError,
    common_index,
    count_of_indexes,
)
from listwatch.testing.apiserver.validation.problems import Problem

from .test_workloads import POD

UID = "0000"
LABELS = {
    "controller-uid": UID,
    "job-name": "j",
    "batch.kubernetes.io/controller-uid": UID,
    "batch.kubernetes.io/job-name": "j",
}
ONCE = {**POD, "restartPolicy": "Never"}
JOB: dict[str, Any] = {
    "metadata": {"name": "j", "uid": UID, "generation": 1},
    "spec": {
        "parallelism": 1,
        "completions": 1,
        "completionMode": "NonIndexed",
        "suspend": False,
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": UID}},
        "template": {"metadata": {"labels": LABELS}, "spec": ONCE},
    },
}
JOBS, CRON_JOBS = checks_of("batch/jobs"), checks_of("batch/cronjobs")


def told(problems: Iterable[Problem]) -> list[str]:
    return [problem.field for problem in problems]


def with_spec(value: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {**value, "spec": {**value["spec"], **members}}


def with_pod(value: dict[str, Any], **members: Any) -> dict[str, Any]:
    template = value["spec"]["template"]
    return with_spec(value, template={**template, "spec": {**template["spec"], **members}})


def with_status(value: dict[str, Any], *conditions: str, **members: Any) -> dict[str, Any]:
    found = [{"type": name, "status": "True"} for name in conditions]
    return {**value, "status": {"conditions": found, **members}}


def test_a_valid_job() -> None:
    assert told(JOBS.create(JOB)) == []


def test_an_update_is_looked_at_twice() -> None:
    assert told(JOBS.of_update(with_spec(JOB, parallelism=-1), JOB)) == ["spec.parallelism"] * 2


def test_the_template_of_a_running_job_cannot_change() -> None:
    assert told(JOBS.of_update(with_pod(JOB, nodeSelector={"a": "b"}), JOB)) == ["spec.template"]


def test_a_template_is_shown_as_the_real_server_has_it_inside() -> None:
    changed = with_pod(JOB, hostNetwork=True, volumes=[{"name": "v", "emptyDir": {}}])
    (problem,) = JOBS.of_update(changed, JOB)
    shown = json.loads(problem.message.split(": ", 1)[1].removesuffix(": field is immutable"))
    assert list(shown) == ["labels", "Spec"]
    pod = shown["Spec"]
    assert list(pod)[:3] == ["Volumes", "InitContainers", "Containers"]
    assert pod["InitContainers"] is None
    assert "HostNetwork" not in pod  # it is in the security context there
    assert list(pod["Volumes"][0])[:3] == ["Name", "HostPath", "EmptyDir"]


@pytest.mark.parametrize(
    ("manager", "messages"),
    [
        (None, []),
        ("acme.io/foo", []),
        ("", ["Required value"]),
        ("foo", ['Invalid value: "foo": must be a domain-prefixed path']),
        ("/foo", ['Invalid value: "/foo": must be a domain-prefixed path']),
        ("acme.io/a b", ['Invalid value: "a b": Invalid path']),
        ("Acme/" + "x" * 60, ['Invalid value: "Acme": a lowercase', "Too long: may not be"]),
    ],
)
def test_who_may_manage_a_job(manager: str | None, messages: list[str]) -> None:
    found = list(JOBS.create(with_spec(JOB, managedBy=manager)))
    assert [problem.field for problem in found] == ["spec.managedBy"] * len(messages)
    for problem, message in zip(found, messages, strict=True):
        assert problem.message.startswith(message)


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"nodeSelector": {"a": "b"}, "tolerations": [{"operator": "Exists"}]}, []),
        ({"schedulingGates": [{"name": "a"}]}, []),
        ({"hostNetwork": True}, ["spec.template.spec"]),
        ({"affinity": {"nodeAffinity": {}}}, []),
        ({"affinity": {"podAffinity": {}}}, ["spec.template.spec"]),
        ({"containers": [{**POD["containers"][0], "resources": {"limits": {"cpu": "1"}}}]}, []),
        ({"containers": [{**POD["containers"][0], "image": "x"}]}, ["spec.template.spec"]),
    ],
)
def test_where_the_pods_of_a_suspended_job_go_can_change(
    changes: dict[str, Any], refused: list[str]
) -> None:
    suspended = with_spec(JOB, suspend=True)
    assert told(JOBS.of_update(with_pod(suspended, **changes), suspended)) == refused


def test_completions_change_with_parallelism_where_pods_have_indexes() -> None:
    indexed = with_spec(JOB, completionMode="Indexed")
    one = with_spec(indexed, completions=2)
    assert told(JOBS.of_update(one, indexed)) == ["spec.completions"]
    both = with_spec(indexed, completions=2, parallelism=2)
    assert told(JOBS.of_update(both, indexed)) == []


@pytest.mark.parametrize(
    ("before", "now", "refused"),
    [
        (with_status(JOB), with_status(JOB, active=1, ready=1), []),
        (with_status(JOB, failed=2), with_status(JOB, failed=1), ["status.failed"]),
        (
            with_status(JOB, "FailureTarget"),
            with_status(JOB),
            ["status.conditions"],
        ),
        (
            with_status(JOB, startTime="2026-01-01T00:00:00Z"),
            with_status(JOB, startTime="2026-01-01T00:00:01Z"),
            ["status.startTime"],
        ),
        # What was wrong before, and is left as it is, is not told again.
        (with_status(JOB, active=1, ready=2), with_status(JOB, active=1, ready=2), []),
    ],
)
def test_a_status_goes_forward(
    before: dict[str, Any], now: dict[str, Any], refused: list[str]
) -> None:
    assert told(JOBS.status(now, before)) == refused


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("0", 1), ("0-2,4", 4), ("1,3-4,9", 4), ("+1", 1)]
)
def test_indexes(text: str, count: int) -> None:
    assert count_of_indexes(text, 10) == count


@pytest.mark.parametrize("text", ["x", "0-1-2", "10", "0-10", "2-1", "1-1", "1,1", "1,", "5,1"])
def test_indexes_that_are_none(text: str) -> None:
    with pytest.raises(IntervalError):
        count_of_indexes(text, 10)


@given(st.sets(st.integers(0, 30)), st.sets(st.integers(0, 30)))
def test_the_first_index_that_two_lists_have(one: set[int], two: set[int]) -> None:
    first, second = (",".join(map(str, sorted(found))) for found in (one, two))
    assert common_index(first, second, 31) == min(one & two, default=None)


@pytest.mark.parametrize("checks", [JOBS, CRON_JOBS], ids=["job", "cron job"])
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"metadata": None, "spec": None, "status": None},
        {"spec": {"podFailurePolicy": {"rules": [{}, {"onExitCodes": {}}]}}},
        {"spec": {"completionMode": "Indexed", "successPolicy": {"rules": [{}]}}},
        {"spec": {"jobTemplate": {"spec": {"template": None}}, "schedule": None}},
        {"spec": {"template": {"spec": {"containers": [{}]}}}, "status": {"conditions": [{}]}},
        {"status": {"uncountedTerminatedPods": {}, "completedIndexes": None, "conditions": None}},
    ],
)
def test_whatever_is_missing_is_told_and_never_raised(checks: Any, value: dict[str, Any]) -> None:
    for found in (
        checks.create(value),
        checks.of_update(value, value),
        checks.status(value, value),
    ):
        assert all(isinstance(problem, Problem) for problem in found)
    assert all(isinstance(text, str) for text in checks.warnings(value))
