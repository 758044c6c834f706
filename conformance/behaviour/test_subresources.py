"""Scale, eviction and binding: what is below an object and is not its status."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, rv, with_query
from conformance.objects import config_map, deployment, pod
from conformance.requests import Json, Response

_MERGE = "application/merge-patch+json"
_APPS = ("deployments", "replicasets", "statefulsets", "replicationcontrollers")


def _scaled(plural: str, replicas: int = 2) -> Json:
    """Something with a scale, named `web`."""
    obj: Json = deployment("web", replicas=replicas)
    spec = obj["spec"]
    labels = {"app": "web", "b": "c"}
    spec["template"]["metadata"]["labels"] = labels
    spec["selector"] = labels if plural == "replicationcontrollers" else {"matchLabels": labels}
    if plural == "statefulsets":
        spec["serviceName"] = "web"
    return {"metadata": {"name": "web"}, "spec": spec}


def _collection(space: Space, plural: str) -> str:
    group = "/api/v1" if plural == "replicationcontrollers" else "/apis/apps/v1"
    return f"{group}/namespaces/{space.name}/{plural}"


def _scale(space: Space, plural: str = "deployments") -> str:
    return f"{_collection(space, plural)}/web/scale"


def _patch(space: Space, path: str, body: Json) -> Response:
    return space.ask("PATCH", path, body, content_type=_MERGE)


@pytest.mark.parametrize("plural", _APPS)
def test_a_scale_tells_of_its_parent(space: Space, plural: str) -> None:
    """GET scale: kind Scale of autoscaling/v1, the parent's name, uid, RV, selector (K32)."""
    made = space.server.create(_collection(space, plural), _scaled(plural))
    scale = space.server.get(_scale(space, plural))
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    wanted = {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}
    assert scale["metadata"] == {name: made["metadata"][name] for name in wanted}
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 0, "selector": "app=web,b=c"}


@pytest.mark.parametrize("plural", _APPS)
def test_a_scale_writes_the_number_and_nothing_else(space: Space, plural: str) -> None:
    """PATCH scale changes spec.replicas of the parent, whose generation and RV move (K32)."""
    made = space.server.create(_collection(space, plural), _scaled(plural))
    answer = _patch(
        space, _scale(space, plural), {"spec": {"replicas": 5}, "status": {"replicas": 9}}
    )
    assert answer.status == 200
    after = space.server.get(_collection(space, plural) + "/web")
    assert after["spec"] == {**made["spec"], "replicas": 5}
    assert rv(after) == rv(answer.json())
    assert after["metadata"]["generation"] == 2
    assert "replicas" not in after.get("status", {}) or after["status"]["replicas"] == 0


def test_who_scales_owns_the_number(space: Space) -> None:
    """The number of replicas gets an entry of managedFields of its own, without a time (K32)."""
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    _patch(space, _scale(space), {"spec": {"replicas": 5}})
    entries = space.get("web", "deployments")["metadata"]["managedFields"]
    [mine] = [entry for entry in entries if entry.get("subresource") == "scale"]
    assert mine["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert (mine["operation"], mine["apiVersion"]) == ("Update", "apps/v1")
    assert "time" not in mine
    others = [entry for entry in entries if entry is not mine]
    assert all("f:replicas" not in entry["fieldsV1"]["f:spec"] for entry in others)


def test_a_scale_of_none_is_not_told(space: Space) -> None:
    """A Scale of 0 replicas has an empty spec."""
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    assert _patch(space, _scale(space), {"spec": {"replicas": 0}}).json()["spec"] == {}
    assert space.get("web", "deployments")["spec"]["replicas"] == 0


def test_a_scale_that_changes_nothing(space: Space) -> None:
    """PUT of the number that is there already gives it an entry of its own in managedFields,
    still of who had it before.
    """
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    body = {"metadata": {"name": "web"}, "spec": {"replicas": 2}}
    assert space.ask("PUT", _scale(space), body).status == 200
    after = space.get("web", "deployments")
    first, second = after["metadata"]["managedFields"]
    assert first["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    assert (first["manager"], "time" in first) == (second["manager"], False)
    assert "subresource" not in first
    assert "f:replicas" not in second["fieldsV1"]["f:spec"]


def test_a_dry_run_scales_nothing(space: Space) -> None:
    """With dryRun the answer has the new number, the object the old one."""
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    body = {"metadata": {"name": "web"}, "spec": {"replicas": 7}}
    answer = space.ask("PUT", _scale(space) + "?dryRun=All", body)
    assert answer.json()["spec"]["replicas"] == 7
    assert space.get("web", "deployments")["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ({"spec": {"replicas": 1}}, (400, "BadRequest")),
        ({"metadata": {"name": "other"}, "spec": {"replicas": 1}}, (400, "BadRequest")),
        ({"metadata": {"name": "web"}, "spec": {"replicas": -1}}, (422, "Invalid")),
        ({"metadata": {"name": "web"}, "spec": {"replicas": "1"}}, (400, "BadRequest")),
        ({"kind": "Deployment", "apiVersion": "apps/v1"}, (400, "BadRequest")),
        ({"metadata": {"name": "web", "resourceVersion": "1"}}, (409, "Conflict")),
        ({"metadata": {"name": "web", "namespace": "zz"}}, (400, "BadRequest")),
        ({"metadata": {"name": "web", "uid": "1"}}, (409, "Conflict")),
    ],
)
def test_a_scale_may_be_refused(space: Space, body: Json, wanted: tuple[int, str]) -> None:
    """Wrong names, numbers, kinds, RVs and uids are refused as for other objects (K32)."""
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    code, reason, _ = refusal(space.ask("PUT", _scale(space), body))
    assert (code, reason) == wanted


def _applied(space: Space, replicas: int, manager: str, **query: str) -> Response:
    path = with_query(_scale(space), fieldManager=manager, **query)
    body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas}}
    return space.ask("PATCH", path, body, content_type="application/apply-patch+yaml")


