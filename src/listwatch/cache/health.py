"""How a mirror is: one value, for readiness probes, metrics and people (K10)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .causes import Cause

__all__ = ["Health", "State", "merged_health"]


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
    sources: Mapping[str, Health] = field(default_factory=dict)
    """Of an informer over several sources: how each is (K9)."""

    @property
    def ready(self) -> bool:
        """Whether the store has a whole set and the reflector is at work; how old the set is, is
        `last_byte_age`'s and `fresh`'s to say.
        """
        return self.synced and self.state is not State.STOPPED

    def __str__(self) -> str:
        objects = f"{self.objects:,} object{'' if self.objects == 1 else 's'}"
        at = "" if self.sources else f" at {self.resource_version or '-'}"
        parts = [f"{self.state}", f"{objects}{at}"]
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


_WORST_FIRST = (
    State.STOPPED,
    State.STARTING,
    State.BACKING_OFF,
    State.LISTING,
    State.STREAMING,
    State.WATCHING,
)


def merged_health(sources: Mapping[str, Health], *, synced: bool, objects: int) -> Health:
    """One health of several sources: the worst state, the oldest ages, all the counts."""
    each = tuple(sources.values())
    relists: Counter[Cause] = Counter()
    for health in each:
        relists.update(health.relists)
    failed = {name: health.last_error for name, health in sources.items() if health.last_error}
    return Health(
        state=min((health.state for health in each), key=_WORST_FIRST.index),
        synced=synced,
        connected_since=_newest([health.connected_since for health in each]),
        last_byte_age=_newest([health.last_byte_age for health in each]),
        last_event_age=_newest([health.last_event_age for health in each]),
        resource_version="",
        epoch=sum(health.epoch for health in each),
        objects=objects,
        relists=dict(relists),
        undecodable=tuple(sorted({key for health in each for key in health.undecodable})),
        last_error="; ".join(f"{name}: {error}" for name, error in failed.items()),
        watch_list="; ".join(dict.fromkeys(part.watch_list for part in each if part.watch_list)),
        requests=sum(health.requests for health in each),
        late_writes=sum(health.late_writes for health in each),
        sources=dict(sources),
    )


def _newest(times: list[float | None]) -> float | None:
    """The greatest, None where one is missing: the oldest age, the newest time."""
    return None if None in times else max(time for time in times if time is not None)
