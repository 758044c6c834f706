"""ResourceQuotas: what counts, and what is too much."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.admitting import a_claim, a_pod, known, said, tried
from conformance.behaviour.space import Space, refusal
from conformance.requests import Json


def _quota(space: Space, hard: Json, used: Json, **spec: Any) -> None:
    """A quota, with what a controller would say of it."""
    quota = {"metadata": {"name": "q"}, "spec": {"hard": hard, **spec}}
    made = space.put(quota, "resourcequotas")
    status = {**made, "status": {"hard": hard, "used": used}}
    answer = space.ask("PUT", space.path("resourcequotas", "q") + "/status", status)
    assert answer.status == 200


def _used(space: Space) -> Json:
    used: Json = space.get("q", "resourcequotas")["status"]["used"]
    return used


def test_a_quota_without_a_status_counts_nothing(space: Space) -> None:
    """ResourceQuota: what counts is status.hard, which a controller writes."""
    space.put({"metadata": {"name": "q"}, "spec": {"hard": {"pods": "0"}}}, "resourcequotas")
    assert space.ask("POST", space.path("pods"), a_pod()).status == 201


def test_a_quota_counts_pods(space: Space) -> None:
    """ResourceQuota: status.used counts what is created; beyond status.hard it is 403."""
    _quota(space, {"pods": "2", "requests.cpu": "1"}, {"pods": "0", "requests.cpu": "0"})
    asking = {"requests": {"cpu": "300m"}}
    known(space, a_pod("x", {"requests": {"cpu": "2"}}), lambda answer: answer.status == 403)
    assert tried(space, a_pod("a", asking)).status == 201
    assert _used(space) == {"pods": "0", "requests.cpu": "0"}
    space.put(a_pod("a", asking), "pods")
    assert _used(space) == {"pods": "1", "requests.cpu": "300m"}
    answer = space.ask("POST", space.path("pods"), a_pod("b", {"requests": {"cpu": "800m"}}))
    assert refusal(answer) == (
        403,
        "Forbidden",
        'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=800m, used: '
        "requests.cpu=300m, limited: requests.cpu=1",
    )
    space.put(a_pod("b", asking), "pods")
    answer = space.ask("POST", space.path("pods"), a_pod("c", {"requests": {"cpu": "1"}}))
    assert said(answer) == (
        "exceeded quota: q, requested: pods=1,requests.cpu=1, used: pods=2,requests.cpu=600m, "
        "limited: pods=2,requests.cpu=1"
    )
    entries = space.get("q", "resourcequotas")["metadata"]["managedFields"]
    assert ("kube-apiserver", "status") in {
        (entry["manager"], entry.get("subresource")) for entry in entries
    }


def test_a_quota_wants_pods_to_say_what_they_ask_for(space: Space) -> None:
    """ResourceQuota: where it limits cpu or memory, each container must say how much."""
    hard = {"requests.cpu": "1", "limits.memory": "1Gi"}
    _quota(space, hard, dict.fromkeys(hard, "0"))
    known(space, a_pod(), lambda answer: answer.status == 403)
    assert said(tried(space, a_pod())) == (
        "failed quota: q: must specify limits.memory for: c; requests.cpu for: c"
    )


def test_a_quota_whose_use_is_not_known_takes_nothing(space: Space) -> None:
    """ResourceQuota: what status.used does not tell is 403 as unknown."""
    _quota(space, {"pods": "2", "configmaps": "2"}, {"configmaps": "0"})
    known(space, a_pod(), lambda answer: answer.status == 403)
    assert said(tried(space, a_pod())) == "status unknown for quota: q, resources: pods"
    space.add("a")
    assert _used(space) == {"configmaps": "1"}


def test_a_quota_counts_objects_of_any_type(space: Space) -> None:
    """ResourceQuota: count/<resource>.<group>, and the plain names of some."""
    hard = {"count/deployments.apps": "0", "secrets": "1", "count/secrets": "1"}
    _quota(space, hard, dict.fromkeys(hard, "0"))
    secret = {"metadata": {"name": "a"}}
    labels = {"app": "a"}
    deployment = {
        "metadata": {"name": "d"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": a_pod()["spec"]},
        },
    }
    known(space, deployment, lambda answer: answer.status == 403, "deployments")
    answer = space.ask("POST", space.path("deployments"), deployment)
    assert refusal(answer)[2] == (
        'deployments.apps "d" is forbidden: exceeded quota: q, requested: '
        "count/deployments.apps=1, used: count/deployments.apps=0, limited: "
        "count/deployments.apps=0"
    )
    space.put(secret, "secrets")
    assert _used(space) == {"count/deployments.apps": "0", "count/secrets": "1", "secrets": "1"}
    other = space.ask("POST", space.path("secrets"), {"metadata": {"name": "b"}})
    assert said(other) == (
        "exceeded quota: q, requested: count/secrets=1,secrets=1, used: count/secrets=1,secrets=1, "
        "limited: count/secrets=1,secrets=1"
    )


def test_a_quota_counts_services_by_what_they_take(space: Space) -> None:
    """ResourceQuota: node ports and load balancers are counted, also when a Service changes."""
    hard = {"services": "5", "services.nodeports": "2", "services.loadbalancers": "1"}
    _quota(space, hard, dict.fromkeys(hard, "0"))
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]
    service = {"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": ports}}
    three = {"type": "NodePort", "ports": [*ports, {"name": "c", "port": 82}]}
    known(space, {**service, "spec": three}, lambda answer: answer.status == 403, "services")
    space.put({**service, "spec": {"ports": ports}}, "services")
    used = {"services": "1", "services.nodeports": "0", "services.loadbalancers": "0"}
    assert _used(space) == used
    space.change("s", "services", spec={"type": "NodePort"})
    assert _used(space) == {**used, "services.nodeports": "2"}
    space.change("s", "services", spec={"type": "ClusterIP"})
    assert _used(space) == {**used, "services.nodeports": "2"}


def test_a_quota_counts_storage_by_class(space: Space) -> None:
    """ResourceQuota: requests.storage and persistentvolumeclaims, also of one class."""
    of_class = "gold.storageclass.storage.k8s.io/"
    hard = {
        "requests.storage": "5Gi",
        f"{of_class}requests.storage": "3Gi",
        f"{of_class}persistentvolumeclaims": "9",
    }
    _quota(space, hard, dict.fromkeys(hard, "0"))
    plural = "persistentvolumeclaims"
    gold = a_claim("a", "2Gi", storageClassName="gold")
    big = a_claim("x", "4Gi", storageClassName="gold")
    known(space, big, lambda answer: answer.status == 403, plural)
    space.put(gold, plural)
    space.put(a_claim("b", "512Mi", storageClassName="other"), plural)
    assert _used(space) == {
        "requests.storage": "2560Mi",
        f"{of_class}requests.storage": "2Gi",
        f"{of_class}persistentvolumeclaims": "1",
    }
    assert said(tried(space, a_claim("c", "2Gi", storageClassName="gold"), plural)) == (
        f"exceeded quota: q, requested: {of_class}requests.storage=2Gi, used: "
        f"{of_class}requests.storage=2Gi, limited: {of_class}requests.storage=3Gi"
    )


@pytest.mark.parametrize(
    ("scope", "inside", "outside"),
    [
        ("BestEffort", {}, {"resources": {"requests": {"cpu": "1"}}}),
        ("NotBestEffort", {"resources": {"requests": {"cpu": "1"}}}, {}),
        ("Terminating", {"activeDeadlineSeconds": 5}, {}),
        ("NotTerminating", {}, {"activeDeadlineSeconds": 5}),
        ("PriorityClass", {"priorityClassName": "system-node-critical"}, {}),
    ],
)
def test_a_quota_is_for_its_scopes(space: Space, scope: str, inside: Json, outside: Json) -> None:
    """ResourceQuota: with scopes it counts the pods that are in them."""
    _quota(space, {"pods": "0"}, {"pods": "0"}, scopes=[scope])
    known(space, a_pod(**inside), lambda answer: answer.status == 403)
    assert tried(space, a_pod(**outside)).status == 201


def test_a_quota_selects_by_the_class_of_priority(space: Space) -> None:
    """ResourceQuota: a scopeSelector picks pods by the names of their PriorityClasses."""
    each = {"scopeName": "PriorityClass", "operator": "In", "values": ["system-node-critical"]}
    selector = {"matchExpressions": [each]}
    _quota(space, {"pods": "0"}, {"pods": "0"}, scopeSelector=selector)
    pod = a_pod(priorityClassName="system-node-critical")
    known(space, pod, lambda answer: answer.status == 403)
    assert tried(space, a_pod(priorityClassName="system-cluster-critical")).status == 201
    assert tried(space, a_pod()).status == 201


def test_a_resize_of_a_pod_counts(space: Space) -> None:
    """ResourceQuota: PATCH of pods/resize is counted, and refused where it is too much."""
    _quota(space, {"requests.cpu": "2"}, {"requests.cpu": "0"})
    space.put(a_pod("a", {"requests": {"cpu": "1"}}), "pods")
    path = space.path("pods", "a") + "/resize"

    def resize(cpu: str) -> Json:
        (container,) = space.get("a", "pods")["spec"]["containers"]
        return {"spec": {"containers": [{**container, "resources": {"requests": {"cpu": cpu}}}]}}

    known(space, a_pod("x", {"requests": {"cpu": "2"}}), lambda answer: answer.status == 403)
    answer = space.ask("PATCH", path, resize("3"), content_type="application/merge-patch+json")
    assert said(answer) == (
        "exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=1, limited: "
        "requests.cpu=2"
    )
    assert _used(space) == {"requests.cpu": "1"}
    assert (
        space.ask(
            "PATCH", path, resize("1500m"), content_type="application/merge-patch+json"
        ).status
        == 200
    )
    assert _used(space) == {"requests.cpu": "1500m"}
