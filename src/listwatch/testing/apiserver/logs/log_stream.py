"""A log that is followed: it goes on until its container ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from ..statuses import Refused
from ..storage.log import StoredObject, Write, WriteKind
from ..storage.state import State, Target
from .container_log import ContainerLog, log_of, shown
from .log_options import LogOptions

__all__ = ["LogStream"]


class LogStream:
    """A `WatchStream` of text."""

    def __init__(
        self,
        state: State,
        target: Target,
        pod: StoredObject,
        container: str,
        options: LogOptions,
        *,
        content_type: str,
    ) -> None:
        self.content_type = content_type
        self.target = target
        self.headers: tuple[tuple[str, str], ...] = ()
        self.wake: Callable[[], None] | None = None
        self._state = state
        self._key, self._uid = pod.key, pod.metadata["uid"]
        self._container = container
        self._options = options
        self._log = log_of(pod.value, container, previous=options.previous)
        self._left = options.limit_bytes
        self._pieces: list[bytes] = []
        self._ended = False
        now = state.wall()
        lines = self._log.until(now)
        self._count = len(lines)
        self._push(shown(lines, options, now))
        state.log.listeners.append(self._on_write)

    @property
    def due(self) -> float | None:
        """When the next line comes."""
        if self._ended:
            return None
        now = self._state.wall()
        following = self._log.next_after(now)
        if following is None:
            return None
        return self._state.clock() + (following - now).total_seconds()

    def tick(self) -> None:
        self._look(self._log)

    def take(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces

    @property
    def ended(self) -> bool:
        return self._ended

    def close(self) -> None:
        self._ended = True
        if self._on_write in self._state.log.listeners:
            self._state.log.listeners.remove(self._on_write)

    def _on_write(self, write: Write) -> None:
        if write.storage != self.target.type.storage or write.new.key != self._key:
            return
        try:
            log = log_of(write.new.value, self._container, previous=False)
        except Refused:  # it is started again
            log = ContainerLog(self._log.lines, ended=True)
        gone = write.kind is WriteKind.DELETED or write.new.metadata["uid"] != self._uid
        self._look(log)
        if log.ended or gone:
            self.close()
        if self.wake is not None:
            self.wake()

    def _look(self, log: ContainerLog) -> None:
        """Send the lines that have come."""
        self._log = log
        now = self._state.wall()
        lines = log.lines if log.ended else log.until(now)
        new, self._count = lines[self._count :], max(self._count, len(lines))
        self._push(_plain(new, self._options, now))

    def _push(self, piece: bytes) -> None:
        if self._left is not None:
            piece = piece[: self._left]
            self._left -= len(piece)
        if piece:
            self._pieces.append(piece)
        if self._left == 0:
            self.close()


def _plain(lines: list[tuple[datetime, str]], options: LogOptions, now: datetime) -> bytes:
    """Lines that come later: the options that look back do not count."""
    return shown(lines, LogOptions(timestamps=options.timestamps), now)
