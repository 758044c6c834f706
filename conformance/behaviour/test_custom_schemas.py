"""What the schema of a custom resource does to its objects: pruning, defaults, refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.behaviour.test_crds import Defined, definition
from conformance.requests import MERGE_PATCH, Json, Response
from conformance.two_servers import TestedServer
from conformance.waiting import until

_SPEC: Json = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "nobody", "maxLength": 10},
        "code": {"type": "string", "pattern": "^[a-z]+$", "minLength": 2},
        "color": {"type": "string", "enum": ["red", "green"]},
        "count": {"type": "integer", "minimum": 1, "maximum": 5},
        "even": {"type": "integer", "multipleOf": 2},
        "share": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "day": {"type": "string", "format": "date"},
        "port": {"x-kubernetes-int-or-string": True},
        "maybe": {"type": "string", "nullable": True},
        "tags": {
            "type": "array",
            "x-kubernetes-list-type": "set",
            "maxItems": 3,
            "items": {"type": "string"},
        },
        "parts": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["id"],
            "items": {
                "type": "object",
                "required": ["id"],
                "properties": {
                    "id": {"type": "integer"},
                    "size": {"type": "string", "default": "small"},
                },
            },
        },
        "deep": {
            "type": "object",
            "default": {},
            "properties": {"level": {"type": "integer", "default": 1}},
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "free": {
            "type": "object",
            "x-kubernetes-preserve-unknown-fields": True,
            "properties": {"known": {"type": "object", "properties": {"a": {"type": "integer"}}}},
        },
        "template": {
            "type": "object",
            "x-kubernetes-embedded-resource": True,
            "x-kubernetes-preserve-unknown-fields": True,
        },
        "either": {
            "type": "object",
            "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
            "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        "word": {"type": "string", "not": {"enum": ["bad"]}},
        "range": {"type": "integer", "allOf": [{"minimum": 3}, {"maximum": 4}]},
        "shape": {"type": "string", "anyOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
    },
}
_STATUS: Json = {
    "type": "object",
    "properties": {"phase": {"type": "string"}, "replicas": {"type": "integer"}},
}


@pytest.fixture(scope="module")
def room(server: TestedServer) -> Space:
    """A namespace that the tests of this file share."""
    return Space.make(server)


@pytest.fixture(scope="module")
def strict(room: Space) -> Iterator[Defined]:
    """A custom resource with a schema that says much."""
    obj = definition("rules", "Rule", subresources={"status": {}})
    schema = {"type": "object", "properties": {"spec": _SPEC, "status": _STATUS}}
    obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    defined = Defined(room, obj).serve()
    yield defined
    room.server.request("DELETE", defined.crd)


def _send(of: Defined, spec: Any, *, name: str = "x", query: str = "?dryRun=All") -> Response:
    body = {
        "apiVersion": f"{of.group}/v1",
        "kind": of.kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    return of.server.request("POST", of.objects + query, body)


def _made(of: Defined, spec: Any) -> Json:
    answer = _send(of, spec)
    assert answer.status == 201, answer.body
    made = answer.json()["spec"]
    assert isinstance(made, dict)
    return made


_DEFAULTS = {"name": "nobody", "deep": {"level": 1}}


@pytest.mark.parametrize(
    ("sent", "made"),
    [
        ({}, {}),
        ({"name": "somebody", "deep": {"level": 2}}, {"name": "somebody", "deep": {"level": 2}}),
        ({"name": None, "deep": None}, {}),
        ({"code": None, "maybe": None}, {"maybe": None}),
        ({"deep": {"level": None}}, {}),
        ({"parts": [{"id": 1}]}, {"parts": [{"id": 1, "size": "small"}]}),
        ({"bogus": 1, "deep": {"bogus": 2}}, {}),
        ({"parts": [{"id": 1, "size": "big", "x": 1}]}, {"parts": [{"id": 1, "size": "big"}]}),
        ({"labels": {"a": "b", "c": None}}, {"labels": {"a": "b"}}),
        (
            {"free": {"x": {"y": [1]}, "known": {"a": 1, "b": 2}}},
            {"free": {"x": {"y": [1]}, "known": {"a": 1}}},
        ),
        ({"port": 80}, {"port": 80}),
        ({"port": "http"}, {"port": "http"}),
        ({"count": 2.0}, {"count": 2.0}),
        (
            {
                "template": {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "a", "bogus": 1},
                    "x": 1,
                }
            },
            {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "x": 1}},
        ),
    ],
)
def test_objects_are_pruned_and_completed(strict: Defined, sent: Json, made: Json) -> None:
    """Unknown members and nulls that are not allowed go; defaults come, deep inside too."""
    assert _made(strict, sent) == {**_DEFAULTS, **made}


_TYPE = "FieldValueTypeInvalid"
_INVALID = "FieldValueInvalid"


@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        (
            {"count": "x"},
            [
                (
                    "spec.count",
                    _TYPE,
                    'Invalid value: "string": spec.count in body must be of type integer: "string"',
                )
            ],
        ),
        (
            {"count": 1.5},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": Checked value must be of type integer (default format) in '
                    "spec.count",
                ),
                (
                    "spec.count",
                    _TYPE,
                    'Invalid value: "number": spec.count in body must be of type integer: "number"',
                ),
            ],
        ),
        (
            {"count": 6},
            [
                (
                    "spec.count",
                    _INVALID,
                    "Invalid value: 6: spec.count in body should be less than or equal to 5",
                )
            ],
        ),
        (
            {"count": 0, "even": 3},
            [
                (
                    "spec.count",
                    _INVALID,
                    "Invalid value: 0: spec.count in body should be greater than or equal to 1",
                ),
                (
                    "spec.even",
                    _INVALID,
                    "Invalid value: 3: spec.even in body should be a multiple of 2",
                ),
            ],
        ),
        (
            {"share": 0},
            [
                (
                    "spec.share",
                    _INVALID,
                    "Invalid value: 0: spec.share in body should be greater than 0",
                )
            ],
        ),
        (
            {"color": "blue"},
            [
                (
                    "spec.color",
                    "FieldValueNotSupported",
                    'Unsupported value: "blue": supported values: "red", "green"',
                )
            ],
        ),
        (
            {"name": "much too long"},
            [("spec.name", "FieldValueTooLong", "Too long: may not be more than 10 bytes")],
        ),
        (
            {"code": "a"},
            [
                (
                    "spec.code",
                    _INVALID,
                    'Invalid value: "a": spec.code in body should be at least 2 chars long',
                )
            ],
        ),
        (
            {"code": "A1"},
            [
                (
                    "spec.code",
                    _INVALID,
                    "Invalid value: \"A1\": spec.code in body should match '^[a-z]+$'",
                )
            ],
        ),
        (
            {"day": "monday"},
            [
                (
                    "spec.day",
                    _TYPE,
                    'Invalid value: "monday": spec.day in body must be of type date: "monday"',
                )
            ],
        ),
        (
            {"port": True},
            [
                (
                    "spec.port",
                    _TYPE,
                    'Invalid value: "boolean": spec.port in body must be of type integer,string: '
                    '"boolean"',
                )
            ],
        ),
        (
            {"tags": ["a", "b", "a"]},
            [("spec.tags[2]", "FieldValueDuplicate", 'Duplicate value: "a"')],
        ),
        (
            {"tags": ["a", "b", "c", "d"]},
            [("spec.tags", "FieldValueTooMany", "Too many: 4: must have at most 3 items")],
        ),
        (
            {"tags": [None]},
            [
                (
                    "spec.tags[0]",
                    _TYPE,
                    'Invalid value: "null": spec.tags[0] in body must be of type string: "null"',
                )
            ],
        ),
        (
            {"parts": [{"id": 1}, {"id": 1}, {}]},
            [
                ("spec.parts[1]", "FieldValueDuplicate", 'Duplicate value: {"id":1}'),
                ("spec.parts[2].id", "FieldValueRequired", "Required value"),
            ],
        ),
        (
            {"labels": {"a": 1}},
            [
                (
                    "spec.labels.a",
                    _TYPE,
                    'Invalid value: "integer": spec.labels.a in body must be of type string: '
                    '"integer"',
                )
            ],
        ),
        (
            {"template": {"kind": ""}},
            [
                ("spec.template.apiVersion", "FieldValueRequired", "Required value"),
                ("spec.template.kind", _INVALID, 'Invalid value: "": must not be empty'),
            ],
        ),
        (
            {"either": {}},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": "spec.either" must validate one and only one schema '
                    "(oneOf). Found none valid",
                ),
                ("spec.either.a", "FieldValueRequired", "Required value"),
            ],
        ),
        (
            {"either": {"a": "", "b": ""}},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": "spec.either" must validate one and only one schema '
                    "(oneOf). Found 2 valid alternatives",
                )
            ],
        ),
        (
            {"word": "bad"},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": "spec.word" must not validate the schema (not)',
                )
            ],
        ),
        (
            {"range": 5},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": "spec.range" must validate all the schemas (allOf)',
                ),
                (
                    "spec.range",
                    _INVALID,
                    "Invalid value: 5: spec.range in body should be less than or equal to 4",
                ),
            ],
        ),
        (
            {"shape": "c"},
            [
                (
                    "<nil>",
                    _INVALID,
                    'Invalid value: "": "spec.shape" must validate at least one schema (anyOf)',
                ),
                (
                    "spec.shape",
                    _INVALID,
                    "Invalid value: \"c\": spec.shape in body should match '^a'",
                ),
            ],
        ),
    ],
)
def test_what_does_not_fit_is_422(
    strict: Defined, spec: Json, causes: list[tuple[str, str, str]]
) -> None:
    """Each member that does not fit its schema is a cause, in the validator's own words."""
    answer = _send(strict, spec)
    assert answer.status == 422, answer.body
    found = answer.json()["details"]["causes"]
    assert sorted((one["field"], one["reason"], one["message"]) for one in found) == causes


