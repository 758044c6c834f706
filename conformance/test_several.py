"""`listwatch get` of several resources and `listwatch api-resources`, beside kubectl."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.cluster import Cluster
from conformance.objects import CustomResource, config_map, pod
from conformance.test_command import Command
from conformance.users import VIEWER


@pytest.fixture
def listwatch(cluster: Cluster, tmp_path: Path) -> Command:
    return Command(cluster.kubeconfig(), tmp_path)


@pytest.fixture
def filled(cluster: Cluster, namespace: str, crd: CustomResource) -> str:
    for name in ("web-0", "web-1"):
        cluster.create(f"/api/v1/namespaces/{namespace}/pods", pod(name, {"app": "web"}))
    cluster.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("one", a="1"))
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"ports": [{"port": 80}], "selector": {"app": "web"}},
    }
    cluster.create(f"/api/v1/namespaces/{namespace}/services", service)
    cluster.create(crd.path(namespace), crd.object("red", color="red"))
    return namespace


def without_ages(text: str) -> str:
    """Seconds may pass between two commands: an age, and how wide its column is."""
    return re.sub(r" +\b\d+(s|m|m\d+s)$", " AGE", text, flags=re.MULTILINE)


@pytest.mark.parametrize(
    "arguments",
    [
        ("pods,services",),
        ("pods,po,svc,configmaps",),
        ("all",),
        ("all,wd",),
        ("pods,deployments",),
        ("pod/web-1", "svc/web", "widget/red"),
        ("pods", "web-1", "web-0"),
        ("pods/web-1", "po/web-0"),
        ("pods,services", "-l", "app=web"),
        ("deployments,statefulsets",),
        ("pods,services", "-o", "name"),
        ("all", "-o", "name"),
        ("pod/web-1", "svc/web", "-o", "name"),
    ],
    ids=" ".join,
)
def test_get_prints_what_kubectl_prints(
    cluster: Cluster, filled: str, listwatch: Command, arguments: tuple[str, ...]
) -> None:
    ours = listwatch("get", *arguments, "-n", filled)
    theirs = cluster.kubectl()("get", *arguments, "-n", filled)
    assert without_ages(ours.out) == without_ages(theirs.stdout)
    assert ours.code == 0
    assert ours.err == theirs.stderr


@pytest.mark.parametrize(
    "arguments", [("pods,services",), ("pod/web-1", "svc/web"), ("pods", "web-1", "web-0")]
)
def test_json_of_several_is_one_list(
    cluster: Cluster, filled: str, listwatch: Command, arguments: tuple[str, ...]
) -> None:
    ours = listwatch("get", *arguments, "-n", filled, "-o", "json")
    theirs = cluster.kubectl()("get", *arguments, "-n", filled, "-o", "json")
    assert json.loads(ours.out) == json.loads(theirs.stdout)


def test_api_resources_are_those_of_kubectl(cluster: Cluster, listwatch: Command) -> None:
    assert listwatch("api-resources").out == cluster.kubectl()("api-resources").stdout


def test_who_may_see_one_namespace_hears_of_the_option(cluster: Cluster, tmp_path: Path) -> None:
    viewer = Command(cluster.kubeconfig(VIEWER), tmp_path)
    for command in ("get", "watch"):
        ran = viewer(command, "pods", "-A")
        assert ran.code == 1
        assert "-n NAME, in place of -A, asks for one alone" in ran.err
    assert viewer("get", "pods", "-n", "default").code == 0