def _owners(space: Space) -> list[tuple[str, str, str]]:
    """Who owns the number: manager, operation, subresource."""
    entries = space.get("web", "deployments")["metadata"]["managedFields"]
    return [
        (entry["manager"], entry["operation"], entry.get("subresource", ""))
        for entry in entries
        if "f:replicas" in entry["fieldsV1"].get("f:spec", {})
    ]


def test_an_applied_scale_takes_the_number_by_force_only(space: Space) -> None:
    """409 names who owns the number, as of autoscaling/v1; with force it is the applier's (K31)."""
    path = with_query(_collection(space, "deployments"), fieldManager="maker")
    space.server.create(path, _scaled("deployments"))
    code, reason, message = refusal(_applied(space, 5, "x"))
    assert (code, reason) == (409, "Conflict")
    assert message.endswith('conflict with "maker" using autoscaling/v1: .spec.replicas')
    assert _applied(space, 5, "x", force="true").json()["spec"] == {"replicas": 5}
    assert _owners(space) == [("x", "Apply", "scale")]
    assert _applied(space, 5, "y").status == 200
    assert _owners(space) == [("x", "Apply", "scale"), ("y", "Apply", "scale")]


def test_an_applied_scale_may_be_refused(space: Space) -> None:
    """Negative numbers are 422, texts 500, another name 400, and without a manager it is 422."""
    space.server.create(_collection(space, "deployments"), _scaled("deployments"))
    assert _applied(space, -1, "x", force="true").status == 422
    assert _applied(space, 3, "").status == 422
    apply = {"content_type": "application/apply-patch+yaml"}
    named = with_query(_scale(space), fieldManager="x")
    for body, wanted in (({"spec": {"replicas": "3"}}, 500), ({"metadata": {"name": "b"}}, 400)):
        sent = {"apiVersion": "autoscaling/v1", "kind": "Scale", **body}
        assert space.ask("PATCH", named, sent, **apply).status == wanted


def test_a_scale_of_nothing_is_404(space: Space) -> None:
    """The refusal names the parent."""
    code, reason, message = refusal(space.ask("GET", _scale(space)))
    assert (code, reason, message) == (404, "NotFound", 'deployments.apps "web" not found')


@pytest.mark.parametrize("method", ["POST", "DELETE"])
def test_a_scale_is_neither_made_nor_deleted(space: Space, method: str) -> None:
    """POST and DELETE are 405."""
    assert space.ask(method, _scale(space), {}).status == 405


# Eviction


def _eviction(space: Space, name: str, **more: Any) -> Response:
    path = space.path("pods", f"{name}/eviction")
    return space.ask("POST", path, {"metadata": {"name": name}, **more})


def _running(space: Space, name: str, *, ready: bool = True) -> None:
    obj = pod(name)
    obj["metadata"]["labels"] = {"app": "web"}
    obj["spec"]["nodeName"] = "n1"
    space.put(obj, "pods")
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    status = {"phase": "Running", "conditions": conditions}
    path = space.path("pods", f"{name}/status")
    assert _patch(space, path, {"status": status}).status == 200


