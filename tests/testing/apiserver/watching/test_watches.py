"""How a watch begins: with the state, from the history, or in the future."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer, WatchStream
from listwatch.testing.apiserver.storage.state import Settings
from tests.testing.apiserver.read_server import ReadServer, events, is_later, message, stream_of

PODS = "/api/v1/namespaces/default/pods"
ALL = "allowWatchBookmarks=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
END = ("BOOKMARK", "", "3")


def _with_pods(*names: str, settings: Settings | None = None) -> ReadServer:
    server = ReadServer(settings=settings)
    for name in names:
        server.put("pods", name)
    return server


def _error(stream: WatchStream) -> dict[str, Any]:
    """The Status of a watch that has one ERROR and then ends."""
    (frame,) = stream.take()
    assert stream.ended
    event = json.loads(frame)
    assert event["type"] == "ERROR"
    status: dict[str, Any] = event["object"]
    return status


# How a watch begins


@pytest.mark.parametrize("query", ["", "&resourceVersion=0"])
def test_a_watch_from_nothing_has_the_state_first_sorted_by_name(query: str) -> None:
    server = _with_pods("b", "a")
    stream = server.watch(f"{PODS}?watch=1{query}&limit=1")
    server.put("pods", "c")
    assert events(stream.take()) == [("ADDED", "a", "3"), ("ADDED", "b", "2"), ("ADDED", "c", "4")]


@pytest.mark.parametrize("query", ["", "&resourceVersion=0"])
def test_with_bookmarks_it_is_told_where_the_state_ends(query: str) -> None:
    """K14: even if it did not ask for initial events."""
    server = _with_pods("b", "a")
    stream = server.watch(f"{PODS}?watch=1&allowWatchBookmarks=1{query}")
    assert events(stream.take())[-1] == END


def test_the_end_of_the_state_has_the_rv_of_the_store_or_that_of_the_cache() -> None:
    """K14."""
    server = _with_pods("b", "a")
    server.put("nodes", "n")
    for query, rv in [("&resourceVersion=0", "3"), ("", "4"), ("&resourceVersion=0", "4")]:
        stream = server.watch(f"{PODS}?watch=1&allowWatchBookmarks=1{query}")
        assert events(stream.take())[-1] == ("BOOKMARK", "", rv)


@pytest.mark.parametrize("query", ["", "&resourceVersion=0", "&resourceVersion=2"])
def test_a_watch_list_has_the_state_whatever_its_rv(query: str) -> None:
    server = _with_pods("b", "a")
    stream = server.watch(f"{PODS}?watch=1&{ALL}{query}")
    frames = stream.take()
    assert events(frames) == [("ADDED", "a", "3"), ("ADDED", "b", "2"), END]
    assert b'"annotations":{"k8s.io/initial-events-end":"true"}' in frames[-1]


def test_a_watch_list_without_bookmarks_is_never_told_where_the_state_ends() -> None:
    server = _with_pods("a")
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    stream = server.watch(f"{PODS}?watch=1&{query}&timeoutSeconds=100")
    assert events(d for _, d in server.run(stream, 101)) == [("ADDED", "a", "2")]


@pytest.mark.parametrize("query", ["", "&resourceVersion=0"])
def test_without_initial_events_it_begins_now(query: str) -> None:
    """K14."""
    server = _with_pods("a")
    no = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1"
    stream = server.watch(f"{PODS}?watch=1&{no}{query}")
    assert stream.take() == []
    server.put("pods", "b")
    assert events(stream.take()) == [("ADDED", "b", "3")]


def test_an_old_server_knows_no_watch_lists() -> None:
    server = _with_pods("a", settings=Settings(watch_list=False))
    answer = server.answer(f"{PODS}?watch=1&{ALL}")
    assert answer.status == 422
    stream = server.watch(f"{PODS}?watch=1&allowWatchBookmarks=1")
    assert events(stream.take()) == [("ADDED", "a", "2")]


def test_the_old_paths_are_watches_whose_options_are_those_of_lists() -> None:
    """K19: a real server was asked."""
    server = _with_pods("a", "b")
    path = PODS.replace("/v1/", "/v1/watch/")
    assert events(server.watch(f"{path}/a?allowWatchBookmarks=1").take()) == [("ADDED", "a", "2")]
    assert len(server.watch(f"{path}?watch=false").take()) == 2
    answer = server.answer(f"{path}?sendInitialEvents=true&resourceVersion=0")
    assert answer.status == 422
    assert "sendInitialEvents is forbidden for list" in message(answer)
    answer = server.answer(f"{path}/a?fieldSelector=metadata.name%3Db")
    assert message(answer) == "fieldSelector metadata.name doesn't match requested name"


@pytest.mark.parametrize("value", ["1", "", "true", "abc"])
def test_every_way_to_say_watch_is_one(value: str) -> None:
    """K19."""
    assert _with_pods("a").watch(f"{PODS}?watch={value}").take()


def test_one_object_can_be_watched_by_its_name() -> None:
    server = _with_pods("a", "b")
    stream = server.watch(f"{PODS}?watch=1&fieldSelector=metadata.name%3Da")
    server.put("pods", "b")
    server.put("pods", "a")
    server.delete("pods", "a")
    server.put("pods", "a")
    assert [event for event, _, _ in events(stream.take())] == [
        "ADDED",
        "MODIFIED",
        "DELETED",
        "ADDED",
    ]


# History


def test_a_watch_from_a_revision_has_what_happened_since() -> None:
    server = _with_pods("a", "b")
    server.delete("pods", "a")
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=2")
    server.put("pods", "b", labels={"x": "y"})
    assert events(stream.take()) == [
        ("ADDED", "b", "3"),
        ("DELETED", "a", "4"),
        ("MODIFIED", "b", "5"),
    ]


def test_a_deletion_has_the_last_state_with_its_own_rv() -> None:
    server = ReadServer()
    server.put("pods", "a", labels={"x": "last"})
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=2")
    server.delete("pods", "a")
    (frame,) = stream.take()
    assert events([frame]) == [("DELETED", "a", "3")]
    assert b'"x":"last"' in frame


def test_compaction_does_not_touch_the_history_but_a_restart_does() -> None:
    """K21, K23."""
    server = _with_pods("a", "b")
    server.put("nodes", "n")
    server.log.compact(4)
    assert events(server.watch(f"{PODS}?watch=1&resourceVersion=2").take()) == [("ADDED", "b", "3")]
    server.hub.restart()
    status = _error(server.watch(f"{PODS}?watch=1&resourceVersion=2"))
    assert status["message"] == "too old resource version: 2 (4)"
    assert (status["code"], status["reason"]) == (410, "Expired")
    assert server.watch(f"{PODS}?watch=1&resourceVersion=4").take() == []


def test_events_are_watched_from_the_log() -> None:
    """K12, K23."""
    server = ReadServer()
    path = "/api/v1/events?watch=1&resourceVersion="
    server.put("events", "a")
    server.put("pods", "p")
    server.put("events", "b")
    assert events(server.watch(f"{path}2").take()) == [("ADDED", "b", "4")]
    server.log.compact(3)
    status = _error(server.watch(f"{path}2"))
    assert status["message"] == "The resourceVersion for the provided watch is too old."
    assert server.watch("/api/v1/events?watch=1").take()


def test_a_watch_list_at_a_forgotten_revision_works() -> None:
    """K23."""
    server = _with_pods("a", "b")
    server.hub.restart()
    assert events(server.watch(f"{PODS}?watch=1&{ALL}&resourceVersion=1").take())[-1] == END


def test_the_history_is_filtered_as_the_present_is() -> None:
    server = ReadServer()
    for label in ("x", "x", "y", "x"):
        server.put("pods", "a", labels={"app": label})
    server.delete("pods", "a")
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=1&labelSelector=app%3Dx")
    assert events(stream.take()) == [
        ("ADDED", "a", "2"),
        ("MODIFIED", "a", "3"),
        ("DELETED", "a", "4"),
        ("ADDED", "a", "5"),
        ("DELETED", "a", "6"),
    ]


def test_what_leaves_the_selection_is_shown_as_it_was_with_the_new_rv() -> None:
    """K19."""
    server = ReadServer()
    server.put("pods", "a", labels={"app": "x"})
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=2&labelSelector=app%3Dx")
    server.put("pods", "a", labels={"app": "y"})
    (frame,) = stream.take()
    assert events([frame]) == [("DELETED", "a", "3")]
    assert json.loads(frame)["object"]["metadata"]["labels"] == {"app": "x"}


# A revision that is not there


def test_a_watch_from_the_future_drops_everything_up_to_it() -> None:
    """K24."""
    server = _with_pods("a")
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=4&allowWatchBookmarks=1")
    for name in "bcde":
        server.put("pods", name)
    assert events(stream.take()) == [("ADDED", "d", "5"), ("ADDED", "e", "6")]


def test_a_watch_list_from_the_future_fails_after_three_seconds() -> None:
    server = _with_pods("a")
    later = server.later(f"{PODS}?watch=1&{ALL}&resourceVersion=9&timeoutSeconds=2")
    assert later.due == 3.0
    server.now = 3.0
    status = _error(stream_of(later.tick()))
    assert status["code"] == 504
    assert status["details"]["retryAfterSeconds"] == 1
    assert status["message"] == "Timeout: Too large resource version: 9, current: 2"


def test_a_watch_list_from_the_future_begins_when_it_comes() -> None:
    server = _with_pods("a")
    later = server.later(f"{PODS}?watch=1&{ALL}&resourceVersion=3")
    assert later.tick() is None
    server.put("pods", "b")
    stream = stream_of(later.tick())
    assert events(stream.take()) == [("ADDED", "a", "2"), ("ADDED", "b", "3"), END]


def test_a_watch_list_of_events_from_the_future_fails_at_once() -> None:
    """K12."""
    server = ReadServer()
    reaction = server.request(f"/api/v1/events?watch=1&{ALL}&resourceVersion=9")
    assert not is_later(reaction)
    assert 1 <= _error(stream_of(reaction))["details"]["retryAfterSeconds"] <= 3


# What is refused


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("resourceVersion=abc", 500),
        (f"{ALL}&resourceVersion=abc", 500),
        ("timeoutSeconds=abc", 400),
        ("limit=abc", 400),
        ("labelSelector=a+in", 400),
        ("fieldSelector=spec.x%3D1", 400),
        ("sendInitialEvents=true", 422),
        (f"{ALL}&continue=x", 422),
        ("continue=x", 422),
        ("resourceVersionMatch=Exact&resourceVersion=1", 422),
    ],
)
def test_bad_options_are_refused(query: str, status: int) -> None:
    reaction = ReadServer().request(f"{PODS}?watch=1&{query}")
    assert isinstance(reaction, Answer)
    assert reaction.status == status


def test_a_token_on_a_watch_from_a_revision_is_ignored() -> None:
    """A real server was asked."""
    server = _with_pods("a")
    stream = server.watch(f"{PODS}?watch=1&resourceVersion=1&continue=abc")
    assert events(stream.take()) == [("ADDED", "a", "2")]
