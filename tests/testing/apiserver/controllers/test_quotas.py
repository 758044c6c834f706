"""What quotas say is used, and roles made of others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.controllers.acting import (
    CONFIGMAPS,
    CORE,
    DEPLOYMENTS,
    PODS,
    Acting,
    container,
    workload,
)

QUOTAS = f"{CORE}/resourcequotas"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


@pytest.fixture
def server() -> Acting:
    return Acting("deployment", "replicaset", "kubelet", "resourcequota", "clusterrole-aggregation")


def quota(server: Acting, **hard: str) -> None:
    names = {name.replace("__", "/").replace("_", "."): value for name, value in hard.items()}
    server.made(QUOTAS, {"metadata": {"name": "q"}, "spec": {"hard": names}})
    server.wait(1)


def used(server: Acting) -> dict[str, str]:
    found: dict[str, str] = server.status(f"{QUOTAS}/q")["used"]
    return found


def pod(name: str, cpu: str) -> dict[str, Any]:
    main = container(resources={"requests": {"cpu": cpu}})
    return {"metadata": {"name": name}, "spec": {"containers": [main]}}


def test_what_is_there_is_counted(server: Acting) -> None:
    server.made(PODS, pod("a", "250m"))
    server.made(CONFIGMAPS, {"metadata": {"name": "c"}})
    quota(server, pods="5", requests_cpu="2", configmaps="3", count__secrets="1")
    assert used(server) == {
        "pods": "1",
        "requests.cpu": "250m",
        "configmaps": "1",
        "count/secrets": "0",
    }
    assert server.status(f"{QUOTAS}/q")["hard"]["pods"] == "5"


def test_what_goes_or_ends_is_counted_no_more(server: Acting) -> None:
    quota(server, pods="5", configmaps="3")
    server.made(PODS, pod("a", "1"))
    ends = container(command=["sleep", "5"])
    server.made(
        PODS, {"metadata": {"name": "b"}, "spec": {"containers": [ends], "restartPolicy": "Never"}}
    )
    server.made(CONFIGMAPS, {"metadata": {"name": "c"}})
    server.wait(2)
    assert used(server) == {"pods": "2", "configmaps": "1"}
    server.write("DELETE", f"{CONFIGMAPS}/c")
    server.wait(10)
    assert used(server) == {"pods": "1", "configmaps": "0"}


def test_a_deployment_gets_the_pods_that_are_left_when_others_go(server: Acting) -> None:
    quota(server, pods="3")
    server.made(PODS, pod("a", "1"))
    server.made(DEPLOYMENTS, workload("web", 3))
    server.wait(5)
    assert len(server.items(PODS)) == 3
    failure = server.condition(f"{DEPLOYMENTS}/web", "ReplicaFailure")
    assert "exceeded quota: q" in failure["message"]
    server.write("DELETE", f"{PODS}/a")
    server.wait(40)
    assert server.status(f"{DEPLOYMENTS}/web")["availableReplicas"] == 3


def role(name: str, *verbs: str, **more: Any) -> dict[str, Any]:
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": [verb]} for verb in verbs]
    return {"metadata": {"name": name, "labels": {"part": "yes"}}, "rules": rules, **more}


def test_a_role_has_the_rules_of_those_that_it_selects(server: Acting) -> None:
    rule = {"clusterRoleSelectors": [{"matchLabels": {"part": "yes"}}]}
    server.made(ROLES, {"metadata": {"name": "all"}, "aggregationRule": rule})
    server.made(ROLES, role("b", "get", "list"))
    server.made(ROLES, role("a", "watch", "get"))
    server.wait(1)
    verbs = [one["verbs"] for one in server.found(f"{ROLES}/all")["rules"]]
    assert verbs == [["watch"], ["get"], ["list"]]
    server.write("DELETE", f"{ROLES}/a")
    server.wait(1)
    verbs = [one["verbs"] for one in server.found(f"{ROLES}/all")["rules"]]
    assert verbs == [["get"], ["list"]]
