"""DELETE and deletecollection: preconditions, finalizers, grace, propagation."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space, names, refusal, rv, steps
from conformance.objects import CustomResource, config_map, deployment, pod
from conformance.requests import Json


def _held(name: str) -> Json:
    obj = config_map(name)
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    return obj


def _bound(name: str) -> Json:
    obj = pod(name)
    obj["spec"]["nodeName"] = "n1"
    return obj


def test_a_delete_answers_a_status(space: Space) -> None:
    """DELETE answers a Status Success; details have name, kind in the plural, and uid (K33)."""
    [created] = space.add("a")
    answer = space.remove("a")
    assert (answer["kind"], answer["status"]) == ("Status", "Success")
    uid = created["metadata"]["uid"]
    assert answer["details"] == {"name": "a", "kind": "configmaps", "uid": uid}
    assert space.ask("GET", space.path(name="a")).status == 404


@pytest.mark.parametrize("plural", ["pods", "services"])
def test_some_types_answer_the_object(space: Space, plural: str) -> None:
    """DELETE of a Pod or Service answers the object (K33)."""
    obj: Json = pod("a")
    if plural == "services":
        obj = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}
    space.put(obj, plural)
    answer = space.remove("a", plural)
    assert answer["metadata"]["name"] == "a"
    assert answer["kind"] in ("Pod", "Service")


def test_a_delete_of_a_missing_name_is_404(space: Space) -> None:
    """DELETE of a name that does not exist, or no longer, is 404."""
    space.add("a")
    assert space.ask("DELETE", space.path(name="a")).status == 200
    answer = space.ask("DELETE", space.path(name="a"))
    assert refusal(answer) == (404, "NotFound", 'configmaps "a" not found')


@pytest.mark.parametrize("member", ["uid", "resourceVersion"])
def test_preconditions_name_both_values(space: Space, member: str) -> None:
    """A precondition that does not hold is 409 and names both values (K33)."""
    [created] = space.add("a")
    wrong = "11111111-1111-1111-1111-111111111111" if member == "uid" else "5"
    body = {"preconditions": {member: wrong}}
    code, reason, message = refusal(space.ask("DELETE", space.path(name="a"), body))
    assert (code, reason) == (409, "Conflict")
    assert wrong in message
    assert created["metadata"][member] in message


def test_preconditions_that_hold_let_it_go(space: Space) -> None:
    """With uid and RV of the object it is deleted."""
    [created] = space.add("a")
    metadata = created["metadata"]
    held = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    assert space.ask("DELETE", space.path(name="a"), {"preconditions": held}).status == 200


def test_a_finalizer_holds_an_object(space: Space) -> None:
    """DELETE of an object with finalizers answers it, with a deletionTimestamp, and it stays."""
    created = space.put(_held("a"))
    answer = space.remove("a")
    assert answer["kind"] == "ConfigMap"
    metadata = answer["metadata"]
    assert metadata["deletionTimestamp"]
    assert metadata["deletionGracePeriodSeconds"] == 0
    assert rv(answer) > rv(created)
    assert space.get("a") == answer


def test_a_second_delete_of_a_held_object_changes_nothing(space: Space) -> None:
    """DELETE again while finalizers hold it: the same object, the same RV."""
    space.put(_held("a"))
    assert space.remove("a") == space.remove("a")


def test_the_last_finalizer_lets_it_go(space: Space) -> None:
    """The PATCH that removes the last finalizer answers the old RV; DELETED has a newer one, and
    the finalizer still (K34).
    """
    created = space.put(_held("a"))
    with space.watch(resourceVersion=rv(created)) as watch:
        dying = space.remove("a")
        answer = space.change("a", metadata={"finalizers": None})
        events = watch.events(2)
    assert steps(events) == [("MODIFIED", "a"), ("DELETED", "a")]
    assert rv(answer) == rv(dying) == rv(events[0])
    assert rv(events[1]) > rv(answer)
    assert events[1]["object"]["metadata"]["finalizers"] == ["example.com/hold"]
    assert space.ask("GET", space.path(name="a")).status == 404


def test_a_new_finalizer_while_dying_is_422(space: Space) -> None:
    """A new finalizer on a dying object is 422 (K34)."""
    space.put(_held("a"))
    space.remove("a")
    answer = space.ask(
        "PATCH",
        space.path(name="a"),
        {"metadata": {"finalizers": ["example.com/hold", "example.com/new"]}},
        Content_Type="application/merge-patch+json",
    )
    assert refusal(answer)[:2] == (422, "Invalid")


@pytest.mark.parametrize(
    ("policy", "finalizer"),
    [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")],
)
def test_propagation_adds_a_finalizer(space: Space, policy: str, finalizer: str) -> None:
    """Foreground or Orphan adds a finalizer and holds the object (K34)."""
    space.put(deployment("web", 1), "deployments")
    path = space.path("deployments", "web")
    answer = space.server.delete(path, propagationPolicy=policy)
    metadata = answer["metadata"]
    assert metadata["finalizers"] == [finalizer]
    assert metadata["deletionTimestamp"]
    assert metadata["deletionGracePeriodSeconds"] == 0


def test_background_deletes_at_once(space: Space) -> None:
    """Background, and no policy, deletes at once."""
    space.put(deployment("web", 1), "deployments")
    space.server.delete(space.path("deployments", "web"), propagationPolicy="Background")
    assert space.ask("GET", space.path("deployments", "web")).status == 404


def test_an_unknown_policy_is_422(space: Space) -> None:
    """An unknown propagationPolicy is 422."""
    space.add("a")
    answer = space.ask("DELETE", space.path(name="a"), {"propagationPolicy": "Sideways"})
    assert refusal(answer)[:2] == (422, "Invalid")


def test_options_may_be_parameters(space: Space) -> None:
    """propagationPolicy and gracePeriodSeconds may be in the query."""
    space.put(deployment("web", 1), "deployments")
    path = space.path("deployments", "web", propagationPolicy="Orphan")
    assert space.server.delete(path)["metadata"]["finalizers"] == ["orphan"]


def test_a_pod_on_a_node_has_30_seconds(space: Space) -> None:
    """A pod on a node: deletionTimestamp, grace 30, MODIFIED, and it stays (K35)."""
    created = space.put(_bound("web"), "pods")
    with space.watch("pods", resourceVersion=rv(created)) as watch:
        answer = space.remove("web", "pods")
        [event] = watch.events(1)
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 30
    assert event == {"type": "MODIFIED", "object": answer}
    assert space.get("web", "pods") == answer


def test_grace_can_be_shortened_and_not_lengthened(space: Space) -> None:
    """A shorter grace moves the deletionTimestamp, a longer is ignored (K35)."""
    space.put(_bound("web"), "pods")
    path = space.path("pods", "web")
    answers = [space.server.delete(path, gracePeriodSeconds=grace) for grace in (20, 10, 60)]
    found = [answer["metadata"]["deletionGracePeriodSeconds"] for answer in answers]
    assert found == [20, 10, 10]
    assert answers[1] == answers[2]


@pytest.mark.parametrize("how", ["grace 0", "no node", "finished"])
def test_some_pods_go_at_once(space: Space, how: str) -> None:
    """Grace 0, no node, or finished: MODIFIED then DELETED, two RVs, at once (K35)."""
    created = space.put(pod("web") if how == "no node" else _bound("web"), "pods")
    if how == "finished":
        phase = {"status": {"phase": "Succeeded"}}
        created = space.server.patch(space.path("pods", "web") + "/status", phase)
    with space.watch("pods", resourceVersion=rv(created)) as watch:
        options = {"gracePeriodSeconds": 0} if how == "grace 0" else {}
        space.server.delete(space.path("pods", "web"), **options)
        events = watch.events(2)
    assert steps(events) == [("MODIFIED", "web"), ("DELETED", "web")]
    assert rv(events[0]) < rv(events[1])
    assert space.ask("GET", space.path("pods", "web")).status == 404


def test_a_deleted_collection_is_answered(space: Space) -> None:
    """deletecollection answers the list of what it deleted (K33)."""
    space.add("a", "b")
    answer = space.server.delete(space.path())
    assert answer["kind"] == "ConfigMapList"
    assert names(answer) == ["a", "b"]
    assert space.list()["items"] == []


def test_finalizers_hold_against_deletecollection(space: Space) -> None:
    """Objects with finalizers stay when their collection is deleted, dying."""
    space.add("a")
    space.put(_held("b"))
    space.server.delete(space.path())
    [left] = space.list()["items"]
    assert left["metadata"]["name"] == "b"
    assert left["metadata"]["deletionTimestamp"]


def test_a_dry_run_deletes_nothing(space: Space) -> None:
    """dryRun=All answers as a DELETE does, and keeps all."""
    [created] = space.add("a")
    assert space.ask("DELETE", space.path(name="a", dryRun="All")).status == 200
    assert space.ask("DELETE", space.path(name="a"), {"dryRun": ["All"]}).status == 200
    assert space.get("a") == created


def test_a_broken_body_is_400(space: Space) -> None:
    """DeleteOptions that are no JSON are 400, and nothing is deleted."""
    space.add("a")
    answer = space.ask("DELETE", space.path(name="a"), b"{")
    assert refusal(answer)[:2] == (400, "BadRequest")
    assert space.get("a")


def test_a_held_custom_resource(space: Space, widgets: CustomResource) -> None:
    """A CR with a finalizer is held, then let go by a PUT without it."""
    obj = widgets.object("a")
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    space.put(obj, "widgets")
    dying = space.remove("a", "widgets")
    assert dying["metadata"]["deletionTimestamp"]
    del dying["metadata"]["finalizers"]
    space.server.replace(space.path("widgets", "a"), dying)
    assert space.ask("GET", space.path("widgets", "a")).status == 404


def test_a_change_while_dying_is_kept(space: Space) -> None:
    """A dying object can still be changed, but its deletionTimestamp stays."""
    space.put(_held("a"))
    dying = space.remove("a")
    changed = space.change("a", data={"x": "1"}, metadata={"deletionTimestamp": None})
    assert changed["data"] == {"x": "1"}
    assert changed["metadata"]["deletionTimestamp"] == dying["metadata"]["deletionTimestamp"]


def test_a_namespace_dies_slowly(space: Space) -> None:
    """DELETE of a namespace answers it Terminating; its objects can still be read (K37)."""
    space.add("a")
    answer = space.server.delete(f"/api/v1/namespaces/{space.name}")
    assert answer["status"]["phase"] == "Terminating"
    assert answer["metadata"]["deletionTimestamp"]
    assert answer["spec"]["finalizers"] == ["kubernetes"]


def test_kube_system_cannot_be_deleted(space: Space) -> None:
    """The namespaces default, kube-system and kube-public cannot be deleted: 403."""
    for name in ("default", "kube-system"):
        answer = space.ask("DELETE", f"/api/v1/namespaces/{name}")
        assert refusal(answer)[:2] == (403, "Forbidden")


def test_a_job_warns_of_its_orphans(space: Space) -> None:
    """A Job deleted by default is orphaned, with a Warning (K33)."""
    template = {"spec": {**pod("x")["spec"], "restartPolicy": "Never"}}
    space.put({"metadata": {"name": "a"}, "spec": {"template": template}}, "jobs")
    answer = space.ask("DELETE", space.path("jobs", "a"))
    assert answer.status == 200
    assert "child pods are preserved by default" in answer.headers["Warning"]
