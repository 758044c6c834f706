"""What is wrong with Deployments and the other workloads (K28). The bulk of it is compared with a
real server, in `conformance/validation`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of
from listwatch.testing.apiserver.validation.problems import Problem
from listwatch.testing.apiserver.validation.workloads.rollouts import amount_of, amount_problems

POD: dict[str, Any] = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "imagePullPolicy": "Always",
            "terminationMessagePath": "/t",
            "terminationMessagePolicy": "File",
        }
    ],
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}
TEMPLATE: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": POD}
SELECTOR = {"matchLabels": {"a": "b"}}
STRATEGY = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
DEPLOYMENT: dict[str, Any] = {
    "metadata": {"name": "d", "generation": 1},
    "spec": {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE, "strategy": STRATEGY},
}
STATEFUL_SET: dict[str, Any] = {
    "metadata": {"name": "s", "generation": 1},
    "spec": {
        "selector": SELECTOR,
        "template": TEMPLATE,
        "podManagementPolicy": "Parallel",
        "updateStrategy": {"type": "OnDelete"},
    },
}
STORAGES = (
    "apps/controllerrevisions",
    "apps/daemonsets",
    "apps/deployments",
    "apps/replicasets",
    "apps/statefulsets",
    "podtemplates",
    "replicationcontrollers",
)


def told(problems: Iterable[Problem]) -> list[str]:
    return [problem.field for problem in problems]


def with_spec(value: dict[str, Any], **members: Any) -> dict[str, Any]:
    return {**value, "spec": {**value["spec"], **members}}


def test_a_valid_deployment() -> None:
    assert told(checks_of("apps/deployments").create(DEPLOYMENT)) == []


def test_problems_come_in_the_order_of_the_real_server() -> None:
    wrong = with_spec(
        DEPLOYMENT, replicas=-1, selector=None, strategy={"type": "x"}, minReadySeconds=-1
    )
    assert told(checks_of("apps/deployments").create(wrong)) == [
        "spec.replicas",
        "spec.selector",
        "spec.template.metadata.labels",
        "spec.strategy",
        "spec.minReadySeconds",
    ]


def test_a_selector_that_is_none_hides_the_template() -> None:
    wrong = with_spec(DEPLOYMENT, selector={"matchLabels": {"a b": "c"}}, template={})
    found = list(checks_of("apps/deployments").create(wrong))
    assert [problem.field for problem in found] == ["spec.selector.matchLabels", "spec.selector"]


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"replicas": 5, "minReadySeconds": 1, "revisionHistoryLimit": 3}, []),
        ({"ordinals": {"start": 1}, "updateStrategy": {"type": "RollingUpdate"}}, []),
        ({"serviceName": "other"}, ["spec"]),
        ({"serviceName": "Not Valid"}, ["spec"]),
        ({"podManagementPolicy": "OrderedReady"}, ["spec"]),
        ({"volumeClaimTemplates": [{}]}, ["spec"]),
    ],
)
def test_what_may_change_of_a_stateful_set(changes: dict[str, Any], refused: list[str]) -> None:
    new = with_spec(STATEFUL_SET, **changes)
    found = told(checks_of("apps/statefulsets").of_update(new, STATEFUL_SET))
    assert [field for field in found if field == "spec"] == refused


def test_claims_of_a_stateful_set_are_volumes_of_its_pods() -> None:
    mounts = [{"name": "data", "mountPath": "/data"}]
    pod = {**POD, "containers": [{**POD["containers"][0], "volumeMounts": mounts}]}
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "volumeMode": "Filesystem",
        },
    }
    template = {**TEMPLATE, "spec": pod}
    without = with_spec(STATEFUL_SET, template=template)
    field = "spec.template.spec.containers[0].volumeMounts[0].name"
    assert told(checks_of("apps/statefulsets").create(without)) == [field]
    given = with_spec(without, volumeClaimTemplates=[claim])
    assert told(checks_of("apps/statefulsets").create(given)) == []


def test_a_new_name_with_a_dot_is_warned_of_and_an_old_one_is_not() -> None:
    named = {**DEPLOYMENT, "metadata": {"name": "a.b", "generation": 1}}
    checks = checks_of("apps/deployments")
    assert [text.split(":")[0] for text in checks.warnings(named)] == ["metadata.name"]
    assert list(checks.of_update_warnings(named, named)) == []


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        (3, 3),
        ("25%", 25),
        ("0%", 0),
        ("x", 0),
        ("12", 12),
        ("1_0", 0),
        (None, 0),
        ("9" * 5000, 2**63 - 1),
    ],
)
def test_numbers_and_percentages(value: int | str | None, amount: int) -> None:
    assert amount_of(value) == amount


@pytest.mark.parametrize(
    ("value", "is_wrong"),
    [(0, False), (-1, True), ("0%", False), ("-1%", True), ("5", True), ("٥%", True), ("", True)],
)
def test_an_amount_is_a_number_or_a_percentage(value: int | str, is_wrong: bool) -> None:
    assert bool(list(amount_problems("a", value))) is is_wrong


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"metadata": None, "spec": None, "status": None, "template": None, "data": None},
        {"spec": {"selector": {}, "template": {}, "strategy": None, "updateStrategy": {}}},
        {"spec": {"template": {"metadata": None, "spec": {"containers": None}}}},
        {"spec": {"volumeClaimTemplates": [{}], "ordinals": {}}, "status": {}},
    ],
)
def test_whatever_is_missing_is_told_and_never_raised(storage: str, value: dict[str, Any]) -> None:
    checks = checks_of(storage)
    for found in (
        checks.create(value),
        checks.of_update(value, value),
        checks.status(value, value),
    ):
        assert all(isinstance(problem, Problem) for problem in found)
    assert all(isinstance(text, str) for text in checks.warnings(value))
    assert all(isinstance(text, str) for text in checks.of_update_warnings(value, value))
