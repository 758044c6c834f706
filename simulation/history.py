"""What was observed of one run: plain values, which the properties judge, and tests make by hand.

`step` counts everything that was observed, in the order in which it happened; `time` is the loop's,
in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from .states import State, States
from .truth import Truth

if TYPE_CHECKING:
    from .heard import Audience

__all__ = [
    "Ask",
    "Batch",
    "Call",
    "Ending",
    "History",
    "Look",
    "Note",
    "Observed",
    "Piece",
    "Told",
    "Wrote",
]


@dataclass(frozen=True, slots=True)
class Told:
    """One delta, as a handler was told it, and what the store showed it then."""

    type: str
    state: State
    old: State | None = None
    final_state_unknown: bool = False
    recreated: bool = False
    initial: bool = False
    shown: State | None = None
    """What the store has under the key at that moment."""
    indexed: bool = True
    """Whether the index has the key where that state wants it, and nowhere else."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a handler was told at once."""

    step: int
    time: float
    deltas: tuple[Told, ...]
    rv: int
    """Of the store at that moment."""
    epoch: int
    set: States


@dataclass(frozen=True, slots=True)
class Wrote:
    """One call by which the reflector wrote the store."""

    step: int
    time: float
    what: str
    """`replace`, `apply` or `bookmark`."""
    rv: int
    """Of the store afterwards; of a bookmark, what it said."""
    rv_before: int
    epoch: int
    """Afterwards."""
    new_epoch: bool = False
    events: tuple[tuple[str, State], ...] = ()
    """Of `apply`: type and state."""
    before: States = field(default_factory=dict)
    """Of `replace`: the store's objects before and after."""
    after: States = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """What the reflector said."""

    step: int
    time: float
    kind: str
    """`listed`, `setback`, `given up`, `undecoded` or `error`."""
    cause: str = ""
    """Empty for the first list."""
    text: str = ""
    key: str = ""


class Piece(NamedTuple):
    """What one read of an answer's body gave."""

    time: float
    data: bytes


@dataclass
class Ask:
    """One request, and what came of it."""

    step: int
    time: float
    kind: str
    """`list`, `page`, `watch-list`, `watch` or `probe` (limit 1 or metadata only)."""
    rv: str
    """The resourceVersion that was asked for."""
    store_rv: int = 0
    """Of the store when it was sent."""
    known_rv: int = 0
    """Of the reflector then."""
    epoch: int = 0
    query: Mapping[str, str] = field(default_factory=dict)
    answered: float | None = None
    """When its head, or an error instead of one, was there."""
    answered_step: int = 0
    status: int = 0
    """Of HTTP; 0 without an answer."""
    content_type: str = "application/json"
    error: str = ""
    """The exception's class instead of an answer."""
    retry_after: float | None = None
    """By header or body, in seconds."""
    pieces: list[Piece] = field(default_factory=list)
    ended: float | None = None
    end: str = ""
    """`end`, `closed` (by us), or the class of the exception that broke it off."""
    failure: str = ""
    """What the answer was: a reason of Status, `too large`, `unreadable`; of an ERROR event too."""
    failed: float | None = None
    """When that was known."""
    answer_rv: int = 0
    """The RV of a list."""
    injected: bool = False
    """Whether a fault made the answer up."""

    @property
    def is_ok(self) -> bool:
        return self.status == 200

    @property
    def is_set(self) -> bool:
        """Whether it asks for the whole set."""
        return self.kind in ("list", "watch-list")

    @cached_property
    def body(self) -> bytes:
        return b"".join(piece.data for piece in self.pieces)


@dataclass(frozen=True, slots=True)
class Look:
    """What a reader saw at some moment."""

    step: int
    time: float
    set: States
    rv: int
    epoch: int
    synced: bool
    state: str = ""
    last_byte_age: float | None = None
    undecodable: frozenset[str] = frozenset()
    late_writes: int = 0
    index_is_right: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """One call of somebody who waits: `at_least`, `fresh` or `synced`."""

    step: int
    """When it returned or raised."""
    what: str
    began: float
    ended: float
    returned: bool
    """Whether it returned; else it raised what stands in `error`."""
    timeout: float = 0.0
    within: float = 0.0
    """Of `fresh`, in seconds."""
    rv: int = 0
    """Of `at_least`: what was asked for."""
    store_rv: int = 0
    set: States = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class Ending:
    """How the mirror was stopped, and what was left."""

    asked: float
    gone: float
    """When the call that stops it was done."""
    tasks: tuple[str, ...] = ()
    """Left over."""
    open_responses: int = 0
    complaints: tuple[str, ...] = ()
    """Warnings, exceptions that nobody took."""
    late: int = 0
    """Deltas told after it."""
    objects: int = 0
    """Decoded objects that are alive; only where they were counted."""
    held: int = 0
    """Decoded objects in the store, likewise."""


@dataclass(slots=True)
class Observed:
    """One mirror."""

    name: str = "mirror"
    transformed: bool = False
    truth: Truth | None = None
    """What the server had of it, where mirrors differ in that; else the run's."""
    slow: float = 0.0
    """Seconds that its consumer takes for what one read brings, at most."""
    batches: list[Batch] = field(default_factory=list)
    resyncs: list[Batch] = field(default_factory=list)
    wrote: list[Wrote] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    asks: list[Ask] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    finals: list[Look] = field(default_factory=list)
    """What it showed when it had been left in peace for long enough: before the last writes, and
    after them.
    """
    ending: Ending | None = None


@dataclass(slots=True)
class History:
    """One run."""

    truth: Truth = field(default_factory=Truth)
    mirrors: list[Observed] = field(default_factory=list)
    """Those of an informer, too."""
    audience: Audience | None = None
    calm: float = 0.0
    """When the faults ended."""
    until: float = 0.0
    """When the mirrors were stopped."""

    def truth_of(self, seen: Observed) -> Truth:
        """What the server had of the objects of that mirror."""
        return self.truth if seen.truth is None else seen.truth
