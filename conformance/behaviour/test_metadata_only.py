"""PartialObjectMetadata and its list."""

from __future__ import annotations

from typing import Any

from conformance.behaviour.space import Space, names, refusal, rv, steps
from conformance.objects import CustomResource, pod

_G = "g=meta.k8s.io;v=v1"
_LIST = f"application/json;as=PartialObjectMetadataList;{_G}"
_ONE = f"application/json;as=PartialObjectMetadata;{_G}"


def test_a_list_of_metadata(space: Space) -> None:
    """A list as PartialObjectMetadataList: each item has kind, apiVersion and metadata alone."""
    created = space.put(pod("web"), "pods")
    answer = space.ask("GET", space.path("pods"), Accept=_LIST)
    listed = answer.json()
    assert answer.status == 200
    assert (listed["kind"], listed["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    [item] = listed["items"]
    assert item == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": created["metadata"],
    }


def test_an_empty_list_of_metadata_is_null(space: Space) -> None:
    """An empty metadata list has ``"items":null`` (K8)."""
    listed = space.ask("GET", space.path(), Accept=_LIST).json()
    assert listed["items"] is None
    assert rv(listed) > 0


def test_a_list_of_metadata_is_one_chunk(space: Space) -> None:
    """A metadata list over 2048 bytes is one chunk (K2)."""
    space.add(*(f"n{number:02}" for number in range(20)))
    with space.server.stream(space.path(), headers={"Accept": _LIST}) as stream:
        stream.finished()
        assert stream.is_chunked
        assert len(stream.body) > 2048
        assert len(stream.chunks) == 1


def test_one_objects_metadata(space: Space) -> None:
    """GET as PartialObjectMetadata gives kind, apiVersion and metadata."""
    [created] = space.add("a", x="1")
    got = space.ask("GET", space.path(name="a"), Accept=_ONE).json()
    assert list(got) == ["kind", "apiVersion", "metadata"]
    assert got["metadata"] == created["metadata"]


def test_a_list_is_no_object(space: Space) -> None:
    """A list as PartialObjectMetadata is 406, and an object as its list too."""
    space.add("a")
    for path, accept in ((space.path(), _ONE), (space.path(name="a"), _LIST)):
        assert refusal(space.ask("GET", path, Accept=accept))[:2] == (406, "NotAcceptable")


def test_a_watch_of_metadata(space: Space) -> None:
    """A watch as PartialObjectMetadata: every event has the metadata alone."""
    [created] = space.add("a", x="1")
    path = space.path(watch=1, resourceVersion=rv(created))
    with space.server.stream(path, headers={"Accept": _ONE}) as watch:
        changed = space.change("a", data={"x": "2"})
        space.remove("a")
        events = watch.events(2)
    assert steps(events) == [("MODIFIED", "a"), ("DELETED", "a")]
    assert events[0]["object"] == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": changed["metadata"],
    }


def test_a_watch_as_a_list_is_no_watch(space: Space) -> None:
    """A watch as PartialObjectMetadataList is 200, and ends at the first event, empty (K18)."""
    space.add("a")
    path = space.path(watch=1, timeoutSeconds=20)
    with space.server.stream(path, headers={"Accept": _LIST}) as watch:
        watch.finished()
        assert (watch.status, watch.body, watch.end) == (200, b"", "clean")
        assert watch.ended_after < 5


def test_custom_resources_have_metadata_too(space: Space, widgets: CustomResource) -> None:
    """Of a CR the metadata list is the same, and in the typed order."""
    space.put(widgets.object("a", color="red"), "widgets")
    listed = space.ask("GET", space.path("widgets"), Accept=_LIST).json()
    assert listed["kind"] == "PartialObjectMetadataList"
    assert names(listed) == ["a"]
    assert "spec" not in listed["items"][0]


def test_pages_of_metadata(space: Space) -> None:
    """limit and continue work on metadata lists."""
    space.add("a", "b", "c")
    first = space.ask("GET", space.path(limit=2), Accept=_LIST).json()
    token = first["metadata"]["continue"]
    second = space.ask("GET", space.path(limit=2, continue_=token), Accept=_LIST).json()
    assert [names(first), names(second)] == [["a", "b"], ["c"]]
    assert first["metadata"]["remainingItemCount"] == 1


def test_a_watch_list_of_metadata(space: Space) -> None:
    """WatchList works on metadata; its bookmark is a PartialObjectMetadata."""
    space.add("a")
    query: dict[str, Any] = {"sendInitialEvents": True, "resourceVersionMatch": "NotOlderThan"}
    path = space.path(watch=1, allowWatchBookmarks=True, **query)
    with space.server.stream(path, headers={"Accept": _ONE}) as watch:
        added, end = watch.events(2)
    assert added["object"]["kind"] == end["object"]["kind"] == "PartialObjectMetadata"
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_errors_of_a_metadata_watch_are_a_status(space: Space) -> None:
    """An ERROR in a metadata watch is a plain Status."""
    query: dict[str, Any] = {"sendInitialEvents": True, "resourceVersionMatch": "NotOlderThan"}
    path = space.path("events", watch=1, allowWatchBookmarks=True, resourceVersion=10**9, **query)
    with space.server.stream(path, headers={"Accept": _ONE}) as watch:
        watch.finished()
        assert b'"kind":"Status"' in watch.body.replace(b'": "', b'":"')


def test_json_is_the_second_choice(space: Space) -> None:
    """A client that asks for metadata or else JSON gets metadata."""
    space.add("a")
    answer = space.ask("GET", space.path(), Accept=f"{_LIST},application/json")
    assert answer.json()["kind"] == "PartialObjectMetadataList"
