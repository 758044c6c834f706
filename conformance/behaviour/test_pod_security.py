"""The Pod Security Standards, as the labels of a namespace ask for them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from conformance.behaviour.admitting import a_pod, said, tried
from conformance.behaviour.space import Space, refusal
from conformance.requests import Json, Response
from conformance.waiting import until

_PREFIX = "pod-security.kubernetes.io/"
_MERGE = "application/merge-patch+json"
_GOOD: Json = {
    "runAsNonRoot": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}
_PLAIN = (
    'allowPrivilegeEscalation != false (container "c" must set '
    "securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container "
    '"c" must set securityContext.capabilities.drop=["ALL"]), runAsNonRoot != true (pod or '
    'container "c" must set securityContext.runAsNonRoot=true), seccompProfile (pod or container '
    '"c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")'
)
"""What is wrong with a pod that says nothing."""


def _labelled(space: Space, **labels: str) -> None:
    """Have the namespace ask for standards; `enforce_version` is the label `enforce-version`."""
    named = {_PREFIX + name.replace("_", "-"): value for name, value in labels.items()}
    space.server.patch(f"/api/v1/namespaces/{space.name}", {"metadata": {"labels": named}})
    probe = a_pod("probe", hostNetwork=True)

    def known() -> bool:
        answer = tried(space, probe)
        return answer.status == 403 or answer.headers.get_all("Warning") is not None

    until(known, what="the labels of a namespace to be known")


def _secured(context: Json | None = None, container: Json | None = None, **spec: Any) -> Json:
    """A pod that keeps to `restricted` but for what is given."""
    made = a_pod(**spec)
    (own,) = made["spec"]["containers"]
    own.update(container or {})
    own["securityContext"] = {**_GOOD, **(context or {})}
    return made


def _warned(answer: Response) -> list[str]:
    found = answer.headers.get_all("Warning") or []
    plain = [text.removeprefix('299 - "').removesuffix('"') for text in found]
    return [text.replace('\\"', '"') for text in plain]


def test_a_pod_that_says_nothing_is_not_restricted(space: Space) -> None:
    """enforce=restricted: 403 with everything that is missing; what keeps to it is created."""
    _labelled(space, enforce="restricted")
    answer = space.ask("POST", space.path("pods"), a_pod())
    text = f'pods "p" is forbidden: violates PodSecurity "restricted:latest": {_PLAIN}'
    assert refusal(answer) == (403, "Forbidden", text)
    assert answer.headers.get_all("Warning") is None
    assert space.ask("POST", space.path("pods"), _secured()).status == 201


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (a_pod(hostNetwork=True, hostPID=True), "host namespaces (hostNetwork=true, hostPID=true)"),
        (
            a_pod(volumes=[{"name": "v", "hostPath": {"path": "/x"}}]),
            'hostPath volumes (volume "v")',
        ),
        (
            _secured(container={"ports": [{"containerPort": 80, "hostPort": 80}]}),
            'hostPort (container "c" uses hostPort 80)',
        ),
        (
            _secured({"capabilities": {"add": ["NET_RAW", "SYS_ADMIN"]}}),
            'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in '
            "securityContext.capabilities.add)",
        ),
        (
            _secured({"seLinuxOptions": {"type": "x", "user": "u"}}),
            'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "x"; '
            "user may not be set)",
        ),
        (
            _secured({"seccompProfile": {"type": "Unconfined"}}),
            'seccompProfile (container "c" must not set securityContext.seccompProfile.type to '
            '"Unconfined")',
        ),
        (
            _secured({"appArmorProfile": {"type": "Unconfined"}}),
            'forbidden AppArmor profile (container "c" must not set AppArmor profile type to '
            '"Unconfined")',
        ),
        (
            a_pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}),
            "forbidden sysctls (kernel.msgmax)",
        ),
        (
            _secured(container={"livenessProbe": {"httpGet": {"port": 80, "host": "h"}}}),
            'probe or lifecycle host (container "c" uses probe or lifecycle host "h")',
        ),
    ],
)
def test_what_is_not_baseline(space: Space, pod: Json, text: str) -> None:
    """enforce=baseline: 403 tells what is too much, and of which container or volume."""
    _labelled(space, enforce="baseline")
    assert said(tried(space, pod)) == f'violates PodSecurity "baseline:latest": {text}'


@pytest.mark.parametrize(
    ("pod", "text"),
    [
        (_secured({"runAsUser": 0}), 'runAsUser=0 (container "c" must not set runAsUser=0)'),
        (
            _secured({"runAsNonRoot": False}),
            'runAsNonRoot != true (container "c" must not set securityContext.runAsNonRoot=false)',
        ),
        (
            _secured({"capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE", "CHOWN"]}}),
            'unrestricted capabilities (container "c" must not include "CHOWN" in '
            "securityContext.capabilities.add)",
        ),
        (
            _secured(volumes=[{"name": "v", "nfs": {"server": "s", "path": "/"}}]),
            'restricted volume types (volume "v" uses restricted volume type "nfs")',
        ),
    ],
)
def test_what_is_not_restricted(space: Space, pod: Json, text: str) -> None:
    """enforce=restricted: 403 tells the rest."""
    _labelled(space, enforce="restricted")
    assert said(tried(space, pod)) == f'violates PodSecurity "restricted:latest": {text}'


def test_older_standards_asked_for_less(space: Space) -> None:
    """enforce-version: the standard as it was in that version."""
    _labelled(space, enforce="restricted", enforce_version="v1.20")
    pod = _secured()
    del pod["spec"]["containers"][0]["securityContext"]["capabilities"]
    assert tried(space, pod).status == 201
    assert said(tried(space, a_pod())).startswith('violates PodSecurity "restricted:v1.20": ')


def test_a_warning_is_enough_for_some(space: Space) -> None:
    """warn=restricted: what breaks it is created, with a Warning; so are workloads."""
    _labelled(space, warn="restricted")
    text = f'would violate PodSecurity "restricted:latest": {_PLAIN}'
    answer = tried(space, a_pod())
    assert (answer.status, _warned(answer)) == (201, [text])
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": a_pod()["spec"]}
    deployment = {
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    answer = tried(space, deployment, "deployments")
    assert (answer.status, _warned(answer)) == (201, [text])


def test_workloads_are_warned_of_what_is_enforced(space: Space) -> None:
    """enforce: a workload whose pods would be refused is created with a Warning."""
    _labelled(space, enforce="baseline")
    spec = {**a_pod(hostIPC=True)["spec"], "restartPolicy": "Never"}
    job = {"metadata": {"name": "j"}, "spec": {"template": {"spec": spec}}}
    answer = tried(space, job, "jobs")
    text = 'would violate PodSecurity "baseline:latest": host namespaces (hostIPC=true)'
    assert (answer.status, _warned(answer)) == (201, [text])


def test_labels_that_name_no_standard_are_refused(space: Space) -> None:
    """Labels of a namespace must name a level and a version; 422 otherwise."""
    labels = {f"{_PREFIX}enforce": "x", f"{_PREFIX}warn-version": "v2"}
    obj = {"metadata": {"name": f"labels-{uuid.uuid4().hex[:8]}", "labels": labels}}
    answer = space.ask("POST", "/api/v1/namespaces", obj)
    assert answer.status == 422
    causes = [(each["field"], each["message"]) for each in answer.json()["details"]["causes"]]
    assert causes == [
        (
            f"metadata.labels[{_PREFIX}enforce]",
            'Invalid value: "x": must be one of privileged, baseline, restricted',
        ),
        (
            f"metadata.labels[{_PREFIX}warn-version]",
            'Invalid value: "v2": must be "latest" or "v1.x"',
        ),
    ]


def test_pods_that_are_there_are_told_of(space: Space) -> None:
    """A namespace that enforces more is warned of the pods in it that would be refused."""
    for name in ("b", "a"):
        space.put(a_pod(name), "pods")
    space.put(a_pod("h", hostPID=True), "pods")
    path = f"/api/v1/namespaces/{space.name}"
    labels = {f"{_PREFIX}enforce": "restricted"}
    answer = space.ask("PATCH", path, {"metadata": {"labels": labels}}, content_type=_MERGE)
    plain = (
        "allowPrivilegeEscalation != false, unrestricted capabilities, runAsNonRoot != true, "
        "seccompProfile"
    )
    assert (answer.status, _warned(answer)) == (
        200,
        [
            f'existing pods in namespace "{space.name}" violate the new PodSecurity enforce level '
            '"restricted:latest"',
            f"a (and 1 other pod): {plain}",
            f"h: host namespaces, {plain}",
        ],
    )


def test_a_pod_that_is_there_may_change_what_does_not_matter(space: Space) -> None:
    """Updates of a pod are looked at where its images change."""
    space.put(a_pod(), "pods")
    _labelled(space, enforce="restricted")
    labels = {"metadata": {"labels": {"a": "b"}}}
    path = space.path("pods", "p")
    assert space.ask("PATCH", path, labels, content_type=_MERGE).status == 200
    image = {"spec": {"containers": [{"name": "c", "image": "other"}]}}
    strategic = "application/strategic-merge-patch+json"
    answer = space.ask("PATCH", path, image, content_type=strategic)
    assert said(answer) == f'violates PodSecurity "restricted:latest": {_PLAIN}'
