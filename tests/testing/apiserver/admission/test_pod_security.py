"""The Pod Security Standards: their versions, Windows, users of their own. What both servers are
asked is in `conformance/behaviour/test_pod_security.py`.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.testing.apiserver.admission.pod_standards import LATEST, findings
from tests.testing.apiserver.validation.go_values import decoded_value, member_of
from tests.testing.apiserver.write_server import Writing

GOOD = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def reasons(level: str, minor: int = LATEST, **spec: Any) -> list[str]:
    return [found.reason for found in findings(level, minor, {}, spec)]


def container(**context: Any) -> dict[str, Any]:
    return {"name": "c", "securityContext": context}


def test_nothing_speaks_against_a_pod_that_keeps_to_everything() -> None:
    assert reasons("restricted", containers=[container(**GOOD)]) == []


@pytest.mark.parametrize(
    ("minor", "said"),
    [
        (7, ["runAsNonRoot != true"]),
        (8, ["allowPrivilegeEscalation != false", "runAsNonRoot != true"]),
        (19, ["allowPrivilegeEscalation != false", "runAsNonRoot != true", "seccompProfile"]),
        (
            22,
            [
                "allowPrivilegeEscalation != false",
                "unrestricted capabilities",
                "runAsNonRoot != true",
                "seccompProfile",
            ],
        ),
    ],
)
def test_the_standard_grew_over_time(minor: int, said: list[str]) -> None:
    assert reasons("restricted", minor, containers=[{"name": "c"}]) == said


def test_what_restricted_says_more_of_is_not_told_twice() -> None:
    bad = container(**{**GOOD, "capabilities": {"drop": ["ALL"], "add": ["SYS_ADMIN"]}})
    volumes = [{"name": "v", "hostPath": {"path": "/"}}]
    assert reasons("baseline", containers=[bad], volumes=volumes) == [
        "non-default capabilities",
        "hostPath volumes",
    ]
    assert reasons("restricted", containers=[bad], volumes=volumes) == [
        "unrestricted capabilities",
        "restricted volume types",
    ]


def test_windows_has_no_capabilities_to_drop() -> None:
    spec = {"containers": [container(runAsNonRoot=True)], "os": {"name": "windows"}}
    assert reasons("restricted", **spec) == []
    assert reasons("restricted", 24, **spec) != []


def test_the_root_of_a_pod_with_users_of_its_own_is_nobodys() -> None:
    root = container(**{**GOOD, "runAsNonRoot": False, "runAsUser": 0, "procMount": "Unmasked"})
    spec = {"containers": [root], "hostUsers": False}
    assert reasons("baseline", **spec) == []
    assert reasons("restricted", **spec) == ["procMount"]
    assert reasons("restricted", 34, **spec) == ["procMount", "runAsNonRoot != true", "runAsUser=0"]


def test_what_the_pod_says_goes_for_its_containers() -> None:
    context = {"runAsNonRoot": True, "seccompProfile": {"type": "Localhost"}}
    own = {name: GOOD[name] for name in ("allowPrivilegeEscalation", "capabilities")}
    assert reasons("restricted", containers=[container(**own)], securityContext=context) == []


def test_initial_and_ephemeral_containers_count_too() -> None:
    bad = container(privileged=True)
    spec = {"initContainers": [bad], "ephemeralContainers": [{**bad, "name": "e"}]}
    (found,) = findings("baseline", LATEST, {}, spec)
    assert str(found) == (
        'privileged (containers "c", "e" must not set securityContext.privileged=true)'
    )


def test_ephemeral_containers_are_looked_at_when_they_come() -> None:
    server = Writing()
    pods = "/api/v1/namespaces/default/pods"
    server.made(
        pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    )
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    server.merged("/api/v1/namespaces/default", {"metadata": {"labels": labels}})
    added = {"name": "e", "image": "i", "securityContext": {"privileged": True}}
    answer = server.write(
        "PATCH",
        f"{pods}/p/ephemeralcontainers",
        {"spec": {"ephemeralContainers": [added]}},
        kind="application/strategic-merge-patch+json",
    )
    assert answer.status == 403


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_nothing_breaks_the_checks(level: str) -> None:
    of, rng = member_of("v1", "Pod", "spec"), Random(1)
    for _ in range(200):
        spec = decoded_value(of, rng)
        assert all(str(found) for found in findings(level, rng.randrange(40), {}, spec))
