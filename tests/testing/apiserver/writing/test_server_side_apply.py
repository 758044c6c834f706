"""Server-side apply: who owns what, what an apply takes away, and what it must not touch (K31)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.write_server import Writing

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
PODS = "/api/v1/namespaces/default/pods"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
THINGS = "/apis/example.com/v1/namespaces/default/things"
APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"
LAST = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture
def server() -> Writing:
    return Writing()


KINDS = {
    "configmaps": "ConfigMap",
    "pods": "Pod",
    "podtemplates": "PodTemplate",
    "things": "Thing",
}


def apply(server: Writing, path: str, config: dict[str, Any], by: str, query: str = "") -> Answer:
    kind = KINDS[path.split("/")[-2]]
    version = "example.com/v1" if kind == "Thing" else "v1"
    metadata = {"name": path.rsplit("/", 1)[1], **config.get("metadata", {})}
    whole = {"apiVersion": version, "kind": kind, **config, "metadata": metadata}
    target = f"{path}?fieldManager={by}{query}"
    return server.write("PATCH", target, json.dumps(whole).encode(), kind=APPLY)


def value(answer: Answer) -> dict[str, Any]:
    assert answer.status < 300, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


def owned(obj: dict[str, Any]) -> dict[str, Any]:
    entries = obj["metadata"].get("managedFields", [])
    return {f"{found['manager']} {found['operation']}": found["fieldsV1"] for found in entries}


def data(server: Writing, by: str, query: str = "", **members: str) -> Answer:
    return apply(server, f"{CONFIGMAPS}/a", {"data": members}, by, query)


def test_what_its_last_owner_applies_no_longer_goes(server: Writing) -> None:
    data(server, "alice", a="1", b="1")
    data(server, "bob", b="1", c="1")
    assert value(data(server, "alice", a="1"))["data"] == {"a": "1", "b": "1", "c": "1"}
    left = value(data(server, "bob"))
    assert left["data"] == {"a": "1"}
    assert owned(left) == {"alice Apply": {"f:data": {"f:a": {}}}, "bob Apply": {"f:data": {}}}


def test_the_same_again_changes_nothing(server: Writing) -> None:
    before = data(server, "alice", a="1")
    assert before.status == 201
    after = data(server, "alice", a="1")
    assert (after.status, after.body) == (200, before.body)


def test_what_another_has_applied_alike_is_shared_and_has_no_time(server: Writing) -> None:
    data(server, "alice", a="1")
    obj = value(data(server, "bob", a="1"))
    assert [("time" in found, found["manager"]) for found in obj["metadata"]["managedFields"]] == [
        (False, "bob"),
        (True, "alice"),
    ]


def test_force_takes_a_field_from_its_owner(server: Writing) -> None:
    data(server, "alice", a="1", b="1")
    answer = data(server, "bob", a="2")
    assert answer.status == 409
    assert owned(value(data(server, "bob", "&force=true", a="2"))) == {
        "alice Apply": {"f:data": {"f:b": {}}},
        "bob Apply": {"f:data": {"f:a": {}}},
    }


def test_several_conflicts_are_told_by_owner(server: Writing) -> None:
    data(server, "alice", a="1")
    server.write("PATCH", f"{CONFIGMAPS}/a?fieldManager=up", b'{"data": {"b": "1"}}', kind=MERGE)
    answer = data(server, "bob", a="2", b="2")
    said = json.loads(answer.body)
    assert said["message"] == (
        'Apply failed with 2 conflicts: conflicts with "alice":\n- .data.a\n'
        'conflicts with "up" using v1:\n- .data.b'
    )
    assert [cause["field"] for cause in said["details"]["causes"]] == [".data.a", ".data.b"]


def test_what_an_update_takes_is_no_longer_the_appliers(server: Writing) -> None:
    data(server, "alice", a="1")
    answer = server.write(
        "PATCH", f"{CONFIGMAPS}/a?fieldManager=up", b'{"data": {"a": "2"}}', kind=MERGE
    )
    assert owned(value(answer)) == {"up Update": {"f:data": {"f:a": {}}}}


def test_what_was_there_before_the_first_apply_keeps_an_owner(server: Writing) -> None:
    server.made(CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"a": "1"}})
    server.write("PATCH", f"{CONFIGMAPS}/a", b'{"metadata": {"managedFields": []}}', kind=MERGE)
    assert owned(value(data(server, "alice", b="1"))) == {
        "alice Apply": {"f:data": {"f:b": {}}},
        "before-first-apply Update": {"f:data": {".": {}, "f:a": {}}},
    }


def test_containers_are_owned_by_name(server: Writing) -> None:
    def template(*names: str) -> dict[str, Any]:
        containers = [{"name": name, "image": "i"} for name in names]
        return {"template": {"spec": {"containers": containers}}}

    path = f"{PODS.removesuffix('pods')}podtemplates/p"
    made = value(apply(server, path, template("a"), "alice"))
    container = {'k:{"name":"a"}': {".": {}, "f:image": {}, "f:name": {}}}
    assert owned(made) == {"alice Apply": {"f:template": {"f:spec": {"f:containers": container}}}}
    made = value(apply(server, path, template("b"), "bob"))
    assert [found["name"] for found in made["template"]["spec"]["containers"]] == ["a", "b"]


def test_containers_of_a_pod_do_not_come_by_apply(server: Writing) -> None:
    for name, status in (("a", 201), ("b", 422)):
        config = {"spec": {"containers": [{"name": name, "image": "i"}]}}
        assert apply(server, f"{PODS}/p", config, name).status == status


def test_a_status_is_applied_through_its_own_path(server: Writing) -> None:
    config = {"spec": {"containers": [{"name": "a", "image": "i"}]}, "status": {"phase": "Failed"}}
    made = value(apply(server, f"{PODS}/p", config, "alice"))
    assert made["status"]["phase"] == "Pending"
    assert "f:status" not in owned(made)["alice Apply"]
    target = f"{PODS}/p/status?fieldManager=bob"
    body = {"apiVersion": "v1", "kind": "Pod", "status": {"phase": "Failed"}}
    answer = server.write("PATCH", target, json.dumps(body).encode(), kind=APPLY)
    made = value(answer)
    assert made["status"]["phase"] == "Failed"
    entry = next(found for found in made["metadata"]["managedFields"] if found["manager"] == "bob")
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {"f:phase": {}}})
    missing = server.write(
        "PATCH", f"{PODS}/none/status?fieldManager=b", json.dumps(body).encode(), kind=APPLY
    )
    assert missing.status == 404


def test_kubectl_takes_over_what_it_has_applied_on_its_own_side(server: Writing) -> None:
    last = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "1"}}
    metadata = {"name": "a", "annotations": {LAST: json.dumps(last)}}
    server.made(CONFIGMAPS, {"metadata": metadata, "data": {"a": "1", "b": "1"}})
    assert data(server, "other", a="2").status == 409
    made = value(data(server, "kubectl", a="2"))
    assert made["data"] == {"a": "2", "b": "1"}
    noted = json.loads(made["metadata"]["annotations"][LAST])
    assert noted["data"] == {"a": "2"}
    assert data(server, "kubectl", b="2").status == 409


def test_in_yaml_a_member_that_comes_twice_is_warned_of(server: Writing) -> None:
    text = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: '1'}\ndata: {b: '1'}\n"
    said = 'line 5: key "data" already set in map'
    target = f"{CONFIGMAPS}/a?fieldManager=x"
    answer = server.write("PATCH", target, text, kind=APPLY)
    quoted = said.replace('"', '\\"')
    assert [text for name, text in answer.headers if name == "Warning"] == [f'299 - "{quoted}"']
    answer = server.write("PATCH", f"{target}&fieldValidation=Strict", text, kind=APPLY)
    assert (answer.status, json.loads(answer.body)["message"]) == (
        400,
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
        + said,
    )


@pytest.mark.parametrize(
    ("config", "status", "said"),
    [
        ({"kind": "Pod"}, 400, "invalid object type: /v1, Kind=Pod"),
        ({"metadata": {"name": "b"}}, 400, "the name of the object (b) does not match the name on"),
        ({"metadata": {"namespace": "x"}}, 400, "the namespace of the provided object does not"),
        ({"metadata": {"managedFields": []}}, 400, "metadata.managedFields must be nil"),
        ({"metadata": {"uid": "u"}}, 409, "Operation cannot be fulfilled on configmaps"),
        (
            {"data": {"a": 1}},
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.a: expected "
            "string, got &value.valueUnstructured{Value:1}",
        ),
        (
            {"data": [1]},
            500,
            "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, "
            "got &{[1]}",
        ),
    ],
)
def test_configurations_that_are_refused(
    server: Writing, config: dict[str, Any], status: int, said: str
) -> None:
    answer = apply(server, f"{CONFIGMAPS}/a", config, "alice")
    assert answer.status == status
    assert json.loads(answer.body)["message"].startswith(said)


def test_items_must_have_their_keys_and_only_once(server: Writing) -> None:
    twice = {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}
    answer = apply(server, f"{PODS}/p", twice, "alice")
    assert json.loads(answer.body)["message"].endswith(
        '.spec.containers: duplicate entries for key [name="a"]'
    )
    answer = apply(server, f"{PODS}/p", {"spec": {"hostAliases": [5]}}, "alice")
    assert json.loads(answer.body)["message"].endswith(
        ".spec.hostAliases: element 0: associative list with keys may not have non-map elements"
    )


# Custom resources


@pytest.fixture
def things(server: Writing) -> Writing:
    words = {"type": "array", "items": {"type": "string"}}
    parts = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": {"type": "string"}, "v": {"type": "string"}},
        },
    }
    properties = {
        "plain": words,
        "tags": {**words, "x-kubernetes-list-type": "set"},
        "parts": parts,
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "whole": {
            "type": "object",
            "x-kubernetes-map-type": "atomic",
            "additionalProperties": {"type": "string"},
        },
    }
    spec = {"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": spec}}
    server.made(
        CRDS,
        {
            "metadata": {"name": "things.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "things", "kind": "Thing"},
                "versions": [version],
            },
        },
    )
    server.now += 5
    server.server.run_due()
    server.get(THINGS)
    return server


def test_the_schema_says_what_of_a_custom_object_is_owned_together(things: Writing) -> None:
    spec = {
        "plain": ["a"],
        "tags": ["x", "y"],
        "parts": [{"name": "p", "v": "1"}],
        "free": {"a": {"b": 1}},
        "whole": {"a": "1"},
    }
    made = value(apply(things, f"{THINGS}/t", {"spec": spec}, "alice"))
    assert owned(made)["alice Apply"]["f:spec"] == {
        "f:free": {"f:a": {".": {}, "f:b": {}}},
        "f:parts": {'k:{"name":"p"}': {".": {}, "f:name": {}, "f:v": {}}},
        "f:plain": {},
        "f:tags": {'v:"x"': {}, 'v:"y"': {}},
        "f:whole": {},
    }
    other = {"tags": ["z"], "parts": [{"name": "q"}]}
    made = value(apply(things, f"{THINGS}/t", {"spec": other}, "bob"))
    assert made["spec"]["tags"] == ["x", "y", "z"]
    assert [part["name"] for part in made["spec"]["parts"]] == ["p", "q"]
    made = value(apply(things, f"{THINGS}/t", {"spec": {"tags": ["y"]}}, "alice"))
    assert made["spec"] == {"tags": ["y", "z"], "parts": [{"name": "q"}]}
