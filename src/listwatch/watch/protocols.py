"""What a watch is, and what one is made of. Nothing here knows HTTP: any stream of events can be
watched (E6).
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import TracebackType
from typing import Protocol, Self, TypeVar

from listwatch.api import Event, Status

__all__ = ["ByteStream", "Decoder", "Reporter", "Watch"]

T = TypeVar("T")


class Watch(Protocol[T]):
    """One stream of events, for one consumer. It ends when its source does; it never reconnects.

    Leaving the `async with` or the `async for`, or being cancelled in it, stops it (E3).
    """

    def __aiter__(self) -> AsyncIterator[Event[T]]:
        """The events, one at a time."""
        ...

    def batches(self) -> AsyncIterator[list[Event[T]]]:
        """The same events as they arrive: what one read brought, never empty. The faster way for
        many events.
        """
        ...

    def stop(self) -> None:
        """End it, from any task or thread. A read that waits wakes at once; no event is delivered
        afterwards. Idempotent (E3).
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...


class Decoder(Protocol[T]):
    """Where a StreamWatcher gets its events from."""

    async def decode(self) -> list[Event[T]]:
        """The next events: one, or all that one read brought. An empty list says that the stream
        has ended cleanly.

        What it raises ends the watch (E2). It is not called again after either.
        """
        ...

    def close(self) -> None:
        """Let the source go. Called once, while no `decode` runs or while one waits, which then may
        return or raise anything.
        """
        ...


class Reporter(Protocol):
    """Turns what a Decoder raised into the Status of the ERROR event that ends the watch."""

    def report(self, error: Exception) -> Status: ...


class ByteStream(Protocol):
    """The body of an answer, as it arrives."""

    async def receive(self) -> bytes:
        """The next piece; `b""` at the end. Raises `ConnectionError` or `TimeoutError` where it
        broke off.
        """
        ...

    def close(self) -> None:
        """Give it up. Idempotent."""
        ...
