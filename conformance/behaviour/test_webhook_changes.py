"""What mutating webhooks may make of an object, and what they see of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.behaviour.hooked import Hooked
from conformance.behaviour.space import refusal
from conformance.objects import WIDGET, CustomResource, config_map
from conformance.requests import Json
from conformance.webhook_server import allowed, patched


def _does(*operations: Json) -> Callable[[Json], Json]:
    return lambda request: patched(request, *operations)


def _set(path: str, value: Any) -> Json:
    return {"op": "add", "path": path, "value": value}


def test_a_generated_name_is_not_there_yet(hooked: Hooked) -> None:
    hooked.hooks.answer("unnamed", allowed)
    hooked.hooks.answer("named", allowed)
    space = hooked.space
    with (
        hooked.configured("mutating", hooked.webhook("unnamed")),
        hooked.configured("validating", hooked.webhook("named")),
    ):
        obj = {"metadata": {"generateName": "a-"}}
        made = space.ask("POST", space.path(), obj).json()["metadata"]["name"]
    (mutating,), (validating,) = hooked.asked_at("unnamed"), hooked.asked_at("named")
    assert "name" not in mutating
    assert "name" not in mutating["object"]["metadata"]
    assert validating["name"] == validating["object"]["metadata"]["name"] == made


def test_a_webhook_may_choose_the_name(hooked: Hooked) -> None:
    hooked.hooks.answer("names", _does(_set("/metadata/name", "chosen")))
    with hooked.configured("mutating", hooked.webhook("names")):
        assert hooked.create("a").json()["metadata"]["name"] == "chosen"
    assert hooked.space.get("chosen")["metadata"]["name"] == "chosen"


def test_what_the_client_has_sent_is_seen_and_not_what_the_server_makes_of_it(
    hooked: Hooked,
) -> None:
    hooked.hooks.answer("sent", allowed)
    space = hooked.space
    space.add("a")
    pod = {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    }
    webhook = hooked.webhook("sent", "CREATE", "UPDATE", resources=["configmaps", "pods"])
    with hooked.configured("mutating", webhook):
        space.put(pod, "pods")
        space.ask("PUT", space.path(name="a"), config_map("a", None, x="1"))
    created, updated = (request["object"] for request in hooked.asked_at("sent"))
    assert created["status"] == {"phase": "Running"}
    assert created["spec"]["restartPolicy"] == "Always"
    assert "uid" not in updated["metadata"]
    assert updated["metadata"]["namespace"] == space.name
    assert space.get("p", "pods")["status"]["phase"] == "Pending"


@pytest.mark.parametrize(
    ("operation", "created", "updated"),
    [
        (_set("/metadata/namespace", "other"), (400, "BadRequest"), (400, "BadRequest")),
        (_set("/metadata/resourceVersion", "5"), (500, ""), (409, "Conflict")),
        (_set("/metadata", 3), (500, "InternalError"), (500, "InternalError")),
        (_set("/data/n", 3), (500, "InternalError"), (500, "InternalError")),
        (_set("/apiVersion", "v9"), (500, "InternalError"), (500, "InternalError")),
        ({"op": "remove", "path": "/metadata"}, (422, "Invalid"), (422, "Invalid")),
    ],
    ids=["namespace", "version", "metadata", "number", "apiVersion", "nothing"],
)
def test_what_an_object_cannot_be_is_refused(
    hooked: Hooked, operation: Json, created: tuple[int, str], updated: tuple[int, str]
) -> None:
    space = hooked.space
    before = space.add("old", x="1")[0]
    hooked.hooks.answer("senseless", _does(operation))
    with hooked.configured("mutating", hooked.webhook("senseless", "CREATE", "UPDATE")):
        assert refusal(hooked.create("a", x="1"))[:2] == created
        patch = {"data": {"y": "2"}}
        merge = "application/merge-patch+json"
        answer = space.ask("PATCH", space.path(name="old"), patch, content_type=merge)
        assert refusal(answer)[:2] == updated
    assert len(space.list()["items"]) == 1
    assert space.get("old") == before


def test_an_object_keeps_its_name(hooked: Hooked) -> None:
    space = hooked.space
    space.add("a")
    hooked.hooks.answer("renames", _does(_set("/metadata/name", "other")))
    with hooked.configured("mutating", hooked.webhook("renames", "CREATE", "UPDATE")):
        merge = "application/merge-patch+json"
        answer = space.ask("PATCH", space.path(name="a"), {"data": {}}, content_type=merge)
    assert refusal(answer) == (
        422,
        "Invalid",
        'ConfigMap "other" is invalid: metadata.name: Invalid value: "other": field is immutable',
    )


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        ({"op": "remove", "path": "/data/z"}, "Unable to remove nonexistent key: z"),
        ({"op": "test", "path": "/data/x", "value": "2"}, "testing value /data/x failed"),
        (_set("/a/b/c", "x"), 'doc is missing path: "/a/b/c": missing value'),
        ({"op": "zip", "path": "/data/x"}, "Unexpected kind: zip"),
        ({"op": "add", "value": 1}, "add operation failed to decode path: missing value"),
    ],
)
def test_a_patch_that_does_not_fit_is_told(hooked: Hooked, operation: Json, why: str) -> None:
    hooked.hooks.answer("misfit", _does(operation))
    with hooked.configured("mutating", hooked.webhook("misfit")):
        code, reason, message = refusal(hooked.create("a", x="1"))
    assert (code, reason) == (500, "InternalError")
    assert why in message


def test_nobody_owns_what_a_webhook_adds(hooked: Hooked) -> None:
    space = hooked.space
    hooked.hooks.answer("owns", _does(_set("/data/added", "1")))
    path = space.path(name="a", fieldManager="me")
    apply = "application/apply-patch+yaml"
    with hooked.configured("mutating", hooked.webhook("owns")):
        made = space.ask("PATCH", path, config_map("a", None, x="1"), content_type=apply).json()
    (entry,) = made["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("me", "Apply")
    assert "f:added" not in entry["fieldsV1"]["f:data"]
    assert made["data"] == {"added": "1", "x": "1"}


def test_owners_twice_and_senseless_managed_fields_are_mended(hooked: Hooked) -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}
    nobody = {"manager": "m", "operation": "Sing", "apiVersion": "v1"}
    hooked.hooks.answer(
        "sloppy",
        _does(
            _set("/metadata/ownerReferences", [owner, owner]),
            _set("/metadata/managedFields", [nobody]),
        ),
    )
    with hooked.configured("mutating", hooked.webhook("sloppy")):
        answer = hooked.create("a", x="1")
    metadata = answer.json()["metadata"]
    assert metadata["ownerReferences"] == [owner]
    assert [entry["operation"] for entry in metadata["managedFields"]] == ["Update"]
    told = " ".join(answer.headers.get_all("Warning") or ())
    assert "duplicate entries after mutating admission happens" in told
    assert "managedFields was in an invalid state after admission" in told


def test_custom_objects_lose_what_their_schema_does_not_know(
    hooked: Hooked, widgets: CustomResource
) -> None:
    hooked.hooks.answer(
        "widens", _does(_set("/spec/unknown", 1), _set("/top", 1), _set("/status", {"seen": 1}))
    )
    space = hooked.space
    webhook = hooked.webhook("widens", resources=["widgets"])
    with hooked.configured("mutating", webhook):
        made = space.put(WIDGET.object("a", color="red"), "widgets")
    assert made["spec"] == {"color": "red"}
    assert "top" not in made
    assert "status" not in made
    assert space.get("a", "widgets") == made
