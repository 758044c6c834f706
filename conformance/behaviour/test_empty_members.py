"""Lists and statuses that are empty, members that are null, and who owns what is left of them."""

from __future__ import annotations

import pytest

from conformance.behaviour.admitting import while_there
from conformance.behaviour.space import Space, refusal
from conformance.requests import Json

APPLY = "application/apply-patch+yaml"
TEMPLATE = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}


def _owned(obj: Json) -> Json:
    (entry,) = obj["metadata"]["managedFields"]
    fields: Json = entry["fieldsV1"]
    return fields


@pytest.mark.parametrize("dry", [{}, {"dryRun": "All"}])
def test_an_empty_list_that_is_always_written_becomes_null(space: Space, dry: Json) -> None:
    """`rules: []` of a Role and `endpoints: []` of an EndpointSlice come back as null."""
    role = space.server.create(space.path("roles", **dry), {"metadata": {"name": "a"}, "rules": []})
    assert role["rules"] is None
    slice_ = {"metadata": {"name": "a"}, "addressType": "IPv4", "endpoints": []}
    assert space.server.create(space.path("endpointslices", **dry), slice_)["endpoints"] is None


def test_an_empty_list_instead_of_null_is_no_change(space: Space) -> None:
    """A PATCH of `ports: null` to `ports: []` leaves the EndpointSlice as it is."""
    made = space.put({"metadata": {"name": "a"}, "addressType": "IPv4"}, "endpointslices")
    changed = space.server.patch(space.path("endpointslices", "a"), {"ports": []})
    assert changed["metadata"]["generation"] == made["metadata"]["generation"] == 1


def test_what_becomes_null_stays_owned(space: Space) -> None:
    """A PUT of a Role without rules: its manager owns `f:rules` still, as null is written."""
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    space.put({"metadata": {"name": "a"}, "rules": [rule]}, "roles")
    changed = space.server.replace(space.path("roles", "a"), {"metadata": {"name": "a"}})
    assert (changed["rules"], _owned(changed)) == (None, {"f:rules": {}})


def test_a_status_says_a_phase_whatever_is_taken_away(space: Space) -> None:
    """A PATCH of the status of a PersistentVolumeClaim to null leaves `phase: Pending`; that of a
    Pod what only the server says.
    """
    space.put({"metadata": {"name": "a"}, "spec": CLAIM}, "persistentvolumeclaims")
    for status in ({"phase": None}, None):
        path = space.path("persistentvolumeclaims", "a") + "/status"
        assert space.server.patch(path, {"status": status})["status"] == {"phase": "Pending"}
    space.put({"metadata": {"name": "a"}, "spec": TEMPLATE}, "pods")
    path = space.path("pods", "a") + "/status"
    assert space.server.patch(path, {"status": None})["status"]["qosClass"] == "BestEffort"


def test_labels_that_a_job_has_from_its_pods_belong_to_its_client(space: Space) -> None:
    """A Job without labels has those of its template, and who creates it owns them."""
    template = {"metadata": {"labels": {"a": "b"}}, "spec": TEMPLATE}
    made = space.put({"metadata": {"name": "a"}, "spec": {"template": template}}, "jobs")
    assert _owned(made)["f:metadata"] == {"f:labels": {".": {}, "f:a": {}}}


def test_an_apply_may_name_no_unknown_member_not_even_as_null(space: Space) -> None:
    """Server-side apply of `spec: {nodeSelectr: null}`: 500, the field is not in the schema."""
    config = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"x": None}}
    path = space.path("pods", "a", fieldManager="m")
    answer = space.ask("PATCH", path, config, content_type=APPLY)
    assert refusal(answer)[2].endswith(".spec.x: field not declared in schema")


def test_an_apply_of_what_is_no_amount_says_where_it_was_read(space: Space) -> None:
    """Server-side apply of a value that Go does not read: 500, with the name of the object."""
    limits = {"limits": {"cpu": "x y"}}
    spec = {"containers": [{"name": "c", "image": "i", "resources": limits}]}
    config = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": spec}
    path = space.path("pods", "a", fieldManager="m")
    answer = space.ask("PATCH", path, config, content_type=APPLY)
    assert refusal(answer)[2].startswith(
        "failed to convert new object (/a; /v1, Kind=Pod) to proper version: unable to convert "
        "unstructured object to /v1, Kind=Pod: quantities must match the regular expression"
    )


def test_refusals_name_new_events_as_the_old_ones(space: Space) -> None:
    """What is wrong with an Event of events.k8s.io is told of the kind `Event`, without a group."""
    path = f"/apis/events.k8s.io/v1/namespaces/{space.name}/events"
    answer = space.ask("POST", path, {"metadata": {"name": "a"}})
    assert refusal(answer)[2].startswith('Event "a" is invalid: ')
    assert "group" not in answer.json()["details"]


def test_a_refused_deletion_of_a_job_still_warns_of_its_pods(space: Space) -> None:
    """DELETE of a Job without a propagation policy warns, whether or not there is such a Job."""
    answer = space.ask("DELETE", space.path("jobs", "none"))
    (warning,) = answer.headers.get_all("Warning") or ()
    assert answer.status == 404
    assert "child pods are preserved by default" in warning


def test_generations_that_count_otherwise(space: Space) -> None:
    """`metadata.generation` of a PriorityClass stays 1; a CSIDriver has none until it changes."""
    classes, drivers = "/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/storage.k8s.io/v1"
    with while_there(space, classes, {"metadata": {"name": space.name}, "value": 1}):
        changed = space.server.patch(f"{classes}/{space.name}", {"description": "d"})
        assert changed["metadata"]["generation"] == 1
    drivers += "/csidrivers"
    with while_there(space, drivers, {"metadata": {"name": space.name}, "spec": {}}) as made:
        assert "generation" not in made["metadata"]
        changed = space.server.patch(f"{drivers}/{space.name}", {"spec": {"seLinuxMount": True}})
        assert changed["metadata"]["generation"] == 1


def test_an_attributes_class_waits_for_its_protection(space: Space) -> None:
    """A VolumeAttributesClass is created with the finalizer kubernetes.io/vac-protection."""
    obj = {"metadata": {"name": space.name}, "driverName": "d", "parameters": {"a": "b"}}
    path = "/apis/storage.k8s.io/v1/volumeattributesclasses"
    made = space.server.create(f"{path}?dryRun=All", obj)
    assert made["metadata"]["finalizers"] == ["kubernetes.io/vac-protection"]


def test_who_keeps_an_address_for_a_service_owns_the_record(space: Space) -> None:
    """IPAddress: the server itself is in its managedFields."""
    made = space.put({"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80}]}}, "services")
    record = f"/apis/networking.k8s.io/v1/ipaddresses/{made['spec']['clusterIP']}"
    (entry,) = space.server.get(record)["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("kube-apiserver", "Update")
