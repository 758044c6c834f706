"""The loop and the faults of a run, which say how far they are."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from listwatch.testing.apiserver.faults.current import ActiveFault, Faults
from listwatch.testing.apiserver.types.request_info import RequestInfo
from listwatch.testing.virtual_time import VirtualTimeLoop

from .faults import kind_of

__all__ = ["CountingLoop", "WatchedFaults"]


class CountingLoop(VirtualTimeLoop):
    """Counts its turns, and does something at one of them."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        self.at_turn: tuple[int, Callable[[], None]] | None = None

    def _run_once(self) -> None:
        self.turns += 1
        if self.at_turn is not None and self.turns >= self.at_turn[0]:
            (_, act), self.at_turn = self.at_turn, None
            act()
        super()._run_once()  # type: ignore[misc]  # it is in no stub


class WatchedFaults(Faults):
    """Says what a fault met."""

    def __init__(self, rng: Random, on_apply: Callable[[str, object], None]) -> None:
        super().__init__(rng=rng)
        self._on_apply = on_apply

    def apply(self, active: ActiveFault, asked: RequestInfo | None = None) -> bool:
        if not super().apply(active, asked):
            return False
        self._on_apply(kind_of(active.fault), active.fault)
        return True