@pytest.mark.parametrize(
    ("inner", "text"),
    [
        ({"kind": 1}, "spec.template.kind: Invalid value: 1: must be a string"),
        (
            {"metadata": "x"},
            'spec.template.metadata: Invalid value: "x": json: cannot unmarshal string into Go '
            "value of type v1.ObjectMeta",
        ),
        (
            {"metadata": {"labels": {"a": 1}}},
            'spec.template.metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal '
            "number into Go struct field ObjectMeta.labels of type string",
        ),
    ],
)
def test_objects_inside_must_be_readable(strict: Defined, inner: Json, text: str) -> None:
    """Names of an object inside of another that have the wrong types are 400."""
    answer = _send(strict, {"template": {"apiVersion": "v1", "kind": "Pod", **inner}})
    message = f'Rule in version "v1" cannot be handled as a Rule: {text}'
    assert refusal(answer) == (400, "BadRequest", message)


def test_objects_inside_have_valid_names(strict: Defined) -> None:
    """Names and labels of an object inside of another are checked as its own would be."""
    metadata = {"name": "a/b", "namespace": "UP", "finalizers": ["a b"], "labels": {"a": "-"}}
    template = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata}
    answer = _send(strict, {"template": template})
    assert answer.status == 422
    fields = [cause["field"] for cause in answer.json()["details"]["causes"]]
    inner = ("name", "namespace", "labels", "finalizers")
    assert fields == [f"spec.template.metadata.{name}" for name in inner]