def _budget(space: Space, name: str = "budget", **status: int) -> None:
    base = f"/apis/policy/v1/namespaces/{space.name}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    space.server.create(base, {"metadata": {"name": name}, "spec": spec})
    if status:
        counts = {"currentHealthy": 0, "desiredHealthy": 0, "expectedPods": 0}
        counts |= {"disruptionsAllowed": 0, "observedGeneration": 1, **status}
        assert _patch(space, f"{base}/{name}/status", {"status": counts}).status == 200


def _budget_status(space: Space) -> Json:
    base = f"/apis/policy/v1/namespaces/{space.name}/poddisruptionbudgets"
    status = space.server.get(f"{base}/budget")["status"]
    assert isinstance(status, dict)
    return status


def test_an_eviction_ends_a_pod(space: Space) -> None:
    """201 with a Status; the pod is told to end, and why (K36)."""
    _running(space, "a")
    answer = _eviction(space, "a")
    assert answer.status == 201
    assert answer.json() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    evicted = space.get("a", "pods")
    assert evicted["metadata"]["deletionGracePeriodSeconds"] == 30
    [told] = [one for one in evicted["status"]["conditions"] if one["type"] == "DisruptionTarget"]
    assert (told["status"], told["reason"]) == ("True", "EvictionByEvictionAPI")


def test_an_eviction_takes_from_the_budget(space: Space) -> None:
    """disruptionsAllowed goes down by one, and the pod is noted (K36)."""
    _running(space, "a")
    _budget(space, disruptionsAllowed=2, currentHealthy=3, desiredHealthy=1, expectedPods=3)
    assert _eviction(space, "a").status == 201
    status = _budget_status(space)
    assert status["disruptionsAllowed"] == 1
    assert list(status["disruptedPods"]) == ["a"]


def test_a_budget_holds_a_pod(space: Space) -> None:
    """429 with the cause DisruptionBudget and no Retry-After, also in a dry run (K36)."""
    _running(space, "a")
    _budget(space, currentHealthy=4, desiredHealthy=5, expectedPods=5)
    for query in ("", "?dryRun=All"):
        path = space.path("pods", "a/eviction") + query
        answer = space.ask("POST", path, {"metadata": {"name": "a"}})
        code, reason, message = refusal(answer)
        assert (code, reason) == (429, "TooManyRequests")
        assert message == "Cannot evict pod as it would violate the pod's disruption budget."
        [cause] = answer.json()["details"]["causes"]
        assert cause["reason"] == "DisruptionBudget"
        assert cause["message"].endswith("needs 5 healthy pods and has 4 currently")
        assert answer.headers.get("Retry-After") is None
    assert "deletionTimestamp" not in space.get("a", "pods")["metadata"]


def test_a_budget_that_nobody_has_looked_at_holds_too(space: Space) -> None:
    """429 with Retry-After 10 (K36)."""
    _running(space, "a")
    _budget(space)
    answer = _eviction(space, "a")
    assert answer.status == 429
    assert answer.headers.get("Retry-After") == "10"


def test_two_budgets_are_an_error(space: Space) -> None:
    """A pod of two budgets cannot be evicted: 500."""
    _running(space, "a")
    _budget(space)
    _budget(space, "other")
    assert _eviction(space, "a").status == 500


def test_a_pod_that_does_not_run_yet_has_no_budget(space: Space) -> None:
    """A Pending pod is evicted whatever the budget."""
    obj = pod("a")
    obj["metadata"]["labels"] = {"app": "web"}
    space.put(obj, "pods")
    _budget(space)
    assert _eviction(space, "a").status == 201
    assert space.ask("GET", space.path("pods", "a")).status == 404


def test_an_unready_pod_costs_a_healthy_budget_nothing(space: Space) -> None:
    """While enough others are healthy, one that is not ready may go, and nothing is counted."""
    _running(space, "a", ready=False)
    _budget(space, currentHealthy=3, desiredHealthy=3, expectedPods=4)
    assert _eviction(space, "a").status == 201
    assert _budget_status(space)["disruptionsAllowed"] == 0


def test_an_eviction_of_another_name_is_refused(space: Space) -> None:
    """400; a missing pod is 404 (K36)."""
    _running(space, "a")
    path = space.path("pods", "a/eviction")
    code, _, message = refusal(space.ask("POST", path, {"metadata": {"name": "b"}}))
    assert (code, message) == (400, "name in URL does not match name in Eviction object")
    assert refusal(_eviction(space, "none"))[0] == 404


