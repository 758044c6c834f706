"""PATCH: media types and bodies, and what is said of the wrong ones (K29, K30)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import JSON_PATCH, MERGE, Writing, parsed

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
ONE = f"{CONFIGMAPS}/a"


@pytest.fixture
def server() -> Writing:
    server = Writing()
    server.made(CONFIGMAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    return server


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            b"[]",
            "error decoding patch: json: cannot unmarshal array into Go value of type "
            "map[string]interface {}",
        ),
        (
            b'"x"',
            "error decoding patch: json: cannot unmarshal string into Go value of type "
            "map[string]interface {}",
        ),
        (b"null", "Invalid JSON Patch"),
        (b"", "error decoding patch: unexpected end of JSON input"),
        (b'{"a":1}x', "error decoding patch: invalid character 'x' after top-level value"),
        (
            b'{"metadata":null}',
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            b'{"metadata":{"name":"q"}}',
            "the name of the object (q) does not match the name on the URL (a)",
        ),
        (
            b'{"metadata":{"namespace":"q"}}',
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ],
)
def test_k30_merge_patches_that_are_refused(server: Writing, body: bytes, said: str) -> None:
    answer = server.write("PATCH", ONE, body, kind=MERGE)
    assert (answer.status, message(answer)) == (400, said)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (
            b"{}",
            400,
            "error decoding patch: json: cannot unmarshal object into Go value of type "
            "[]handlers.jsonPatchOp",
        ),
        (
            b"[5]",
            400,
            "error decoding patch: json: cannot unmarshal number into Go value of type "
            "handlers.jsonPatchOp",
        ),
        (b"[{}]", 422, "the server rejected our request due to an error in our request"),
        (
            json.dumps([{"op": "test", "path": "/data/x", "value": "1"}] * 10_001).encode(),
            413,
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            "10000, got 10001",
        ),
        (
            b'[{"op":"replace","path":"/metadata/name","value":"q"}]',
            400,
            "the name of the object (q) does not match the name on the URL (a)",
        ),
        (
            b'[{"op":"replace","path":"/metadata/resourceVersion","value":"3"}]',
            409,
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; '
            "please apply "
            "your changes to the latest version and try again",
        ),
    ],
)
def test_k30_json_patches_that_are_refused(
    server: Writing, body: bytes, status: int, said: str
) -> None:
    answer = server.write("PATCH", ONE, body, kind=JSON_PATCH)
    assert (answer.status, message(answer)) == (status, said)


@pytest.mark.parametrize("body", [b"null", b"[]"])
def test_k30_a_json_patch_may_do_nothing(server: Writing, body: bytes) -> None:
    assert server.write("PATCH", ONE, body, kind=JSON_PATCH).status == 200


def test_k30_the_object_is_looked_for_first(server: Writing) -> None:
    assert server.write("PATCH", f"{CONFIGMAPS}/nope", b"{bad", kind=MERGE).status == 404


@pytest.mark.parametrize("kind", ["", "text/plain", "application/json"])
def test_k30_other_media_types(server: Writing, kind: str) -> None:
    answer = server.write("PATCH", ONE, b"{}", kind=kind)
    assert (answer.status, message(answer)) == (415, "415: Unsupported Media Type")


def test_k30_a_media_type_may_have_parameters(server: Writing) -> None:
    assert server.write("PATCH", ONE, b"{}", kind=f"{MERGE}; charset=utf-8").status == 200


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (
            {"data": {"x": 5}},
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
        (
            {"apiVersion": "v2"},
            'no kind "ConfigMap" is registered for version "v2" in scheme '
            '"pkg/runtime/scheme.go:111"',
        ),
    ],
)
def test_k29_what_makes_no_object_is_shown_whole(
    server: Writing, patch: dict[str, Any], said: str
) -> None:
    answer = server.write("PATCH", ONE, patch, kind=MERGE)
    assert answer.status == 422
    text = message(answer)
    assert text.startswith(' "" is invalid: patch: Invalid value: "{\\"apiVersion\\":')
    assert text.endswith(f'}}": {said}')
    assert "name" not in parsed(answer)["details"]


@pytest.mark.parametrize(("name", "code"), [("m" * 128, 200), ("m" * 129, 422), ("a\nb", 422)])
def test_k9_owners_that_a_client_makes_up_have_short_plain_names(
    server: Writing, name: str, code: int
) -> None:
    entry = {
        "manager": name,
        "operation": "Update",
        "apiVersion": "v1",
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:data": {"f:x": {}}},
    }
    patch = {"metadata": {"managedFields": [entry]}}
    answer = server.write("PATCH", ONE, patch, kind=MERGE)
    assert answer.status == code


def test_k27_what_a_patch_leaves_out_stays(server: Writing) -> None:
    before = parsed(server.get(ONE))
    patch = {
        "kind": None,
        "metadata": {"uid": None, "creationTimestamp": None, "resourceVersion": ""},
    }
    assert server.merged(ONE, patch) == before
