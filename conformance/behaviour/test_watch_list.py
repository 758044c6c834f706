"""WatchList: the present state as events, and a bookmark at its end."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, refusal, rv, steps
from conformance.objects import CustomResource, pod
from conformance.requests import Json
from conformance.two_servers import TestedServer

_END = {"k8s.io/initial-events-end": "true"}
_ASK: dict[str, Any] = {
    "sendInitialEvents": True,
    "resourceVersionMatch": "NotOlderThan",
    "allowWatchBookmarks": True,
}


def _is_end(event: Json) -> bool:
    annotations: object = event["object"]["metadata"].get("annotations")
    return event["type"] == "BOOKMARK" and annotations == _END


def test_the_state_comes_and_then_its_end(space: Space) -> None:
    """ADDED sorted by name, then a BOOKMARK with the annotation k8s.io/initial-events-end."""
    space.add("b", "c", "a")
    with space.watch(**_ASK) as watch:
        *added, end = watch.events(4)
    assert steps(added) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")]
    assert _is_end(end)
    assert rv(end) >= max(rv(event) for event in added)


def test_an_empty_state_is_only_its_end(space: Space) -> None:
    """An empty set: only the bookmark."""
    with space.watch(**_ASK) as watch:
        [end] = watch.events(1)
    assert _is_end(end)
    assert end["object"]["kind"] == "ConfigMap"


@pytest.mark.parametrize("version", [None, "0", "N"], ids=["absent", "zero", "N"])
def test_it_works_at_any_rv(space: Space, version: str | None) -> None:
    """WatchList works with RV absent, 0 or N, N not being newer than the state."""
    [created] = space.add("a")
    at = rv(created) if version == "N" else version
    space.list()
    with space.watch(**_ASK, resourceVersion=at) as watch:
        added, end = watch.events(2)
    assert steps([added]) == [("ADDED", "a")]
    assert _is_end(end)
    assert rv(end) >= rv(created)


def test_it_sees_what_was_written_before(space: Space) -> None:
    """With RV absent the state has every write that was answered, thirty times over."""
    for number in range(30):
        space.add(f"n{number:02}")
        with space.watch(**_ASK) as watch:
            assert len(watch.events(number + 2)) == number + 2


def test_changes_follow_the_end(space: Space) -> None:
    """After the bookmark come the changes, from the RV of the bookmark on."""
    space.add("a")
    with space.watch(**_ASK) as watch:
        watch.events(2)
        space.add("b")
        space.remove("a")
        events = watch.events(4)
    assert steps(events[2:]) == [("ADDED", "b"), ("DELETED", "a")]


def test_it_can_be_resumed_from_the_end(space: Space) -> None:
    """A watch from the RV of the bookmark goes on behind it."""
    space.add("a")
    with space.watch(**_ASK) as watch:
        end = watch.events(2)[1]
    space.add("b")
    with space.watch(resourceVersion=rv(end)) as watch:
        assert steps(watch.events(1)) == [("ADDED", "b")]


def test_it_selects(space: Space) -> None:
    """Selectors count for the state and for the changes."""
    space.add("a", labels={"app": "web"})
    space.add("b", labels={"app": "db"})
    with space.watch(**_ASK, labelSelector="app=web") as watch:
        watch.events(2)
        space.add("c", labels={"app": "db"})
        space.add("d", labels={"app": "web"})
        events = watch.events(3)
    assert steps([events[0], events[2]]) == [("ADDED", "a"), ("ADDED", "d")]


def test_it_works_without_a_cache(space: Space) -> None:
    """Events have no watch cache, and WatchList works for them too (K12)."""
    event = {
        "metadata": {"name": "a"},
        "involvedObject": {"kind": "Pod", "namespace": space.name, "name": "web"},
    }
    space.put(event, "events")
    with space.watch("events", **_ASK) as watch:
        added, end = watch.events(2)
    assert steps([added]) == [("ADDED", "a")]
    assert _is_end(end)


def test_the_end_of_a_custom_resource_is_short(space: Space, widgets: CustomResource) -> None:
    """A CR's bookmark has only apiVersion, kind and metadata (RV and annotation)."""
    with space.watch("widgets", **_ASK) as watch:
        [end] = watch.events(1)
    assert list(end["object"]) == ["apiVersion", "kind", "metadata"]
    assert set(end["object"]["metadata"]) == {"annotations", "resourceVersion"}


def test_the_end_of_a_typed_object_has_zero_values(space: Space) -> None:
    """A typed bookmark has zero-valued spec and status, such as ``"containers":null`` of a Pod."""
    with space.watch("pods", **_ASK) as watch:
        [end] = watch.events(1)
    assert end["object"]["spec"] == {"containers": None}
    assert end["object"]["status"] == {}