def test_whole_numbers_lose_their_point(strict: Defined) -> None:
    """A whole number comes back without a point."""
    assert b'"count":2,' in _send(strict, {"count": 2.0}).body


def test_unknown_fields_warn(strict: Defined) -> None:
    """Members that the schema does not have are warned of, sorted, even where the rest is refused
    (K29).
    """
    answer = _send(strict, {"z": 1, "deep": {"y": 1}, "parts": [{"id": 1, "x": 1}]})
    assert answer.status == 201
    paths = ("spec.deep.y", "spec.parts[0].x", "spec.z")
    wanted = [f'299 - "unknown field \\"{path}\\""' for path in paths]
    assert answer.headers.get_all("Warning") == wanted
    refused = _send(strict, {"z": 1, "count": "x"})
    assert refused.status == 422
    assert refused.headers.get_all("Warning") == ['299 - "unknown field \\"spec.z\\""']


def test_unknown_fields_can_be_refused(strict: Defined) -> None:
    """With fieldValidation=Strict they are 400; with Ignore nobody is told (K29)."""
    answer = _send(strict, {"z": 1, "y": 2}, query="?dryRun=All&fieldValidation=Strict")
    assert refusal(answer) == (
        400,
        "BadRequest",
        'Rule in version "v1" cannot be handled as a Rule: strict decoding error: unknown field '
        '"spec.y", unknown field "spec.z"',
    )
    answer = _send(strict, {"z": 1}, query="?dryRun=All&fieldValidation=Ignore")
    assert answer.status == 201
    assert "Warning" not in answer.headers


