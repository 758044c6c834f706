"""Roles and what binds them (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.validation.checks import checks_of

from .hollows import bears_hollows

GROUP = "rbac.authorization.k8s.io"
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "a", "operator": "Exists"}]}
ROLE: dict[str, Any] = {
    "metadata": {"name": "a"},
    "rules": [RULE, {"nonResourceURLs": ["/metrics"], "verbs": ["get"]}],
    "aggregationRule": {"clusterRoleSelectors": [SELECTOR]},
}
BINDING: dict[str, Any] = {
    "metadata": {"name": "a"},
    "roleRef": {"apiGroup": GROUP, "kind": "ClusterRole", "name": "a"},
    "subjects": [
        {"kind": "ServiceAccount", "name": "a", "namespace": "b"},
        {"kind": "User", "name": "a", "apiGroup": GROUP},
    ],
}


def said(storage: str, obj: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in checks_of(f"{GROUP}/{storage}").create(obj)]


def test_only_cluster_roles_are_about_paths() -> None:
    url = {"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}
    assert not said("clusterroles", url)
    assert said("roles", url) == [
        'rules[0].nonResourceURLs: Invalid value: ["/metrics"]: namespaced rules cannot apply to '
        "non-resource URLs"
    ]


def test_a_rule_about_paths_is_about_nothing_else() -> None:
    rule = {"nonResourceURLs": ["/metrics"], "resources": ["pods"], "verbs": []}
    assert [text.partition(": ")[0] for text in said("clusterroles", {"rules": [rule]})] == [
        "rules[0].verbs",
        "rules[0].nonResourceURLs",
    ]


def test_the_role_of_a_binding_stays() -> None:
    checks = checks_of(f"{GROUP}/rolebindings")
    new = {**BINDING, "roleRef": {**BINDING["roleRef"], "name": "b"}}
    assert [str(problem) for problem in checks.of_update(new, BINDING)] == [
        f'roleRef: Invalid value: {{"APIGroup":"{GROUP}","Kind":"ClusterRole","Name":"b"}}: cannot '
        "change roleRef"
    ]


def test_a_selector_that_was_wrong_may_have_wrong_values() -> None:
    def with_value(value: str) -> dict[str, Any]:
        each = {"key": "a", "operator": "In", "values": [value]}
        return {**ROLE, "aggregationRule": {"clusterRoleSelectors": [{"matchExpressions": [each]}]}}

    checks = checks_of(f"{GROUP}/clusterroles")
    assert list(checks.of_update(with_value("not valid"), with_value("valid")))
    assert not list(checks.of_update(with_value("not valid"), with_value("never valid")))


@pytest.mark.parametrize("storage", ["roles", "clusterroles"])
def test_anything_may_be_missing_in_a_role(storage: str) -> None:
    bears_hollows(checks_of(f"{GROUP}/{storage}"), ROLE)


@pytest.mark.parametrize("storage", ["rolebindings", "clusterrolebindings"])
def test_anything_may_be_missing_in_a_binding(storage: str) -> None:
    bears_hollows(checks_of(f"{GROUP}/{storage}"), BINDING)
