"""Creating objects."""

from __future__ import annotations

import re

import pytest

from conformance.behaviour.space import Space, names, refusal, rv
from conformance.objects import CustomResource, config_map, pod
from conformance.two_servers import TestedServer


def test_a_create_answers_the_object(space: Space) -> None:
    """201 with the whole object: uid, RV and creationTimestamp are the server's."""
    answer = space.ask("POST", space.path(), config_map("a", x="1"))
    created = answer.json()
    assert answer.status == 201
    metadata = created["metadata"]
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", metadata["uid"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", metadata["creationTimestamp"])
    assert metadata["namespace"] == space.name
    assert created["data"] == {"x": "1"}
    assert space.get("a") == created


def test_what_the_server_makes_is_not_the_clients(space: Space) -> None:
    """uid and creationTimestamp are not the client's; the generation is, where none is counted."""
    obj = config_map("a")
    obj["metadata"] |= {
        "uid": "mine",
        "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z",
        "generation": 7,
        "selfLink": "/mine",
    }
    metadata = space.put(obj)["metadata"]
    assert metadata["uid"] != "mine"
    assert not metadata["creationTimestamp"].startswith("2001")
    assert "deletionTimestamp" not in metadata
    assert metadata["generation"] == 7


def test_no_kind_is_fine(space: Space) -> None:
    """A typed create needs neither kind nor apiVersion (K28)."""
    assert space.put({"metadata": {"name": "a"}})["kind"] == "ConfigMap"


def test_a_custom_resource_needs_its_kind(space: Space, widgets: CustomResource) -> None:
    """A create of a CR without kind is 400."""
    answer = space.ask("POST", space.path("widgets"), {"metadata": {"name": "a"}})
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_a_name_is_made(space: Space) -> None:
    """generateName gets five characters at its end, others each time."""
    made = [space.put({"metadata": {"generateName": "web-"}})["metadata"] for _ in range(3)]
    assert all(re.fullmatch("web-[a-z0-9]{5}", metadata["name"]) for metadata in made)
    assert all(metadata["generateName"] == "web-" for metadata in made)
    assert len({metadata["name"] for metadata in made}) == 3


def test_a_name_is_needed(space: Space) -> None:
    """Without name and generateName: 422 "name or generateName is required"."""
    code, reason, message = refusal(space.ask("POST", space.path(), {"metadata": {}}))
    assert (code, reason) == (422, "Invalid")
    assert "name or generateName is required" in message


@pytest.mark.parametrize("name", ["Upper", "under_score", "-dash", "a" * 254, "sp ace", "a/b"])
def test_bad_names_are_422(space: Space, name: str) -> None:
    """A name that is no DNS subdomain is 422 with a cause for metadata.name."""
    answer = space.ask("POST", space.path(), {"metadata": {"name": name}})
    assert refusal(answer)[:2] == (422, "Invalid")
    fields = {cause["field"] for cause in answer.json()["details"]["causes"]}
    assert fields == {"metadata.name"}


@pytest.mark.parametrize(
    "labels", [{"a b": "x"}, {"a": "x y"}, {"a": "-x"}, {"a": "x" * 64}, {"/a": "x"}]
)
def test_bad_labels_are_422(space: Space, labels: dict[str, str]) -> None:
    """A label that is none is 422 with a cause for metadata.labels."""
    answer = space.ask("POST", space.path(), {"metadata": {"name": "a", "labels": labels}})
    assert refusal(answer)[:2] == (422, "Invalid")
    fields = {cause["field"] for cause in answer.json()["details"]["causes"]}
    assert fields == {"metadata.labels"}


def test_a_name_that_is_taken_is_409(space: Space) -> None:
    """The name of another object: 409 AlreadyExists, details with name and kind."""
    space.add("a")
    answer = space.ask("POST", space.path(), config_map("a"))
    assert refusal(answer) == (409, "AlreadyExists", 'configmaps "a" already exists')
    assert answer.json()["details"] == {"name": "a", "kind": "configmaps"}


def test_an_rv_is_refused(space: Space) -> None:
    """A create with an RV is 500 without a reason (K28)."""
    obj = {"metadata": {"name": "a", "resourceVersion": "5"}}
    code, reason, message = refusal(space.ask("POST", space.path(), obj))
    assert (code, reason) == (500, "")
    assert message == "resourceVersion should not be set on objects to be created"


def test_another_namespace_is_refused(space: Space) -> None:
    """A namespace in the object that is not the path's is 400 (K28)."""
    obj = {"metadata": {"name": "a", "namespace": "elsewhere"}}
    assert refusal(space.ask("POST", space.path(), obj))[:2] == (400, "BadRequest")


def test_an_unknown_namespace_is_404(server: TestedServer) -> None:
    """A create in a namespace that does not exist: 404 on the namespace (K28)."""
    answer = server.request("POST", "/api/v1/namespaces/none/configmaps", config_map("a"))
    assert refusal(answer) == (404, "NotFound", 'namespaces "none" not found')


def test_a_dying_namespace_takes_nothing(space: Space) -> None:
    """A create in a namespace that is being deleted: 403 with cause NamespaceTerminating (K28)."""
    space.add("a")
    answered = space.server.delete(f"/api/v1/namespaces/{space.name}")
    assert answered["status"]["phase"] == "Terminating"
    answer = space.ask("POST", space.path(), config_map("b"))
    assert refusal(answer)[:2] == (403, "Forbidden")
    assert "because it is being terminated" in answer.json()["message"]
    causes = answer.json()["details"]["causes"]
    assert [cause["reason"] for cause in causes] == ["NamespaceTerminating"]


