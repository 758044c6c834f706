"""Refusals: their codes, bodies and headers."""

from __future__ import annotations

import json

import pytest

from conformance.behaviour.space import Space, refusal
from conformance.objects import CustomResource
from conformance.requests import Json
from conformance.two_servers import TestedServer


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/nosuch",
        "/api/v1/namespaces/default/nosuch",
        "/apis/apps/v1/nosuch",
        "/apis/apps/v9",
        "/apis/apps/v9/deployments",
        "/api/v9",
        "/api/v9/pods",
    ],
)
def test_an_unknown_resource_is_a_status(server: TestedServer, path: str) -> None:
    """An unknown resource or version of a built-in group: 404 with a Status, details {} (K3)."""
    answer = server.request("GET", path)
    text = "the server could not find the requested resource"
    assert refusal(answer) == (404, "NotFound", text)
    assert answer.json()["details"] == {}


@pytest.mark.parametrize(
    "path",
    [
        "/apis/no.such.group/v1/things",
        "/apis/no.such.group",
        "/nosuch",
    ],
)
def test_an_unknown_path_is_plain_text(server: TestedServer, path: str) -> None:
    """An unknown group or path is 404 "404 page not found" in plain text (K3)."""
    answer = server.request("GET", path)
    assert (answer.status, answer.body) == (404, b"404 page not found\n")
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_an_unknown_custom_version_is_plain_text(
    server: TestedServer, widgets: CustomResource
) -> None:
    """So is an unknown version or plural of a CR's group (K3)."""
    for path in ("/apis/example.com/v9/widgets", "/apis/example.com/v1/nosuch"):
        answer = server.request("GET", path)
        assert (answer.status, answer.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD"])
def test_a_wrong_method_is_405(space: Space, method: str) -> None:
    """A method that a path does not have is 405, without Allow (K1, K4)."""
    with space.server.stream(space.path(), method=method) as stream:
        stream.finished()
        assert stream.status == 405
        assert stream.header("Allow") is None
        assert stream.header("Content-Type") == "application/json"
    if method != "HEAD":
        status = json.loads(stream.body)
        assert (status["reason"], status["details"]) == ("MethodNotAllowed", {})


def test_a_post_to_an_object_is_405(space: Space) -> None:
    """POST to the path of an object is 405."""
    answer = space.ask("POST", space.path(name="a"), {"metadata": {"name": "a"}})
    assert refusal(answer)[:2] == (405, "MethodNotAllowed")


def test_a_create_over_all_namespaces_is_405(server: TestedServer) -> None:
    """POST to the collection of all namespaces is 405 for a namespaced type."""
    answer = server.request("POST", "/api/v1/configmaps", {"metadata": {"name": "a"}})
    assert refusal(answer)[:2] == (405, "MethodNotAllowed")


def test_pretty_is_by_parameter(space: Space) -> None:
    """?pretty=true indents by two spaces (K5)."""
    body = space.ask("GET", space.path(pretty="true")).body
    assert body.startswith(b'{\n  "kind": "ConfigMapList",\n')


def test_curl_gets_it_pretty(space: Space) -> None:
    """So does a User-Agent that begins with curl/ (K5)."""
    body = space.ask("GET", space.path(), User_Agent="curl/8.0").body
    assert body.startswith(b'{\n  "kind": "ConfigMapList",\n')


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/xml",
        "application/json;as=Nonsense;v=v1;g=meta.k8s.io",
    ],
)
def test_unacceptable_is_406(space: Space, accept: str) -> None:
    """What cannot be given is 406 NotAcceptable, pretty-printed."""
    answer = space.ask("GET", space.path(), Accept=accept)
    assert refusal(answer)[:2] == (406, "NotAcceptable")
    assert answer.body.startswith(b'{\n  "kind": "Status",\n')


def test_half_a_wildcard_is_406(space: Space) -> None:
    """``application/*`` is 406, and tells all that could be had."""
    code, reason, message = refusal(space.ask("GET", space.path(), Accept="application/*"))
    assert (code, reason) == (406, "NotAcceptable")
    assert "application/yaml" in message


@pytest.mark.parametrize(
    "accept",
    ["*/*", "text/html, */*", "text/html;q=0.9, application/json;q=0.1"],
)
def test_json_is_what_anything_means(space: Space, accept: str) -> None:
    """JSON is the answer to ``*/*``, and to its name among others."""
    answer = space.ask("GET", space.path(), Accept=accept)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")


def test_answers_have_an_audit_id(space: Space) -> None:
    """Every answer has Audit-Id, Cache-Control and Date, also a refusal."""
    for path in (space.path(), space.path(name="none"), "/nosuch"):
        headers = space.ask("GET", path).headers
        assert len(headers["Audit-Id"]) == 36
        assert headers["Cache-Control"] == "no-cache, private"
        assert headers["Date"].endswith(" GMT")


def test_an_audit_id_can_be_given(space: Space) -> None:
    """An Audit-Id that the client sends is the one in the answer."""
    answer = space.ask("GET", space.path(), Audit_Id="made-up-by-a-client")
    assert answer.headers["Audit-Id"] == "made-up-by-a-client"


