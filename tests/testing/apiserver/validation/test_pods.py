"""Pods but for what is inside of their containers: the order in which things are told, what may
change, and what never breaks the checks (K28). The recorded answers of a real server
(`conformance/validation`) have the rest.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.testing.apiserver.validation.pod.internal_specs import internal_pod_spec
from listwatch.testing.apiserver.validation.pod.pod_spec import pod_spec_problems
from listwatch.testing.apiserver.validation.pod.pods import CHECKS
from listwatch.testing.apiserver.validation.pod.templates import (
    template_problems,
    template_warnings,
)
from tests.testing.apiserver.validation.go_values import any_value, member_of

PODS = CHECKS["pods"]
CONTAINER = {
    "name": "a",
    "image": "a",
    "imagePullPolicy": "Always",
    "terminationMessagePolicy": "File",
}
SPEC = {
    "containers": [CONTAINER],
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "terminationGracePeriodSeconds": 30,
    "securityContext": {},
}


def pod(**members: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web"}, "spec": {**SPEC, **members}}


def told(**members: Any) -> list[str]:
    return [str(problem) for problem in PODS.create(pod(**members))]


def changes(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    return [str(problem) for problem in PODS.of_update(pod(**new), pod(**old))]


def test_nothing_is_wrong_with_a_plain_pod() -> None:
    assert told() == []


def test_everything_is_told_of_a_pod_in_the_order_of_the_real_server() -> None:
    wrong: dict[str, Any] = {
        "terminationGracePeriodSeconds": None,
        "volumes": [{}],
        "resourceClaims": [{}],
        "containers": [],
        "resources": {"claims": [{"name": "x"}]},
        "restartPolicy": "",
        "dnsPolicy": "",
        "nodeSelector": {"a b": ""},
        "securityContext": {"runAsUser": -1},
        "affinity": {"podAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{}]}},
        "dnsConfig": {"options": [{}]},
        "readinessGates": [{}],
        "schedulingGates": [{"name": "a b"}],
        "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "a"}],
        "hostUsers": False,
        "hostPID": True,
        "hostnameOverride": "Bad",
        "serviceAccountName": "Bad",
        "activeDeadlineSeconds": 0,
        "hostname": "Bad",
        "tolerations": [{"operator": "Sometimes", "key": "a"}],
        "hostAliases": [{"ip": "a"}],
        "priorityClassName": "Bad",
        "runtimeClassName": "Bad",
        "preemptionPolicy": "Sometimes",
        "overhead": {"cpu": "-1"},
        "os": {},
        "ephemeralContainers": [],
    }
    fields = [each.split(": ")[0].removeprefix("spec.") for each in told(**wrong)]
    assert list(dict.fromkeys(field.split(".")[0].split("[")[0] for field in fields)) == [
        "terminationGracePeriodSeconds",
        "volumes",
        "resourceClaims",
        "containers",
        "resources",
        "restartPolicy",
        "dnsPolicy",
        "nodeSelector",
        "securityContext",
        "affinity",
        "dnsConfig",
        "readinessGates",
        "schedulingGates",
        "topologySpreadConstraints",
        "HostPID",
        "hostnameOverride",
        "serviceAccountName",
        "activeDeadlineSeconds",
        "hostname",
        "tolerations",
        "hostAliases",
        "priorityClassName",
        "runtimeClassName",
        "preemptionPolicy",
        "overhead",
        "os",
    ]


def test_a_template_is_told_of_at_its_own_place() -> None:
    template = {"metadata": {"labels": {"a b": "c"}}, "spec": {**SPEC, "restartPolicy": "No"}}
    fields = [problem.field for problem in template_problems(template, "spec.template")]
    assert fields == ["spec.template.labels", "spec.template.spec.restartPolicy"]
    template["spec"]["nodeSelector"] = {"beta.kubernetes.io/os": "linux"}
    (warning,) = template_warnings(template, "spec.template")
    assert warning.startswith("spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated")


def test_only_a_pod_has_the_ports_of_its_node_itself() -> None:
    container = {**CONTAINER, "ports": [{"containerPort": 80, "protocol": "TCP"}]}
    spec = {**SPEC, "hostNetwork": True, "containers": [container]}
    assert list(pod_spec_problems(spec, "spec.template.spec")) == []
    (problem,) = pod_spec_problems(spec, "spec", {"name": "web"})
    assert problem.field == "spec.containers[0].ports[0].hostPort"


def test_a_pod_that_changes_is_told_what_has_changed() -> None:
    (text,) = changes({"hostname": "a"}, {"hostname": "b<c"})[1:]
    before, _, shown = text.partition("\n")
    assert before.startswith("spec: Forbidden: pod updates may not change fields other than `spec.")
    assert '- "Hostname": "a",\n+ "Hostname": "b\\u003cc",\n' in shown


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"containers": [{**CONTAINER, "image": "b"}]}),
        ({}, {"activeDeadlineSeconds": 5}),
        ({"activeDeadlineSeconds": 5}, {"activeDeadlineSeconds": 4}),
        ({}, {"tolerations": [{"operator": "Exists"}]}),
        ({"schedulingGates": [{"name": "a.b/c"}]}, {}),
        ({"schedulingGates": [{"name": "a.b/c"}]}, {"nodeSelector": {"a": "b"}}),
    ],
)
def test_little_of_a_pod_may_change(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert changes(old, new) == []


def test_what_a_pod_shares_with_its_node_is_shown_in_its_security_context() -> None:
    shown = internal_pod_spec({**SPEC, "hostNetwork": True})
    assert shown["SecurityContext"]["HostNetwork"] is True
    assert "HostNetwork" not in shown
    assert list(shown)[:3] == ["Volumes", "InitContainers", "Containers"]


def ended(code: int) -> dict[str, Any]:
    return {"containerStatuses": [{"name": "a", "state": {"terminated": {"exitCode": code}}}]}


RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [3]}}


@pytest.mark.parametrize(
    ("spec", "code", "again"),
    [
        ({"restartPolicy": "Always"}, 0, True),
        ({"restartPolicy": "OnFailure"}, 1, True),
        ({"restartPolicy": "OnFailure"}, 0, False),
        ({"restartPolicy": "Never"}, 1, False),
        ({"containers": [{**CONTAINER, "restartPolicy": "Never"}]}, 1, False),
        (
            {"containers": [{**CONTAINER, "restartPolicy": "Never", "restartPolicyRules": [RULE]}]},
            3,
            True,
        ),
    ],
)
def test_a_container_that_has_ended_for_good_does_not_run_again(
    spec: dict[str, Any], code: int, again: bool
) -> None:
    running = {"containerStatuses": [{"name": "a", "state": {"running": {}}}]}
    old, new = {**pod(**spec), "status": ended(code)}, {**pod(**spec), "status": running}
    fields = [problem.field for problem in PODS.status(new, old)]
    assert fields == ([] if again else ["status.containerStatuses[0].state"])


def test_nobody_who_changes_a_pod_is_warned() -> None:
    odd = {**pod(nodeSelector={"beta.kubernetes.io/os": "linux"}), "metadata": {"name": "a.b"}}
    assert len(list(PODS.warnings(odd))) == 2
    assert list(PODS.of_update_warnings(odd, odd)) == []


ANNOTATIONS = (
    "kubernetes.io/config.mirror",
    "scheduler.alpha.kubernetes.io/tolerations",
    "controller.kubernetes.io/pod-deletion-cost",
    "container.apparmor.security.beta.kubernetes.io/a",
    "seccomp.security.alpha.kubernetes.io/pod",
)
TEXTS = ("", "[", "[1]", '{"a": 1}', '[{"KEY": "a", "value": 1}]', "localhost/a")
SPECS, STATUSES = member_of("v1", "Pod", "spec"), member_of("v1", "Pod", "status")


@settings(max_examples=50, deadline=None)
@given(st.randoms(use_true_random=True))
def test_whatever_is_sent_is_told_of(rng: Random) -> None:
    annotations = {name: rng.choice(TEXTS) for name in ANNOTATIONS if rng.random() < 0.5}
    metadata = {"name": "web", "annotations": annotations}
    spec, status = any_value(SPECS, rng), any_value(STATUSES, rng)
    new = {"metadata": metadata, "spec": spec, "status": status}
    old = {"metadata": {"name": "web"}, "spec": any_value(SPECS, rng, 0.2), "status": {}}
    found = [*PODS.create(new), *PODS.of_update(new, old), *PODS.status(new, old)]
    for part in ("ephemeralcontainers", "resize"):
        found += PODS.of_subresource(part, new, old)
    assert all(problem.message for problem in found)
    assert all(isinstance(text, str) for text in PODS.warnings(new))
    assert all(isinstance(text, str) for text in PODS.status_warnings(new))
