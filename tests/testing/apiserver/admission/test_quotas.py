"""ResourceQuotas: what objects count for, and when that is written down."""

from __future__ import annotations

from typing import Any

import pytest

from listwatch.testing.apiserver.admission.amounts import pod_amounts
from listwatch.testing.apiserver.admission.quota_scopes import in_scopes
from listwatch.testing.apiserver.admission.quota_usage import (
    counted,
    missing_in_containers,
    usage,
)
from listwatch.testing.apiserver.types.type_table import builtin_types
from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import MERGE, Writing, parsed, rv

TYPES = {found.storage: found for found in builtin_types()}
DEFAULT = "/api/v1/namespaces/default"
QUOTAS = f"{DEFAULT}/resourcequotas"
MAPS = f"{DEFAULT}/configmaps"


def container(**amounts: dict[str, str]) -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": amounts}


def limited(**hard: str) -> Writing:
    """A server with a quota that has counted nothing yet."""
    server = Writing()
    server.made(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": hard}})
    status = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    answer = server.write("PATCH", f"{QUOTAS}/q/status", {"status": status}, kind=MERGE)
    assert answer.status == 200
    return server


def used(server: Writing) -> dict[str, str]:
    found: dict[str, str] = parsed(server.write("GET", f"{QUOTAS}/q"))["status"]["used"]
    return found


def test_an_object_is_counted_just_before_it_is_stored() -> None:
    server = limited(configmaps="2")
    made = server.made(MAPS, {"metadata": {"name": "a"}})
    quota = parsed(server.write("GET", f"{QUOTAS}/q"))
    assert (quota["status"]["used"], rv(quota)) == ({"configmaps": "1"}, rv(made) - 1)


def test_what_is_only_tried_is_not_counted_but_may_be_too_much() -> None:
    server = limited(configmaps="1")
    for _ in range(2):
        assert server.write("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "a"}}).status == 201
    assert used(server) == {"configmaps": "0"}
    server.made(MAPS, {"metadata": {"name": "a"}})
    answer = server.write("POST", f"{MAPS}?dryRun=All", {"metadata": {"name": "b"}})
    assert answer.status == 403


def test_what_is_there_already_has_been_counted_when_that_is_found() -> None:
    server = limited(configmaps="5")
    server.made(MAPS, {"metadata": {"name": "a"}})
    assert server.write("POST", MAPS, {"metadata": {"name": "a"}}).status == 409
    assert used(server) == {"configmaps": "2"}  # as in a real server, until somebody counts anew


def test_what_is_deleted_still_counts_until_somebody_counts_anew() -> None:
    server = limited(configmaps="1")
    server.made(MAPS, {"metadata": {"name": "a"}})
    server.write("DELETE", f"{MAPS}/a")
    assert server.write("POST", MAPS, {"metadata": {"name": "b"}}).status == 403


def test_nothing_is_counted_where_one_of_several_quotas_is_full() -> None:
    server = limited(configmaps="5")
    server.made(QUOTAS, {"metadata": {"name": "r"}, "spec": {"hard": {"configmaps": "0"}}})
    status = {"hard": {"configmaps": "0"}, "used": {"configmaps": "0"}}
    server.write("PATCH", f"{QUOTAS}/r/status", {"status": status}, kind=MERGE)
    answer = server.write("POST", MAPS, {"metadata": {"name": "a"}})
    assert message(answer).startswith('configmaps "a" is forbidden: exceeded quota: r, ')
    assert used(server) == {"configmaps": "0"}


def test_other_updates_count_for_nothing() -> None:
    server = limited(configmaps="1")
    server.made(MAPS, {"metadata": {"name": "a"}})
    server.merged(f"{MAPS}/a", {"data": {"a": "b"}})
    assert used(server) == {"configmaps": "1"}


def test_a_pod_counts_for_what_runs_together_or_its_largest_start() -> None:
    spec = {
        "containers": [container(requests={"cpu": "1", "memory": "1Gi"})],
        "initContainers": [
            {**container(requests={"cpu": "500m"}), "restartPolicy": "Always"},
            container(requests={"cpu": "2", "memory": "1Mi"}),
        ],
    }
    assert pod_amounts(spec, "requests") == {"cpu": "2500m", "memory": "1Gi"}
    of_pod = {"resources": {"requests": {"cpu": "3", "example.com/gpu": "1"}}}
    assert pod_amounts({**spec, **of_pod}, "requests") == {"cpu": "3", "memory": "1Gi"}


def test_what_a_pod_counts_for() -> None:
    amounts = {"cpu": "1", "hugepages-2Mi": "4Mi", "example.com/gpu": "2"}
    spec = {"containers": [container(requests=amounts, limits={"cpu": "2"})]}
    overhead = {"overhead": {"cpu": "250m", "memory": "1Mi"}}
    assert usage(TYPES["pods"], {"spec": {**spec, **overhead}}) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "1250m",
        "requests.cpu": "1250m",
        "limits.cpu": "2250m",
        "memory": "1Mi",
        "requests.memory": "1Mi",
        "hugepages-2Mi": "4Mi",
        "requests.hugepages-2Mi": "4Mi",
        "requests.example.com/gpu": "2",
    }
    done = {"spec": spec, "status": {"phase": "Succeeded"}}
    assert usage(TYPES["pods"], done) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("storage", "names"),
    [
        ("pods", ["pods", "requests.cpu", "count/pods", "requests.example.com/gpu"]),
        ("services", ["services", "services.nodeports"]),
        (
            "persistentvolumeclaims",
            ["requests.storage", "a.storageclass.storage.k8s.io/requests.storage"],
        ),
        ("secrets", ["secrets"]),
        ("apps/deployments", ["count/deployments.apps"]),
    ],
)
def test_what_a_quota_counts_of_a_type(storage: str, names: list[str]) -> None:
    every = [
        *("pods", "requests.cpu", "count/pods", "requests.example.com/gpu"),
        *("services", "services.nodeports", "requests.storage", "secrets"),
        *("a.storageclass.storage.k8s.io/requests.storage", "count/deployments.apps"),
    ]
    assert counted(TYPES[storage], every) == [name for name in every if name in names]


