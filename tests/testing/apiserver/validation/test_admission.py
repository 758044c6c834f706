"""Webhooks and policies of admission (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.validation.admission.urls import parse_url
from listwatch.testing.apiserver.validation.checks import checks_of

from ..asking import Asking
from .hollows import bears_hollows

GROUP = "admissionregistration.k8s.io"
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["pods"],
    "scope": "*",
}
CONDITION = {"name": "a", "expression": "true"}
WEBHOOK: dict[str, Any] = {
    "name": "a.example.com",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "clientConfig": {"service": {"name": "a", "namespace": "b", "path": "/c"}},
    "rules": [RULE],
    "namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]},
    "matchConditions": [CONDITION],
}
MATCHED = {"resourceRules": [{**RULE, "resourceNames": ["a"]}], "matchPolicy": "Exact"}
POLICY: dict[str, Any] = {
    "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": MATCHED,
        "matchConditions": [CONDITION],
        "variables": [{"name": "a", "expression": "1"}],
        "validations": [{"expression": "true", "message": "a", "messageExpression": "'a'"}],
        "auditAnnotations": [{"key": "a", "valueExpression": "'a'"}],
        "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}},
            {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"}},
        ],
        "reinvocationPolicy": "Never",
    },
    "status": {
        "conditions": [{"type": "a", "status": "True", "reason": "A"}],
        "typeChecking": {"expressionWarnings": [{"fieldRef": "a", "warning": "b"}]},
    },
}
BINDING: dict[str, Any] = {
    "spec": {
        "policyName": "a",
        "validationActions": ["Deny"],
        "paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"},
        "matchResources": MATCHED,
    }
}


def configuration(**changes: Any) -> dict[str, Any]:
    return {"metadata": {"name": "a"}, "webhooks": [{**WEBHOOK, **changes}]}


def test_what_was_wrong_may_stay_so() -> None:
    checks = checks_of(f"{GROUP}/validatingwebhookconfigurations")
    wrong = configuration(sideEffects="Some", admissionReviewVersions=["v9"])
    assert [problem.field for problem in checks.create(wrong)] == [
        "webhooks[0].sideEffects",
        "webhooks[0].admissionReviewVersions",
    ]
    assert not list(checks.of_update(wrong, wrong))


def test_conditions_that_do_not_change_are_not_looked_at() -> None:
    checks = checks_of(f"{GROUP}/validatingwebhookconfigurations")
    wrong = configuration(matchConditions=[{"name": "a b", "expression": "true"}])
    assert list(checks.of_update(wrong, configuration()))
    assert not list(checks.of_update(wrong, wrong))


def test_the_name_and_the_namespace_of_a_service_are_told_the_wrong_way_round() -> None:
    wrong = configuration(clientConfig={"service": {"name": "a"}})
    found = checks_of(f"{GROUP}/mutatingwebhookconfigurations").create(wrong)
    assert [problem.field for problem in found] == ["webhooks[0].clientConfig.service.name"]


def test_webhooks_are_completed() -> None:
    ask = Asking()
    path = f"/apis/{GROUP}/v1/mutatingwebhookconfigurations"
    answer = ask("POST", path, configuration())
    (made,) = json.loads(answer.body)["webhooks"]  # type: ignore[union-attr]  # it is an Answer
    assert made["failurePolicy"] == "Fail"
    assert made["timeoutSeconds"] == 10
    assert made["reinvocationPolicy"] == "Never"
    assert made["clientConfig"]["service"]["port"] == 443
    assert made["objectSelector"] == {}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("://", "missing protocol scheme"),
        ("https://a:b", 'invalid port ":b" after host'),
        ("https://[::1", "missing ']' in host"),
        ("https://a b/", 'invalid character " " in host name'),
        ("https://a/%zz", 'invalid URL escape "%zz"'),
        ("a:b/c", ""),
        ("1:b", "first path segment in URL cannot contain colon"),
        ("https://a\x7f", "net/url: invalid control character in URL"),
        ("https://\\@a", "net/url: invalid userinfo"),
    ],
)
def test_urls_are_read_as_go_reads_them(text: str, why: str) -> None:
    if not why:
        assert parse_url(text).scheme == "a"
        return
    with pytest.raises(ValueError, match=r"^parse ") as raised:
        parse_url(text)
    assert str(raised.value).endswith(f": {why}")


def test_the_parts_of_a_url() -> None:
    url = parse_url("HTTPS://me:secret@example.com:8443/path?a=b#c")
    assert (url.scheme, url.user, url.host) == ("https", "me:secret", "example.com:8443")
    assert (url.query, url.fragment) == ("a=b", "c")


@pytest.mark.parametrize(
    ("storage", "obj"),
    [
        ("mutatingwebhookconfigurations", {"webhooks": [WEBHOOK]}),
        ("validatingwebhookconfigurations", {"webhooks": [WEBHOOK]}),
        ("mutatingadmissionpolicies", POLICY),
        ("validatingadmissionpolicies", POLICY),
        ("mutatingadmissionpolicybindings", BINDING),
        ("validatingadmissionpolicybindings", BINDING),
    ],
)
def test_anything_may_be_missing(storage: str, obj: dict[str, Any]) -> None:
    bears_hollows(checks_of(f"{GROUP}/{storage}"), obj)
