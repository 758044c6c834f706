"""What the controllers of workloads have in common."""

from __future__ import annotations

from typing import ClassVar

from .client import Core
from .controller import Controller
from .events import Recorder
from .queue import WorkQueue

__all__ = ["Workload"]


class Workload(Controller):
    """Leaves Events in its own name, such as `replicaset-controller`."""

    component: ClassVar[str] = ""
    """That name, where it is another."""

    def __init__(self, core: Core, queue: WorkQueue) -> None:
        super().__init__(core, queue)
        self._events = Recorder(self.client, self.component or f"{self.name}-controller")
