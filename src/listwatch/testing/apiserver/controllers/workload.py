"""What the controllers of workloads have in common."""

from __future__ import annotations

from .client import Core
from .controller import Controller
from .events import Recorder
from .queue import WorkQueue

__all__ = ["Workload"]


class Workload(Controller):
    """Leaves Events in its own name, such as `replicaset-controller`."""

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._events = Recorder(self.client, f"{self.name}-controller")
