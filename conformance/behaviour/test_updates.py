"""PUT, PATCH, the optimistic lock and the status subresource."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, rv
from conformance.objects import CustomResource, config_map, deployment, pod

_JSON_PATCH = "application/json-patch+json"


def test_a_put_replaces(space: Space) -> None:
    """PUT replaces all but what the server owns: uid and creationTimestamp stay."""
    [created] = space.add("a", labels={"x": "y"}, one="1", two="2")
    replaced = space.server.replace(space.path(name="a"), config_map("a", three="3"))
    assert replaced["data"] == {"three": "3"}
    assert "labels" not in replaced["metadata"]
    for member in ("uid", "creationTimestamp"):
        assert replaced["metadata"][member] == created["metadata"][member]
    assert rv(replaced) > rv(created)


def test_a_put_without_an_rv_overwrites(space: Space) -> None:
    """PUT without an RV overwrites whatever is there (K27)."""
    space.add("a", x="1")
    space.change("a", data={"x": "2"})
    assert space.server.replace(space.path(name="a"), config_map("a", x="3"))["data"] == {"x": "3"}


def test_a_put_of_an_old_rv_is_409(space: Space) -> None:
    """PUT with an RV that is not the newest is 409 Conflict."""
    [created] = space.add("a", x="1")
    space.change("a", data={"x": "2"})
    answer = space.ask("PUT", space.path(name="a"), created)
    text = (
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert refusal(answer) == (409, "Conflict", text)
    assert answer.json()["details"] == {"name": "a", "kind": "configmaps"}
    assert space.get("a")["data"] == {"x": "2"}


def test_a_put_of_another_uid_is_409(space: Space) -> None:
    """PUT with another uid is 409, naming both."""
    [created] = space.add("a")
    obj = config_map("a")
    obj["metadata"]["uid"] = "11111111-1111-1111-1111-111111111111"
    code, reason, message = refusal(space.ask("PUT", space.path(name="a"), obj))
    assert (code, reason) == (409, "Conflict")
    assert created["metadata"]["uid"] in message


@pytest.mark.parametrize("plural", ["widgets", "leases"])
def test_some_types_need_an_rv(space: Space, widgets: CustomResource, plural: str) -> None:
    """PUT without an RV is 422 "must be specified for an update" for CRs and Leases (K27)."""
    obj = widgets.object("a") if plural == "widgets" else {"metadata": {"name": "a"}}
    space.put(obj, plural)
    answer = space.ask("PUT", space.path(plural, "a"), obj)
    code, reason, message = refusal(answer)
    assert (code, reason) == (422, "Invalid")
    assert "must be specified for an update" in message


def test_a_put_of_a_missing_name_is_404(space: Space) -> None:
    """PUT of a name that does not exist is 404 (K27)."""
    assert refusal(space.ask("PUT", space.path(name="a"), config_map("a")))[:2] == (404, "NotFound")


@pytest.mark.parametrize("plural", ["leases", "roles"])
def test_some_types_are_created_by_put(space: Space, plural: str) -> None:
    """PUT of a missing Lease or Role creates it: 201 (K27)."""
    answer = space.ask("PUT", space.path(plural, "a"), {"metadata": {"name": "a"}})
    assert answer.status == 201
    assert space.get("a", plural)["metadata"]["uid"]


def test_a_put_under_another_name_is_400(space: Space) -> None:
    """A body whose name is not the path's is 400."""
    space.add("a")
    answer = space.ask("PUT", space.path(name="a"), config_map("b"))
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_a_lock_lets_one_of_two_win(space: Space) -> None:
    """Of two writers with the same RV one is answered 200, the other 409."""
    [created] = space.add("a")
    codes = []
    for value in ("1", "2"):
        answer = space.ask("PUT", space.path(name="a"), {**created, "data": {"x": value}})
        codes.append(answer.status)
    assert codes == [200, 409]
    assert space.get("a")["data"] == {"x": "1"}