def test_patches_are_checked_too(strict: Defined) -> None:
    """A patch is refused for what it makes of the object; what it adds too much is pruned."""
    assert _send(strict, {"count": 1}, name="patched", query="").status == 201
    path = f"{strict.objects}/patched"
    headers = {"Content-Type": MERGE_PATCH}
    answer = strict.server.request("PATCH", path, {"spec": {"count": 9}}, headers=headers)
    assert answer.status == 422
    answer = strict.server.request("PATCH", path, {"spec": {"bogus": 9}}, headers=headers)
    assert answer.status == 200
    assert "bogus" not in answer.json()["spec"]
    assert answer.headers["Warning"] == '299 - "unknown field \\"spec.bogus\\""'
    assert answer.json()["metadata"]["generation"] == 1


def test_the_status_is_checked_on_its_own(strict: Defined) -> None:
    """A write of the status is refused for the status alone, and prunes it."""
    assert _send(strict, {"count": 1}, name="status", query="").status == 201
    path = f"{strict.objects}/status/status"
    headers = {"Content-Type": MERGE_PATCH}
    answer = strict.server.request("PATCH", path, {"status": {"phase": 1}}, headers=headers)
    assert answer.status == 422
    [cause] = answer.json()["details"]["causes"]
    assert cause["field"] == "status.phase"
    assert cause["message"] == (
        'Invalid value: "integer": phase in body must be of type string: "integer"'
    )
    answer = strict.server.request(
        "PATCH",
        path,
        {"status": {"phase": "Ready", "bogus": 1}, "spec": {"count": 99}},
        headers=headers,
    )
    assert answer.status == 200
    assert answer.json()["status"] == {"phase": "Ready"}
    assert answer.json()["spec"]["count"] == 1


def _schema_of(of: Defined, spec: Json) -> Json:
    """The definition as it is, with another schema for spec."""
    obj = of.server.get(of.crd)
    schema = obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"] = spec
    return obj


@pytest.fixture
def fresh(room: Space, request: pytest.FixtureRequest) -> Iterator[Defined]:
    """A definition that this test alone has, of whose objects nothing is said."""
    plural = f"s{abs(hash(request.node.nodeid)) % 10**8}s"
    defined = Defined(room, definition(plural, plural.capitalize()[:-1])).serve()
    yield defined
    room.server.request("DELETE", defined.crd)


def test_a_new_default_shows_in_old_objects(fresh: Defined) -> None:
    """Objects that were stored before are read by the new schema: with its defaults, and without
    what it does not have. Their RV stays.
    """
    before = fresh.add("old")
    spec = {"type": "object", "properties": {"y": {"type": "string", "default": "new"}}}
    fresh.server.replace(fresh.crd, _schema_of(fresh, spec))

    def read() -> Json:
        found = fresh.served().server.get(f"{fresh.objects}/old")
        spec = found["spec"]
        assert isinstance(spec, dict)
        return {**spec, "rv": found["metadata"]["resourceVersion"]}

    until(lambda: "y" in read(), what="the new schema")
    assert read() == {"y": "new", "rv": before["metadata"]["resourceVersion"]}
    [item] = fresh.server.get(fresh.objects)["items"]
    assert item["spec"] == {"y": "new"}


def test_what_was_wrong_before_may_stay(fresh: Defined) -> None:
    """A stricter schema does not refuse an update for a member that it leaves alone."""
    fresh.add("old")
    spec = {
        "type": "object",
        "properties": {"x": {"type": "integer", "minimum": 5}, "y": {"type": "integer"}},
    }
    fresh.server.replace(fresh.crd, _schema_of(fresh, spec))
    path = f"{fresh.objects}/old"
    headers = {"Content-Type": MERGE_PATCH}

    def refuses() -> bool:
        query = "?dryRun=All"
        answer = fresh.server.request("PATCH", path + query, {"spec": {"x": 2}}, headers=headers)
        return answer.status == 422

    until(refuses, what="the new schema")
    answer = fresh.server.request("PATCH", path, {"spec": {"y": 1}}, headers=headers)
    assert answer.status == 200
    assert answer.json()["spec"] == {"x": 1, "y": 1}


def test_versions_may_differ(room: Space) -> None:
    """Objects are stored in one version: what another has beyond it is lost."""
    obj = definition("pasts", "Past")
    first = obj["spec"]["versions"][0]
    first["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "both": {"type": "string", "default": "one"}},
    }
    second: Json = {
        "name": "v2",
        "served": True,
        "storage": False,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "properties": {"b": {"type": "string"}, "both": {"type": "string"}},
                    }
                },
            }
        },
    }
    obj["spec"]["versions"].append(second)
    defined = Defined(room, obj).serve()
    newer = defined.objects.replace("/v1/", "/v2/")
    body = {
        "apiVersion": f"{defined.group}/v2",
        "kind": defined.kind,
        "metadata": {"name": "a"},
        "spec": {"b": "x"},
    }
    made = room.server.create(newer, body)
    assert made["apiVersion"] == f"{defined.group}/v2"
    assert made["spec"] == {"both": "one"}
    assert room.server.get(f"{defined.objects}/a")["spec"] == {"both": "one"}
    room.server.request("DELETE", defined.crd)


