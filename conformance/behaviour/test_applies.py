"""Server-side apply: owners, conflicts, force, what goes with its last owner."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, rv
from conformance.objects import deployment
from conformance.requests import Json, Response

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_KINDS = {"configmaps": ("v1", "ConfigMap"), "deployments": ("apps/v1", "Deployment")}
_LAST = "kubectl.kubernetes.io/last-applied-configuration"


def _apply(
    space: Space, config: Json, by: str, plural: str = "configmaps", **query: Any
) -> Response:
    api_version, kind = _KINDS[plural]
    whole = {"apiVersion": api_version, "kind": kind, **config}
    whole["metadata"] = {"name": "a", **config.get("metadata", {})}
    subresource = query.pop("subresource", "")
    path = space.path(plural, f"a{subresource}", fieldManager=by, **query)
    return space.ask("PATCH", path, whole, Content_Type=_APPLY)


def _data(space: Space, by: str, /, *, force: bool = False, **data: str) -> Response:
    query = {"force": True} if force else {}
    return _apply(space, {"data": data}, by, **query)


def _owned(obj: Json) -> dict[str, Json]:
    entries = obj["metadata"].get("managedFields", [])
    return {f"{entry['manager']} {entry['operation']}": entry["fieldsV1"] for entry in entries}


def test_an_apply_creates(space: Space) -> None:
    """An apply creates what is not there: 201, and its fields are the applier's (K31)."""
    answer = _data(space, "alice", a="1")
    assert answer.status == 201
    [entry] = answer.json()["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("alice", "Apply")
    assert entry["fieldsV1"] == {"f:data": {"f:a": {}}}


def test_the_same_apply_again_is_no_write(space: Space) -> None:
    """Applied once more, a configuration changes nothing, not even the RV (K31)."""
    first = _data(space, "alice", a="1").json()
    answer = _data(space, "alice", a="1")
    assert (answer.status, answer.json()) == (200, first)


def test_what_somebody_else_applied_is_a_conflict(space: Space) -> None:
    """What another has applied is 409 with a cause for each field, and stays (K31)."""
    _data(space, "alice", a="1", b="1")
    answer = _data(space, "bob", a="2", b="2")
    text = 'Apply failed with 2 conflicts: conflicts with "alice":\n- .data.a\n- .data.b'
    assert refusal(answer) == (409, "Conflict", text)
    assert answer.json()["details"]["causes"] == [
        {
            "reason": "FieldManagerConflict",
            "message": 'conflict with "alice"',
            "field": f".data.{name}",
        }
        for name in "ab"
    ]
    assert space.get("a")["data"] == {"a": "1", "b": "1"}


def test_force_takes_over(space: Space) -> None:
    """With force the value is the applier's, and no longer anybody else's (K31)."""
    _data(space, "alice", a="1", b="1")
    obj = _data(space, "bob", force=True, a="2").json()
    assert obj["data"] == {"a": "2", "b": "1"}
    assert _owned(obj) == {
        "alice Apply": {"f:data": {"f:b": {}}},
        "bob Apply": {"f:data": {"f:a": {}}},
    }


def test_what_its_last_owner_leaves_out_is_removed(space: Space) -> None:
    """A field that its last owner applies no longer is removed; one that others own stays (K31)."""
    _data(space, "alice", a="1", b="1")
    _data(space, "bob", b="1", c="1")
    assert _data(space, "alice", a="1").json()["data"] == {"a": "1", "b": "1", "c": "1"}
    left = _apply(space, {}, "bob").json()
    assert left["data"] == {"a": "1"}
    assert list(_owned(left)) == ["alice Apply"]


def test_an_owner_of_what_was_so_already_has_no_time(space: Space) -> None:
    """Who applies what was there alike shares it; its entry has no time, and is the first (K31)."""
    _data(space, "alice", a="1")
    first, second = _data(space, "bob", a="1").json()["metadata"]["managedFields"]
    assert (first["manager"], "time" in first) == ("bob", False)
    assert (second["manager"], "time" in second) == ("alice", True)


def test_a_program_that_updates_is_an_owner_too(space: Space) -> None:
    """A conflict with a program that updates names the version that it used (K31)."""
    space.ask(
        "POST", space.path(fieldManager="up"), {"metadata": {"name": "a"}, "data": {"a": "1"}}
    )
    answer = _data(space, "bob", a="2")
    text = 'Apply failed with 1 conflict: conflict with "up" using v1: .data.a'
    assert refusal(answer) == (409, "Conflict", text)


def test_an_update_takes_what_it_changes(space: Space) -> None:
    """A patch takes what it changes from who had applied it (K31)."""
    _data(space, "alice", a="1", b="1")
    path = space.path(name="a", fieldManager="up")
    answer = space.ask("PATCH", path, {"data": {"a": "2"}}, Content_Type=_MERGE)
    assert _owned(answer.json()) == {
        "alice Apply": {"f:data": {"f:b": {}}},
        "up Update": {"f:data": {"f:a": {}}},
    }


@pytest.mark.parametrize("entries", [[], [{}]])
def test_owners_can_be_forgotten(space: Space, entries: list[Any]) -> None:
    """An empty list of managedFields, or one of an empty entry, does away with all of them."""
    _data(space, "alice", a="1")
    forgotten = space.change("a", metadata={"managedFields": entries})
    assert "managedFields" not in forgotten["metadata"]


def test_what_nobody_owned_gets_an_owner_before_the_first_apply(space: Space) -> None:
    """What was there unowned is `before-first-apply`'s once somebody applies."""
    space.add("a", a="1")
    space.change("a", metadata={"managedFields": []})
    obj = _data(space, "alice", b="1").json()
    assert _owned(obj)["before-first-apply Update"] == {"f:data": {".": {}, "f:a": {}}}


def test_items_are_owned_by_their_keys(space: Space) -> None:
    """Two programs may each apply containers of their own to one Deployment."""

    def config(name: str, image: str) -> Json:
        labels = {"app": "a"}
        spec = {"containers": [{"name": name, "image": image}]}
        template = {"metadata": {"labels": labels}, "spec": spec}
        return {"spec": {"selector": {"matchLabels": labels}, "template": template}}

    _apply(space, config("one", "i:1"), "alice", "deployments")
    obj = _apply(space, config("two", "i:2"), "bob", "deployments").json()
    containers = obj["spec"]["template"]["spec"]["containers"]
    assert [found["name"] for found in containers] == ["one", "two"]
    owned = _owned(obj)["bob Apply"]["f:spec"]["f:template"]["f:spec"]["f:containers"]
    assert owned == {'k:{"name":"two"}': {".": {}, "f:image": {}, "f:name": {}}}
    refused = _apply(space, config("one", "i:3"), "carl", "deployments")
    assert refusal(refused)[2].endswith('.spec.template.spec.containers[name="one"].image')


def test_a_status_has_owners_of_its_own(space: Space) -> None:
    """What is applied to the status has an entry of its own; the spec is left alone."""
    space.put(deployment("a", 1), "deployments")
    config = {"spec": {"replicas": 9}, "status": {"replicas": 4}}
    obj = _apply(space, config, "alice", "deployments", subresource="/status", force=True).json()
    assert (obj["spec"]["replicas"] != 9, obj["status"]["replicas"]) == (True, 4)
    entry = next(e for e in obj["metadata"]["managedFields"] if e["manager"] == "alice")
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {"f:replicas": {}}})


