"""Namespaces, nodes, events, leases and further servers (K28). The recorded answers of a real
server (`conformance/validation`) have the rest.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

from ..asking import Asking
from .hollows import bears_hollows

NODE: dict[str, Any] = {
    "metadata": {"name": "a"},
    "spec": {
        "podCIDRs": ["10.1.0.0/24", "fd00::/64"],
        "providerID": "a",
        "taints": [{"key": "a", "value": "b", "effect": "NoExecute"}],
    },
    "status": {
        "capacity": {"pods": "110"},
        "addresses": [{"type": "Hostname", "address": "a"}],
        "declaredFeatures": ["A"],
        "nodeInfo": {"swap": {"capacity": 1}},
    },
}
EVENT: dict[str, Any] = {
    "apiVersion": "events.k8s.io/v1",
    "metadata": {"name": "a", "namespace": "b"},
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "regarding": {"kind": "Pod", "namespace": "b"},
    "related": {"kind": "Pod"},
    "reportingController": "example.com/a",
    "reportingInstance": "a",
    "action": "Doing",
    "reason": "Because",
    "type": "Normal",
    "series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"},
}
API_SERVICE: dict[str, Any] = {
    "metadata": {"name": "v1.example.com"},
    "spec": {
        "group": "example.com",
        "version": "v1",
        "groupPriorityMinimum": 1,
        "versionPriority": 1,
        "service": {"name": "a", "namespace": "b"},
    },
    "status": {"conditions": [{"type": "Available", "status": "True"}]},
}
RUNTIME_CLASS: dict[str, Any] = {
    "handler": "a",
    "overhead": {"podFixed": {"cpu": "1"}},
    "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "a", "operator": "Exists"}]},
}
LEASE: dict[str, Any] = {"spec": {"leaseDurationSeconds": 1, "leaseTransitions": 1}}
NAMESPACE: dict[str, Any] = {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}


def fields(problems: Any) -> list[str]:
    return [problem.field for problem in problems]


def test_what_a_node_has_been_given_stays() -> None:
    checks = checks_of("nodes")
    other = {**NODE, "spec": {**NODE["spec"], "podCIDRs": ["10.2.0.0/24"], "providerID": "b"}}
    assert fields(checks.of_update(other, NODE)) == ["spec.podCIDRs", "spec.providerID"]
    bare = {**NODE, "spec": {}}
    assert not fields(checks.of_update(NODE, bare))


def test_the_taints_of_a_node_are_told_of_under_its_metadata() -> None:
    spec = {"taints": [{"key": "a", "effect": "Sometimes"}]}
    found = checks_of("nodes").create({"metadata": {}, "spec": spec})
    assert fields(found) == ["metadata.taints[0].effect"]


def test_events_of_the_new_api_hold_still_but_for_their_series() -> None:
    checks = checks_of("events")
    more = {**EVENT, "series": {**EVENT["series"], "count": 3}}
    assert not fields(checks.of_update(more, EVENT))
    other = {**EVENT, "reason": "Other", "regarding": {"kind": "Node", "namespace": "b"}}
    assert fields(checks.of_update(other, EVENT)) == ["involvedObject", "reason", "reason"]


def test_events_of_the_old_api_may_change() -> None:
    involved = {"kind": "Pod", "namespace": "b"}
    old = {**EVENT, "apiVersion": "v1", "eventTime": None, "involvedObject": involved}
    assert not fields(checks_of("events").of_update({**old, "reason": "Other"}, old))


def test_an_api_service_is_named_after_what_it_serves() -> None:
    checks = checks_of("apiregistration.k8s.io/apiservices")
    assert not fields(checks.create(API_SERVICE))
    other = {**API_SERVICE, "metadata": {"name": "other"}}
    assert [str(problem) for problem in checks.create(other)] == [
        'metadata.name: Invalid value: "other": must be `spec.version+"."+spec.group`: '
        '"v1.example.com"'
    ]
    condition = {"type": "Available", "status": "Maybe"}
    odd = {**API_SERVICE, "status": {"conditions": [condition]}}
    assert fields(checks.status(odd, API_SERVICE)) == ["status.conditions[0].status"]


def test_the_last_finalizers_of_a_namespace_are_looked_at() -> None:
    ask = Asking()
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "a"}})
    sent = {"metadata": {"name": "a"}, "spec": {"finalizers": ["other"]}}
    answer = ask("PUT", "/api/v1/namespaces/a/finalize", sent)
    status = json.loads(answer.body)  # type: ignore[union-attr]  # no watch, no later answer
    assert status["details"]["causes"][0]["field"] == "spec.finalizers[0]"


@pytest.mark.parametrize(
    ("storage", "obj"),
    [
        ("nodes", NODE),
        ("events", EVENT),
        ("namespaces", NAMESPACE),
        ("coordination.k8s.io/leases", LEASE),
        ("node.k8s.io/runtimeclasses", RUNTIME_CLASS),
        ("apiregistration.k8s.io/apiservices", API_SERVICE),
    ],
)
def test_anything_may_be_missing(storage: str, obj: dict[str, Any]) -> None:
    bears_hollows(checks_of(storage), obj)
