"""Bookmarks: when they come, and when there is nothing to tell."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.storage.state import Settings
from listwatch.testing.apiserver.watching.bookmarks import BookmarkTimes
from tests.testing.apiserver.read_server import ReadServer, events


def _times(seed: int, timeout: float, interval: float = 60.0, start: float = 0.0) -> list[float]:
    times = BookmarkTimes(Random(seed), now=start, deadline=start + timeout, interval=interval)
    found = []
    while times.next is not None:
        found.append(times.next)
        times.passed(times.next)
    return found


@given(st.integers(), st.floats(0, 1e6))
def test_they_come_about_every_minute_and_once_or_twice_at_the_end(seed: int, start: float) -> None:
    """K15: in the last three seconds."""
    times = [time - start for time in _times(seed, 230.0, start=start)]
    regular, last = [t for t in times if t < 226.9], [t for t in times if t >= 226.9]
    assert len(regular) == 3
    assert all(59.0 <= b - a <= 61.3 for a, b in zip([0.0, *regular], regular, strict=False))
    assert len(last) in (1, 2)
    assert all(227.0 - 1e-6 <= t <= 229.3 for t in last)


def test_the_last_one_comes_once_or_twice_as_the_seed_will_have_it() -> None:
    assert {len(_times(seed, 10.0)) for seed in range(50)} == {1, 2}


@pytest.mark.parametrize("timeout", [0.5, 1.0, 2.0])
def test_a_watch_of_two_seconds_has_none(timeout: float) -> None:
    assert not any(_times(seed, timeout) for seed in range(20))


def test_another_interval_is_kept_to_as_well() -> None:
    times = _times(3, 30.0, interval=1.0)
    gaps = [b - a for a, b in zip([0.0, *times], times, strict=False)]
    assert 25 <= len(times) <= 31
    assert all(0.85 <= gap <= 1.15 for gap in gaps[:-2])


NODES = "/api/v1/nodes?watch=1&allowWatchBookmarks=1"


def _bookmarks(given: list[tuple[float, bytes]]) -> list[tuple[float, str]]:
    return [(at, rv) for at, data in given for kind, _, rv in events([data]) if kind == "BOOKMARK"]


def test_a_watch_on_a_quiet_type_gets_none() -> None:
    """K15: begun at a list RV, however busy the rest of the store is."""
    server = ReadServer()
    server.put("nodes", "n")
    listed = json.loads(server.answer("/api/v1/nodes").body)["metadata"]["resourceVersion"]
    stream = server.watch(f"{NODES}&resourceVersion={listed}&timeoutSeconds=130")
    for number in range(5):
        server.put("pods", f"p{number}")
    assert server.run(stream, 140) == []
    assert stream.ended


def test_a_watch_on_a_type_that_was_written_to_gets_its_rv() -> None:
    """K15: 130 s, as recorded; and what others write does not move it."""
    server = ReadServer()
    stream = server.watch(f"{NODES}&resourceVersion=1&timeoutSeconds=130")
    server.run(stream, 24)
    server.put("nodes", "n")
    server.put("pods", "p")
    found = _bookmarks(server.run(stream, 110))
    assert {rv for _, rv in found} == {"2"}
    assert [round(at / 60) for at, _ in found[:2]] == [1, 2]
    assert 127 <= found[2][0] < 130


def test_history_that_was_replayed_counts_as_told() -> None:
    """K15: recorded with `k-bookmarks-timeout-10s`, which had none."""
    server = ReadServer()
    server.put("nodes", "n")
    stream = server.watch(f"{NODES}&resourceVersion=1&timeoutSeconds=10")
    given = server.run(stream, 11)
    assert events(data for _, data in given) == [("ADDED", "n", "2")]


def test_a_consistent_list_moves_the_cache_of_a_quiet_type() -> None:
    """K15: a real server was asked."""
    server = ReadServer()
    stream = server.watch(f"{NODES}&resourceVersion=1&timeoutSeconds=10")
    server.put("pods", "p")
    server.answer("/api/v1/nodes?resourceVersion=0")
    assert server.state.caches.of("nodes").rv == 1
    server.answer("/api/v1/nodes")
    found = _bookmarks(server.run(stream, 11))
    assert {rv for _, rv in found} == {"2"}


def test_a_watch_that_did_not_ask_gets_none() -> None:
    server = ReadServer()
    stream = server.watch("/api/v1/nodes?watch=1&resourceVersion=1&timeoutSeconds=70")
    server.put("nodes", "n")
    assert [event for event, _, _ in events(d for _, d in server.run(stream, 80))] == ["ADDED"]


def test_events_have_none_but_the_one_behind_the_state() -> None:
    """K12, K14."""
    server = ReadServer()
    path = "/api/v1/events?watch=1&allowWatchBookmarks=1&timeoutSeconds=70"
    stream = server.watch(path)
    server.put("events", "e")
    given = [data for _, data in server.run(stream, 80)]
    assert events(given) == [("BOOKMARK", "", "1"), ("ADDED", "e", "2")]


def test_the_pace_is_a_setting() -> None:
    server = ReadServer(settings=Settings(bookmark_interval=0.5))
    stream = server.watch(f"{NODES}&resourceVersion=1&timeoutSeconds=20")
    server.put("nodes", "n")
    found = _bookmarks(server.run(stream, 5))
    assert 8 <= len(found) <= 11


@pytest.mark.parametrize("name", ["pods", "widgets", "nodes"])
def test_bookmarks_have_the_zero_values_of_their_type(name: str) -> None:
    """K15, and of a custom resource only the names and the RV."""
    server = ReadServer()
    group = "apis/example.com" if name == "widgets" else "api"
    stream = server.watch(
        f"/{group}/v1/{name}?watch=1&allowWatchBookmarks=1&resourceVersion=1&timeoutSeconds=9"
    )
    server.put(name, "x")
    (_, data), *_ = [each for each in server.run(stream, 10) if b"BOOKMARK" in each[1]]
    expected = {
        "pods": b'{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"2"},'
        b'"spec":{"containers":null},"status":{}}',
        "widgets": b'{"apiVersion":"example.com/v1","kind":"Widget","metadata":'
        b'{"resourceVersion":"2"}}',
        "nodes": b'{"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":"2"},"spec":{},'
        b'"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"",'
        b'"systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"",'
        b'"kubeletVersion":"","kubeProxyVersion":"","operatingSystem":"","architecture":""}}}',
    }
    assert data == b'{"type":"BOOKMARK","object":' + expected[name] + b"}\n"