def test_a_dry_apply_says_what_would_be(space: Space) -> None:
    """dryRun=All answers what would be there, and writes nothing (K28)."""
    before = _data(space, "alice", a="1").json()
    path = space.path(name="a", fieldManager="bob", force=True, dryRun="All")
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "2"}}
    would = space.ask("PATCH", path, body, Content_Type=_APPLY).json()
    assert (would["data"], rv(would)) == ({"a": "2"}, rv(before))
    assert space.get("a") == before


def test_kubectl_may_take_over_its_own_annotation(space: Space) -> None:
    """What kubectl's annotation says is no conflict for `kubectl`, and is brought up to date."""
    last = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
    annotations = {_LAST: json.dumps(last)}
    space.put({"metadata": {"name": "a", "annotations": annotations}, "data": {"a": "1"}})
    assert _data(space, "other", a="2").status == 409
    obj = _data(space, "kubectl", a="2").json()
    assert json.loads(obj["metadata"]["annotations"][_LAST])["data"] == {"a": "2"}


@pytest.mark.parametrize(
    ("config", "code", "text"),
    [
        ({"kind": "Pod"}, 400, "invalid object type: /v1, Kind=Pod"),
        ({"apiVersion": "v2"}, 400, "invalid object type: /v2, Kind=ConfigMap"),
        ({"metadata": {"managedFields": []}}, 400, "metadata.managedFields must be nil"),
        (
            {"bogus": 1},
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .bogus: field not "
            "declared in schema",
        ),
        (
            {"data": {"a": 1}},
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.a: expected "
            "string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"metadata": {"uid": "u"}},
            409,
            'Operation cannot be fulfilled on configmaps "a": uid mismatch: the provided object '
            "specified uid u, and no existing object was found",
        ),
    ],
)
def test_configurations_that_are_refused(space: Space, config: Json, code: int, text: str) -> None:
    """A configuration of another type, or with what the type does not have, is refused (K31)."""
    answer = _apply(space, config, "alice")
    assert (answer.status, answer.json()["message"]) == (code, text)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"a: [b", "yaml: line 1: did not find expected ',' or ']'"),
        (b"[]", "json: cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_bodies_that_are_no_configuration(space: Space, body: bytes, text: str) -> None:
    """A body that is no YAML, or no object, is 400 (K31)."""
    path = space.path(name="a", fieldManager="alice")
    code, reason, message = refusal(space.ask("PATCH", path, body, Content_Type=_APPLY))
    assert (code, reason) == (400, "BadRequest")
    assert message.startswith("error decoding YAML: ")
    assert message.endswith(text)


def test_a_member_that_comes_twice(space: Space) -> None:
    """In YAML a member that comes twice is warned of by its line; Strict refuses it (K29)."""
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '1'}\ndata: {b: '1'}\n"
    path = space.path(name="a", fieldManager="alice")
    answer = space.ask("PATCH", path, body, Content_Type=_APPLY)
    assert answer.headers["Warning"] == '299 - "line 5: key \\"data\\" already set in map"'
    assert answer.json()["data"] == {"b": "1"}
    answer = space.ask("PATCH", f"{path}&fieldValidation=Strict", body, Content_Type=_APPLY)
    assert refusal(answer)[2].endswith(
        'yaml: unmarshal errors:\n  line 5: key "data" already set in map'
    )


def test_applies_must_say_who_applies(space: Space) -> None:
    """An apply without fieldManager is 422; force is for applies only (K31)."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    answer = space.ask("PATCH", space.path(name="a"), body, Content_Type=_APPLY)
    assert refusal(answer)[2].endswith("fieldManager: Required value: is required for apply patch")
    answer = space.ask("PATCH", space.path(name="a", force=True), {}, Content_Type=_MERGE)
    assert refusal(answer)[2].endswith("force: Forbidden: may not be specified for non-apply patch")