def test_each_container_must_say_what_is_limited() -> None:
    spec = {
        "containers": [container(requests={"cpu": "1"}), {"name": "b"}],
        "initContainers": [{"name": "a"}],
    }
    said = missing_in_containers(spec, ["requests.cpu", "limits.memory", "pods"])
    assert said == "must specify limits.memory for: a,b,c; requests.cpu for: a,b"
    of_pod = {**spec, "resources": {"limits": {"memory": "1Gi"}}}
    assert missing_in_containers(of_pod, ["requests.cpu"]) == ""


@pytest.mark.parametrize(
    ("operator", "values", "name", "inside"),
    [
        ("In", ["a"], "a", True),
        ("In", ["a"], "b", False),
        ("In", ["a"], None, False),
        ("NotIn", ["a"], "b", True),
        ("NotIn", ["a"], None, True),
        ("NotIn", ["a"], "a", False),
        ("Exists", [], "a", True),
        ("Exists", [], None, False),
        ("DoesNotExist", [], None, True),
    ],
)
def test_a_quota_selects_by_priority(
    operator: str, values: list[str], name: str | None, inside: bool
) -> None:
    each = {"scopeName": "PriorityClass", "operator": operator, "values": values}
    quota = {"spec": {"scopeSelector": {"matchExpressions": [each]}}}
    assert in_scopes("pods", quota, {"spec": {"priorityClassName": name}}) is inside


def test_only_some_pods_look_into_other_namespaces() -> None:
    quota = {"spec": {"scopes": ["CrossNamespacePodAffinity"]}}
    term = {"topologyKey": "a", "namespaces": ["b"]}
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{"podAffinityTerm": term}]}
    assert in_scopes("pods", quota, {"spec": {"affinity": {"podAntiAffinity": wish}}})
    assert not in_scopes("pods", quota, {"spec": {}})
    assert not in_scopes("configmaps", quota, {})
