"""Writes as a real server was recorded to answer them (K27 to K37): the same requests, in the same
order, on the same state, give the same answers but for uids, times and RVs.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.storage.state import Settings
from tests.testing.apiserver.asking import normal, recorded
from tests.testing.apiserver.write_server import Writing

NAMESPACES = "/api/v1/namespaces"
REC = f"{NAMESPACES}/rec"
CONFIGMAPS = f"{REC}/configmaps"
PODS = f"{REC}/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CONTAINER = {"name": "c", "image": "example.invalid/app:1"}
RUNNING = {
    "phase": "Running",
    "hostIP": "192.0.2.1",
    "podIP": "10.244.0.3",
    "podIPs": [{"ip": "10.244.0.3"}],
    "startTime": "2026-11-29T12:00:00Z",
    "conditions": [
        {
            "type": "Ready",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": "2026-11-29T12:00:00Z",
        }
    ],
    "containerStatuses": [
        {
            "name": "c",
            "state": {"running": {"startedAt": "2026-11-29T12:00:00Z"}},
            "lastState": {},
            "ready": True,
            "restartCount": 1,
            "image": "example.invalid/app:1",
            "imageID": "",
        }
    ],
}


@pytest.fixture
def rec() -> Writing:
    """A server with the namespace that the recorder used."""
    server = Writing()
    server.made(NAMESPACES, {"metadata": {"name": "rec"}})
    return server


def pod(rec: Writing, name: str, *, node: str = "", status: dict[str, Any] | None = None) -> None:
    spec: dict[str, Any] = {"containers": [CONTAINER]}
    if node:
        spec["nodeName"] = node
    rec.made(PODS, {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": spec})
    if status:
        rec.merged(f"{PODS}/{name}/status", {"status": status})


def widgets(rec: Writing) -> None:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {
            "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        },
    }
    names = {"plural": "widgets", "kind": "Widget"}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    rec.made(CRDS, {"metadata": {"name": "widgets.example.com"}, "spec": spec})


def all_of(rec: Writing, *names: str) -> None:
    for name in names:
        rec.again(name)


def test_k28_creating(rec: Writing) -> None:
    all_of(
        rec,
        "k-write-create",
        "k-write-create-exists",
        "k-write-create-generatename",
        "k-write-create-no-kind",
        "k-write-create-yaml",
        "k-write-create-noname",
        "k-write-create-invalid-name",
        "k-write-create-wrong-kind",
        "k-write-create-wrong-version",
        "k-write-create-wrong-type",
        "k-write-create-wrong-namespace",
        "k-write-create-namespace-missing",
        "k-write-create-with-rv",
        "k-write-create-bad-json",
        "k-write-create-empty-body",
        "k-write-create-media-type",
        "k-write-create-pod-empty",
        "k-write-create-invalid-pod",
    )


def test_k28_a_name_is_taken_until_its_object_is_gone(rec: Writing) -> None:
    pod(rec, "web-00", node="node-0")
    rec.write("DELETE", f"{PODS}/web-00")
    rec.again("k-write-create-exists-deleting")


def test_k28_dry_runs(rec: Writing) -> None:
    all_of(
        rec,
        "k-write-create-dryrun",
        "k-write-create-dryrun-get",
        "k-write-create-dryrun-bogus",
    )


def test_k29_unknown_and_duplicate_fields(rec: Writing) -> None:
    all_of(
        rec,
        "k-write-validation-default",
        "k-write-warn",
        "k-write-validation-ignore",
        "k-write-validation-bogus",
        "k-write-strict",
        "k-write-strict-duplicate",
    )


def test_k27_k30_changing_one_object(rec: Writing) -> None:
    all_of(
        rec,
        "k-write-create",
        "k-write-update",
        "k-write-update-conflict",
        "k-write-update-noop",
        "k-write-update-no-rv",
        "k-write-update-uid-mismatch",
        "k-write-update-name-mismatch",
        "k-write-update-missing",
        "k-write-patch-merge",
        "k-write-patch-noop",
        "k-write-patch-merge-rv-conflict",
        "k-write-patch-json",
        "k-write-patch-json-test-fails",
        "k-write-patch-json-missing-path",
        "k-write-patch-json-bad",
        "k-write-patch-media-type",
        "k-write-patch-missing",
        "k-write-patch-strict",
    )


def test_k27_a_put_that_creates(rec: Writing) -> None:
    rec.again("k-put-creates-lease")


def test_k27_k30_custom_objects(rec: Writing) -> None:
    widgets(rec)
    all_of(rec, "1-create-widget-000", "1-create-conflict-already-exists")
    rec.made(
        "/apis/example.com/v1/namespaces/rec/widgets",
        {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w-0"}},
    )
    all_of(
        rec,
        "k-cr-update-no-rv",
        "k-write-patch-strategic-cr",
        "6-deprecated-create-strict-unknown",
    )


def test_k32_the_status_has_a_path_of_its_own(rec: Writing) -> None:
    web = "/apis/apps/v1/namespaces/rec/deployments/web"
    template = {"metadata": {"labels": {"app": "webd"}}, "spec": {"containers": [CONTAINER]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "webd"}}, "template": template}
    rec.made(
        "/apis/apps/v1/namespaces/rec/deployments", {"metadata": {"name": "web"}, "spec": spec}
    )
    newer = {**CONTAINER, "image": "example.invalid/app:2"}
    side = {"name": "side", "image": "example.invalid/side:1"}
    for containers in ([newer, side], [newer]):
        rec.merged(web, {"spec": {"template": {"spec": {"containers": containers}}}})
    all_of(rec, "k-sub-status-get", "k-sub-status-patch")


def test_k33_deleting(rec: Writing) -> None:
    for number in range(8):
        metadata = {"name": f"d-{number}", "labels": {"set": "d"}}
        rec.made(CONFIGMAPS, {"metadata": metadata, "data": {"a": "1"}})
    all_of(
        rec,
        "k-delete-configmap",
        "k-delete-missing",
        "k-delete-with-options",
        "k-delete-dryrun",
        "k-delete-precondition-uid",
        "k-delete-precondition-rv",
        "k-delete-propagation-bogus",
        "k-delete-orphan-and-policy",
        "k-delete-foreground",
        "k-delete-foreground-get",
        "k-delete-orphan",
        "k-delete-orphan-get",
        "k-delete-negative-grace",
        "k-delete-collection",
        "k-delete-collection-empty",
        "k-delete-collection-services",
    )


def test_k34_finalizers(rec: Writing) -> None:
    metadata = {"name": "fin", "finalizers": ["example.com/hold"]}
    rec.made(CONFIGMAPS, {"metadata": metadata, "data": {"a": "1"}})
    all_of(
        rec,
        "k-finalizer-delete",
        "k-finalizer-delete-again",
        "k-finalizer-update-while-deleting",
        "k-finalizer-add-while-deleting",
        "k-finalizer-remove",
    )


def test_k35_a_pod_is_given_time(rec: Writing) -> None:
    pod(rec, "grace", node="node-0", status=RUNNING)
    watch = rec.watch(f"{PODS}?watch=true&resourceVersion={rec.server.state.log.revision}")
    all_of(
        rec,
        "k-delete-pod-graceful",
        "k-delete-pod-graceful-again",
        "k-delete-pod-graceful-shorter",
        "k-delete-pod-graceful-longer",
    )
    rec.wait(1)
    rec.merged(f"{PODS}/grace/status", {"status": {"phase": "Succeeded"}})
    rec.again("k-delete-pod-now")
    same_events(watch.take(), "k-watch-pod-graceful-delete")


@pytest.mark.parametrize(
    ("name", "node", "status", "deletion"),
    [
        ("finished", "node-0", {"phase": "Succeeded"}, "k-delete-pod-finished"),
        ("force", "node-0", RUNNING, "k-delete-pod-force"),
        ("unsched", "", None, "k-delete-pod-unscheduled"),
    ],
)
def test_k35_two_events_end_a_pod_that_nothing_runs(
    rec: Writing, name: str, node: str, status: dict[str, Any] | None, deletion: str
) -> None:
    pod(rec, name, node=node, status=status)
    watch = rec.watch(f"{PODS}?watch=true&resourceVersion={rec.server.state.log.revision}")
    rec.again(deletion)
    watched = deletion.replace("k-delete-pod-", "k-watch-pod-") + "-delete"
    same_events(watch.take(), watched)


def test_k37_a_namespace_begins_to_go() -> None:
    rec = Writing(settings=Settings(namespace_deletion=False))
    rec.made(NAMESPACES, {"metadata": {"name": "dying"}})
    all_of(
        rec,
        "k-delete-namespace",
        "k-delete-namespace-again",
        "k-write-create-in-terminating-namespace",
        "k-delete-namespace-default",
        "k-delete-namespaces-collection",
    )
    rec.wait(3600)
    assert rec.get(f"{NAMESPACES}/dying").status == 200


def test_k37_a_namespace_goes_with_all_that_is_in_it() -> None:
    rec = Writing()
    rec.made(NAMESPACES, {"metadata": {"name": "gone"}})
    for name in ("c-0", "c-1"):
        rec.made(f"{NAMESPACES}/gone/configmaps", {"metadata": {"name": name}})
    certificate = json.loads(recorded("k-nsdel-watch-configmaps").body.splitlines()[-1])["object"]
    metadata = {name: certificate["metadata"][name] for name in ("name", "annotations")}
    rec.made(
        f"{NAMESPACES}/gone/configmaps",
        {"metadata": metadata, "data": certificate["data"]},
        agent="kube-controller-manager/1",
    )
    of_pod = {"name": "p-0", "labels": {"app": "web"}}
    rec.made(f"{NAMESPACES}/gone/pods", {"metadata": of_pod, "spec": {"containers": [CONTAINER]}})
    at = f"watch=true&resourceVersion={rec.server.state.log.revision}"
    watches = {
        "k-nsdel-watch-namespaces": f"{NAMESPACES}?{at}&fieldSelector=metadata.name%3Dgone",
        "k-nsdel-watch-configmaps": f"{NAMESPACES}/gone/configmaps?{at}",
        "k-nsdel-watch-pods": f"{NAMESPACES}/gone/pods?{at}",
    }
    streams = {name: rec.watch(target) for name, target in watches.items()}
    rec.again("k-nsdel-delete")
    rec.wait(4.9)
    assert rec.get(f"{NAMESPACES}/gone").status == 200
    rec.wait(0.1)
    for name, stream in streams.items():
        same_events(stream.take(), name)
        assert not stream.ended
    all_of(rec, "k-nsdel-get-after", "k-nsdel-list-after", "k-nsdel-create-after")


def same_events(frames: list[bytes], name: str) -> None:
    found = normal(b"".join(frames)).splitlines()
    assert found == normal(recorded(name).body).splitlines()