def test_answers_name_their_priority_level(space: Space) -> None:
    """Answers carry the uids of flow schema and priority level (K1)."""
    headers = space.ask("GET", space.path()).headers
    assert len(headers["X-Kubernetes-Pf-Flowschema-Uid"]) == 36
    assert len(headers["X-Kubernetes-Pf-Prioritylevel-Uid"]) == 36


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b'"text"', b"null", b"", b'{"metadata": "text"}', b'{"data": {"a": 1}}', b"\xff"],
)
def test_bodies_that_make_no_object_are_400(space: Space, body: bytes) -> None:
    """Broken JSON, and JSON of wrong types, is 400 BadRequest for a create."""
    answer = space.ask("POST", space.path(), body)
    code, reason, _ = refusal(answer)
    if body in (b"", b"null", b"[]", b'"text"'):
        assert code in (400, 422)
    else:
        assert (code, reason) == (400, "BadRequest")


def test_another_kind_is_400(space: Space) -> None:
    """A body of another kind than the path's is 400."""
    body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}}
    answer = space.ask("POST", space.path(), body)
    assert refusal(answer)[:2] == (400, "BadRequest")


def test_an_unknown_content_type_is_415(space: Space) -> None:
    """A body of a type that is not known is 415 UnsupportedMediaType."""
    answer = space.ask("POST", space.path(), b"x", Content_Type="text/csv")
    assert refusal(answer)[:2] == (415, "UnsupportedMediaType")


def test_yaml_is_understood(space: Space) -> None:
    """A body may be YAML."""
    body = b"metadata:\n  name: a\ndata:\n  x: '1'\n"
    answer = space.ask("POST", space.path(), body, Content_Type="application/yaml")
    assert answer.status == 201
    assert space.get("a")["data"] == {"x": "1"}


def test_a_body_over_3_mib_is_413(space: Space) -> None:
    """A body over 3 MiB is 413 RequestEntityTooLarge."""
    body = json.dumps({"metadata": {"name": "a"}, "data": {"x": "x" * (3 * 1024 * 1024)}})
    answer = space.ask("POST", space.path(), body.encode())
    assert refusal(answer)[:2] == (413, "RequestEntityTooLarge")


@pytest.mark.parametrize(
    ("metadata", "where"),
    [
        ({"uid": 1}, "ObjectMeta.metadata.uid of type types.UID"),
        ({"generation": 1.5}, "ObjectMeta.metadata.generation of type int64"),
        (
            {"ownerReferences": [{"controller": 1}]},
            "OwnerReference.metadata.ownerReferences.controller of type bool",
        ),
        (
            {"ownerReferences": [{"uid": 1}]},
            "OwnerReference.metadata.ownerReferences.uid of type types.UID",
        ),
    ],
)
def test_metadata_of_the_wrong_type(space: Space, metadata: Json, where: str) -> None:
    """Members of metadata of another JSON type than Go's are 400, and what they should be is
    said.
    """
    answer = space.ask("POST", space.path(), {"metadata": {"name": "a", **metadata}})
    number = "number 1.5" if "generation" in metadata else "number"
    start = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal '
    text = f"{start}{number} into Go struct field {where}"
    assert refusal(answer) == (400, "BadRequest", text)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (1, "number into Go struct field Secret.data of type map[string][]uint8"),
        ({"a": 1}, "number into Go struct field Secret.data of type []uint8"),
        ({"a": [256]}, "number 256 into Go struct field Secret.data of type uint8"),
    ],
)
def test_bytes_of_the_wrong_type(space: Space, data: object, said: str) -> None:
    """What is neither base64 nor a list of bytes is 400."""
    answer = space.ask("POST", space.path("secrets"), {"metadata": {"name": "a"}, "data": data})
    start = 'Secret in version "v1" cannot be handled as a Secret: json: cannot unmarshal '
    assert refusal(answer) == (400, "BadRequest", start + said)


def test_bytes_can_be_a_list(space: Space) -> None:
    """A list of bytes is taken for their base64."""
    body = {"metadata": {"name": "a"}, "data": {"a": [104, 105]}}
    answer = space.ask("POST", space.path("secrets"), body)
    assert (answer.status, answer.json()["data"]) == (201, {"a": "aGk="})


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"items": [1]}, "number into Go struct field JSONSchemaProps.{}.items of type "),
        ({"allOf": 1}, "number into Go struct field JSONSchemaProps.{}.allOf of type []"),
    ],
)
def test_schemas_of_the_wrong_type(server: TestedServer, schema: Json, said: str) -> None:
    """What is no schema where one should be is 400."""
    versions = [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]
    body = {"metadata": {"name": "as.b"}, "spec": {"group": "b", "versions": versions}}
    answer = server.request("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body)
    kind = "CustomResourceDefinition"
    start = f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal '
    text = start + said.format("spec.versions.schema.openAPIV3Schema") + "v1.JSONSchemaProps"
    assert refusal(answer) == (400, "BadRequest", text)