def test_generation_counts_changes_of_the_spec(space: Space) -> None:
    """generation grows with the spec, and not with labels or status."""
    space.put(deployment("web", 1), "deployments")
    path = space.path("deployments", "web")
    labelled = space.change("web", "deployments", metadata={"labels": {"x": "y"}})
    scaled = space.change("web", "deployments", spec={"replicas": 2})
    status = space.server.patch(f"{path}/status", {"status": {"replicas": 2}})
    counts = [obj["metadata"]["generation"] for obj in (labelled, scaled, status)]
    assert counts == [1, 2, 2]


def test_a_status_is_not_changed_through_the_object(space: Space) -> None:
    """A change of the status through the main resource is dropped silently (K32)."""
    created = space.put(pod("web"), "pods")
    changed = space.change("web", "pods", status={"phase": "Running"})
    assert changed["status"]["phase"] == "Pending"
    assert rv(changed) == rv(created)


def test_only_the_status_is_changed_through_the_subresource(
    space: Space, widgets: CustomResource
) -> None:
    """PUT to /status changes the status, and neither spec nor labels."""
    created = space.put(widgets.object("a", color="red"), "widgets")
    created["status"] = {"ready": True}
    created["spec"]["color"] = "blue"
    created["metadata"]["labels"] = {"x": "y"}
    written = space.server.replace(space.path("widgets", "a") + "/status", created)
    assert written["status"] == {"ready": True}
    assert written["spec"] == {"color": "red"}
    assert "labels" not in written["metadata"]


def test_a_status_can_be_read_alone(space: Space) -> None:
    """GET of /status gives the whole object."""
    created = space.put(pod("web"), "pods")
    assert space.server.get(space.path("pods", "web") + "/status") == created


def test_a_type_without_status_has_no_such_path(space: Space) -> None:
    """/status of a ConfigMap is 404."""
    space.add("a")
    assert space.ask("GET", space.path(name="a") + "/status").status == 404


def test_a_merge_patch_merges(space: Space) -> None:
    """Merge patch: objects merge, null removes, anything else replaces (RFC 7396)."""
    space.add("a", labels={"keep": "1", "drop": "1"}, one="1")
    patch = {"metadata": {"labels": {"drop": None, "new": "1"}}, "data": {"two": "2"}}
    patched = space.server.patch(space.path(name="a"), patch)
    assert patched["metadata"]["labels"] == {"keep": "1", "new": "1"}
    assert patched["data"] == {"one": "1", "two": "2"}


def test_lists_are_replaced_by_a_merge_patch(space: Space) -> None:
    """A list is replaced as a whole by a merge patch."""
    obj = config_map("a")
    obj["metadata"]["finalizers"] = ["example.com/a", "example.com/b"]
    space.put(obj)
    patched = space.change("a", metadata={"finalizers": ["example.com/c"]})
    assert patched["metadata"]["finalizers"] == ["example.com/c"]
    space.change("a", metadata={"finalizers": None})


def test_an_rv_in_a_patch_is_a_lock(space: Space) -> None:
    """A patch with an old RV is 409, with the newest it works (K30)."""
    [created] = space.add("a", x="1")
    changed = space.change("a", data={"x": "2"})
    for version, code in ((rv(created), 409), (rv(changed), 200)):
        patch = {"metadata": {"resourceVersion": str(version)}, "data": {"x": "3"}}
        answer = space.ask(
            "PATCH", space.path(name="a"), patch, Content_Type="application/merge-patch+json"
        )
        assert answer.status == code


