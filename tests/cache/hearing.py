"""Handlers that write down what they are told, in each of the three ways."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Literal

from listwatch.cache import Registration, SharedInformer, Tombstone

from .scripted import Still

Way = Literal["inline", "task", "thread"]

WAYS: tuple[Way, ...] = ("inline", "task", "thread")


class Hearing:
    """What a handler was told, a line for each: `add a 3 initial`, `update a 3 6`, `delete a 7`,
    `gone a 4`, of which the last is a tombstone.
    """

    def __init__(self, hook: Callable[[str], Any] | None = None) -> None:
        self.lines: list[str] = []
        self.hook = hook
        """Is told of each line, where the handler is told."""

    def on_add(self, obj: Any, in_initial_list: bool) -> Any:
        return self._hear(f"add {_said(obj)}{' initial' if in_initial_list else ''}")

    def on_update(self, old: Any, new: Any) -> Any:
        return self._hear(f"update {_said(old)} {new.resource_version}")

    def on_delete(self, obj: Any) -> Any:
        if isinstance(obj, Tombstone):
            return self._hear(f"gone {_said(obj.object)}")
        return self._hear(f"delete {_said(obj)}")

    def _hear(self, line: str) -> Any:
        self.lines.append(line)
        if self.hook is not None:
            self.hook(line)

    @property
    def shown(self) -> dict[str, str]:
        """The set, as one would know it who has heard this and nothing else. Raises
        `AssertionError` where it makes no sense.
        """
        shown: dict[str, str] = {}
        for line in self.lines:
            what, name, *versions = line.split()
            match what:
                case "add":
                    assert name not in shown, f"{line}, which was there"
                    shown[name] = versions[0]
                case "update":
                    assert shown[name] == versions[0], f"{line}, from {shown[name]}"
                    shown[name] = versions[1]
                case _:
                    del shown[name]
        return shown

    def take(self) -> list[str]:
        """The lines since the last time."""
        lines, self.lines = self.lines, []
        return lines


class AsyncHearing(Hearing):
    """The same, told in a task; its hook may be async."""

    async def on_add(self, obj: Any, in_initial_list: bool) -> None:
        await _awaited(super().on_add(obj, in_initial_list))

    async def on_update(self, old: Any, new: Any) -> None:
        await _awaited(super().on_update(old, new))

    async def on_delete(self, obj: Any) -> None:
        await _awaited(super().on_delete(obj))

    def _hear(self, line: str) -> Any:
        self.lines.append(line)
        return self.hook(line) if self.hook is not None else None


async def _awaited(result: Any) -> None:
    if result is not None:
        await result


def _said(obj: Any) -> str:
    return f"{obj.name} {obj.resource_version}"


def listen(
    informer: SharedInformer[Any], way: Way = "inline", hook: Any = None, **more: Any
) -> tuple[Hearing, Registration[Any]]:
    """Add a handler that is told in this way."""
    hearing = AsyncHearing(hook) if way == "task" else Hearing(hook)
    return hearing, informer.add_handler(hearing, inline=way == "inline", **more)


def informer_of(source: Any, **more: Any) -> SharedInformer[Any]:
    return SharedInformer(source, **{"kind": "Pod", "rng": Still(), **more})


async def caught_up(*registrations: Registration[Any]) -> None:
    """Until they have been told all that waits for them now."""
    for registration in registrations:
        if registration.is_removed:
            await registration.removed()
        elif (queue := registration._listener._queue) is not None:
            told = asyncio.Event()
            queue.mark(told.set)
            await told.wait()


class Gate:
    """Where a handler waits at each notification until the test lets it on."""

    def __init__(self, way: Way) -> None:
        self.loop = asyncio.get_running_loop()
        self.at = asyncio.Semaphore(0)
        self._in_thread = threading.Semaphore(0)
        self._in_task = asyncio.Semaphore(0)
        self.passes: Any = self._blocks if way == "thread" else self._waits

    def _blocks(self, line: str) -> None:
        self.loop.call_soon_threadsafe(self.at.release)
        self._in_thread.acquire()

    async def _waits(self, line: str) -> None:
        self.at.release()
        await self._in_task.acquire()

    async def reached(self) -> None:
        """Until it stands there once more."""
        await self.at.acquire()

    def open(self, times: int = 1) -> None:
        """Let it on so many times."""
        for _ in range(times):
            self._in_thread.release()
            self._in_task.release()
