"""10,000 notifications a second, for handlers of each kind."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient, Unstructured
from listwatch.cache import ReflectorOptions, SharedInformer

from .figures import Sizes, Table, until
from .server import Served, served

__all__ = ["measure"]

_PODS = GroupVersionResource.parse("v1/pods")
_RATE = 10_000
"""Notifications a second."""

_OBJECTS = 10_000
_FIRST = 64


@dataclass
class Heard:
    """When one handler was told, of some of what it was told."""

    every: int
    count: int = 0
    last: Unstructured | None = None
    at: list[tuple[int, float]] = field(default_factory=list)

    def update(self, old: Unstructured, new: Unstructured) -> None:
        self.count += 1
        self.last = new
        if self.count % self.every == 0:
            self.at.append((self.count, time.monotonic()))

    async def update_async(self, old: Unstructured, new: Unstructured) -> None:
        self.update(old, new)

    def lags(self, began: float, rate: float) -> list[float]:
        """Seconds from when the server was to send each until the handler had it."""
        return [at - began - number / rate for number, at in self.at]


Add = Callable[[SharedInformer[Unstructured], Heard], object]

KINDS: dict[str, Add] = {
    "inline": lambda informer, heard: informer.add_handler(on_update=heard.update, inline=True),
    "task": lambda informer, heard: informer.add_handler(on_update=heard.update_async),
    "thread": lambda informer, heard: informer.add_handler(on_update=heard.update),
}


def measure(sizes: Sizes) -> int:
    table = Table(f"Handlers: {_RATE:,} notifications a second, of {_OBJECTS:,} pods")
    asyncio.run(_measure(table, sizes))
    return table.missed


async def _measure(table: Table, sizes: Sizes) -> None:
    seconds = 1.0 if sizes.short else 8.0
    async with served(_OBJECTS, sizes.bytes) as server:
        for handlers in (1, 10):
            rate = _RATE / handlers
            count = int(rate * seconds)
            alone, _ = await _run(server, [], None, rate, count)
            table.row(
                f"no handler, {rate:,.0f} events a second",
                f"{alone / seconds * 100:.1f} % of a core",
                f"{alone / count * 1e6:.1f} us an event",
            )
            for kind, add in KINDS.items():
                all_heard = [Heard(max(count // 500, 1)) for _ in range(handlers)]
                cpu, began = await _run(server, all_heard, add, rate, count)
                lags = [lag for heard in all_heard for lag in heard.lags(began, rate)]
                half = [
                    statistics.median(part)
                    for heard in all_heard
                    for lag in [heard.lags(began, rate)]
                    for part in (lag[len(lag) // 4 : len(lag) // 2], lag[len(lag) // 2 :])
                ]
                early, late = statistics.median(half[::2]), statistics.median(half[1::2])
                who = f"{handlers} {kind} handler{'s' if handlers > 1 else ''}"
                table.row(
                    f"{who}, {rate:,.0f} events a second",
                    f"{cpu / seconds * 100:.1f} % of a core",
                    f"{(cpu - alone) / count / handlers * 1e6:.1f} us a notification",
                )
                table.row(
                    "  lag, median and at most",
                    f"{statistics.median(lags) * 1e3:.1f} ms, {max(lags) * 1e3:.0f} ms",
                )
                table.claim(
                    "  lag, of its second quarter and its last half",
                    f"{early * 1e3:.1f} ms, {late * 1e3:.1f} ms",
                    "does not grow",
                    late - early <= max(early / 2, 0.02),
                )


async def _run(
    server: Served, all_heard: list[Heard], add: Add | None, rate: float, count: int
) -> tuple[float, float]:
    """Seconds of CPU for so many events, and when the first was due."""
    async with RESTClient(ClientConfig(server=server.url), max_retries=0) as client:
        informer: SharedInformer[Unstructured] = SharedInformer(
            ListWatch.from_client(client, _PODS), options=ReflectorOptions(watch_list=False)
        )
        for heard in all_heard:
            assert add is not None
            add(informer, heard)
        async with informer:
            await informer.synced()
            await until(lambda: informer.health.state == "watching")
            before = int(informer.store.resource_version)
            await server.events(_FIRST)  # whatever is made when first used is made then
            await informer.at_least(str(before + _FIRST), timeout=30)
            await until(lambda: all(heard.count == _FIRST for heard in all_heard), 30)
            for heard in all_heard:
                heard.count = 0
                heard.at.clear()
            version = int(informer.store.resource_version) + count
            cpu = time.process_time()
            began = await server.events(count, rate)
            await informer.at_least(str(version), timeout=30)
            await until(lambda: all(heard.count >= count for heard in all_heard), 30)
            return time.process_time() - cpu, began