def test_a_json_patch_operates(space: Space) -> None:
    """JSON patch: test, add, replace, remove, move and copy (RFC 6902)."""
    space.add("a", one="1", two="2")
    operations = [
        {"op": "test", "path": "/data/one", "value": "1"},
        {"op": "replace", "path": "/data/one", "value": "I"},
        {"op": "add", "path": "/metadata/labels", "value": {"x/y": "z"}},
        {"op": "copy", "from": "/data/one", "path": "/data/three"},
        {"op": "move", "from": "/data/two", "path": "/data/four"},
        {"op": "remove", "path": "/data/one"},
        {"op": "replace", "path": "/metadata/labels/x~1y", "value": "w"},
    ]
    patched = space.server.patch(space.path(name="a"), operations, content_type=_JSON_PATCH)
    assert patched["data"] == {"three": "I", "four": "2"}
    assert patched["metadata"]["labels"] == {"x/y": "w"}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/data/x", "value": "2"},
        {"op": "remove", "path": "/data/none"},
        {"op": "replace", "path": "/none/x", "value": 1},
    ],
    ids=["test", "remove", "replace"],
)
def test_a_json_patch_that_fails_is_422(space: Space, operation: dict[str, Any]) -> None:
    """A failed test or path is 422, and nothing of the patch is done (K30)."""
    [created] = space.add("a", x="1")
    operations = [{"op": "add", "path": "/data/y", "value": "1"}, operation]
    answer = space.ask("PATCH", space.path(name="a"), operations, Content_Type=_JSON_PATCH)
    text = "the server rejected our request due to an error in our request"
    assert refusal(answer) == (422, "Invalid", text)
    assert space.get("a") == created


@pytest.mark.parametrize(
    ("content_type", "plural"),
    [("application/json", "configmaps"), ("application/strategic-merge-patch+json", "widgets")],
)
def test_some_patches_are_415(
    space: Space, widgets: CustomResource, content_type: str, plural: str
) -> None:
    """Plain JSON as a patch, and a strategic merge patch of a CR, are 415 (K30)."""
    space.put(widgets.object("a") if plural == "widgets" else config_map("a"), plural)
    answer = space.ask("PATCH", space.path(plural, "a"), {}, Content_Type=content_type)
    assert refusal(answer)[:2] == (415, "UnsupportedMediaType")


def test_a_patch_of_a_missing_name_is_404(space: Space) -> None:
    """A patch of a name that does not exist is 404."""
    answer = space.ask(
        "PATCH", space.path(name="a"), {}, Content_Type="application/merge-patch+json"
    )
    assert refusal(answer)[:2] == (404, "NotFound")


@pytest.mark.parametrize("member", ["name", "namespace", "uid"])
def test_identity_cannot_be_patched(space: Space, member: str) -> None:
    """A patch cannot change name, namespace or uid."""
    space.add("a")
    patch = {"metadata": {member: "other"}}
    answer = space.ask(
        "PATCH", space.path(name="a"), patch, Content_Type="application/merge-patch+json"
    )
    assert 400 <= answer.status < 500
    assert "a" in space.get("a")["metadata"]["name"]


def test_a_dry_run_changes_nothing(space: Space) -> None:
    """dryRun=All on PUT and PATCH answers what would be, and keeps what was."""
    [created] = space.add("a", x="1")
    path = space.path(name="a", dryRun="All")
    assert space.server.patch(path, {"data": {"x": "2"}})["data"] == {"x": "2"}
    assert space.server.replace(path, config_map("a", x="3"))["data"] == {"x": "3"}
    assert space.get("a") == created


def test_managers_are_kept_apart(space: Space) -> None:
    """Each manager has its entry of managedFields; writes of the status have subresource (K9)."""
    space.put(pod("web"), "pods")
    path = space.path("pods", "web")
    merge = "application/merge-patch+json"
    labels = {"metadata": {"labels": {"x": "y"}}}
    space.ask("PATCH", f"{path}?fieldManager=alice", labels, Content_Type=merge)
    phase = {"status": {"phase": "Running"}}
    space.ask("PATCH", f"{path}/status?fieldManager=bob", phase, Content_Type=merge)
    entries = {
        entry["manager"]: entry for entry in space.get("web", "pods")["metadata"]["managedFields"]
    }
    assert entries["alice"]["fieldsV1"]["f:metadata"]["f:labels"] == {".": {}, "f:x": {}}
    assert entries["bob"]["subresource"] == "status"
