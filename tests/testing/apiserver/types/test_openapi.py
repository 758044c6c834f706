"""`/openapi/v3` and `/openapi/v2` (K42, K49, K51)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.asking import Asking, recorded

PROTOBUF_V2 = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "port": {"x-kubernetes-int-or-string": True},
                                    "color": {
                                        "type": "string",
                                        "nullable": True,
                                        "default": "red",
                                        "description": "What it looks like.",
                                    },
                                },
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture
def ask() -> Asking:
    ask = Asking()
    ask.server.load([DEFINITION])
    ask.now = 10.0
    return ask


def urls(ask: Asking) -> dict[str, str]:
    paths = json.loads(ask.get("/openapi/v3").body)["paths"]
    return {name: entry["serverRelativeURL"] for name, entry in paths.items()}


def document(ask: Asking, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ask.get(urls(ask)[name]).body)
    return found


def headers(answer: Answer) -> dict[str, str]:
    return dict(answer.headers)


def test_the_index_names_every_group_version(ask: Asking) -> None:
    answer = ask.get("/openapi/v3")
    assert answer.content_type == "text/plain; charset=utf-8"
    assert {"api", "api/v1", "apis", "apis/apps", "apis/apps/v1", "version"} <= set(urls(ask))
    assert "apis/example.com/v1" in urls(ask)
    assert urls(ask)["api/v1"].startswith("/openapi/v3/api/v1?hash=")


def test_every_document_has_all_that_it_refers_to(ask: Asking) -> None:
    for url in urls(ask).values():
        text = ask.get(url).body.decode()
        found = json.loads(text)
        assert found["openapi"] == "3.0.0"
        for name in text.split('"#/components/schemas/')[1:]:
            assert name.partition('"')[0] in found["components"]["schemas"]


def test_what_has_its_hash_never_changes(ask: Asking) -> None:
    answer = ask.get(urls(ask)["version"])
    assert headers(answer)["Cache-Control"] == "public, immutable"
    assert headers(answer)["Expires"] == "Fri, 01 Jan 2027 00:00:10 UTC"
    plain = ask.get("/openapi/v3/version")
    assert "Cache-Control" not in headers(plain)
    assert plain.body == answer.body
    assert headers(plain)["Content-Length"] == str(len(plain.body))


def test_a_stale_hash_is_sent_on(ask: Asking) -> None:
    recording = recorded("k-disc-openapi-v3-bad-hash")
    answer = ask.get("/openapi/v3/apis/example.com/v1?hash=ABC")
    assert (answer.status, answer.body) == (recording.status, b"")
    assert headers(answer)["Location"] == urls(ask)["apis/example.com/v1"]
    recorded_names = [name for name, _ in recording.headers]
    assert {"Etag", "Location", "Vary"} <= set(recorded_names) & set(headers(answer))


@pytest.mark.parametrize("target", ["/openapi/v3/api/v1", "/openapi/v2"])
def test_what_has_not_changed_is_not_sent_again(ask: Asking, target: str) -> None:
    etag = headers(ask.get(target))["Etag"]
    answer = ask.get(target, if_none_match=etag)
    assert (answer.status, answer.body) == (304, b"")
    assert headers(answer)["Etag"] == etag


def test_a_definition_changes_the_hash_of_its_own_document_alone(ask: Asking) -> None:
    before = urls(ask)
    etag = headers(ask.get("/openapi/v2"))["Etag"]
    target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
    patch = [
        {"op": "add", "path": "/spec/versions/0/schema/openAPIV3Schema/description", "value": "x"}
    ]
    answer = ask.answer("PATCH", target, patch, content_type="application/json-patch+json")
    assert answer.status == 200, answer.body
    after = urls(ask)
    assert {name for name in after if after[name] != before[name]} == {"apis/example.com/v1"}
    assert headers(ask.get("/openapi/v2"))["Etag"] != etag


@pytest.mark.parametrize(
    ("target", "accept", "status"),
    [
        ("/openapi/v3/nosuch", "application/json", 404),
        ("/openapi/v3/apis/example.com", "application/json", 404),
        ("/openapi/v3/", "application/json", 404),
        ("/openapi/v3/version", "text/html", 406),
        ("/openapi/v2", "text/html", 406),
        ("/openapi/v3", "text/html", 200),
    ],
)
def test_what_is_not_there(ask: Asking, target: str, accept: str, status: int) -> None:
    answer = ask.get(target, accept=accept)
    assert answer.status == status
    assert status == 200 or (answer.body, answer.content_type) == (b"", None)


def test_kubectl_finds_what_a_patch_can_do(ask: Asking) -> None:
    """fieldValidation, strategic merge and the kinds: by them kubectl decides."""
    path = "/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
    patch = document(ask, "apis/apps/v1")["paths"][path]["patch"]
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]
    assert patch["x-kubernetes-group-version-kind"] == {
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
    }


def test_a_custom_resource_has_a_document(ask: Asking) -> None:
    found = document(ask, "apis/example.com/v1")
    widget = found["components"]["schemas"]["com.example.v1.Widget"]
    assert list(widget["properties"]) == ["apiVersion", "kind", "metadata", "spec"]
    spec = widget["properties"]["spec"]["properties"]
    assert spec["color"]["description"] == "What it looks like."
    assert spec["port"]["anyOf"] == [{"type": "integer"}, {"type": "string"}]
    path = "/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"
    assert (
        "application/strategic-merge-patch+json"
        not in (found["paths"][path]["patch"]["requestBody"]["content"])
    )


def test_version_2_says_no_more_than_it_can(ask: Asking) -> None:
    found = json.loads(ask.get("/openapi/v2").body)
    widget = found["definitions"]["com.example.v1.Widget"]
    spec = widget["properties"]["spec"]["properties"]
    assert spec["color"] == {"description": "What it looks like."}
    assert spec["port"] == {"x-kubernetes-int-or-string": True}
    service = found["definitions"]["io.k8s.api.core.v1.ServicePort"]["properties"]
    assert service["port"] == {"type": "integer", "format": "int32"}


def test_version_2_in_protobuf_has_the_same_definitions(ask: Asking) -> None:
    answer = ask.get("/openapi/v2", accept=PROTOBUF_V2)
    assert answer.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answer.body.startswith(b"\x0a\x032.0\x12")
    for name in json.loads(ask.get("/openapi/v2").body)["definitions"]:
        assert name.encode() in answer.body


@pytest.mark.parametrize("form", ["spec.v3@v1.0", "spec.v3.v1.0"])
def test_version_3_in_protobuf_has_the_same_schemas(ask: Asking, form: str) -> None:
    accept = f"application/com.github.proto-openapi.{form}+protobuf"
    path = "/openapi/v3/apis/example.com/v1"
    answer, plain = ask.get(path, accept=accept), ask.get(path)
    assert answer.content_type == "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
    assert answer.body.startswith(b"\x0a\x053.0.0\x12")
    assert dict(answer.headers)["Etag"] == dict(plain.headers)["Etag"]
    for name in json.loads(plain.body)["components"]["schemas"]:
        assert name.encode() in answer.body
    assert ask.get(path, accept=f"text/html, {accept};q=0.1").content_type == answer.content_type
    assert ask.get(path, accept="text/html").status == 406


def test_descriptions_are_our_own_and_of_fields_that_are_there(ask: Asking) -> None:
    pod = document(ask, "api/v1")["components"]["schemas"]["io.k8s.api.core.v1.Pod"]
    assert pod["description"] == "Containers that run together on one node."
    assert pod["properties"]["spec"]["description"] == "What shall run, and how."
