"""The faults that a server has now, and what became of them.

A fault is told as a line of text (`docs/faults.md`) or as a value of `fault_model`. The same
`Faults` serves the HTTP face and the transport without sockets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random

from ..types.request_info import RequestInfo
from .effects import Effects
from .language import parse_fault
from .model import Fault

__all__ = ["ActiveFault", "AppliedFault", "Faults"]


@dataclass(frozen=True, slots=True)
class AppliedFault:
    """One time that a fault took effect."""

    time: float
    """On the server's clock, in seconds."""
    id: int
    fault: Fault
    request: str
    """Verb and path, such as `watch /api/v1/pods`; empty where no request set it off."""


@dataclass(slots=True, eq=False)
class ActiveFault:
    """A fault that was added, and how far it has got."""

    id: int
    fault: Fault
    requests: int = 0
    """That matched so far."""
    applied: int = 0
    """Times that it took effect."""

    @property
    def spent(self) -> bool:
        """Whether it can take effect no more."""
        how = self.fault.how
        if self.fault.when.kind == "after" and self.applied:
            return True
        return (how.times is not None and self.applied >= how.times) or (
            how.last is not None and self.requests >= how.last and self.applied > 0
        )

    def __str__(self) -> str:
        return str(self.fault)


class Faults:
    """What shall go wrong. Empty at first, and changed at any time.

    >>> faults = Faults("watch pods: cut after 5000 bytes, 3 times")
    >>> added = faults.add("list: answer 503 as html, once")
    >>> [str(active) for active in faults]
    ['watch pods: cut after 5000 bytes, 3 times', 'list: answer 503 as html, once']
    >>> faults.remove(added)

    `rng` draws for those with a chance; without one they are drawn from the same seed every time.
    What has come to its end stays in the list, so that its counts can be read.
    """

    def __init__(self, *faults: str | Fault, rng: Random | None = None) -> None:
        self._rng = rng or Random(0)
        self._active: dict[int, ActiveFault] = {}
        self._next_id = 1
        self.clock: Callable[[], float] = lambda: 0.0
        """The server's, once there is one."""
        self.log: list[AppliedFault] = []
        """Every time that one took effect."""
        self.on_add: Callable[[ActiveFault], None] | None = None
        """Called by `add`: the server's way to hear of those that no request sets off."""
        self.on_remove: Callable[[ActiveFault], None] | None = None
        for fault in faults:
            self.add(fault)

    def add(self, fault: str | Fault) -> ActiveFault:
        """From now on this may happen. Raises `FaultSyntaxError` for a line that is no fault."""
        parsed = parse_fault(fault) if isinstance(fault, str) else fault
        added = ActiveFault(self._next_id, parsed)
        self._next_id += 1
        self._active[added.id] = added
        if self.on_add is not None:
            self.on_add(added)
        return added

    def remove(self, fault: ActiveFault | int) -> None:
        """It happens no more, not even to answers that are under way; what stalls goes on doing so.

        Raises KeyError if it is not there.
        """
        removed = self._active.pop(fault if isinstance(fault, int) else fault.id)
        if self.on_remove is not None:
            self.on_remove(removed)

    def clear(self) -> None:
        """Remove all of them. The log stays."""
        for active in tuple(self):
            self.remove(active)

    def __iter__(self) -> Iterator[ActiveFault]:
        return iter(tuple(self._active.values()))

    def __len__(self) -> int:
        return len(self._active)

    def get(self, fault: int) -> ActiveFault | None:
        return self._active.get(fault)

    def effects(self, asked: RequestInfo) -> Effects | None:
        """What these do to one more request; None for most."""
        found = [
            (active.fault, partial(self.apply, active, asked))
            for active in self._active.values()
            if self._chosen(active, asked)
        ]
        return Effects(found) if found else None

    def apply(self, active: ActiveFault, asked: RequestInfo | None = None) -> bool:
        """Note that `active` takes effect now. False if it may not: its times are used up, or it is
        not there any more.
        """
        if active.spent or active.id not in self._active:
            return False
        active.applied += 1
        request = "" if asked is None else f"{asked.verb} {asked.path}"
        self.log.append(AppliedFault(self.clock(), active.id, active.fault, request))
        return True

    def _chosen(self, active: ActiveFault, asked: RequestInfo) -> bool:
        fault = active.fault
        if fault.when.kind != "request" or not fault.who.matches(asked):
            return False
        active.requests += 1
        how = fault.how
        since = active.requests - how.first
        if since < 0 or since % how.every or (how.last is not None and active.requests > how.last):
            return False
        return not active.spent and (how.chance >= 1 or self._rng.random() < how.chance)
