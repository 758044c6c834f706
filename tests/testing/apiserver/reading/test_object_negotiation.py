"""The Accept header of reads and watches."""

from __future__ import annotations

import json

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.read_server import ReadServer, message

_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_STREAMS = "application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
_ONLY = "only the following media types are accepted: "
_AVAILABLE = "406: Not Acceptable\n\nAvailable representations: "
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"

PODS, WIDGETS = "/api/v1/pods", "/apis/example.com/v1/widgets"
POD = "/api/v1/namespaces/default/pods/a"


def _server() -> ReadServer:
    server = ReadServer()
    server.put("pods", "a")
    server.put("widgets", "a")
    return server


def _refusal(path: str, accept: str) -> str:
    answer = _server().request(path, accept=accept)
    assert isinstance(answer, Answer)
    assert answer.status == 406
    return message(answer)


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "application/json",
        "*/*",
        "application/json;stream=watch",
        "application/json;charset=utf-8",
        "application/json;q=abc",
        "application/json;as=Foo,application/json",
        "application/vnd.kubernetes.protobuf,application/json",
        f"{TABLE},application/json",
        "application/json;q=0.1,application/vnd.kubernetes.protobuf;q=0.9",
    ],
)
def test_json_is_given_to_whoever_takes_it(accept: str | None) -> None:
    """K6."""
    for path in (PODS, WIDGETS, POD, f"{PODS}?watch=1&timeoutSeconds=1"):
        reaction = _server().request(path, accept=accept)
        assert not isinstance(reaction, Answer) or reaction.status == 200


def test_the_best_wins_and_of_equals_the_first() -> None:
    """K6."""
    metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    for accept, kind in [
        (f"{metadata},application/json", "PartialObjectMetadataList"),
        (f"application/json,{metadata}", "PodList"),
        (f"application/json;q=0.5,{metadata};q=0.6", "PartialObjectMetadataList"),
    ]:
        assert json.loads(_server().answer(PODS, accept=accept).body)["kind"] == kind


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "application/*", "*"])
def test_built_in_types_look_for_a_name_that_they_know(accept: str) -> None:
    assert _refusal(POD, accept) == _AVAILABLE + _TYPES
    assert _refusal(PODS, accept) == f"{_AVAILABLE}{_TYPES}, {_STREAMS}"
    assert _refusal(f"{PODS}?limit=abc", accept).startswith("406")


@pytest.mark.parametrize("accept", ["application/*", "text/html, application/*", "*"])
def test_custom_resources_know_more_ways_to_say_anything(accept: str) -> None:
    assert _server().answer(WIDGETS, accept=accept).status == 200


@pytest.mark.parametrize(
    "accept",
    [
        "application/json;as=Foo;g=meta.k8s.io;v=v1",
        "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v2",
        "application/json;as=PartialObjectMetadataList",
        "application/json;g=meta.k8s.io",
        "application/json;stream=foo",
    ],
)
def test_what_json_cannot_be_is_refused(accept: str) -> None:
    for path in (PODS, WIDGETS, POD, f"{PODS}?watch=1", f"{PODS}?limit=abc"):
        assert _refusal(path, accept) == _ONLY + _TYPES


def test_a_watch_in_yaml_is_refused() -> None:
    """K18."""
    assert _refusal(f"{PODS}?watch=1", "application/yaml") == _ONLY + _STREAMS
