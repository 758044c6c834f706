"""50 informers in one process."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import AsyncExitStack

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient, Unstructured
from listwatch.cache import ReflectorOptions, SharedInformer

from .figures import Sizes, Table, descriptors, resident, until
from .server import served

__all__ = ["measure"]

_PODS = GroupVersionResource.parse("v1/pods")
_EACH = 200
"""Objects of an informer."""

_RATE = 1_000
"""Events a second, of all together."""


def measure(sizes: Sizes) -> int:
    table = Table(f"{sizes.informers} informers in one process, of {_EACH} pods each")
    asyncio.run(_measure(table, sizes))
    return table.missed


async def _measure(table: Table, sizes: Sizes) -> None:
    import aiohttp  # noqa: F401  what is imported when first used is not the informers'

    one = await _some(table, sizes, 1)
    many = await _some(table, sizes, sizes.informers)
    table.claim(
        f"an event, {sizes.informers} informers to 1",
        f"x {many / one:.2f}",
        "at most 1.5",
        many <= 1.5 * one,
    )


async def _some(table: Table, sizes: Sizes, count: int) -> float:
    """Microseconds of CPU an event."""
    seconds = 2.0 if sizes.short else 8.0
    async with served(_EACH * count, sizes.bytes, count) as server:
        tasks, threads, open_before = (
            len(asyncio.all_tasks()),
            threading.active_count(),
            descriptors(),
        )
        memory = resident()
        async with AsyncExitStack() as stack:
            cpu, wall = time.process_time(), time.perf_counter()
            client = await stack.enter_async_context(
                RESTClient(ClientConfig(server=server.url), max_retries=0)
            )
            informers = [_informer(client, number) for number in range(count)]
            for informer in informers:
                informer.add_handler(on_update=lambda old, new: None, inline=True)
                await stack.enter_async_context(informer)
            for informer in informers:
                await informer.synced()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            await until(lambda: all(each.health.state == "watching" for each in informers))
            await asyncio.sleep(1)
            table.row(
                f"{count} informers: from nothing to synced",
                f"{cpu * 1e3:,.0f} ms",
                f"{wall:.2f} s of the clock",
            )
            table.row(
                "  tasks, threads, sockets, each",
                f"{(len(asyncio.all_tasks()) - tasks) / count:.2f}, "
                f"{(threading.active_count() - threads) / count:.2f}, "
                f"{(descriptors() - open_before) / count:.2f}",
            )
            table.row(
                "  memory, each (200 pods included)",
                f"{(resident() - memory) / count / 1024:,.0f} KB",
            )
            idle = await _idle(seconds)
            table.claim(
                "  CPU when nothing happens, all together",
                f"{idle * 100:.3f} % of a core",
                "at most 0.5 %",
                idle <= 0.005,
            )
            events = int(_RATE * seconds)
            cpu = time.process_time()
            await server.events(events, _RATE)
            await _caught_up(informers, events)
            each = (time.process_time() - cpu) / events * 1e6
            table.row(f"  an event, {_RATE:,} a second of all together", f"{each:.1f} us")
            cpu = time.process_time()
            await server.events(events * 2)
            await _caught_up(informers, events * 3)
            burst = (time.process_time() - cpu) / events / 2 * 1e6
            table.row("  an event, as fast as they come", f"{burst:.1f} us")
            return each


def _informer(client: RESTClient, number: int) -> SharedInformer[Unstructured]:
    source = ListWatch.from_client(client, _PODS, namespace=f"part-{number}")
    return SharedInformer(source, options=ReflectorOptions(watch_list=False))


async def _idle(seconds: float) -> float:
    """The share of a core that goes by itself."""
    cpu = time.process_time()
    await asyncio.sleep(seconds)
    return (time.process_time() - cpu) / seconds


async def _caught_up(informers: list[SharedInformer[Unstructured]], events: int) -> None:
    """Wait until the newest that any has seen is the last one."""
    last = _EACH * len(informers) + events
    await until(lambda: max(int(each.store.resource_version) for each in informers) >= last, 60)
