"""What handlers were told, in plain values, as in `history.py`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .history import Observed
from .states import State

__all__ = ["Audience", "Heard", "Notice", "Waiting"]


@dataclass(slots=True)
class Notice:
    """One call of a handler's function, and what the store showed then."""

    step: int
    time: float
    what: str
    """`add`, `update` or `delete`."""
    state: State
    old: State | None = None
    """Of an update."""
    tombstone: bool = False
    initial: bool = False
    shown: State | None = None
    indexed: bool = True
    synced: bool = False
    """Whether the handler counted as synced when it was called."""
    queued: int = 0
    """What waited for it besides."""
    ended_step: int | None = None
    """None for one that was never over, as where the handler was cancelled."""
    raised: bool = False


class Waiting(NamedTuple):
    """What waited for a handler at some moment."""

    step: int
    time: float
    queued: int


@dataclass(slots=True)
class Heard:
    """One handler, and all that it was told."""

    name: str
    inline: bool = False
    filter: str = ""
    """`zone`: those of one zone; `raising`: the same, and of another zone it raises."""
    queue: str = "unbounded"
    """Or `block`, or `collapse`: when more than `size` wait."""
    size: int = 0
    is_changes: bool = False
    """It is the consumer of a `Changes`: it gets what cannot be decoded, too."""
    slow: float = 0.0
    """Seconds that it takes for one notification, at most."""
    added: int = 0
    """The step at which it was added; 0: before the start."""
    time: float = 0.0
    cut: bool = False
    """It was cancelled in the middle of a notification."""
    removed: int | None = None
    """When somebody removed it."""
    gone: int | None = None
    """When whoever waited for its end had done so."""
    synced: int | None = None
    """When whoever waited for it to be synced was told that it is."""
    notices: list[Notice] = field(default_factory=list)
    waiting: list[Waiting] = field(default_factory=list)
    finals: list[tuple[Waiting, bool]] = field(default_factory=list)
    """When all was well: what waited, and whether it was synced."""
    raised: list[str] = field(default_factory=list)
    """The key of each notification for which it, or its filter, raised."""
    logged: list[str] = field(default_factory=list)
    """The keys that were logged for that, under its name."""
    failures: int = 0
    """What its registration counted."""


@dataclass(slots=True)
class Audience:
    """An informer, or a `Changes`: whose set it is, and who is told."""

    parts: list[Observed]
    """A mirror for each source. They are among the mirrors of the run, too."""
    union: Observed | None = None
    """What is shown of several sources."""
    optional: frozenset[str] = frozenset()
    """The names of parts that nobody waits for."""
    recreate_as_two: bool = False
    synced: int | None = None
    """When whoever waited for the informer to be synced was told that it is."""
    handlers: list[Heard] = field(default_factory=list)

    @property
    def shows(self) -> Observed:
        """The set that the handlers are told of."""
        return self.parts[0] if self.union is None else self.union
