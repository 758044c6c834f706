from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.churn import LoadError, parse_load
from listwatch.testing.churn.load import new_apps, new_nodes
from tests.testing.churn.worlds import World


def test_a_load_is_a_list_of_counts() -> None:
    assert parse_load("pods=200") == {"pods": 200}
    assert parse_load("po=1, deploy=2,no=3") == {"pods": 1, "deployments": 2, "nodes": 3}
    assert parse_load("configmaps=2,cm=3") == {"configmaps": 5}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("pods", "expected one such as pods=200"),
        ("", "expected one such as pods=200"),
        ("pods=many", "expected one such as pods=200"),
        ("pods=-1", "expected one such as pods=200"),
        ("pods=²", "expected one such as pods=200"),
        ("rabbits=2", "no 'rabbits' can be made up: only pods, deployments"),
        ("pods=99999999", "too many"),
    ],
)
def test_a_load_that_is_none_says_why(text: str, problem: str) -> None:
    with pytest.raises(LoadError, match=problem):
        parse_load(text)


@given(st.integers(0, 3000))
def test_the_apps_have_as_many_pods_as_were_asked_for(pods: int) -> None:
    apps = new_apps({"pods": pods})
    assert sum(app.replicas for app in apps) == pods
    assert all(app.replicas for app in apps)
    names = [(app.namespace, app.name) for app in apps]
    assert len(set(names)) == len(names)


@given(st.integers(0, 200), st.integers(0, 600))
def test_there_are_as_many_deployments_as_were_asked_for(deployments: int, pods: int) -> None:
    apps = new_apps({"deployments": deployments, "pods": pods})
    assert len(apps) == deployments
    assert {app.blueprint.kind for app in apps} <= {"Deployment"}
    assert sum(app.replicas for app in apps) == (pods if deployments else 0)


@pytest.mark.parametrize(
    ("load", "nodes"),
    [({}, 0), ({"configmaps": 9}, 0), ({"pods": 1}, 3), ({"pods": 300}, 10), ({"nodes": 5}, 5)],
)
def test_there_are_nodes_for_the_pods(load: dict[str, int], nodes: int) -> None:
    assert len(new_nodes(load)) == nodes


def test_all_that_was_asked_for_is_there() -> None:
    world = World(0, pods=90, configmaps=50, secrets=7, namespaces=12, services=40, nodes=4)
    counted = {name: world.count(name) for name in ("pods", "configmaps", "secrets", "nodes")}
    assert counted == {"pods": 90, "configmaps": 50, "secrets": 7, "nodes": 4}
    assert world.count("services") == 40 + 1, "the API server's own is there, too"
    assert world.count("namespaces") >= 12
    addresses = [service["spec"]["clusterIP"] for service in world.values("services")]
    given_out = [address for address in addresses if address != "None"]
    assert len(set(given_out)) == len(given_out)


def test_deployments_and_their_replicas_agree_with_the_pods() -> None:
    world = World(0, pods=120)
    for storage in ("apps/deployments", "apps/statefulsets"):
        for found in world.values(storage):
            pods = [
                pod
                for pod in world.values("pods")
                if pod["metadata"]["labels"]["app"] == found["metadata"]["name"]
            ]
            status = found["status"]
            assert found["spec"]["replicas"] == status["replicas"] == len(pods)
            assert status["readyReplicas"] == status["updatedReplicas"] == len(pods)
