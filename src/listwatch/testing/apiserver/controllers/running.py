"""The controllers of one server, and their time."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from ..storage.log import Write
from .client import Core
from .controller import Controller
from .names import controller_classes
from .queue import WorkQueue

__all__ = ["RunningControllers"]

_SLICE = 0.005
"""Seconds of work in one piece."""
_log = logging.getLogger(__name__)


class RunningControllers:
    """Those that are switched on, by `names`. Raises `UnknownController`.

    From the same seed and the same requests at the same times they do the same things.
    """

    def __init__(self, core: Core, names: Iterable[str]) -> None:
        self._core = core
        self._queue = WorkQueue(core.state.clock)
        self._busy = False
        self._controllers: dict[str, Controller] = {
            found.name: found(core, self._queue) for found in controller_classes(names)
        }
        core.state.log.listeners.append(self._observe)
        self.start()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._controllers)

    @property
    def next_due(self) -> float | None:
        """When `run_due` has something to do, on the core's clock. While it is at it: never."""
        return None if self._busy else self._queue.next_due

    def start(self) -> None:
        """Look at everything that is there, as after a start of the server."""
        self._queue.clear()
        for controller in self._controllers.values():
            controller.start()

    def run_due(self, now: float) -> None:
        """Do what is due. What it leads to at once is done too; but where the clock goes on
        meanwhile, only for so long that whoever asks the server need not wait: the rest stays due.
        """
        if self._busy:
            return  # their own requests come this way, too
        self._busy = True
        try:
            while (found := self._queue.pop(now)) is not None:
                name, item = found
                try:
                    self._controllers[name].sync(item)
                except Exception:
                    # An object that nobody has validated must not take the server down.
                    _log.exception("the %s controller failed on %s", name, item)
                    self._queue.retry(name, item)
                if self._core.state.clock() - now > _SLICE:
                    return
        finally:
            self._busy = False

    def stop(self) -> None:
        """Hear of no more writes, and do nothing more. Idempotent."""
        self._queue.clear()
        if self._observe in self._core.state.log.listeners:
            self._core.state.log.listeners.remove(self._observe)

    def _observe(self, write: Write) -> None:
        for controller in self._controllers.values():
            if controller.watched is None or write.storage in controller.watched:
                controller.observe(write)