def test_a_future_rv_is_an_error_event(space: Space) -> None:
    """RV in the future: 200, and after 3 s an ERROR event, 504 ResourceVersionTooLarge."""
    with space.watch(**_ASK, resourceVersion=10**9) as watch:
        watch.finished()
        [event] = watch.so_far()
    assert watch.status == 200
    assert 2.9 < watch.ended_after < 6
    assert (event["type"], event["object"]["code"]) == ("ERROR", 504)
    details = event["object"]["details"]
    assert details["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert details["retryAfterSeconds"] == 1


def test_a_future_rv_without_a_cache_fails_at_once(space: Space) -> None:
    """Of events a future RV fails at once (K12)."""
    with space.server.stream(space.path("events", watch=1, resourceVersion=10**9, **_ASK)) as watch:
        watch.finished()
        assert watch.ended_after < 2.5
        assert b"Too large resource version" in watch.body


@pytest.mark.parametrize(
    "wrong",
    [
        {"resourceVersionMatch": None},
        {"resourceVersionMatch": "Exact"},
        {"continue_": "abc"},
        {"sendInitialEvents": None},
        {"sendInitialEvents": False, "resourceVersionMatch": None},
    ],
    ids=["no-match", "other-match", "continue", "match-alone", "false-without-match"],
)
def test_wrong_options_are_422(space: Space, wrong: dict[str, Any]) -> None:
    """Match missing or other, continue, or a match without sendInitialEvents: 422 with causes."""
    answer = space.ask("GET", space.path(watch=1, timeoutSeconds=1, **{**_ASK, **wrong}))
    assert refusal(answer)[:2] == (422, "Invalid")
    assert answer.json()["details"]["causes"]


def test_without_bookmarks_the_end_is_never_told(space: Space) -> None:
    """Without allowWatchBookmarks: ADDED only, and never a marker."""
    space.add("a")
    ask = {**_ASK, "allowWatchBookmarks": None, "timeoutSeconds": 1}
    with space.watch(**ask) as watch:
        watch.finished()
        assert steps(watch.so_far()) == [("ADDED", "a")]


@pytest.mark.parametrize("version", [None, "0"], ids=["absent", "zero"])
def test_bookmarks_alone_bring_the_end(space: Space, version: str | None) -> None:
    """allowWatchBookmarks with RV absent or 0 tells the end without sendInitialEvents too (K14)."""
    space.add("a")
    space.list()
    with space.watch(allowWatchBookmarks=True, resourceVersion=version) as watch:
        added, end = watch.events(2)
    assert steps([added]) == [("ADDED", "a")]
    assert _is_end(end)


def test_a_watch_from_an_rv_tells_no_end(space: Space) -> None:
    """With allowWatchBookmarks and an RV there is no such bookmark."""
    [created] = space.add("a")
    query: dict[str, Any] = {
        "allowWatchBookmarks": True,
        "resourceVersion": rv(created),
        "timeoutSeconds": 1,
    }
    with space.watch(**query) as watch:
        assert watch.finished().body == b""


@pytest.mark.parametrize("version", [None, "0"], ids=["absent", "zero"])
def test_no_initial_events_if_not_wanted(space: Space, version: str | None) -> None:
    """sendInitialEvents=false with RV absent or 0: nothing at the start (K14)."""
    space.add("a")
    space.list()
    ask = {**_ASK, "sendInitialEvents": False, "resourceVersion": version}
    with space.watch(**ask) as watch:
        space.add("b")
        assert steps(watch.events(1)) == [("ADDED", "b")]


def test_anything_counts_as_true(space: Space) -> None:
    """sendInitialEvents=abc counts as true (K14)."""
    with space.watch(**{**_ASK, "sendInitialEvents": "abc"}) as watch:
        assert _is_end(watch.events(1)[0])


def test_pods_over_all_namespaces(server: TestedServer) -> None:
    """Over all namespaces the state is sorted by namespace and name."""
    spaces = sorted((Space.make(server) for _ in range(2)), key=lambda space: space.name)
    label = {"in": spaces[0].name}
    for space in reversed(spaces):
        for name in ("b", "a"):
            space.put(pod(name, label), "pods")
    query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    path = f"/api/v1/pods?{query}&allowWatchBookmarks=true&labelSelector=in%3D{spaces[0].name}"
    with server.stream(path) as watch:
        *added, end = watch.events(5)
    keys = [
        (event["object"]["metadata"]["namespace"], event["object"]["metadata"]["name"])
        for event in added
    ]
    assert keys == [(space.name, name) for space in spaces for name in ("a", "b")]
    assert _is_end(end)