def test_the_name_of_a_dying_object_is_409(space: Space) -> None:
    """A name taken by an object that is being deleted: 409 "object is being deleted" (K28)."""
    obj = config_map("a")
    obj["metadata"]["finalizers"] = ["example.com/hold"]
    space.put(obj)
    space.remove("a")
    code, reason, message = refusal(space.ask("POST", space.path(), config_map("a")))
    assert (code, reason) == (409, "AlreadyExists")
    assert message.startswith("object is being deleted: ")


def test_a_dry_run_creates_nothing(space: Space) -> None:
    """dryRun=All answers the object with a uid and no RV, and keeps nothing (K28)."""
    answer = space.ask("POST", space.path(dryRun="All"), config_map("a"))
    metadata = answer.json()["metadata"]
    assert answer.status == 201
    assert metadata["uid"]
    assert "resourceVersion" not in metadata
    assert names(space.list()) == []


def test_a_dry_run_of_anything_else_is_422(space: Space) -> None:
    """dryRun=Some is 422."""
    answer = space.ask("POST", space.path(dryRun="Some"), config_map("a"))
    assert refusal(answer)[:2] == (422, "Invalid")


def test_generation_starts_at_1_for_types_that_count_it(space: Space) -> None:
    """generation is counted for pods and CRs, and not for ConfigMaps (k-type-traits)."""
    assert space.put(pod("web"), "pods")["metadata"]["generation"] == 1
    assert "generation" not in space.put(config_map("a"))["metadata"]


def test_status_is_dropped_where_it_is_a_subresource(space: Space, widgets: CustomResource) -> None:
    """A status that comes with a create is dropped where there is a status subresource."""
    obj = {**widgets.object("a"), "status": {"ready": True}}
    assert "status" not in space.put(obj, "widgets")
    assert space.put({**pod("web"), "status": {"phase": "Running"}}, "pods")["status"] == {
        "phase": "Pending",
        "qosClass": "BestEffort",
    }


def test_the_manager_is_the_user_agent(space: Space) -> None:
    """managedFields name the User-Agent up to its slash, or fieldManager (K9)."""
    space.ask("POST", space.path(), config_map("a", x="1"), User_Agent="robot/1.0 (x)")
    path = space.path(fieldManager="human")
    space.ask("POST", path, config_map("b", x="1"), User_Agent="robot/1.0")
    managers = []
    for name in ("a", "b"):
        [entry] = space.get(name)["metadata"]["managedFields"]
        managers.append(entry["manager"])
        assert (entry["operation"], entry["apiVersion"]) == ("Update", "v1")
        assert entry["fieldsType"] == "FieldsV1"
    assert managers == ["robot", "human"]


def test_unknown_fields_warn(space: Space) -> None:
    """An unknown field is a warning (299) by default, and is not kept (K29)."""
    answer = space.ask("POST", space.path(), {**config_map("a"), "bogus": 1})
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"bogus\\""'
    assert "bogus" not in space.get("a")


def test_unknown_fields_are_refused_if_asked(space: Space) -> None:
    """With fieldValidation=Strict an unknown field is 400 (K29)."""
    path = space.path(fieldValidation="Strict")
    code, reason, message = refusal(space.ask("POST", path, {**config_map("a"), "bogus": 1}))
    assert (code, reason) == (400, "BadRequest")
    assert 'strict decoding error: unknown field "bogus"' in message


def test_duplicate_fields_warn(space: Space) -> None:
    """A member twice: the last counts, with a warning where fieldValidation is Warn."""
    body = b'{"metadata": {"name": "a"}, "data": {"x": "1"}, "data": {"x": "2"}}'
    answer = space.ask("POST", space.path(fieldValidation="Warn"), body)
    assert answer.status == 201
    assert "duplicate field" in answer.headers["Warning"]
    assert answer.json()["data"] == {"x": "2"}


def test_owner_references_are_checked(space: Space) -> None:
    """An owner reference without a uid is 422."""
    obj = config_map("b")
    obj["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "a"}]
    assert refusal(space.ask("POST", space.path(), obj))[:2] == (422, "Invalid")


def test_rvs_only_grow(space: Space) -> None:
    """Every create has a greater RV than the one before it, whatever its type."""
    versions = [rv(space.add(f"n{number}")[0]) for number in range(5)]
    versions.append(rv(space.put({"metadata": {"name": "s"}}, "secrets")))
    versions.append(rv(space.put(pod("web"), "pods")))
    assert versions == sorted(set(versions))


def test_numbers_keep_their_precision(space: Space, widgets: CustomResource) -> None:
    """Whole numbers beyond 2**53 stay what they were in a CR."""
    created = space.put(widgets.object("a", size=2**53 + 1), "widgets")
    assert created["spec"]["size"] == 2**53 + 1


def test_profiles_of_annotations_are_copied(space: Space) -> None:
    """An AppArmor profile that only an annotation of a pod tells becomes that of the container,
    with a warning, which comes with a refusal, too. The container's managedFields do not have it.
    """
    key = "container.apparmor.security.beta.kubernetes.io/c"
    made = pod("a")
    made["metadata"]["annotations"] = {key: "localhost/x"}
    made["spec"]["containers"][0]["name"] = "c"
    answer = space.ask("POST", space.path("pods"), made)
    [container] = answer.json()["spec"]["containers"]
    assert container["securityContext"] == {
        "appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}
    }
    assert "appArmorProfile" not in str(answer.json()["metadata"]["managedFields"][0]["fieldsV1"])
    warning = f"metadata.annotations[{key}]: deprecated since v1.30; use the "
    assert warning in answer.headers["Warning"]
    made["spec"]["restartPolicy"] = "Bad"
    refused = space.ask("POST", space.path("pods"), made)
    assert refused.status == 422
    assert warning in refused.headers["Warning"]
