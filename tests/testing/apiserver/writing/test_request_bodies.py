"""Bodies of POST and PUT: JSON and YAML, and what cannot be read (K28)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.testing.apiserver.asking import message
from tests.testing.apiserver.write_server import Writing, parsed

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
META = (
    'type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)


@pytest.fixture
def server() -> Writing:
    return Writing()


def said(server: Writing, body: bytes, **more: Any) -> str:
    answer = server.write("POST", CONFIGMAPS, body, **more)
    assert answer.status == 400
    return message(answer)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            b"[]",
            f"couldn't get version/kind; json parse error: json: cannot unmarshal array "
            f"into Go value of {META} (5b5d)",
        ),
        (
            b"123",
            f"couldn't get version/kind; json parse error: json: cannot unmarshal number "
            f"into Go value of {META} (313233)",
        ),
        (
            b'{"kind":5}',
            "couldn't get version/kind; json parse error: json: cannot unmarshal number "
            'into Go struct field .kind of type string ({"kind":5})',
        ),
        (
            b"",
            "couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
        ),
        (
            b'{"metadata":{"name":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"',
            "couldn't get version/kind; json parse error: unexpected end of JSON input "
            '({"metadata":{"name":"aaaaaaaaa ...)',
        ),
    ],
)
def test_k28_what_is_no_object(server: Writing, body: bytes, text: str) -> None:
    assert said(server, body) == UNRECOGNIZED + text


@pytest.mark.parametrize(
    ("kind", "version", "text"),
    [
        (
            "Nope",
            "v1",
            'Nope in version "v1" cannot be handled as a ConfigMap: no kind "Nope" is '
            'registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
        ),
        (
            "Deployment",
            "apps/v1",
            'Deployment in version "v1" cannot be handled as a ConfigMap: converting '
            "(v1.Deployment) to (core.ConfigMap): unknown conversion",
        ),
    ],
)
def test_k28_what_is_another_object(server: Writing, kind: str, version: str, text: str) -> None:
    body = f'{{"kind":"{kind}","apiVersion":"{version}","metadata":{{"name":"a"}}}}'
    assert said(server, body.encode()) == text


def test_k28_what_is_of_another_version(server: Writing) -> None:
    target = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers"
    body = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a"},
    }
    answer = server.write("POST", target, body)
    assert (answer.status, message(answer)) == (
        400,
        "the API version in the data (autoscaling/v1) does not match the expected API version "
        "(autoscaling/v2)",
    )


def test_null_is_an_object_that_says_nothing(server: Writing) -> None:
    answer = server.write("POST", CONFIGMAPS, b"null")
    assert answer.status == 422


@pytest.mark.parametrize("kind", ["", "application/json; charset=utf-8", "Application/JSON"])
def test_k28_media_types_that_are_json(server: Writing, kind: str) -> None:
    assert server.write("POST", CONFIGMAPS, {"metadata": {"name": "a"}}, kind=kind).status == 201


def test_k28_media_types_that_are_refused(server: Writing) -> None:
    answer = server.write("POST", CONFIGMAPS, b"x", kind="garbage")
    assert (answer.status, message(answer)) == (
        415,
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf",
    )


def test_yaml_is_read_as_json_would_be(server: Writing) -> None:
    body = b"metadata:\n  name: a\ndata:\n  date: '2026-01-01'\n  yes: 'on'\n"
    answer = server.write("POST", CONFIGMAPS, body, kind="application/yaml")
    assert parsed(answer)["data"]["date"] == "2026-01-01"
    unquoted = b"{apiVersion: example.com/v1, kind: X, d: 2026-01-01}"
    assert said(server, unquoted, kind="application/yaml").startswith("X in version")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"a: b: c", "yaml: mapping values are not allowed in this context (613a20623a2063)"),
        (b"a: [", "yaml: "),
        (b"a: !!python/object:os.system {}", "yaml: "),
        (b"\xff\xfe\xff", "yaml: "),
    ],
)
def test_yaml_that_is_none(server: Writing, body: bytes, text: str) -> None:
    assert said(server, body, kind="application/yaml").startswith(UNRECOGNIZED + text)


def test_text_that_is_no_utf_8_is_made_readable(server: Writing) -> None:
    body = b'{"metadata":{"name":"a"},"data":{"a":"\xff","b":"\\ud800"}}'
    answer = server.write("POST", CONFIGMAPS, body)
    assert parsed(answer)["data"] == {"a": "\ufffd", "b": "\ufffd"}


@pytest.mark.parametrize("body", [b"a: !!timestamp x", b"a: !!bool x"])
def test_a_tag_that_does_not_fit_its_value_is_a_bad_request(server: Writing, body: bytes) -> None:
    assert said(server, body, kind="application/yaml")


def test_aliases_that_multiply_are_refused(server: Writing) -> None:
    ten = b",".join([b'"x"'] * 10)
    body = b"l0: &l0 [%s]\n" % ten + b"".join(
        b"l%d: &l%d [%s]\n" % (level, level, b",".join([b"*l%d" % (level - 1)] * 10))
        for level in range(1, 7)
    )
    assert "excessive aliasing" in said(server, body, kind="application/yaml")
