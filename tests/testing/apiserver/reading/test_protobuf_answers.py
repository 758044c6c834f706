"""Protobuf both ways: bodies that typed clients send, and answers (K50)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.types.messages import decode_object, encode_object
from tests.testing.apiserver.asking import Asking, recorded, request_of

PROTOBUF = "application/vnd.kubernetes.protobuf"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture
def ask() -> Asking:
    return Asking()


def test_what_kubectl_sends_is_created(ask: Asking) -> None:
    ask.answer("POST", "/api/v1/namespaces", {"metadata": {"name": "rec"}})
    recording = recorded("k-kubectl-create-configmap-01")
    answer: Any = ask.server.handle(request_of(recording))
    assert (answer.status, answer.content_type) == (201, PROTOBUF)
    made = decode_object(answer.body)
    wanted = decode_object(recording.body)
    for value in (made, wanted):
        for name in ("uid", "resourceVersion", "creationTimestamp"):
            del value["metadata"][name]
        del value["metadata"]["managedFields"][0]["time"]
    assert made == wanted


def test_a_body_of_another_kind_is_refused(ask: Asking) -> None:
    body = encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}})
    answer = ask.answer("POST", MAPS, body, content_type=PROTOBUF)
    assert answer.status == 400
    assert "cannot be handled as a ConfigMap" in answer.body.decode()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"nonsense", "expected prefix [107 56 115 0] (6e6f6e73656e7365)"),
        (b"", "empty data"),
        (b"k8s\0", "empty body"),
        (b"k8s\0\xff\xff", "unexpected EOF"),
    ],
)
def test_a_body_that_is_none_is_refused(ask: Asking, body: bytes, message: str) -> None:
    answer = ask.answer("POST", MAPS, body, content_type=PROTOBUF)
    assert answer.status == 400
    assert message in answer.body.decode()


def test_unknown_members_cannot_be_in_protobuf_whatever_the_validation(ask: Asking) -> None:
    body = encode_object({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a"}})
    target = f"{MAPS}?fieldValidation=Strict"
    assert ask.answer("POST", target, body, content_type=PROTOBUF).status == 201


@pytest.mark.parametrize("accept", [PROTOBUF, f"{PROTOBUF},application/json"])
def test_objects_lists_and_refusals_come_in_protobuf(ask: Asking, accept: str) -> None:
    ask.answer("POST", MAPS, {"metadata": {"name": "a"}, "data": {"x": "1"}})
    for target in (MAPS, f"{MAPS}/a", f"{MAPS}/none"):
        answer = ask.get(target, accept=accept)
        assert answer.content_type == PROTOBUF
        plain = json.loads(ask.get(target).body)
        if not plain["metadata"]:
            del plain["metadata"]
        assert decode_object(answer.body) == plain


def test_json_first_stays_json(ask: Asking) -> None:
    answer = ask.get(MAPS, accept=f"application/json,{PROTOBUF}")
    assert answer.content_type == "application/json"


def test_metadata_comes_in_protobuf(ask: Asking) -> None:
    ask.answer("POST", MAPS, {"metadata": {"name": "a"}})
    accept = f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
    found = decode_object(ask.get(MAPS, accept=accept).body)
    assert found["kind"] == "PartialObjectMetadataList"
    assert [item["metadata"]["name"] for item in found["items"]] == ["a"]


def test_a_table_does_not(ask: Asking) -> None:
    accept = f"{PROTOBUF};as=Table;g=meta.k8s.io;v=v1"
    assert ask.get(MAPS, accept=accept).status == 406


def test_a_watch_comes_in_protobuf(ask: Asking) -> None:
    stream: Any = ask("GET", f"{MAPS}?watch=1&resourceVersion=0", accept=PROTOBUF)
    assert stream.content_type == f"{PROTOBUF};stream=watch"
    ask.answer("POST", MAPS, {"metadata": {"name": "a"}})
    [frame] = stream.take()
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    assert frame[4:11] == b"\x0a\x05ADDED"
    assert decode_object(frame[frame.index(b"k8s\0") :])["metadata"]["name"] == "a"
    assert not stream.ended
    stream.close()


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
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


@pytest.mark.parametrize(
    ("accept", "target", "status", "content_type"),
    [
        (PROTOBUF, "", 406, PROTOBUF),
        (f"{PROTOBUF},application/json", "", 200, "application/json"),
        (f"{PROTOBUF},application/json", "/none", 404, PROTOBUF),
        (f"{PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", 200, PROTOBUF),
    ],
)
def test_custom_resources_have_no_messages(
    ask: Asking, accept: str, target: str, status: int, content_type: str
) -> None:
    ask.server.load([DEFINITION])
    ask.now = 10.0
    widgets = "/apis/example.com/v1/namespaces/default/widgets"
    answer = ask.get(f"{widgets}{target}", accept=accept)
    assert (answer.status, answer.content_type) == (status, content_type)
    sent = ask.answer("POST", widgets, b"k8s\0", content_type=PROTOBUF)
    assert sent.status == 415
