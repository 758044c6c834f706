"""What is wrong with disruption budgets (K28). The bulk of it is compared with a real server, in
`conformance/validation`.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.workloads.disruption import CHECKS

BUDGETS = CHECKS["policy/poddisruptionbudgets"]


def messages(**spec: Any) -> list[str]:
    return [str(problem) for problem in BUDGETS.create({"spec": spec})]


def test_a_budget_of_nothing_is_taken() -> None:
    assert list(BUDGETS.create({})) == []


def test_two_limits_are_shown_as_the_real_server_has_them() -> None:
    assert messages(minAvailable=1, maxUnavailable="5%") == [
        'spec: Invalid value: {"MinAvailable":1,"Selector":null,"MaxUnavailable":"5%",'
        '"UnhealthyPodEvictionPolicy":null}: minAvailable and maxUnavailable cannot be both set'
    ]


@pytest.mark.parametrize(
    ("limit", "is_taken"),
    [(0, True), (1, True), (-1, False), ("100%", True), ("101%", False), ("1", False)],
)
def test_limits(limit: int | str, is_taken: bool) -> None:
    assert bool(messages(minAvailable=limit)) is not is_taken
    assert bool(messages(maxUnavailable=limit)) is not is_taken


def test_conditions_and_counts_of_a_status() -> None:
    status = {"conditions": [{"type": "a b"}], "currentHealthy": -1}
    found = [problem.field for problem in BUDGETS.status({"status": status}, {})]
    assert found == [
        "status.conditions[0].type",
        "status.conditions[0].status",
        "status.conditions[0].lastTransitionTime",
        "status.conditions[0].reason",
        "status.currentHealthy",
    ]
