"""Custom resources with a schema, asked through the whole server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from listwatch.testing.apiserver.types import structural_rules
from tests.testing.apiserver.asking import Asking, recorded, request_of, same_as_recorded

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/things.example.com"
THINGS = "/apis/example.com/v1/things"
MERGE = "application/merge-patch+json"


def definition(*specs: dict[str, Any], **version: Any) -> dict[str, Any]:
    """A definition with a version for each schema of `spec`; the first is stored."""
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Cluster",
            "names": {"plural": "things", "kind": "Thing"},
            "versions": [
                {
                    "name": f"v{number}",
                    "served": True,
                    "storage": number == 1,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "properties": {"spec": spec, "status": {"type": "object"}},
                        }
                    },
                    **version,
                }
                for number, spec in enumerate(specs, start=1)
            ],
        },
    }


def obj(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def serve(*specs: dict[str, Any], **version: Any) -> Asking:
    ask = Asking()
    ask.server.load([definition(*specs, **version)])
    return ask


def thing(name: str = "a", version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"example.com/{version}",
        "kind": "Thing",
        "metadata": {"name": name},
        "spec": spec,
    }


def body(answer: Answer, status: int = 200) -> dict[str, Any]:
    assert answer.status == status, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


def causes(answer: Answer) -> dict[str, str]:
    details = body(answer, 422)["details"]
    return {one["field"]: one["message"] for one in details["causes"]}


def warnings(answer: Answer) -> list[str]:
    return [value for name, value in answer.headers if name == "Warning"]


@pytest.mark.parametrize("name", ["k-cr-create-invalid", "k-cr-create-unknown-strict"])
def test_refusals_are_those_recorded(name: str) -> None:
    ask = Asking()
    ask.server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "rec"}}])
    ask.server.load([json.loads(recorded("k-crd-create").request_body)])
    answer = ask.server.handle(request_of(recorded(name)))
    assert isinstance(answer, Answer)
    same_as_recorded(answer, name)


def test_a_strict_patch_shows_what_it_would_have_made() -> None:
    ask = serve(obj(a={"type": "string"}))
    body(ask.answer("POST", THINGS, thing()), 201)
    path = f"{THINGS}/a?fieldValidation=Strict"
    answer = ask.answer("PATCH", path, {"spec": {"b": 1}}, content_type=MERGE)
    [message] = causes(answer).values()
    assert message.endswith('strict decoding error: unknown field "spec.b"')


def test_a_refusal_warns_too() -> None:
    ask = serve(obj(a={"type": "string"}))
    answer = ask.answer("POST", THINGS, thing(a=1, b=2))
    assert list(causes(answer)) == ["spec.a"]
    assert warnings(answer) == ['299 - "unknown field \\"spec.b\\""']


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ({"apiVersion": {}}, "spec.t.apiVersion: Invalid value: {}: must be a string"),
        (
            {"metadata": {"name": 1}},
            'spec.t.metadata: Invalid value: {"name":1}: json: cannot unmarshal number into Go '
            "struct field ObjectMeta.name of type string",
        ),
    ],
)
@pytest.mark.parametrize("where", ["member", "item", "value"])
def test_names_of_inner_objects_must_be_readable(
    inner: dict[str, Any], text: str, where: str
) -> None:
    node = {
        "type": "object",
        "x-kubernetes-embedded-resource": True,
        "x-kubernetes-preserve-unknown-fields": True,
    }
    value: Any = inner
    if where == "item":
        node, value = {"type": "array", "items": node}, [inner]
        text = text.replace("spec.t", "spec.t[0]")
    elif where == "value":
        node, value = {"type": "object", "additionalProperties": node}, {"k": inner}
        text = text.replace("spec.t", "spec.t[k]")
    answer = serve(obj(t=node)).answer("POST", THINGS, thing(t=value))
    assert body(answer, 400)["message"].endswith(f"cannot be handled as a Thing: {text}")


def test_whole_numbers_are_written_without_a_point() -> None:
    ask = serve({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    answer = ask.answer("POST", THINGS, thing(a=[1.0, 0.5], b=1e20))
    assert b'"spec":{"a":[1,0.5],"b":100000000000000000000}' in answer.body


def test_a_patched_definition_is_completed_too() -> None:
    ask = serve(obj())
    new = definition({"nullable": False, "properties": {}, "type": "object"})
    patch = {"spec": {"versions": new["spec"]["versions"], "conversion": None}}
    spec = body(ask.answer("PATCH", CRD, patch, content_type=MERGE))["spec"]
    assert spec["conversion"] == {"strategy": "None"}
    schema = spec["versions"][0]["schema"]["openAPIV3Schema"]
    assert schema["properties"]["spec"] == {"type": "object"}


def test_stored_objects_are_read_by_the_new_schema() -> None:
    ask = serve(obj(a={"type": "string"}, gone={"type": "string"}))
    made = body(ask.answer("POST", THINGS, thing(a="x", gone="y")), 201)
    new = definition(obj(a={"type": "string"}, b={"type": "integer", "default": 5}))
    body(ask.answer("PATCH", CRD, {"spec": new["spec"]}, content_type=MERGE))
    assert ask.get(THINGS).status == 429
    found = body(ask.get(f"{THINGS}/a"))
    assert found["spec"] == {"a": "x", "b": 5}
    assert found["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]
    [item] = body(ask.get(THINGS))["items"]
    assert item == found
    touched = ask.answer(
        "PATCH", f"{THINGS}/a", {"metadata": {"labels": {"l": "m"}}}, content_type=MERGE
    )
    assert body(touched)["spec"] == {"a": "x", "b": 5}


def test_loaded_objects_are_completed() -> None:
    ask = serve(obj(a={"type": "string", "default": "x"}))
    ask.server.load([thing(b=1)])
    assert body(ask.get(f"{THINGS}/a"))["spec"] == {"a": "x"}


def test_what_is_written_in_one_version_is_stored_in_another() -> None:
    ask = serve(
        obj(a={"type": "string"}, both={"type": "string", "default": "one"}),
        obj(b={"type": "string"}, both={"type": "string"}),
    )
    newer = THINGS.replace("v1", "v2")
    made = body(ask.answer("POST", newer, thing(version="v2", b="x")), 201)
    assert made["apiVersion"] == "example.com/v2"
    assert made["spec"] == {"both": "one"}
    assert body(ask.get(f"{THINGS}/a"))["spec"] == {"both": "one"}
    changed = ask.answer("PATCH", f"{THINGS}/a", {"spec": {"a": "y"}}, content_type=MERGE)
    assert body(changed)["spec"] == {"a": "y", "both": "one"}
    assert body(ask.get(f"{newer}/a"))["spec"] == {"both": "one"}


def test_a_status_may_have_a_default() -> None:
    """It is taken away from a new object, and is there when that is read back."""
    obj_ = definition(obj(), subresources={"status": {}})
    schema = obj_["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["status"] = {
        "type": "object",
        "default": {"phase": "New"},
        "properties": {"phase": {"type": "string"}},
    }
    ask = Asking()
    ask.server.load([obj_])
    made = body(ask.answer("POST", THINGS, {**thing(), "status": {"phase": "Sent"}}), 201)
    assert made["status"] == {"phase": "New"}
    dry = body(ask.answer("POST", f"{THINGS}?dryRun=All", thing("b")), 201)
    assert "status" not in dry


SCALE = {
    "specReplicasPath": ".spec.deep.size",
    "statusReplicasPath": ".status.size",
    "labelSelectorPath": ".status.selector",
}


@pytest.fixture
def scaled() -> Asking:
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    obj_ = definition(anything, subresources={"status": {}, "scale": SCALE})
    schema = obj_["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["status"] = anything
    ask = Asking()
    ask.server.load([obj_])
    return ask


def test_scale_reads_and_writes_what_the_definition_names(scaled: Asking) -> None:
    body(scaled.answer("POST", THINGS, thing(deep={"size": 2}, other=1)), 201)
    path = f"{THINGS}/a/scale"
    scale = body(scaled.get(path))
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 0}
    assert scale["metadata"]["name"] == "a"
    scale["spec"]["replicas"] = 4
    changed = body(scaled.answer("PUT", path, scale, content_type="application/json"))
    assert changed["spec"] == {"replicas": 4}
    found = body(scaled.get(f"{THINGS}/a"))
    assert found["spec"] == {"deep": {"size": 4}, "other": 1}
    assert found["metadata"]["generation"] == 2
    owned = {
        entry.get("subresource"): entry["fieldsV1"] for entry in found["metadata"]["managedFields"]
    }
    assert owned == {
        None: {"f:spec": {".": {}, "f:deep": {}, "f:other": {}}},
        "scale": {"f:spec": {"f:deep": {"f:size": {}}}},
    }
    assert body(scaled.answer("PUT", path, changed, content_type="application/json")) == changed


def test_a_scale_to_nothing_is_refused_as_the_objects(scaled: Asking) -> None:
    body(scaled.answer("POST", THINGS, thing(deep={"size": 2})), 201)
    path = f"{THINGS}/a/scale"
    answer = scaled.answer("PATCH", path, {"spec": {"replicas": -1}}, content_type=MERGE)
    assert causes(answer) == {
        ".spec.deep.size": "Invalid value: -1: should be a non-negative integer"
    }


def test_without_a_number_there_is_no_scale(scaled: Asking) -> None:
    body(scaled.answer("POST", THINGS, thing()), 201)
    assert scaled.get(f"{THINGS}/a/scale").status == 500
    patch = {"metadata": {"labels": {"a": "b"}}}
    answer = scaled.answer("PATCH", f"{THINGS}/a/scale", patch, content_type=MERGE)
    assert answer.status == 400
    answer = scaled.answer(
        "PATCH", f"{THINGS}/a/scale", {"spec": {"replicas": 3}}, content_type=MERGE
    )
    assert body(answer)["spec"] == {"replicas": 3}
    assert body(scaled.get(f"{THINGS}/a"))["spec"] == {"deep": {"size": 3}}


def test_scale_is_only_where_it_is_defined() -> None:
    ask = serve(obj())
    body(ask.answer("POST", THINGS, thing()), 201)
    assert ask.get(f"{THINGS}/a/scale").status == 404


def test_scale_is_in_discovery(scaled: Asking) -> None:
    resources = body(scaled.get("/apis/example.com/v1"))["resources"]
    assert resources[-1] == {
        "name": "things/scale",
        "singularName": "",
        "namespaced": False,
        "group": "autoscaling",
        "version": "v1",
        "kind": "Scale",
        "verbs": ["get", "patch", "update"],
    }


def test_definitions_come_back_in_order() -> None:
    schema = {"x-kubernetes-preserve-unknown-fields": True, "nullable": False, "type": "object"}
    answer = Asking().answer("POST", CRDS, definition(schema))
    [version] = body(answer, 201)["spec"]["versions"]
    spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    assert list(spec) == ["type", "x-kubernetes-preserve-unknown-fields"]


def test_members_that_no_schema_has_are_told() -> None:
    spec = obj(
        a={"type": "string", "bogus": 1}, l={"type": "array", "items": {"type": "string", "x": 1}}
    )
    text = "spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.a.bogus"
    answer = Asking().answer("POST", CRDS, definition(spec))
    assert warnings(answer) == [f'299 - "unknown field \\"{text}\\""']
    strict = Asking().answer("POST", f"{CRDS}?fieldValidation=Strict", definition(spec))
    assert strict.status == 400
    silent = Asking().answer("POST", f"{CRDS}?fieldValidation=Ignore", definition(spec))
    assert warnings(silent) == []


def test_formats_that_nobody_checks_are_told_once() -> None:
    ask = Asking()
    spec = obj(a={"type": "string", "format": "bogus"})
    assert warnings(ask.answer("POST", CRDS, definition(spec))) == [
        '299 - "unrecognized format \\"bogus\\""'
    ]
    change = {"metadata": {"labels": {"a": "b"}}}
    assert warnings(ask.answer("PATCH", CRD, change, content_type=MERGE)) == []


def test_rules_that_nobody_evaluates_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structural_rules, "_library", lambda: None)
    rules = [{"rule": "self.a > 1"}]
    spec = {**obj(a={"type": "integer"}), "x-kubernetes-validations": rules}
    [warning] = warnings(Asking().answer("POST", CRDS, definition(spec)))
    assert "common-expression-language" in warning


def test_rules_are_not_looked_at_in_what_is_wrong_anyway() -> None:
    rules = [{"rule": "self.a > 1"}]
    ask = serve({**obj(a={"type": "integer"}), "x-kubernetes-validations": rules})
    found = causes(ask.answer("POST", THINGS, thing(a="x")))
    assert "some validation rules were not checked" in found["<nil>"]


ROOT = "spec.validation.openAPIV3Schema.properties[spec]"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"type": "null"}, {f"{ROOT}.type"}),
        ({"type": "object", "id": "x"}, {f"{ROOT}.id"}),
        ({"type": "object", "$schema": "x"}, {"spec.validation.openAPIV3Schema"}),
        ({"type": "array", "items": [{"type": "string"}]}, {f"{ROOT}.items"}),
        (
            {"x-kubernetes-int-or-string": True, "x-kubernetes-preserve-unknown-fields": True},
            {f"{ROOT}.x-kubernetes-preserve-unknown-fields"},
        ),
        (
            {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
            {f"{ROOT}.x-kubernetes-preserve-unknown-fields"},
        ),
        (
            {"type": "string", "x-kubernetes-embedded-resource": True},
            {f"{ROOT}.type", f"{ROOT}.properties"},
        ),
        (
            {"type": "object", "x-kubernetes-list-type": "set"},
            {f"{ROOT}.type"},
        ),
        (
            {"type": "array", "items": {"type": "object"}, "x-kubernetes-list-type": "set"},
            {f"{ROOT}.items.x-kubernetes-map-type"},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "map"},
            {f"{ROOT}.x-kubernetes-list-map-keys", f"{ROOT}.items.type"},
        ),
        (
            {
                "type": "array",
                "items": {
                    "type": "object",
                    "nullable": True,
                    "required": ["a"],
                    "properties": {"a": {"type": "object", "nullable": True}},
                },
                "x-kubernetes-list-type": "map",
                "x-kubernetes-list-map-keys": ["a", "a", "b"],
            },
            {
                f"{ROOT}.items.nullable",
                f"{ROOT}.items.properties[a].type",
                f"{ROOT}.items.properties[a].nullable",
                f"{ROOT}.x-kubernetes-list-map-keys",
            },
        ),
        (
            {"type": "object", "x-kubernetes-map-type": "loose"},
            {f"{ROOT}.x-kubernetes-map-type"},
        ),
        (
            {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-map-keys": ["a"]},
            {f"{ROOT}.x-kubernetes-list-type"},
        ),
        (
            {"type": "object", "not": {"properties": {"metadata": {}}, "nullable": True}},
            {f"{ROOT}.not.properties[metadata]", f"{ROOT}.not.nullable"},
        ),
        (
            {
                "type": "object",
                "x-kubernetes-validations": [
                    {"rule": " "},
                    {"rule": "a\nb"},
                    {"rule": "a", "message": " "},
                    {"rule": "a", "message": "b\nc", "reason": "Because"},
                    {"rule": "a", "messageExpression": " "},
                ],
            },
            {
                f"{ROOT}.x-kubernetes-validations[0].rule",
                f"{ROOT}.x-kubernetes-validations[1].message",
                f"{ROOT}.x-kubernetes-validations[2].message",
                f"{ROOT}.x-kubernetes-validations[3].message",
                f"{ROOT}.x-kubernetes-validations[3].reason",
                f"{ROOT}.x-kubernetes-validations[4].messageExpression",
            },
        ),
    ],
)
def test_schemas_that_are_refused(
    spec: dict[str, Any], told: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(structural_rules, "_library", lambda: None)
    assert causes(Asking().answer("POST", CRDS, definition(spec))).keys() == told


def test_defaults_have_no_place_in_the_names_of_an_object() -> None:
    obj_ = definition(obj())
    schema = obj_["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["metadata"] = obj(name={"type": "string", "default": "x"})
    found = causes(Asking().answer("POST", CRDS, obj_))
    field = "spec.validation.openAPIV3Schema.properties[metadata].properties[name].default"
    assert found == {field: "Forbidden: must not be set in top-level metadata"}


def test_versions_with_schemas_of_their_own_have_paths_of_their_own() -> None:
    answer = Asking().answer("POST", CRDS, definition(obj(), obj(a={})))
    [field] = causes(answer)
    assert field == ("spec.versions[1].schema.openAPIV3Schema.properties[spec].properties[a].type")


def test_the_root_says_little_where_the_status_stands_apart() -> None:
    obj_ = definition(obj(), subresources={"status": {}})
    obj_["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["minProperties"] = 1
    [message] = causes(Asking().answer("POST", CRDS, obj_)).values()
    assert "fields are allowed at the root of the schema" in message


def test_the_version_for_storage_joins_the_others() -> None:
    ask = serve(obj(), obj(a={"type": "string"}))
    found = body(ask.get(CRD))
    for version in found["spec"]["versions"]:
        version["storage"] = not version["storage"]
    answer = ask.answer("PUT", CRD, found, content_type="application/json")
    assert body(answer)["status"]["storedVersions"] == ["v1", "v2"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"conversion": {"strategy": "Webhook"}}, "spec.conversion.webhookClientConfig"),
        (
            {"conversion": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}},
            "spec.conversion.conversionReviewVersions",
        ),
        ({"scope": ""}, "spec.scope"),
        ({"group": "Example.com"}, "spec.group"),
        (
            {"names": {"plural": "things", "kind": "Thing", "shortNames": ["T"]}},
            "spec.names.shortNames[0]",
        ),
    ],
)
def test_definitions_that_are_refused(change: dict[str, Any], field: str) -> None:
    obj_ = definition(obj())
    obj_["spec"].update(change)
    assert field in causes(Asking().answer("POST", CRDS, obj_))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".spec.b", "does not refer to a valid field"),
        (".metadata.name", "must not point to fields in metadata"),
        (".spec", "must point to a field of type"),
        ("", "Required value"),
    ],
)
def test_fields_that_cannot_be_selected(path: str, text: str) -> None:
    obj_ = definition(obj(a={"type": "string"}), selectableFields=[{"jsonPath": path}])
    [message] = causes(Asking().answer("POST", CRDS, obj_)).values()
    assert text in message


def test_fields_can_be_selected_once_and_eight_at_most() -> None:
    names = [f"f{number}" for number in range(9)]
    spec = obj(**{name: {"type": "string"} for name in names})
    fields = [{"jsonPath": f".spec.{name}"} for name in [*names, "f0"]]
    found = causes(Asking().answer("POST", CRDS, definition(spec, selectableFields=fields)))
    assert found == {
        "spec.selectableFields": "Too many: 9: must have at most 8 items",
        "spec.selectableFields[9].jsonPath": 'Duplicate value: ".spec.f0"',
    }


def test_an_apply_keeps_nulls_which_are_wrong_then() -> None:
    """A POST loses them without a word; what an apply makes is read by no decoder."""
    ask = serve(obj(a={"type": "string"}))
    assert "a" not in body(ask.answer("POST", THINGS, thing("b", a=None)), 201)["spec"]
    target = f"{THINGS}/a?fieldManager=m"
    kind = "application/apply-patch+yaml"
    answer = ask.answer("PATCH", target, thing(a=None), content_type=kind)
    assert causes(answer) == {
        "spec.a": 'Invalid value: "null": spec.a in body must be of type string: "null"'
    }
