"""PartialObjectMetadata and its list."""

from __future__ import annotations

import json

import pytest

from tests.testing.apiserver.read_server import ReadServer, events, message

ONE = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


def test_an_object_is_cut_down_to_its_metadata() -> None:
    server = ReadServer()
    server.put("pods", "a", labels={"x": "y"}, spec={"nodeName": "n"})
    answer = server.answer("/api/v1/namespaces/default/pods/a", accept=ONE)
    assert answer.body == (
        b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a",'
        b'"namespace":"default","resourceVersion":"2","labels":{"x":"y"}}}\n'
    )


def test_the_version_that_was_asked_for_is_given() -> None:
    server = ReadServer()
    server.put("pods", "a")
    old = server.answer("/api/v1/pods", accept=LIST.replace("v1", "v1beta1"))
    value = json.loads(old.body)
    assert value["apiVersion"] == value["items"][0]["apiVersion"] == "meta.k8s.io/v1beta1"


def test_a_list_has_pages() -> None:
    """K8, and its items carry their kind."""
    server = ReadServer()
    for name in "abc":
        server.put("pods", name)
    page = json.loads(server.answer("/api/v1/pods?limit=2", accept=LIST).body)
    assert page["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in page["items"]] == ["PartialObjectMetadata"] * 2
    assert page["metadata"]["remainingItemCount"] == 1


@pytest.mark.parametrize("path", ["/api/v1/pods", "/apis/example.com/v1/widgets"])
def test_an_empty_list_is_null(path: str) -> None:
    """K8."""
    answer = ReadServer().answer(path, accept=LIST)
    assert answer.body == (
        b'{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1",'
        b'"metadata":{"resourceVersion":"1"},"items":null}\n'
    )


@pytest.mark.parametrize(
    ("path", "go_type"),
    [
        ("/api/v1/pods", "*core.PodList"),
        ("/apis/apps/v1/deployments", "*apps.DeploymentList"),
        ("/apis/events.k8s.io/v1/events", "*core.EventList"),
        ("/apis/rbac.authorization.k8s.io/v1/clusterroles", "*rbac.ClusterRoleList"),
        ("/apis/example.com/v1/widgets", "*unstructured.UnstructuredList"),
    ],
)
def test_a_list_is_no_single_object(path: str, go_type: str) -> None:
    answer = ReadServer().answer(path, accept=ONE)
    assert answer.status == 406
    assert message(answer) == (
        f"you requested PartialObjectMetadata, but the requested object is a list ({go_type})"
    )


def test_a_single_object_is_no_list() -> None:
    server = ReadServer()
    server.put("pods", "a")
    answer = server.answer("/api/v1/namespaces/default/pods/a", accept=LIST)
    assert answer.status == 406
    assert message(answer) == (
        "you requested PartialObjectMetadataList, but the requested object is not a list "
        "(*core.Pod)"
    )


def test_what_is_wrong_with_the_list_itself_is_told_first() -> None:
    assert ReadServer().answer("/api/v1/pods?limit=x", accept=ONE).status == 400
    server = ReadServer(rv=10)
    server.log.compact(10)
    assert server.answer("/api/v1/pods?limit=1&resourceVersion=5", accept=ONE).status == 410


def test_a_watch_has_metadata_only() -> None:
    server = ReadServer()
    server.put("widgets", "a", spec={"n": 1})
    stream = server.watch("/apis/example.com/v1/widgets?watch=1", accept=ONE)
    server.put("widgets", "a", spec={"n": 2})
    server.delete("widgets", "a")
    frames = stream.take()
    assert events(frames) == [("ADDED", "a", "2"), ("MODIFIED", "a", "3"), ("DELETED", "a", "4")]
    assert all(b'"spec"' not in frame for frame in frames)


def test_a_watch_as_list_ends_at_the_first_event() -> None:
    """K18."""
    server = ReadServer()
    path = "/api/v1/pods?watch=1&resourceVersion=1&timeoutSeconds=5"
    stream = server.watch(path, accept=LIST)
    assert not stream.ended
    server.put("pods", "a")
    assert stream.ended
    assert stream.take() == []
    assert server.watch(path, accept=LIST).ended  # from the history


def test_a_watch_as_list_without_events_lasts() -> None:
    """K18."""
    server = ReadServer()
    stream = server.watch("/api/v1/pods?watch=1&timeoutSeconds=5", accept=LIST)
    assert server.run(stream, 4) == []
    assert not stream.ended
    server.run(stream, 1)
    assert stream.ended


def test_the_error_of_such_a_watch_is_shown() -> None:
    """K23: every form has the same Status."""
    server = ReadServer(rv=10)
    stream = server.watch("/api/v1/pods?watch=1&resourceVersion=5", accept=LIST)
    (frame,) = stream.take()
    assert json.loads(frame)["object"]["code"] == 410
