"""WATCH, byte for byte as a real server answered in the same state."""

from __future__ import annotations

import json
from typing import Any

import pytest

from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.read_server import (
    WIDGETS,
    ReadServer,
    events_of,
    is_later,
    items_of,
    recorded,
    stream_of,
)


def _widgets(rv: int, *, seed: int = 0) -> ReadServer:
    """The widgets that were recorded, and their changes up to `rv`."""
    server = ReadServer(rv=4, seed=seed)
    server.restore(WIDGETS, items_of("2-list-rv0-limit10"), 55)
    for name in ("3-watch-add-modify-status-delete", "3-watch-rv-old-after-compaction"):
        for event, value in events_of(name):
            if int(value["metadata"]["resourceVersion"]) <= rv:
                server.replay_write(WIDGETS, event, value)
    server.log.revision = rv
    return server


def _nodes(rv: int) -> ReadServer:
    server = ReadServer(rv=1)
    for event, value in events_of("k-watch-nodes-rv1-ancient"):
        if int(value["metadata"]["resourceVersion"]) <= rv:
            server.replay_write(server.type("nodes"), event, value)
    server.log.revision = rv
    server.items("/api/v1/nodes")
    return server


def _same(server: ReadServer, name: str) -> None:
    """Replay a watch to its end, and compare what it gave."""
    recording = recorded(name)
    reaction: Any = server.replay(name)
    while is_later(reaction):
        server.now = reaction.due
        reaction = reaction.tick()
    if isinstance(reaction, Answer):
        assert json.loads(reaction.body) == json.loads(recording.body)
        if not recording.body.startswith(b"{\n"):
            assert reaction.body == recording.body
        assert reaction.status == recording.status
        return
    stream = stream_of(reaction)
    assert recording.status == 200
    assert stream.content_type == recording.headers.get("Content-Type")
    given = server.run(stream, 100_000)
    assert b"".join(data for _, data in given) == recording.body
    assert stream.ended


@pytest.mark.parametrize(
    "name",
    [
        "3-watch-accept-unsupported",
        "3-watch-rv-future",
        "3-watch-rv-future-bookmarks",
        "3-watch-rv-invalid",
        "3-watch-rv-negative",
        "3-watch-rvmatch-without-sendinitial",
        "3-watch-single-name-fieldselector",
        "3-watch-timeoutSeconds-bad",
        "3-watch-with-continue",
        "6-watch-field-garbage",
        "6-watch-field-unsupported",
        "6-watch-label-garbage",
    ],
)
def test_watches_of_a_custom_resource_are_as_recorded(name: str) -> None:
    """K14, K24, K39."""
    _same(_widgets(55), name)


@pytest.mark.parametrize(
    ("name", "rv"),
    [
        ("3-watch-accept-none", 79),
        ("3-watch-accept-star", 79),
        ("3-watch-add-modify-status-delete", 79),
        ("3-watch-no-rv-synthetic-added", 79),
        ("3-watch-rv0", 79),
        ("3-watch-timeout3-noevents", 79),
        ("3-watch-rv-old-after-compaction", 209),
    ],
)
def test_a_watch_has_the_state_or_resumes_from_the_history_as_recorded(name: str, rv: int) -> None:
    """K21: compaction takes nothing from it."""
    server = _widgets(rv)
    server.log.compact(rv)
    _same(server, name)


@pytest.mark.parametrize(
    ("name", "started"),
    [
        ("3-watch-rv1-before-compaction", 4),
        ("3-watch-rv1-after-compaction", 55),
        ("3-watch-rv1-after-compaction-accept-pom", 55),
    ],
)
def test_a_watch_from_before_the_start_of_the_cache_has_one_error(name: str, started: int) -> None:
    """K23."""
    server = ReadServer(rv=started)
    _same(server, name)