def test_a_new_storage_version_joins_the_stored_ones(fresh: Defined) -> None:
    """status.storedVersions tells in which versions objects may be stored."""
    obj = fresh.server.get(fresh.crd)
    first = obj["spec"]["versions"][0]
    obj["spec"]["versions"] = [{**first, "storage": False}, {**first, "name": "v2"}]
    answer = fresh.server.replace(fresh.crd, obj)
    assert answer["status"]["storedVersions"] == ["v1", "v2"]
    obj = {**answer, "spec": {**answer["spec"], "versions": answer["spec"]["versions"][1:]}}
    refused = fresh.server.request("PUT", fresh.crd, obj)
    assert refusal(refused)[0] == 422
    [cause] = refused.json()["details"]["causes"]
    assert cause["field"] == "status.storedVersions[0]"


@pytest.mark.parametrize(
    ("rule", "where", "why"),
    [
        ({"fieldPath": " "}, "fieldPath", "must be non-empty if specified"),
        ({"fieldPath": "size"}, "fieldPath", "must be a valid path"),
        ({"fieldPath": ".nosuch"}, "fieldPath", "must be a valid path"),
        ({"fieldPath": ".size.more"}, "fieldPath", "must be a valid path"),
        ({"optionalOldSelf": True}, "optionalOldSelf", "may not be set if oldSelf is not used"),
        ({"reason": "Because"}, "reason", "supported values: "),
        ({"messageExpression": " "}, "messageExpression", "must be non-empty if specified"),
    ],
)
def test_what_stands_beside_a_rule_is_looked_at(
    room: Space, rule: dict[str, Any], where: str, why: str
) -> None:
    """What it says of its field, its reason and what was before must make sense: 422."""
    rules = [{"rule": "has(self.size)", **rule}]
    spec = {
        "type": "object",
        "properties": {"size": {"type": "integer"}, "more": {"type": "string"}},
        "x-kubernetes-validations": rules,
    }
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    obj = definition("besides", "Beside", schema=whole)
    refused = room.server.request("POST", Defined(room, obj).crd.rpartition("/")[0], obj)
    assert refusal(refused)[0] == 422
    causes = refused.json()["details"]["causes"]
    assert causes[0]["field"].endswith(f"x-kubernetes-validations[0].{where}")
    assert why in causes[0]["message"]


def test_no_pattern_holds_the_server_up(room: Space) -> None:
    """However many ways there are through a text, a pattern is looked for in linear time."""
    text = {"type": "string", "pattern": "^(a+)+$"}
    spec = {"type": "object", "properties": {"text": text}}
    whole = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    defined = Defined(room, definition("texts", "Text", schema=whole)).serve()
    for found, code in (("a" * 50 + "b", 422), ("a" * 50, 201)):
        body = {
            "apiVersion": f"{defined.group}/v1",
            "kind": "Text",
            "metadata": {"name": "a"},
            "spec": {"text": found},
        }
        assert room.server.request("POST", defined.objects, body).status == code
    room.server.request("DELETE", defined.crd)


@pytest.fixture(scope="module")
def scaled(room: Space) -> Iterator[Defined]:
    """A custom resource with a scale subresource."""
    scale = {
        "specReplicasPath": ".spec.size",
        "statusReplicasPath": ".status.size",
        "labelSelectorPath": ".status.selector",
    }
    defined = Defined(
        room, definition("bands", "Band", subresources={"status": {}, "scale": scale})
    ).serve()
    yield defined
    room.server.request("DELETE", defined.crd)


def _band(of: Defined, name: str, **spec: object) -> str:
    body = {
        "apiVersion": f"{of.group}/v1",
        "kind": of.kind,
        "metadata": {"name": name},
        "spec": spec,
    }
    of.server.create(of.objects, body)
    return f"{of.objects}/{name}"


