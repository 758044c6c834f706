"""What is filled in: the objects that a kube-apiserver v1.36 made of the same bodies."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from listwatch.testing.apiserver.defaulting.defaults import fill, fill_late, new_status
from listwatch.testing.apiserver.defaulting.pod_totals import quality_of_service
from listwatch.testing.apiserver.types.go_structs import in_go_form
from listwatch.testing.apiserver.types.type_table import builtin_types

TYPES = {str(found): found for found in builtin_types()}
CONTAINER = {"name": "c", "image": "i"}
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [CONTAINER]}}
FULL_CONTAINER = {
    "name": "c",
    "image": "i",
    "resources": {},
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
}
FULL_TEMPLATE = {
    "metadata": {"labels": {"a": "b"}},
    "spec": {
        "containers": [FULL_CONTAINER],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    },
}
SELECTOR = {"matchLabels": {"a": "b"}}


def complete(address: str, **members: Any) -> dict[str, Any]:
    of = TYPES[address]
    value: dict[str, Any] = {"metadata": {"name": "x", "uid": "u"}, **members}
    fill(of, value)
    new_status(of, value)
    fill_late(of, value, Random(1))
    return value


@pytest.mark.parametrize(
    ("address", "spec", "full"),
    [
        (
            "apps/v1/deployments",
            {"selector": SELECTOR, "template": TEMPLATE},
            {
                "replicas": 1,
                "selector": SELECTOR,
                "template": FULL_TEMPLATE,
                "strategy": {
                    "type": "RollingUpdate",
                    "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
                },
                "revisionHistoryLimit": 10,
                "progressDeadlineSeconds": 600,
            },
        ),
        (
            "apps/v1/replicasets",
            {"template": TEMPLATE, "selector": SELECTOR},
            {"replicas": 1, "selector": SELECTOR, "template": FULL_TEMPLATE},
        ),
        (
            "apps/v1/statefulsets",
            {"selector": SELECTOR, "serviceName": "x", "template": TEMPLATE},
            {
                "replicas": 1,
                "selector": SELECTOR,
                "template": FULL_TEMPLATE,
                "serviceName": "x",
                "podManagementPolicy": "OrderedReady",
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
                "revisionHistoryLimit": 10,
                "persistentVolumeClaimRetentionPolicy": {
                    "whenDeleted": "Retain",
                    "whenScaled": "Retain",
                },
            },
        ),
        (
            "v1/replicationcontrollers",
            {"template": TEMPLATE},
            {"replicas": 1, "selector": {"a": "b"}, "template": FULL_TEMPLATE},
        ),
        (
            "v1/services",
            {"type": "ExternalName", "externalName": "a.b"},
            {"type": "ExternalName", "sessionAffinity": "None", "externalName": "a.b"},
        ),
        (
            "v1/services",
            {"clusterIP": "None", "selector": {"a": "b"}},
            {
                "selector": {"a": "b"},
                "clusterIP": "None",
                "type": "ClusterIP",
                "sessionAffinity": "None",
                "internalTrafficPolicy": "Cluster",
            },
        ),
        ("coordination.k8s.io/v1/leases", {"holderIdentity": "h"}, {"holderIdentity": "h"}),
    ],
)
def test_specs_in_the_order_in_which_they_are_written(
    address: str, spec: dict[str, Any], full: dict[str, Any]
) -> None:
    of, whole = TYPES[address], complete(address, spec=spec)
    found = in_go_form(of.api_version, of.kind, whole, {})["spec"]
    assert found == full
    assert list(found) == list(full)


def test_a_pod() -> None:
    pod = complete("v1/pods", spec={"containers": [CONTAINER]}, status={"phase": "Running"})
    assert pod["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    assert list(in_go_form("v1", "Pod", pod, {})["spec"]) == [
        "containers",
        "restartPolicy",
        "terminationGracePeriodSeconds",
        "dnsPolicy",
        "securityContext",
        "schedulerName",
        "tolerations",
        "enableServiceLinks",
    ]
    keys = [toleration["key"] for toleration in pod["spec"]["tolerations"]]
    assert keys == ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]


def test_what_a_pod_says_itself_stays() -> None:
    mine = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 5}
    spec = {
        "containers": [{**CONTAINER, "image": "a/b:1", "ports": [{"containerPort": 80}]}],
        "restartPolicy": "Never",
        "tolerations": [mine],
        "priority": 7,
        "somethingNew": 1,
    }
    found = complete("v1/pods", spec=spec)["spec"]
    assert (found["restartPolicy"], found["priority"], found["somethingNew"]) == ("Never", 7, 1)
    assert found["tolerations"][0] == mine
    assert len(found["tolerations"]) == 2
    (container,) = found["containers"]
    assert container["imagePullPolicy"] == "IfNotPresent"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("i", "Always"),
        ("i:latest", "Always"),
        ("i:1", "IfNotPresent"),
        ("host:5000/i", "Always"),
        ("host:5000/i:1", "IfNotPresent"),
        ("i@sha256:0", "IfNotPresent"),
    ],
)
def test_images_without_a_version_are_pulled_always(image: str, policy: str) -> None:
    pod = complete("v1/pods", spec={"containers": [{"name": "c", "image": image}]})
    assert pod["spec"]["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "quality"),
    [
        ([{}], "BestEffort"),
        ([{"requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": {"cpu": "1", "memory": "1"}}], "Guaranteed"),
        ([{"limits": {"cpu": "2", "memory": "1"}, "requests": {"cpu": "1"}}], "Burstable"),
        ([{"limits": {"cpu": "1", "memory": "1"}}, {}], "Burstable"),
    ],
)
def test_the_quality_of_a_pod(resources: list[dict[str, Any]], quality: str) -> None:
    containers = [{"resources": found} for found in resources]
    assert quality_of_service({"containers": containers}) == quality


def test_a_secret_takes_text_and_keeps_bytes() -> None:
    secret = complete("v1/secrets", data={"z": "eg=="}, stringData={"a": "b"})
    assert secret["data"] == {"z": "eg==", "a": "Yg=="}
    assert "stringData" not in secret
    assert secret["type"] == "Opaque"


def test_a_port_of_a_service_leads_to_the_same_port() -> None:
    made = complete("v1/services", spec={"ports": [{"port": 80}]})
    assert made["spec"]["ports"] == [{"protocol": "TCP", "port": 80, "targetPort": 80}]


def test_a_job_finds_its_pods_by_its_uid() -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    spec = complete("batch/v1/jobs", spec={"template": template})["spec"]
    assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}}
    assert spec["template"]["metadata"]["labels"]["job-name"] == "x"


def test_a_node_may_bring_its_status_and_is_not_ready() -> None:
    node = complete("v1/nodes", status={"capacity": {"cpu": "4"}})
    assert node["spec"]["taints"] == [
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    ]
    assert node["status"]["allocatable"] == {"cpu": "4"}
    assert list(node["status"])[:2] == ["capacity", "allocatable"]


@pytest.mark.parametrize(
    "spec", [{}, {"containers": "x", "volumes": 5}, {"containers": [5, {"env": [5]}]}]
)
@pytest.mark.parametrize("address", sorted(TYPES))
def test_nonsense_does_no_harm(address: str, spec: dict[str, Any]) -> None:
    complete(address, spec=spec)
    complete(address, spec={"template": 5, "jobTemplate": 5, "ports": 5, **spec})
    complete(address, spec={"template": {"spec": 5}, "jobTemplate": {"spec": {"template": 5}}})
    complete(address)
