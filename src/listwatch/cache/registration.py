"""Registration: a handler at an informer, for whoever added it (K3, K5)."""

from __future__ import annotations

from typing import Generic, TypeVar

from ._listener import Listener

__all__ = ["Registration"]

T = TypeVar("T")


class Registration(Generic[T]):
    """What `add_handler` gives. The handler is told one thing at a time, in order; one that raises
    is logged, and told the next thing (K4).
    """

    def __init__(self, listener: Listener[T]) -> None:
        self._listener = listener

    @property
    def name(self) -> str:
        """For logs."""
        return self._listener.name

    @property
    def told(self) -> int:
        """Notifications that the handler has got."""
        return self._listener.told

    @property
    def failures(self) -> int:
        """How often it, or its filter, has raised."""
        return self._listener.failures

    @property
    def queued(self) -> int:
        """Notifications that wait for the handler."""
        return self._listener.queued

    @property
    def is_synced(self) -> bool:
        """Whether the handler has finished the adds of the initial set (K3)."""
        return self._listener.is_synced

    @property
    def is_removed(self) -> bool:
        """Whether `remove` was called."""
        return self._listener.is_removed

    async def synced(self, timeout: float | None = None) -> None:
        """Wait until the handler has finished the adds of the initial set.

        Raises `TimeoutError` after `timeout` seconds, what ended the informer before, as its own
        `synced` does, and `MirrorStopped` where the handler was removed before.
        """
        await self._listener.synced(timeout)

    def remove(self) -> None:
        """Tell the handler nothing more; what it is being told, it finishes. Idempotent (K5). From
        any thread.
        """
        self._listener.remove()

    async def removed(self) -> None:
        """Remove the handler, and wait until its last notification has finished (K5).

        Raises `RuntimeError` in the handler itself, which would wait for its own end; for one in a
        thread, also in whatever that has started.
        """
        await self._listener.removed()

    def __repr__(self) -> str:
        state = "removed" if self.is_removed else "synced" if self.is_synced else "not synced"
        return f"<Registration {self.name}: {state}, {self.told} told, {self.queued} queued>"