def test_a_custom_scale_cannot_be_applied_to(scaled: Defined) -> None:
    """But for the number that is there already: the real server fails to convert the new Scale."""
    path = _band(scaled, "applied", size=2)
    codes = []
    for replicas in (2, 3):
        body = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"replicas": replicas}}
        answer = scaled.server.request(
            "PATCH",
            f"{path}/scale?fieldManager=x&force=true",
            body,
            headers={"Content-Type": "application/apply-patch+yaml"},
        )
        codes.append(answer.status)
    assert codes == [200, 500]


def test_custom_resources_scale(scaled: Defined) -> None:
    """Scale is a view of the members that the definition names (K32)."""
    path = _band(scaled, "a", size=2)
    scaled.server.patch(f"{path}/status", {"status": {"size": 1, "selector": "app=a"}})
    scale = scaled.server.get(f"{path}/scale")
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "app=a"}
    changed = scaled.server.patch(f"{path}/scale", {"spec": {"replicas": 5}})
    assert changed["spec"] == {"replicas": 5}
    obj = scaled.server.get(path)
    assert obj["spec"] == {"size": 5}
    assert obj["metadata"]["generation"] == 2
    scale["spec"]["replicas"] = 7
    stale = scaled.server.request("PUT", f"{path}/scale", scale)
    assert refusal(stale)[:2] == (409, "Conflict")
    del scale["metadata"]["resourceVersion"]
    assert scaled.server.replace(f"{path}/scale", scale)["spec"] == {"replicas": 7}


def test_a_scale_needs_its_number(scaled: Defined) -> None:
    """Without the number of replicas there is no Scale: 500, and 400 for a patch without one."""
    path = _band(scaled, "b")
    text = 'Internal error occurred: the spec replicas field ".spec.size" does not exist'
    assert refusal(scaled.server.request("GET", f"{path}/scale")) == (500, "InternalError", text)
    headers = {"Content-Type": MERGE_PATCH}
    answer = scaled.server.request(
        "PATCH", f"{path}/scale", {"metadata": {"labels": {"a": "b"}}}, headers=headers
    )
    text = 'the spec replicas field ".spec.size" cannot be empty'
    assert refusal(answer) == (400, "BadRequest", text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1, "Invalid value: -1: should be a non-negative integer"),
        (3_000_000_000, "Invalid value: 3000000000: should be less than or equal to 2147483647"),
        (
            "x",
            "Invalid value: 0: .spec.size accessor error: x is of the type string, expected int64",
        ),
    ],
)
def test_a_scaled_number_must_be_one(scaled: Defined, value: object, text: str) -> None:
    """Replicas that are no such number are refused where the object is written."""
    answer = _send(scaled, {"size": value})
    assert answer.status == 422
    [cause] = answer.json()["details"]["causes"]
    assert (cause["field"], cause["message"]) == (".spec.size", text)


def test_a_negative_scale_is_the_objects_problem(scaled: Defined) -> None:
    """A scale below 0 is refused in the name of the object that it would change."""
    path = _band(scaled, "c", size=1)
    headers = {"Content-Type": MERGE_PATCH}
    answer = scaled.server.request(
        "PATCH", f"{path}/scale", {"spec": {"replicas": -1}}, headers=headers
    )
    assert refusal(answer)[0] == 422
    assert answer.json()["details"]["kind"] == "Band"


