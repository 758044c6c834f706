"""What a controller is: it hears of every write, and looks at single objects when it is time."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import ClassVar

from ..storage.log import Write
from .client import Client, Core
from .queue import WorkQueue

__all__ = ["Controller"]

_LEAST = 0.001
_PIECE = 0.003


class Controller:
    """Has no loop and no time of its own: `observe` is called from within each write and only
    plans, `sync` acts, when what was planned is due.
    """

    name: ClassVar[str]
    """As `--controllers` takes it."""
    program: ClassVar[str] = "kube-controller-manager"
    """Whose writes its writes are."""
    watched: ClassVar[frozenset[str] | None] = None
    """The storages of whose writes it hears; None: of all."""
    storage: ClassVar[str] = ""
    """Whose objects, by their keys, `start` has it look at; empty: none."""

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        self.client = Client(core, self.program)
        self._queue = queue

    def start(self) -> None:
        """Plan what there is to do with the objects that are there already."""
        if self.storage:
            for found in self.client.list(self.storage):
                self.plan(found.key)

    def observe(self, write: Write) -> None:
        """Plan what this write leads to. Not the place to write."""
        raise NotImplementedError

    def sync(self, item: Hashable) -> None:
        """Bring one object to where it should be, or a step nearer."""
        raise NotImplementedError

    def plan(self, item: Hashable, after: float = 0.0) -> None:
        """Have `sync` called with `item` in so many seconds. Never at once: what plans itself again
        and again must let time pass.
        """
        self._queue.add(self.name, item, max(after, _LEAST))

    def piece(self, seconds: float = _PIECE) -> Callable[[], bool]:
        """Tells when it is time to stop, and to `plan` the rest: whoever asks the server meanwhile
        need not wait. Never where the clock stands still, as virtual time does.
        """
        clock = self.client.state.clock
        end = clock() + seconds
        return lambda: clock() > end

    def retry(self, item: Hashable) -> None:
        """The same after a failure, later each time."""
        self._queue.retry(self.name, item)

    def forget(self, item: Hashable) -> None:
        """It has not failed any more."""
        self._queue.forget(self.name, item)
