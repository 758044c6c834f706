"""What a reflector has seen and done: for its health, its notes and its error handler."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

from ._words import named_words, words
from .causes import Cause
from .health import Health, State
from .notes import Note, Undecoded
from .target import ReflectorTarget
from .undecodable import Undecodable

__all__ = ["Journal"]

_log = logging.getLogger("listwatch.cache")


class Journal:
    """Counts, and tells those who want to know. Whoever listens and raises is logged: the mirror is
    worth more than what is said of it (H12).
    """

    def __init__(
        self,
        name: str,
        *,
        on_error: Callable[[Exception], None] | None,
        on_note: Callable[[Note], None] | None,
        on_progress: Callable[[int, int | None], None] | None,
    ) -> None:
        self._name = name
        self._on_error = on_error
        self._on_note = on_note
        self._on_progress = on_progress
        self.state = State.STARTING
        self.synced = False
        self.requests = 0
        self.relists: Counter[Cause] = Counter()
        self.last_error = ""
        self.watch_list = ""
        self.connected_since: float | None = None
        self.last_byte_at: float | None = None
        self.last_event_at: float | None = None

    def note(self, note: Note) -> None:
        _log.debug("%s: %s", self._name, note)
        if self._on_note is not None:
            try:
                self._on_note(note)
            except Exception:
                _log.exception("%s: a listener to notes failed", self._name)

    def fail(self, error: Exception, *, quietly: bool = False) -> None:
        """Something failed. `quietly` is for what happens in every mirror's life."""
        self.last_error = named_words(error)
        if self._on_error is None:
            level = logging.DEBUG if quietly else logging.WARNING
            _log.log(level, "%s: %s", self._name, words(error))
            return
        try:
            self._on_error(error)
        except Exception:
            _log.exception("%s: the error handler failed", self._name)

    def end(self, error: BaseException) -> None:
        """The reflector has ended with this. A bug is logged, since a program that only reads the
        store may never await who raises it; what has been told as a failure is not told again.
        """
        if self.last_error == named_words(error):
            return
        self.last_error = named_words(error)
        _log.error("%s has ended: %s", self._name, self.last_error, exc_info=error)

    def undecoded(self, found: Undecodable) -> None:
        """An object is kept raw (H10)."""
        self.note(Undecoded(key=found.key, reason=found.reason))
        self.fail(found.error)

    def progress(self, count: int, remaining: int | None) -> None:
        """So many objects of a list are there."""
        if self._on_progress is not None:
            try:
                self._on_progress(count, remaining)
            except Exception:
                _log.exception("%s: a progress callback failed", self._name)

    def health(self, target: ReflectorTarget[Any], now: float) -> Health:
        def age(at: float | None) -> float | None:
            return None if at is None else max(now - at, 0.0)

        return Health(
            state=self.state,
            synced=self.synced,
            connected_since=self.connected_since,
            last_byte_age=age(self.last_byte_at),
            last_event_age=age(self.last_event_at),
            resource_version=target.resource_version,
            epoch=target.epoch,
            objects=len(target),
            relists=dict(self.relists),
            undecodable=tuple(target.undecodable),
            last_error=self.last_error,
            watch_list=self.watch_list,
            requests=self.requests,
            late_writes=target.late_writes,
        )
