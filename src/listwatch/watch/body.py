"""A watch's body, read and decoded: the Decoder of every watch that comes over HTTP."""

from __future__ import annotations

import asyncio
from typing import Generic, TypeVar

from listwatch.api import Event, ListWatchError
from listwatch.wire import WatchDecoder

from .protocols import ByteStream

__all__ = ["BodyDecoder"]

T = TypeVar("T")


class BodyDecoder(Generic[T]):
    """Pulls pieces of a body through a WatchDecoder. One `decode` awaits one read, or a few where
    none completes an event.
    """

    def __init__(self, body: ByteStream, decoder: WatchDecoder[T]) -> None:
        self._body = body
        self._decoder = decoder
        self._fault: ListWatchError | None = None
        self._ended = False
        self._loop = asyncio.get_running_loop()
        self.last_read: float | None = None
        """When bytes last arrived, as time of the event loop; also those that complete no event."""

    async def decode(self) -> list[Event[T]]:
        while not self._ended:
            data = await self._body.receive()
            if data:
                self.last_read = self._loop.time()
            self._ended = not data
            known = self._decoder.faults
            found = self._decoder.feed(data) if data else self._decoder.end()
            events = found if self._decoder.faults == known else self._before_fault(found)
            if events:
                return events  # type: ignore[return-value]  # no new faults, so these are events only
            if self._fault:
                break
        if self._fault:
            raise self._fault
        return []

    def _before_fault(self, found: list[Event[T] | ListWatchError]) -> list[Event[T]]:
        """The events before the first fault, which is kept to be raised by the next call: it may
        not overtake them.
        """
        events: list[Event[T]] = []
        for item in found:
            if isinstance(item, ListWatchError):
                self._fault = item
                self._ended = True
                break
            events.append(item)
        return events

    def close(self) -> None:
        self._body.close()