def test_an_eviction_takes_delete_options(space: Space) -> None:
    """Grace, preconditions and dry run are those of a DELETE."""
    _running(space, "a")
    wrong = {"preconditions": {"uid": "1"}}
    assert refusal(_eviction(space, "a", deleteOptions=wrong))[0] == 409
    assert _eviction(space, "a", deleteOptions={"dryRun": ["All"]}).status == 201
    assert "deletionTimestamp" not in space.get("a", "pods")["metadata"]
    assert _eviction(space, "a", deleteOptions={"gracePeriodSeconds": 7}).status == 201
    assert space.get("a", "pods")["metadata"]["deletionGracePeriodSeconds"] == 7


# Binding


def _bind(space: Space, name: str, node: str = "n1", **metadata: Any) -> Response:
    body = {"metadata": {"name": name, **metadata}, "target": {"kind": "Node", "name": node}}
    return space.ask("POST", space.path("pods", f"{name}/binding"), body)


def test_a_binding_puts_a_pod_on_a_node(space: Space) -> None:
    """201 with a Status; node and condition are written at once, in nobody's name."""
    made = space.put(pod("a"), "pods")
    answer = _bind(space, "a", annotations={"x": "y"})
    assert (answer.status, answer.json()["status"]) == (201, "Success")
    bound = space.get("a", "pods")
    assert bound["spec"]["nodeName"] == "n1"
    assert bound["metadata"]["annotations"] == {"x": "y"}
    [condition] = bound["status"]["conditions"]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")
    assert bound["metadata"]["managedFields"] == made["metadata"]["managedFields"]
    assert bound["metadata"]["generation"] == 1


def test_a_pod_is_bound_once(space: Space) -> None:
    """The second binding is 409, to whatever node."""
    space.put(pod("a"), "pods")
    assert _bind(space, "a").status == 201
    for node in ("n1", "n2"):
        code, reason, message = refusal(_bind(space, "a", node))
        assert (code, reason) == (409, "Conflict")
        assert message.endswith('pod a is already assigned to node "n1"')


def test_a_dying_pod_is_not_bound(space: Space) -> None:
    """409 for a pod that is being deleted."""
    obj = pod("a")
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    space.put(obj, "pods")
    space.remove("a", "pods")
    code, _, message = refusal(_bind(space, "a"))
    assert code == 409
    assert message.endswith("pod a is being deleted, cannot be assigned to a host")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"target": {"name": "n1"}}, 400),
        ({"metadata": {"name": "b"}, "target": {"name": "n1"}}, 400),
        ({"metadata": {"name": "a"}}, 500),
        ({"metadata": {"name": "a"}, "target": {"kind": "Pod", "name": "n1"}}, 500),
        ({"metadata": {"name": "a", "uid": "1"}, "target": {"name": "n1"}}, 409),
        ({"metadata": {"name": "a", "resourceVersion": "1"}, "target": {"name": "n1"}}, 409),
        ({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}, 400),
    ],
)
def test_a_binding_may_be_refused(space: Space, body: Json, code: int) -> None:
    """Wrong names, targets, uids, RVs and kinds."""
    space.put(pod("a"), "pods")
    assert space.ask("POST", space.path("pods", "a/binding"), body).status == code


def test_the_older_path_of_bindings_names_the_pod_in_the_body(space: Space) -> None:
    """POST of bindings: as of a pod's binding, but that the uid does not count."""
    space.put(pod("a"), "pods")
    body = {"metadata": {"name": "a", "uid": "any"}, "target": {"kind": "Node", "name": "n1"}}
    answer = space.ask("POST", space.path("bindings"), body)
    assert (answer.status, answer.json()["status"]) == (201, "Success")
    assert space.get("a", "pods")["spec"]["nodeName"] == "n1"
    unnamed = space.ask("POST", space.path("bindings"), {"target": {"name": "n1"}})
    assert refusal(unnamed) == (400, "BadRequest", "Name parameter required.")
    assert space.ask("GET", space.path("bindings")).status == 405


def test_a_configmap_has_no_scale(space: Space) -> None:
    """The path is a 404 that names nothing (K3)."""
    space.put(config_map("a"))
    code, _, message = refusal(space.ask("GET", space.path(name="a/scale")))
    assert (code, message) == (404, "the server could not find the requested resource")
