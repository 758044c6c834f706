"""Bookmarks in the last seconds of a watch.

The watches of all these tests wait at the same time.
"""

from __future__ import annotations

from typing import Any

import pytest

from conformance.behaviour.space import Space, rv
from conformance.objects import CustomResource, pod
from conformance.requests import Json
from conformance.streams import Stream
from conformance.two_servers import TestedServer


class Waited:
    """Watches that have ended after 10 s, begun at RVs of which the test knows what came after."""

    def __init__(self, server: TestedServer, widgets: CustomResource) -> None:
        space = Space.make(server)
        self.first = space.put(pod("first"), "pods")
        self.widget = space.put(widgets.object("first"), "widgets")
        pods = {"resourceVersion": rv(self.first)}
        ask: dict[str, Any] = {"allowWatchBookmarks": True, "timeoutSeconds": 10}
        quiet_at = rv(space.list("leases"))
        self.streams = {
            "pods": space.watch("pods", **pods, **ask),
            "widgets": space.watch("widgets", resourceVersion=rv(self.widget), **ask),
            "nothing selected": space.watch("pods", **pods, **ask, labelSelector="no=such"),
            "not asked for": space.watch("pods", **pods, timeoutSeconds=10),
            "short": space.watch("pods", **pods, **{**ask, "timeoutSeconds": 2}),
            "quiet": space.watch("replicasets", resourceVersion=quiet_at, **ask),
            "no cache": space.watch("events", resourceVersion=quiet_at, **ask),
        }
        self.second = space.put(pod("second"), "pods")
        space.put(widgets.object("second"), "widgets")
        for stream in self.streams.values():
            with stream:
                stream.finished()

    def bookmarks(self, which: str) -> list[Json]:
        events = self.streams[which].so_far()
        return [event["object"] for event in events if event["type"] == "BOOKMARK"]

    def times(self, which: str) -> list[float]:
        """When bookmarks came, each in a chunk of its own."""
        stream: Stream = self.streams[which]
        pairs = zip(stream.chunks, stream.chunk_times, strict=True)
        return [when for chunk, when in pairs if b'"type":"BOOKMARK"' in chunk]


@pytest.fixture(scope="module")
def waited(server: TestedServer, widgets: CustomResource) -> Waited:
    """What came on watches that were all open at the same time."""
    return Waited(server, widgets)


def test_a_bookmark_comes_before_the_timeout(waited: Waited) -> None:
    """timeoutSeconds=10: one or two bookmarks in the last 3 s (K15)."""
    times = waited.times("pods")
    assert 1 <= len(times) <= 2
    assert all(6.9 < when < 11 for when in times)


def test_a_bookmark_has_the_newest_rv(waited: Waited) -> None:
    """Its RV is at least that of the last event."""
    assert all(rv(bookmark) >= rv(waited.second) for bookmark in waited.bookmarks("pods"))


def test_a_typed_bookmark_has_zero_values(waited: Waited) -> None:
    """A typed bookmark: its kind, metadata with an RV alone, zero-valued spec and status."""
    bookmark = waited.bookmarks("pods")[0]
    assert list(bookmark) == ["kind", "apiVersion", "metadata", "spec", "status"]
    assert list(bookmark["metadata"]) == ["resourceVersion"]
    assert bookmark["spec"] == {"containers": None}


def test_a_bookmark_of_a_custom_resource_is_short(waited: Waited) -> None:
    """A CR's bookmark has apiVersion, kind and an RV."""
    bookmark = waited.bookmarks("widgets")[0]
    assert list(bookmark) == ["apiVersion", "kind", "metadata"]
    assert list(bookmark["metadata"]) == ["resourceVersion"]


def test_bookmarks_come_though_nothing_is_selected(waited: Waited) -> None:
    """A watch that selects nothing gets bookmarks past the writes that it did not see."""
    bookmarks = waited.bookmarks("nothing selected")
    assert bookmarks
    assert all(rv(bookmark) >= rv(waited.second) for bookmark in bookmarks)


@pytest.mark.parametrize("which", ["not asked for", "short", "quiet"])
def test_no_bookmark(waited: Waited, which: str) -> None:
    """None unless asked for, none within 2 s, none of a type that nobody writes (K15)."""
    assert waited.bookmarks(which) == []


def test_watches_with_bookmarks_end_on_time(waited: Waited) -> None:
    """Bookmarks do not move the end: 10 s, clean."""
    for which in ("pods", "widgets", "quiet"):
        stream = waited.streams[which]
        assert stream.end == "clean"
        assert 9.9 < stream.ended_after < 13
