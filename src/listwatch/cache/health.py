"""How a mirror is: one value, for readiness probes, metrics and people (K10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from .causes import Cause

__all__ = ["Health", "State"]


class State(StrEnum):
    """What a reflector does now."""

    STARTING = "starting"
    LISTING = "listing"
    STREAMING = "streaming"
    """The initial set comes through a watch (WatchList)."""
    WATCHING = "watching"
    BACKING_OFF = "backing off"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """The state of one mirror at one moment. Ages are in seconds, times the loop's."""

    state: State
    synced: bool
    """Whether a whole set has come; once true it stays so."""
    connected_since: float | None
    """When the present watch was opened."""
    last_byte_age: float | None
    """Since anything came from the server on a watch; None before the first."""
    last_event_age: float | None
    """The same for events and bookmarks."""
    resource_version: str
    epoch: int
    """Grows when the server's history went back (H18)."""
    objects: int
    relists: Mapping[Cause, int]
    """How often the whole set was replaced, by cause; the first does not count."""
    undecodable: tuple[str, ...]
    """The keys of objects that are kept raw (H10)."""
    last_error: str
    """What failed last, cleared by nothing; empty if nothing has."""
    watch_list: str
    """Why the initial set does not come through a watch; empty if it does."""
    requests: int
    """Sent so far, later pages of a list aside."""
    late_writes: int
    """Events that told of an older state than the store had, and were dropped (I3)."""

    @property
    def ready(self) -> bool:
        """Whether the store has a whole set and the reflector is at work; how old the set is, is
        `last_byte_age`'s and `fresh`'s to say.
        """
        return self.synced and self.state is not State.STOPPED

    def __str__(self) -> str:
        parts = [f"{self.state}", f"{self.objects:,} objects at {self.resource_version or '-'}"]
        if not self.synced:
            parts.append("not synced")
        if self.last_byte_age is not None:
            parts.append(f"last byte {self.last_byte_age:.1f} s ago")
        if self.relists:
            told = ", ".join(f"{cause} {count}" for cause, count in self.relists.items())
            parts.append(f"relists: {told}")
        if self.undecodable:
            parts.append(f"{len(self.undecodable)} undecodable")
        if self.watch_list:
            parts.append(f"no watch-list ({self.watch_list})")
        if self.last_error:
            parts.append(f"last error: {self.last_error}")
        return " ".join("; ".join(parts).split())  # an error may have several lines