def _wrong(schema: Json) -> Json:
    obj = definition("wrongs", "Wrong")
    obj["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    return obj


_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_ROOT = "spec.validation.openAPIV3Schema"


def _object(**properties: Json) -> Json:
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "causes"),
    [
        ({}, {f"{_ROOT}.type": "Required value: must not be empty at the root"}),
        (
            {"type": "array", "items": {"type": "string"}},
            {f"{_ROOT}.type": 'Invalid value: "array": must be object at the root'},
        ),
        (
            _object(spec={}),
            {
                f"{_ROOT}.properties[spec].type": "Required value: must not be empty for specified "
                "object fields"
            },
        ),
        (
            _object(spec={"type": "array", "items": {}}),
            {
                f"{_ROOT}.properties[spec].items.type": "Required value: must not be empty for "
                "specified array items"
            },
        ),
        (
            _object(spec={"type": "array"}),
            {f"{_ROOT}.properties[spec].items": "Required value: must be specified"},
        ),
        (
            _object(spec={"type": "text"}),
            {
                f"{_ROOT}.properties[spec].type": 'Unsupported value: "text": supported values: '
                '"array", "boolean", "integer", "number", "object", "string"'
            },
        ),
        (
            _object(spec={"type": "string", "pattern": "("}),
            {
                f"{_ROOT}.properties[spec].pattern": 'Invalid value: "(": must be a valid regular '
                "expression, but isn't: error parsing regexp: missing closing ): `(`"
            },
        ),
        (
            _object(spec={"type": "string", "pattern": "(?=a)"}),
            {
                f"{_ROOT}.properties[spec].pattern": 'Invalid value: "(?=a)": must be a valid '
                "regular expression, but isn't: error parsing regexp: invalid or unsupported Perl "
                "syntax: `(?=`"
            },
        ),
        (
            _object(spec={"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
            {
                f"{_ROOT}.properties[spec].uniqueItems": "Forbidden: uniqueItems cannot be set to "
                "true since the runtime complexity becomes quadratic"
            },
        ),
        (
            _object(spec={"type": "string", "default": 1}),
            {
                f"{_ROOT}.properties[spec].default": 'Invalid value: "integer":  in body must be '
                'of type string: "integer"'
            },
        ),
        (
            _object(spec={"type": "object", "default": {"x": 1}}),
            {
                f"{_ROOT}.properties[spec].default": 'Invalid value: {"x":1}: must not have '
                "unknown fields"
            },
        ),
        (
            _object(spec={"type": "string", "anyOf": [{"type": "string"}]}),
            {
                f"{_ROOT}.properties[spec].anyOf[0].type": "Forbidden: must be empty to be "
                "structural"
            },
        ),
        (
            {**_object(), "allOf": [{"properties": {"a": {"minimum": 1}}}]},
            {
                f"{_ROOT}.properties[a]": "Required value: because it is defined in "
                f"{_ROOT}.allOf[0].properties[a]"
            },
        ),
        (
            _object(metadata={"type": "object", "properties": {"labels": {"type": "object"}}}),
            {
                f"{_ROOT}.properties[metadata]": "Forbidden: must not specify anything other than "
                "name and generateName, but metadata is implicitly specified"
            },
        ),
        (
            _object(spec={"type": "object", "$ref": "#/x"}),
            {f"{_ROOT}.properties[spec].$ref": "Forbidden: $ref is not supported"},
        ),
        (
            _object(
                spec={
                    "type": "array",
                    "items": {"type": "object", "properties": {"a": {"type": "string"}}},
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["a"],
                }
            ),
            {
                f"{_ROOT}.properties[spec].items.properties[a].default": "Required value: this "
                "property is in x-kubernetes-list-map-keys, so it must have a default or be a "
                "required property"
            },
        ),
        (
            _object(
                spec={
                    "type": "object",
                    "properties": {"a": {"type": "string"}},
                    "additionalProperties": {"type": "string"},
                }
            ),
            {
                f"{_ROOT}.properties[spec].additionalProperties": "Forbidden: additionalProperties "
                "and properties are mutual exclusive"
            },
        ),
    ],
)
def test_schemas_must_be_structural(room: Space, schema: Json, causes: dict[str, str]) -> None:
    """A schema by which objects cannot be pruned is refused, with the path inside of it."""
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", _wrong(schema))
    assert answer.status == 422, answer.body
    found = answer.json()["details"]["causes"]
    assert {one["field"]: one["message"] for one in found} == causes


_LABEL = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


@pytest.mark.parametrize(
    ("version", "causes"),
    [
        (
            {"additionalPrinterColumns": [{"name": "a", "type": "text", "jsonPath": "spec"}]},
            {
                "spec.additionalPrinterColumns[0].type": 'Invalid value: "text": must be one of '
                "boolean,date,integer,number,string",
                "spec.additionalPrinterColumns[0].JSONPath": 'Invalid value: "spec": must be a '
                "simple json path starting with .",
            },
        ),
        (
            {"subresources": {"scale": {"specReplicasPath": ".size", "statusReplicasPath": ""}}},
            {
                "spec.subresources.scale.specReplicasPath": 'Invalid value: ".size": should be a '
                "json path under .spec",
                "spec.subresources.scale.statusReplicasPath": "Required value",
            },
        ),
        (
            {"selectableFields": [{"jsonPath": ".spec"}]},
            {
                "spec.selectableFields[0].jsonPath": 'Invalid value: ".spec": must point to a '
                "field of type string, boolean or integer. Enum string fields and strings with "
                "formats are allowed."
            },
        ),
        (
            {"deprecationWarning": "x"},
            {
                "spec.versions[0].deprecationWarning": 'Invalid value: "x": can only be set for '
                "deprecated versions"
            },
        ),
        (
            {"name": "V1"},
            {
                "spec.versions[0].name": f'Invalid value: "V1": {_LABEL}',
                "spec.version": f'Invalid value: "V1": {_LABEL}',
            },
        ),
    ],
)
def test_versions_must_make_sense(room: Space, version: Json, causes: dict[str, str]) -> None:
    """A version whose columns, subresources or names are wrong is refused."""
    obj = definition("wrongs", "Wrong", **version)
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", obj)
    assert answer.status == 422, answer.body
    found = answer.json()["details"]["causes"]
    assert {one["field"]: one["message"] for one in found} == causes


@pytest.mark.parametrize(
    ("spec", "causes"),
    [
        (
            {"names": {"plural": "wrongs", "kind": "Wrong", "listKind": "Wrong"}},
            {
                "spec.names.listKind": 'Invalid value: "Wrong": kind and listKind may not be the '
                "same"
            },
        ),
        (
            {"names": {"plural": "wrongs", "kind": "Wr_ong", "categories": ["All"]}},
            {
                "spec.names.kind": 'Invalid value: "Wr_ong": may have mixed case, but should '
                f"otherwise match: {_LABEL}",
                "spec.names.listKind": 'Invalid value: "Wr_ongList": may have mixed case, but '
                f"should otherwise match: {_LABEL}",
                "spec.names.singular": f'Invalid value: "wr_ong": {_LABEL}',
                "spec.names.categories[0]": f'Invalid value: "All": {_LABEL}',
            },
        ),
        (
            {"conversion": {"strategy": "Other"}},
            {
                "spec.conversion.strategy": 'Unsupported value: "Other": supported values: "None", '
                '"Webhook"'
            },
        ),
        (
            {"preserveUnknownFields": True},
            {
                "spec.preserveUnknownFields": "Invalid value: true: cannot set to true, set "
                "x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
            },
        ),
    ],
)
def test_definitions_must_make_sense(room: Space, spec: Json, causes: dict[str, str]) -> None:
    """A definition whose names or conversion are wrong is refused."""
    obj = definition("wrongs", "Wrong")
    obj["spec"].update(spec)
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", obj)
    assert answer.status == 422, answer.body
    found = answer.json()["details"]["causes"]
    assert {one["field"]: one["message"] for one in found} == causes


def test_a_group_without_a_dot_is_refused(room: Space) -> None:
    """Groups are domains."""
    obj = definition("wrongs", "Wrong")
    obj["spec"]["group"] = "wrong"
    obj["metadata"]["name"] = "wrongs.wrong"
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", obj)
    [cause] = answer.json()["details"]["causes"]
    text = 'Invalid value: "wrong": should be a domain with at least one dot'
    assert (cause["field"], cause["message"]) == ("spec.group", text)


def test_protected_groups_need_approval(room: Space) -> None:
    """Groups of the project itself need an annotation."""
    obj = definition("wrongs", "Wrong")
    obj["spec"]["group"] = "wrongs.k8s.io"
    obj["metadata"]["name"] = "wrongs.wrongs.k8s.io"
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", obj)
    [cause] = answer.json()["details"]["causes"]
    assert cause["field"] == "metadata.annotations[api-approved.kubernetes.io]"


def test_unknown_formats_warn(room: Space) -> None:
    """A format that nobody checks is warned of."""
    schema = _object(spec={"type": "string", "format": "bogus"})
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", _wrong(schema))
    assert answer.status == 201
    assert answer.headers.get_all("Warning") == ['299 - "unrecognized format \\"bogus\\""']


def test_schemas_are_written_in_order(room: Space) -> None:
    """A schema comes back in the order of its kind, without what is empty or unknown."""
    schema = _object(
        spec={
            "x-kubernetes-preserve-unknown-fields": True,
            "nullable": False,
            "properties": {"b": {"maxLength": 3, "type": "string"}, "a": {"type": "integer"}},
            "description": "",
            "type": "object",
        }
    )
    answer = room.server.request("POST", f"{_CRDS}?dryRun=All", _wrong(schema))
    assert answer.status == 201
    found = answer.json()["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    spec = found["properties"]["spec"]
    assert list(spec) == ["type", "properties", "x-kubernetes-preserve-unknown-fields"]
    assert list(spec["properties"]) == ["a", "b"]
    assert list(spec["properties"]["b"]) == ["type", "maxLength"]
