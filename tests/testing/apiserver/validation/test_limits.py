"""LimitRanges and ResourceQuotas: amounts beside each other, scopes (K28)."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

RANGES, QUOTAS = checks_of("limitranges"), checks_of("resourcequotas")


def limits(*items: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"limits": list(items)}}


def quota(hard: dict[str, str], **spec: Any) -> dict[str, Any]:
    return {"spec": {"hard": hard, **spec}}


def test_each_pair_of_amounts_is_looked_at_in_one_order() -> None:
    item = {
        "type": "Container",
        "min": {"cpu": "4"},
        "max": {"cpu": "1"},
        "default": {"cpu": "2"},
        "defaultRequest": {"cpu": "3"},
    }
    said = [problem.message.partition('": ')[2] for problem in RANGES.create(limits(item))]
    assert said == [
        "min value 4 is greater than max value 1",
        "min value 4 is greater than default request value 3",
        "default request value 3 is greater than max value 1",
        "default request value 3 is greater than default limit value 2",
        "min value 4 is greater than default value 2",
        "default value 2 is greater than max value 1",
    ]


def test_amounts_are_compared_and_not_their_texts() -> None:
    item = {"type": "Container", "min": {"memory": "1024Mi"}, "max": {"memory": "1Gi"}}
    assert not list(RANGES.create(limits(item)))


def test_a_ratio_can_be_reached() -> None:
    item = {"type": "Pod", "min": {"cpu": "300m"}, "max": {"cpu": "1"}}
    ratio = {"maxLimitRequestRatio": {"cpu": "4"}}
    (problem,) = RANGES.create(limits({**item, **ratio}))
    assert problem.message == 'Invalid value: "4": ratio 4 is greater than max/min = 3.333333'
    none = {**item, **ratio, "min": {"cpu": "0"}}
    assert not list(RANGES.create(limits(none)))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cpu", []),
        ("hugepages-2Mi", []),
        ("example.com/gpu", []),
        ("pods", ["must be a standard resource for containers"]),
        (
            "gpu",
            [
                "must be a standard resource type or fully qualified",
                "must be a standard resource for containers",
            ],
        ),
        ("requests.example.com/gpu", ["doesn't follow extended resource name standard"]),
    ],
)
def test_containers_have_some_resources_only(name: str, said: list[str]) -> None:
    found = RANGES.create(limits({"type": "Container", "max": {name: "1"}}))
    assert [problem.message.partition('": ')[2] for problem in found] == said
    assert {problem.field for problem in found} <= {f"spec.limits[0].max[{name}]"}


def test_what_is_counted_is_whole() -> None:
    assert not list(QUOTAS.create(quota({"pods": "1k", "requests.cpu": "500m"})))
    (problem,) = QUOTAS.create(quota({"pods": "1500m"}))
    assert str(problem) == 'spec.hard[pods]: Invalid value: "1500m": must be an integer'


def test_each_resource_that_a_scope_is_not_for_is_told() -> None:
    hard = {"requests.cpu": "1", "services": "1", "example.com/gpu": "1", "pods": "1"}
    found = QUOTAS.create(quota(hard, scopes=["BestEffort"]))
    assert [problem.field for problem in found] == ["spec.scopes", "spec.scopes"]


def test_the_scopes_of_a_quota_stay_in_whatever_order() -> None:
    old = quota({}, scopes=["Terminating", "NotBestEffort"])
    assert not list(QUOTAS.of_update(quota({}, scopes=["NotBestEffort", "Terminating"]), old))
    assert [problem.field for problem in QUOTAS.of_update(quota({}), old)] == ["spec.scopes"]


def test_a_new_quota_is_warned_of_what_can_never_be() -> None:
    value = quota({"requests.memory": "2Gi", "limits.memory": "1Gi", "cpu": "2", "limits.cpu": "2"})
    assert list(QUOTAS.warnings(value)) == [
        "ResourceQuota requests.memory (2Gi) should be less than limits.memory (1Gi)"
    ]
    assert not list(QUOTAS.of_update_warnings(value, value))