@pytest.mark.parametrize(
    ("name", "started", "now"),
    [
        ("k-compacted-restart-watch-json", 722, 730),
        ("k-compacted-restart-watch-metadata", 722, 730),
        ("k-compacted-restart-watch-rv1", 722, 730),
        ("k-compacted-restart-watch-sendinitial-false-old", 722, 730),
        ("k-compacted-restart-watch-sendinitial-old", 722, 722),
        ("k-compacted-restart-watch-events", 722, 730),
        ("k-events-watch-rv1", 1200, 1271),
        ("k-events-watch-future", 1200, 1271),
        ("k-watch-nodes-future", 600, 657),
        ("k-watch-nodes-abc", 1, 1),
        ("k-watch-nodes-neg", 1, 1),
        ("k-watch-nodes-bad-timeout", 1, 1),
        ("k-watch-pods-bad-field", 1, 1),
        ("k-watch-pods-metadata-list-wrong", 400, 456),
        ("k-watchlist-events-empty-ns", 600, 663),
        ("k-watchlist-nodes-bogus", 1, 1),
        ("k-watchlist-nodes-continue", 1, 1),
        ("k-watchlist-nodes-empty", 600, 657),
        ("k-watchlist-nodes-exact", 1, 1),
        ("k-watchlist-nodes-false", 600, 657),
        ("k-watchlist-nodes-false-no-rv", 600, 657),
        ("k-watchlist-nodes-false-rv0", 600, 657),
        ("k-watchlist-nodes-future", 600, 660),
        ("k-watchlist-nodes-match-only", 1, 1),
        ("k-watchlist-nodes-no-match", 1, 1),
        ("4-watchlist-match-bogus", 1, 1),
        ("4-watchlist-match-exact", 1, 1),
        ("4-watchlist-no-match", 1, 1),
        ("4-watchlist-no-matches", 211, 211),
        ("4-watchlist-rv-future", 211, 211),
        ("4-watchlist-sendInitialEvents-false", 211, 211),
        ("4-watchlist-sendInitialEvents-false-nomatch", 1, 1),
        ("4-watchlist-with-continue", 1, 1),
    ],
)
def test_watches_without_objects_are_as_recorded(name: str, started: int, now: int) -> None:
    server = ReadServer(rv=started)
    server.log.compact(started)
    server.log.revision = now
    if name == "k-watchlist-nodes-bogus":
        server = _nodes(657)
    _same(server, name)


@pytest.mark.parametrize(
    ("name", "rv"),
    [
        ("k-watch-nodes-rv1-ancient", 300),
        ("k-watch-nodes-limit1", 300),
        ("k-watch-nodes-rv-none", 300),
        ("k-watch-nodes-rv0", 300),
    ],
)
def test_watches_of_a_built_in_type_are_as_recorded(name: str, rv: int) -> None:
    _same(_nodes(rv), name)


@pytest.mark.parametrize(
    "name",
    [
        "k-watch-nodes-rv-none-bookmarks",
        "k-watch-nodes-rv0-bookmarks",
        "k-watchlist-nodes-ok",
        "k-watchlist-nodes-rv",
        "k-watchlist-nodes-rv0",
        "k-watchlist-nodes-limit",
        "k-watchlist-nodes-metadata",
        "k-watchlist-nodes-no-bookmarks",
        "4-watchlist-ok",
        "4-watchlist-ok-rv0",
        "4-watchlist-no-bookmarks",
        "4-watchlist-labelselector",
        "4-watchlist-pom",
        "4-watchlist-crd",
        "k-watchlist-jobs",
        "k-watchlist-leases",
        "k-watchlist-pods",
        "k-watchlist-secrets",
        "k-watchlist-crds",
        "k-watchlist-events",
        "k-events-watch-rv0",
        "k-events-watch-rv0-bookmarks",
    ],
)
def test_initial_events_and_their_end_are_as_recorded(name: str) -> None:
    """K14: the bookmark has the newest RV, zero values included."""
    recording = recorded(name)
    server = ReadServer(rv=1)
    of = server.type_at(recording.path)
    found = events_of(name)
    if name == "4-watchlist-pom":
        found = events_of("4-watchlist-ok")
    if name == "k-watchlist-nodes-metadata":
        found = events_of("k-watchlist-nodes-ok")
    newest = 700
    values = []
    for event, value in found:
        if event == "ADDED":
            values.append(value)
        else:
            newest = int(value["metadata"]["resourceVersion"])
    if name == "k-watchlist-nodes-metadata":
        newest = int(events_of(name)[-1][1]["metadata"]["resourceVersion"])
    server.restore(of, values, newest)
    if "rv0" in name and of.watch_cache:
        server.state.caches.refresh(of.storage)
    _same(server, name)
