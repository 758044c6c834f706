"""Protobuf, which typed clients send and ask for (K50)."""

from __future__ import annotations

import pytest

from conformance.behaviour.space import Space
from conformance.objects import CustomResource
from listwatch.testing.apiserver.types.messages import decode_object, encode_object

_PROTOBUF = "application/vnd.kubernetes.protobuf"
_SENT = {"Content-Type": _PROTOBUF}


def _map(name: str) -> bytes:
    metadata = {"name": name}
    return encode_object({"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata})


def test_a_body_in_protobuf_is_created(space: Space) -> None:
    """POST in protobuf, and the answer in what is asked for."""
    answer = space.server.request("POST", space.path(), _map("a"), headers=_SENT)
    assert (answer.status, answer.json()["metadata"]["name"]) == (201, "a")
    both = {**_SENT, "Accept": f"{_PROTOBUF},application/json"}
    answer = space.server.request("POST", space.path(), _map("b"), headers=both)
    assert answer.headers["Content-Type"] == _PROTOBUF
    assert decode_object(answer.body)["metadata"]["name"] == "b"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            b"nonsense",
            "the object provided is unrecognized (must be of type ConfigMap): provided data does "
            "not appear to be a protobuf message, expected prefix [107 56 115 0] "
            "(6e6f6e73656e7365)",
        ),
        (
            b"k8s\0",
            "the object provided is unrecognized (must be of type ConfigMap): empty body "
            "(6b387300)",
        ),
        (
            encode_object({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a"}}),
            'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to '
            "(core.ConfigMap): unknown conversion",
        ),
    ],
)
def test_other_bodies_are_refused(space: Space, body: bytes, message: str) -> None:
    """What is no protobuf, or another kind, is 400."""
    answer = space.server.request("POST", space.path(), body, headers=_SENT)
    assert (answer.status, answer.json()["message"]) == (400, message)


def test_the_same_object_in_both(space: Space) -> None:
    """An object, and a list of them, say the same in JSON and in protobuf."""
    space.add("a", "b", labels={"app": "web"}, key="value")
    for path in (space.path(), space.path(name="a")):
        answer = space.server.request("GET", path, headers={"Accept": _PROTOBUF})
        assert answer.headers["Content-Type"] == _PROTOBUF
        assert decode_object(answer.body) == space.server.get(path)


def test_a_refusal_in_protobuf(space: Space) -> None:
    """A Status comes in protobuf, too."""
    path = space.path(name="none")
    answer = space.server.request("GET", path, headers={"Accept": _PROTOBUF})
    assert (answer.status, decode_object(answer.body)["reason"]) == (404, "NotFound")


def test_custom_resources_have_no_protobuf(space: Space, widgets: CustomResource) -> None:
    """406 where nothing else is acceptable; but their metadata has it."""
    path = space.path(widgets.plural)
    answer = space.server.request("GET", path, headers={"Accept": _PROTOBUF})
    assert (answer.status, decode_object(answer.body)["reason"]) == (406, "NotAcceptable")
    either = {"Accept": f"{_PROTOBUF},application/json"}
    assert space.server.request("GET", path, headers=either).json()["items"] == []
    space.put(widgets.object("a"), widgets.plural)
    metadata = {"Accept": f"{_PROTOBUF};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}
    found = decode_object(space.server.request("GET", path, headers=metadata).body)
    assert [item["metadata"]["name"] for item in found["items"]] == ["a"]


def test_a_watch_in_protobuf(space: Space) -> None:
    """Each event behind four bytes of its length."""
    space.add("a")
    path = space.path(watch=1, resourceVersion=0, timeoutSeconds=1)
    with space.server.stream(path, headers={"Accept": _PROTOBUF}) as watch:
        watch.finished()
        assert watch.header("Content-Type") == f"{_PROTOBUF};stream=watch"
        data = watch.body
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    assert data[4:11] == b"\x0a\x05ADDED"
    assert decode_object(data[data.index(b"k8s\0") :])["metadata"]["name"] == "a"
