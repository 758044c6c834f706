"""Which recording answers a request."""

from __future__ import annotations

import enum
from collections.abc import Hashable, Sequence
from urllib.parse import unquote

from listwatch.testing.recording import Recording

__all__ = ["Match", "Playlist"]


class Match(enum.StrEnum):
    """How a request finds its recording."""

    EXACT = "exact"
    """By method, path and query, the order of the query's parameters left aside."""
    PATH = "path"
    """By method, path, and whether it is a watch, whatever else it asks for."""
    ORDER = "order"
    """Not at all: the recordings are played one after another."""


class Playlist:
    """Chooses the recording for each request.

    Several for the same target are played in turn. The last of them repeats, or, with `loop`, the
    first follows it.
    """

    def __init__(self, recordings: Sequence[Recording], match: Match, *, loop: bool) -> None:
        self._match = match
        self._loop = loop
        self._tracks: dict[Hashable, list[Recording]] = {}
        self._played: dict[Hashable, int] = {}
        for recording in recordings:
            self._tracks.setdefault(self._key(recording), []).append(recording)

    def next(self, request: Recording) -> Recording | None:
        """What answers `request`, a recording without an answer itself; None if nothing does."""
        key = self._key(request)
        tracks = self._tracks.get(key)
        if tracks is None:
            return None
        turn = self._played.get(key, 0)
        self._played[key] = turn + 1
        return tracks[turn % len(tracks) if self._loop else min(turn, len(tracks) - 1)]

    def targets(self) -> list[str]:
        """What can be asked for, such as `GET /api/v1/pods`."""
        every = (recording for tracks in self._tracks.values() for recording in tracks)
        return list(dict.fromkeys(f"{recording.method} {recording.target}" for recording in every))

    def _key(self, asked: Recording) -> Hashable:
        match self._match:
            case Match.EXACT:
                return asked.method, unquote(asked.path), tuple(sorted(asked.query))
            case Match.PATH:
                return asked.method, unquote(asked.path), asked.is_watch
            case Match.ORDER:
                return None
