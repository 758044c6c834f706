"""FlowSchemas and PriorityLevelConfigurations (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

from .hollows import bears_hollows

GROUP = "flowcontrol.apiserver.k8s.io"
RULE: dict[str, Any] = {
    "subjects": [
        {"kind": "User", "user": {"name": "a"}},
        {"kind": "ServiceAccount", "serviceAccount": {"name": "a", "namespace": "b"}},
    ],
    "resourceRules": [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "namespaces": ["a"]}
    ],
    "nonResourceRules": [{"verbs": ["get"], "nonResourceURLs": ["/a"]}],
}
SCHEMA: dict[str, Any] = {
    "spec": {
        "matchingPrecedence": 9,
        "priorityLevelConfiguration": {"name": "a"},
        "distinguisherMethod": {"type": "ByUser"},
        "rules": [RULE],
    },
    "status": {"conditions": [{"type": "a"}]},
}
QUEUING = {"queues": 64, "handSize": 6, "queueLengthLimit": 50}
LEVEL: dict[str, Any] = {
    "spec": {
        "type": "Limited",
        "limited": {
            "nominalConcurrencyShares": 1,
            "limitResponse": {"type": "Queue", "queuing": QUEUING},
        },
    },
    "status": {"conditions": [{"type": "a"}]},
}


def test_what_every_server_has_is_as_every_server_has_it() -> None:
    levels = checks_of(f"{GROUP}/prioritylevelconfigurations")
    exempt = {"metadata": {"name": "exempt"}, "spec": {"type": "Exempt", "exempt": {}}}
    assert not list(levels.create(exempt))
    (problem,) = levels.create({**LEVEL, "metadata": {"name": "catch-all"}})
    assert problem.field == "spec"
    assert problem.message.endswith("spec of 'catch-all' must equal the fixed value")


@pytest.mark.parametrize(
    ("queuing", "why"),
    [
        ({"handSize": 65}, "should not be greater than queues (64)"),
        (
            {"handSize": 11},
            "required entropy bits of deckSize 64 and handSize 11 should not be greater than 60",
        ),
        ({"handSize": 10}, ""),
    ],
)
def test_a_hand_is_no_greater_than_its_hash(queuing: dict[str, int], why: str) -> None:
    response = {"type": "Queue", "queuing": {**QUEUING, **queuing}}
    spec = {"type": "Limited", "limited": {"limitResponse": response}}
    new = {"metadata": {"name": "a"}, "spec": spec}
    found = list(checks_of(f"{GROUP}/prioritylevelconfigurations").create(new))
    assert [problem.message.partition(": ")[2].partition(": ")[2] for problem in found] == (
        [why] if why else []
    )


@pytest.mark.parametrize("storage", ["flowschemas", "prioritylevelconfigurations"])
def test_conditions_have_types_of_their_own(storage: str) -> None:
    new = {"status": {"conditions": [{"type": "a"}, {"type": "a"}, {}]}}
    assert [str(problem) for problem in checks_of(f"{GROUP}/{storage}").status(new, {})] == [
        'status.conditions[1].type: Duplicate value: "a"',
        "status.conditions[2].type: Required value",
    ]


@pytest.mark.parametrize(
    ("storage", "obj"), [("flowschemas", SCHEMA), ("prioritylevelconfigurations", LEVEL)]
)
def test_anything_may_be_missing(storage: str, obj: dict[str, Any]) -> None:
    bears_hollows(checks_of(f"{GROUP}/{storage}"), obj)
