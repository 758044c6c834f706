from __future__ import annotations

import pytest

from listwatch.testing import Match, Recording
from listwatch.testing.replay.playlist import Playlist


def _recording(target: str, name: str = "", method: str = "GET") -> Recording:
    return Recording(name or target, f"{method} {target} HTTP/1.1\r\n\r\n".encode(), b"")


def _played(playlist: Playlist, *targets: str) -> list[str | None]:
    found = [playlist.next(_recording(target)) for target in targets]
    return [recording and recording.name for recording in found]


def test_exact_takes_the_query_in_any_order() -> None:
    playlist = Playlist([_recording("/p?a=1&b=x%2Fy", "it")], Match.EXACT, loop=False)
    assert _played(playlist, "/p?b=x/y&a=1", "/p?a=1", "/p", "/q?a=1&b=x%2Fy") == [
        "it",
        None,
        None,
        None,
    ]


def test_exact_takes_the_method_into_account() -> None:
    playlist = Playlist([_recording("/p", method="DELETE")], Match.EXACT, loop=False)
    assert _played(playlist, "/p") == [None]


def test_by_path_a_list_is_still_no_watch() -> None:
    recordings = [
        _recording("/api/v1/pods?limit=5", "list"),
        _recording("/api/v1/pods?watch=1", "watch"),
    ]
    playlist = Playlist(recordings, Match.PATH, loop=False)
    assert _played(
        playlist, "/api/v1/pods?watch=true&resourceVersion=7", "/api/v1/pods", "/api/v1/nodes"
    ) == ["watch", "list", None]


def test_in_order_it_does_not_matter_what_is_asked() -> None:
    playlist = Playlist([_recording("/a"), _recording("/b")], Match.ORDER, loop=False)
    assert _played(playlist, "/x", "/y", "/z") == ["/a", "/b", "/b"]


@pytest.mark.parametrize(
    ("loop", "names"),
    [(False, ["one", "two", "two", "two"]), (True, ["one", "two", "one", "two"])],
)
def test_several_of_one_target_are_played_in_turn(loop: bool, names: list[str]) -> None:
    recordings = [_recording("/p", "one"), _recording("/q"), _recording("/p", "two")]
    playlist = Playlist(recordings, Match.EXACT, loop=loop)
    assert _played(playlist, "/p", "/p", "/p", "/p") == names
    assert _played(playlist, "/q") == ["/q"]


def test_targets_tell_what_there_is_once_each() -> None:
    recordings = [_recording("/p"), _recording("/q"), _recording("/p", "again")]
    playlist = Playlist(recordings, Match.EXACT, loop=False)
    assert playlist.targets() == ["GET /p", "GET /q"]
