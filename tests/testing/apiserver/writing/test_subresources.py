"""Scale, eviction and binding, as they were recorded of a kube-apiserver v1.36, and beyond."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import MERGE, Writing, causes, parsed, rv
from tests.testing.apiserver.writing.test_writes_recordings import CONTAINER

REC = "/api/v1/namespaces/rec"
PODS = f"{REC}/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/rec/deployments"
BUDGETS = "/apis/policy/v1/namespaces/rec/poddisruptionbudgets"


@pytest.fixture
def server() -> Writing:
    server = Writing()
    server.made("/api/v1/namespaces", {"metadata": {"name": "rec"}})
    return server


def deployment(server: Writing, replicas: int = 3) -> dict[str, Any]:
    labels = {"app": "webd"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    made = server.made(DEPLOYMENTS, {"metadata": {"name": "web"}, "spec": spec})
    status = {"status": {"replicas": 3, "observedGeneration": 1}}
    server.merged(f"{DEPLOYMENTS}/web/status", status)
    return made


def pod(server: Writing, name: str, *, ready: bool = True) -> dict[str, Any]:
    metadata = {"name": name, "labels": {"app": "web"}}
    spec = {"containers": [CONTAINER], "nodeName": "n"}
    server.made(PODS, {"metadata": metadata, "spec": spec})
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    status = {"phase": "Running", "conditions": conditions}
    return server.merged(f"{PODS}/{name}/status", {"status": status})


def budget(server: Writing, **status: int) -> None:
    spec = {"minAvailable": 5, "selector": {"matchLabels": {"app": "web"}}}
    server.made(BUDGETS, {"metadata": {"name": "pdb"}, "spec": spec})
    if status:
        server.merged(f"{BUDGETS}/pdb/status", {"status": {"observedGeneration": 1, **status}})


APPLY = "application/apply-patch+yaml"


def applied_scale(server: Writing, replicas: int, manager: str, **query: str) -> Answer:
    asked = urlencode({"fieldManager": manager, **query})
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas}}
    return server.write("PATCH", f"{DEPLOYMENTS}/web/scale?{asked}", body, kind=APPLY)


def owners(server: Writing) -> list[tuple[str, str, str, bool]]:
    """Of each entry: who, how, where, and whether the number is theirs."""
    return [
        (
            entry["manager"],
            entry["operation"],
            entry.get("subresource", ""),
            "f:replicas" in entry["fieldsV1"].get("f:spec", {}),
        )
        for entry in parsed(server.get(f"{DEPLOYMENTS}/web"))["metadata"]["managedFields"]
    ]


# Scale


def test_a_scale_is_read_and_written_as_recorded(server: Writing) -> None:
    deployment(server)
    server.again("k-sub-scale-get")
    server.again("k-sub-scale-put")
    server.again("k-sub-scale-put-conflict")
    server.again("k-sub-scale-patch")
    assert parsed(server.get(f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 4


def test_the_number_is_the_one_who_scaled_s(server: Writing) -> None:
    deployment(server)
    server.write("PATCH", f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 9}}, kind=MERGE)
    first, second, third = parsed(server.get(f"{DEPLOYMENTS}/web"))["metadata"]["managedFields"]
    assert first == {
        "manager": "rawcap",
        "operation": "Update",
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
        "subresource": "scale",
    }
    assert "f:replicas" not in second["fieldsV1"]["f:spec"]
    assert third["subresource"] == "status"


def test_a_number_of_0_is_nobody_s(server: Writing) -> None:
    deployment(server)
    server.merged(f"{DEPLOYMENTS}/web/scale", {"spec": {"replicas": 0}})
    entries = parsed(server.get(f"{DEPLOYMENTS}/web"))["metadata"]["managedFields"]
    assert not any("f:replicas" in entry["fieldsV1"].get("f:spec", {}) for entry in entries)


def test_an_applied_scale_takes_the_number_by_force_only(server: Writing) -> None:
    deployment(server)
    refused = applied_scale(server, 5, "x")
    assert refused.status == 409
    assert causes(refused) == [(".spec.replicas", 'conflict with "rawcap" using autoscaling/v1')]
    assert parsed(applied_scale(server, 5, "x", force="true"))["spec"] == {"replicas": 5}
    owned = [owner for owner in owners(server) if owner[3]]
    assert owned == [("x", "Apply", "scale", True)]
    [entry] = [
        entry
        for entry in parsed(server.get(f"{DEPLOYMENTS}/web"))["metadata"]["managedFields"]
        if entry["manager"] == "x"
    ]
    assert entry == {
        "manager": "x",
        "operation": "Apply",
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:spec": {"f:replicas": {}}},
        "subresource": "scale",
    }


def test_a_number_may_be_applied_by_two_and_goes_with_the_last(server: Writing) -> None:
    deployment(server)
    applied_scale(server, 5, "x", force="true")
    assert applied_scale(server, 5, "y").status == 200
    assert [owner[0] for owner in owners(server) if owner[3]] == ["x", "y"]
    nothing = {"apiVersion": "autoscaling/v1", "kind": "Scale"}
    for manager, left in (("x", {"replicas": 5}), ("y", {})):
        asked = f"{DEPLOYMENTS}/web/scale?fieldManager={manager}"
        assert parsed(server.write("PATCH", asked, nothing, kind=APPLY))["spec"] == left
    assert parsed(server.get(f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 0


def test_a_dry_run_of_an_applied_scale_changes_nothing(server: Writing) -> None:
    deployment(server)
    dry = applied_scale(server, 7, "x", force="true", dryRun="All")
    assert parsed(dry)["spec"] == {"replicas": 7}
    assert parsed(server.get(f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 3


def test_what_is_no_scale_cannot_be_applied_to_one(server: Writing) -> None:
    deployment(server)
    path = f"{DEPLOYMENTS}/web/scale?fieldManager=x"
    other = server.write("PATCH", path, {"apiVersion": "v1", "kind": "Pod"}, kind=APPLY)
    assert (other.status, message(other)) == (400, "invalid object type: /v1, Kind=Pod")
    assert applied_scale(server, -1, "x", force="true").status == 422
    assert (
        server.write("PATCH", f"{DEPLOYMENTS}/none/scale?fieldManager=x", {}, kind=APPLY).status
        == 404
    )


def test_what_a_scale_does_not_know_is_warned_of(server: Writing) -> None:
    deployment(server)
    body = {"metadata": {"name": "web"}, "spec": {"replicas": 3, "bogus": 1}}
    answer = server.write("PUT", f"{DEPLOYMENTS}/web/scale", body)
    assert ("Warning", '299 - "unknown field \\"spec.bogus\\""') in answer.headers
    strict = server.write("PUT", f"{DEPLOYMENTS}/web/scale?fieldValidation=Strict", body)
    assert strict.status == 400
    assert 'strict decoding error: unknown field "spec.bogus"' in message(strict)


def test_a_selector_with_expressions_is_told_sorted(server: Writing) -> None:
    labels = {"app": "x", "z": "a", "y": "1"}
    expressions = [
        {"key": "z", "operator": "In", "values": ["q", "a"]},
        {"key": "y", "operator": "Exists"},
        {"key": "w", "operator": "NotIn", "values": ["v"]},
        {"key": "u", "operator": "DoesNotExist"},
    ]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [CONTAINER]}}
    selector = {"matchLabels": {"app": "x"}, "matchExpressions": expressions}
    spec = {"selector": selector, "template": template}
    server.made(DEPLOYMENTS, {"metadata": {"name": "d"}, "spec": spec})
    status = parsed(server.get(f"{DEPLOYMENTS}/d/scale"))["status"]
    assert status["selector"] == "app=x,!u,w notin (v),y,z in (a,q)"


# Eviction


def test_evictions_are_answered_as_recorded(server: Writing) -> None:
    for name in ("web-00", "web-01", "web-02", "web-04"):
        pod(server, name)
    server.again("k-evict-missing")
    server.again("k-evict-name-mismatch")
    server.again("k-evict-no-pdb")
    budget(server)
    server.again("k-evict-pdb-not-synced")
    counts = {"expectedPods": 5, "desiredHealthy": 5, "currentHealthy": 4}
    server.merged(f"{BUDGETS}/pdb/status", {"status": {"observedGeneration": 1, **counts}})
    server.again("k-evict-429")
    counts = {"disruptionsAllowed": 1, "currentHealthy": 6}
    server.merged(f"{BUDGETS}/pdb/status", {"status": counts})
    server.again("k-evict-ok")
    server.again("k-evict-dryrun")


def test_an_eviction_takes_one_disruption_in_the_server_s_name(server: Writing) -> None:
    pod(server, "a")
    budget(server, disruptionsAllowed=2, currentHealthy=7, desiredHealthy=5, expectedPods=7)
    assert server.write("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}}).status == 201
    found = parsed(server.get(f"{BUDGETS}/pdb"))
    assert found["status"]["disruptionsAllowed"] == 1
    assert found["status"]["disruptedPods"] == {"a": "2026-01-01T00:00:00Z"}
    assert "kube-apiserver" in [entry["manager"] for entry in found["metadata"]["managedFields"]]


def test_an_unready_pod_may_always_go_where_the_budget_says_so(server: Writing) -> None:
    pod(server, "a", ready=False)
    budget(server, currentHealthy=1, desiredHealthy=5, expectedPods=7)
    eviction = {"metadata": {"name": "a"}}
    assert server.write("POST", f"{PODS}/a/eviction", eviction).status == 429
    server.merged(f"{BUDGETS}/pdb", {"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}})
    server.merged(f"{BUDGETS}/pdb/status", {"status": {"observedGeneration": 2}})
    assert server.write("POST", f"{PODS}/a/eviction", eviction).status == 201


def test_an_eviction_again_changes_nothing(server: Writing) -> None:
    pod(server, "a")
    for _ in range(2):
        assert server.write("POST", f"{PODS}/a/eviction", {"metadata": {"name": "a"}}).status == 201
        found = parsed(server.get(f"{PODS}/a"))
        first = rv(found)
    assert rv(found) == first
    kinds = [one["type"] for one in found["status"]["conditions"]]
    assert kinds.count("DisruptionTarget") == 1


# Binding


def test_a_binding_is_written_in_nobody_s_name(server: Writing) -> None:
    made = server.made(PODS, {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}})
    body = {"metadata": {"name": "a", "labels": {"x": "y"}}, "target": {"name": "n"}}
    assert server.write("POST", f"{PODS}/a/binding?dryRun=All", body).status == 201
    assert "nodeName" not in parsed(server.get(f"{PODS}/a"))["spec"]
    assert server.write("POST", f"{PODS}/a/binding", body).status == 201
    bound = parsed(server.get(f"{PODS}/a"))
    assert bound["spec"]["nodeName"] == "n"
    assert bound["metadata"]["labels"] == {"x": "y"}
    assert bound["metadata"]["managedFields"] == made["metadata"]["managedFields"]
    assert list(bound["status"]) == ["phase", "conditions", "qosClass"]
    again = server.write("POST", f"{PODS}/a/binding", body)
    assert again.status == 409
    assert message(again).startswith('Operation cannot be fulfilled on pods/binding "a": ')


def test_a_pod_with_gates_is_not_bound(server: Writing) -> None:
    spec = {"containers": [CONTAINER], "schedulingGates": [{"name": "example.com/wait"}]}
    server.made(PODS, {"metadata": {"name": "a"}, "spec": spec})
    body = {"metadata": {"name": "a"}, "target": {"name": "n"}}
    answer = server.write("POST", f"{PODS}/a/binding", body)
    assert answer.status == 409
    assert message(answer).endswith("pod a has non-empty .spec.schedulingGates")


def test_the_older_path_of_bindings_names_the_pod_in_the_body(server: Writing) -> None:
    server.made(PODS, {"metadata": {"name": "a"}, "spec": {"containers": [CONTAINER]}})
    body = {"metadata": {"name": "a", "uid": "any"}, "target": {"kind": "Node", "name": "n"}}
    answer = server.write("POST", f"{REC}/bindings", body)
    assert (answer.status, parsed(answer)["status"]) == (201, "Success")
    assert parsed(server.get(f"{PODS}/a"))["spec"]["nodeName"] == "n"
    unnamed = server.write("POST", f"{REC}/bindings", {"target": {"name": "n"}})
    assert (unnamed.status, message(unnamed)) == (400, "Name parameter required.")
    elsewhere = server.write("POST", "/api/v1/namespaces/none/bindings", body)
    assert (elsewhere.status, message(elsewhere)) == (404, 'namespaces "none" not found')
