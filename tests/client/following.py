"""Consumers of `client.watch`."""

from __future__ import annotations

import asyncio
from typing import Any

from listwatch.cache.changes import Changes
from listwatch.cache.delta import Delta

Told = tuple[str, str]
"""Type and key of an event."""


def told(event: Delta[Any]) -> Told:
    return event.type.value, event.key


async def take(changes: Changes[Any], number: int) -> list[Delta[Any]]:
    """The next so many events. Leaving a watch after them is not leaving it in the middle."""
    found: list[Delta[Any]] = []
    async with asyncio.timeout(600):
        async for event in changes:
            found.append(event)
            if len(found) == number:
                break
    return found


class Following:
    """A consumer in a task of its own, so that a test can act between two events."""

    def __init__(self, changes: Changes[Any]) -> None:
        self.changes = changes
        self.events: list[Delta[Any]] = []
        self._more = asyncio.Event()
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with self.changes as changes:
            async for event in changes:
                self.events.append(event)
                self._more.set()

    async def until(self, number: int) -> list[Told]:
        """What came, once there are so many."""
        async with asyncio.timeout(600):
            while len(self.events) < number:
                self._more.clear()
                waiter = asyncio.create_task(self._more.wait())
                done, _ = await asyncio.wait(
                    {waiter, self.task}, return_when=asyncio.FIRST_COMPLETED
                )
                waiter.cancel()
                await asyncio.wait([waiter])
                if self.task in done:
                    self.task.result()
                    raise AssertionError(f"the watch ended after {self.events}")
        return [told(event) for event in self.events]

    async def end(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])
