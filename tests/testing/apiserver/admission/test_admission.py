"""What other objects say of a new one, where both servers are not asked the same
(`conformance/behaviour/test_admission.py`): orders, hostile values, dry runs, speed.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.asking import message
from tests.testing.apiserver.controllers.acting import Acting
from tests.testing.apiserver.write_server import MERGE, Writing

DEFAULT = "/api/v1/namespaces/default"
PODS = f"{DEFAULT}/pods"
CLAIMS = f"{DEFAULT}/persistentvolumeclaims"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STORAGE_CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
DRY = "?dryRun=All"


@pytest.fixture
def server() -> Writing:
    return Writing()


def pod(name: str = "p", resources: Any = None, **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": resources or {}}
    return {"metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def limits(*items: dict[str, Any], name: str = "l") -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"limits": list(items)}}


def refused(server: Writing, path: str, obj: Any) -> str:
    answer = server.write("POST", path, obj)
    assert answer.status == 403, answer.body
    return message(answer).partition(" is forbidden: ")[2]


def test_defaults_are_there_before_a_pod_is_found_valid(server: Writing) -> None:
    item = {"type": "Container", "default": {"cpu": "1"}}
    server.made(f"{DEFAULT}/limitranges", limits(item))
    answer = server.write("POST", PODS, pod(resources={"requests": {"cpu": "2"}}))
    assert answer.status == 422
    assert message(answer).endswith("must be less than or equal to cpu limit of 1")


def test_what_is_invalid_is_told_before_what_is_forbidden(server: Writing) -> None:
    server.made(f"{DEFAULT}/limitranges", limits({"type": "Pod", "max": {"cpu": "1"}}))
    assert server.write("POST", PODS, pod("Not_Valid")).status == 422
    assert server.write("POST", PODS, pod()).status == 403


def test_the_first_of_several_ranges_completes_and_each_looks(server: Writing) -> None:
    for name, amount in (("a", "1"), ("b", "2")):
        item = {"type": "Container", "default": {"cpu": amount}, "defaultRequest": {"cpu": "100m"}}
        server.made(f"{DEFAULT}/limitranges", limits(item, name=name))
    made = server.made(PODS, pod())
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1"}
    server.made(f"{DEFAULT}/limitranges", limits({"type": "Pod", "max": {"cpu": "500m"}}, name="z"))
    assert refused(server, PODS, pod("q")) == ("maximum cpu usage per Pod is 500m, but limit is 1")


def test_limits_are_those_of_the_namespace(server: Writing) -> None:
    server.made("/api/v1/namespaces", {"metadata": {"name": "other"}})
    item = {"type": "Container", "max": {"cpu": "1"}}
    server.made("/api/v1/namespaces/other/limitranges", limits(item))
    assert "annotations" not in server.made(PODS, pod())["metadata"]


def test_amounts_are_compared_to_the_thousandth(server: Writing) -> None:
    server.made(f"{DEFAULT}/limitranges", limits({"type": "Container", "min": {"cpu": "100m"}}))
    assert server.write("POST", PODS, pod(resources={"requests": {"cpu": "0.1"}})).status == 201
    said = refused(server, PODS, pod("q", resources={"requests": {"cpu": "99m"}}))
    assert said == "minimum cpu usage per Container is 100m, but request is 99m"


def test_a_pod_that_is_there_does_not_have_to_keep_to_new_limits(server: Writing) -> None:
    server.made(PODS, pod())
    server.made(f"{DEFAULT}/limitranges", limits({"type": "Pod", "max": {"cpu": "1"}}))
    server.merged(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})


def test_the_priority_of_a_pod_stays_when_its_class_goes(server: Writing) -> None:
    server.made(CLASSES, {"metadata": {"name": "c"}, "value": 5})
    server.made(PODS, pod(priorityClassName="c"))
    server.write("DELETE", f"{CLASSES}/c")
    assert server.merged(f"{PODS}/p", {"metadata": {"labels": {"a": "b"}}})["spec"]["priority"] == 5


def test_of_two_default_classes_the_lower_counts(server: Writing) -> None:
    for name, value in (("a", 7), ("b", 3)):
        server.server.load(
            [
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": name},
                    "value": value,
                    "globalDefault": True,
                }
            ]
        )
    spec = server.made(PODS, pod())["spec"]
    assert (spec["priorityClassName"], spec["priority"]) == ("b", 3)


def test_the_newest_default_class_of_storage_counts(server: Writing) -> None:
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    for name, day in (("a", "01"), ("c", "02"), ("b", "02")):
        stamp = f"2026-01-{day}T00:00:00Z"
        value = {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": name, "creationTimestamp": stamp, "annotations": mark},
            "provisioner": "p",
        }
        server.server.load([value])
    requests = {"requests": {"storage": "1Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": requests}
    made = server.made(CLAIMS, {"metadata": {"name": "c"}, "spec": spec})
    assert made["spec"]["storageClassName"] == "b"


def test_tolerations_that_others_include_are_left_out(server: Writing) -> None:
    more = {"key": "a", "operator": "Exists"}
    less = {"key": "a", "operator": "Equal", "value": "x", "effect": "NoSchedule"}
    scheduling = {"tolerations": [less, {"key": "b", "operator": "Exists"}]}
    server.made(
        RUNTIME_CLASSES, {"metadata": {"name": "r"}, "handler": "h", "scheduling": scheduling}
    )
    spec = server.made(PODS, pod(runtimeClassName="r", tolerations=[more]))["spec"]
    assert [found["key"] for found in spec["tolerations"]] == [
        "a",
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "b",
    ]


def test_an_apply_is_looked_at_as_well(server: Writing) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", **pod(priorityClassName="none")}
    answer = server.write(
        "PATCH", f"{PODS}/p?fieldManager=m", body, kind="application/apply-patch+yaml"
    )
    assert answer.status == 403


def test_pods_of_a_workload_are_looked_at_like_others() -> None:
    server = Acting("replicaset")
    server.made(f"{DEFAULT}/limitranges", limits({"type": "Container", "default": {"cpu": "1"}}))
    labels = {"a": "b"}
    spec = {
        "replicas": 1,
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": pod()["spec"]},
    }
    path = "/apis/apps/v1/namespaces/default/replicasets"
    server.made(path, {"metadata": {"name": "r"}, "spec": spec})
    server.wait(1)
    (made,) = server.items(PODS)
    assert made["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "1"}


def test_a_second_default_class_can_take_over_by_update(server: Writing) -> None:
    server.made(CLASSES, {"metadata": {"name": "a"}, "value": 1, "globalDefault": True})
    server.made(CLASSES, {"metadata": {"name": "b"}, "value": 2})
    answer = server.write("PATCH", f"{CLASSES}/b", {"globalDefault": True}, kind=MERGE)
    assert answer.status == 403
    server.merged(f"{CLASSES}/a", {"globalDefault": None})
    server.merged(f"{CLASSES}/b", {"globalDefault": True})
