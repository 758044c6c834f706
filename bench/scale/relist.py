"""A relist of 200,000 objects, of which few have changed."""

from __future__ import annotations

import asyncio
import time

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient, Unstructured
from listwatch.cache import ReflectorOptions, SharedInformer

from .figures import Sizes, Table, apart, peak_memory, reset_peak, resident, until
from .server import served

__all__ = ["measure"]

_PODS = GroupVersionResource.parse("v1/pods")
_CHANGED = 100


def measure(sizes: Sizes) -> int:
    Table(f"Relist of {sizes.objects:,} pods, {_CHANGED} of them changed")
    return sum(apart(_measured, sizes, page) for page in (500, sizes.objects))


def _measured(sizes: Sizes, page: int) -> int:
    table = Table()
    asyncio.run(_measure(table, sizes, page))
    return table.missed


async def _measure(table: Table, sizes: Sizes, page: int) -> None:
    import aiohttp  # noqa: F401  what is imported when first used is not the informer's

    told: list[tuple[str, str]] = []
    count = sizes.objects
    options = ReflectorOptions(watch_list=False, page_size=page)
    async with (
        served(count, sizes.bytes) as server,
        RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
    ):
        empty = resident()
        reset_peak()
        informer: SharedInformer[Unstructured] = SharedInformer(
            ListWatch.from_client(client, _PODS), options=options
        )
        informer.add_handler(
            on_add=lambda obj, initial: None if initial else told.append(("add", obj.key)),
            on_update=lambda old, new: told.append(("update", new.key)),
            on_delete=lambda obj: told.append(("delete", str(obj))),
            inline=True,
        )
        cpu, wall = time.process_time(), time.perf_counter()
        async with informer:
            await informer.synced()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            peak, kept = peak_memory() - empty, resident() - empty
            how = "one answer" if page >= count else f"pages of {page}"
            table.row(
                f"the first list, {how}",
                f"{cpu / count * 1e6:.1f} us an object",
                f"{wall:.1f} s of the clock",
            )
            table.row("  memory kept", f"{kept / count:,.0f} bytes an object")
            table.claim(
                "  at most, to what is kept",
                f"x {peak / kept:.2f}",
                "at most 1.3",
                peak <= 1.3 * kept,
            )
            first_cpu = cpu
            await until(lambda: informer.health.state == "watching")
            relists = sum(informer.health.relists.values())
            before = resident()
            reset_peak()
            cpu, wall = time.process_time(), time.perf_counter()
            held_up: list[float] = []
            looking = asyncio.create_task(_look(held_up))
            await server.expire(_CHANGED)
            await until(lambda: len(told) >= _CHANGED and informer.health.state == "watching")
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            looking.cancel()
            peak = peak_memory() - before
            after = resident()
            relists = sum(informer.health.relists.values()) - relists
            table.row(
                f"a relist, {how}",
                f"{cpu / count * 1e6:.1f} us an object",
                f"{wall:.1f} s; x {cpu / first_cpu:.2f} of the first",
            )
            table.claim(
                "  at most, to what is kept",
                f"x {1 + peak / kept:.2f}",
                "at most 1.3",
                peak <= 0.3 * kept,
            )
            table.row("  the event loop was held up at most", f"{max(held_up) * 1e3:,.0f} ms")
            table.row("  memory kept more, afterwards", f"{(after - before) / 1e6:+,.1f} MB")
            exact = len(set(told)) == len(told) == _CHANGED and {kind for kind, _ in told} == {
                "update"
            }
            table.claim(
                f"  what the handler was told, in {relists} relist",
                f"{len(told)} updates",
                f"exactly {_CHANGED}",
                exact and relists == 1,
            )


async def _look(held_up: list[float]) -> None:
    """Note how late this task's turns come."""
    while True:
        due = time.perf_counter() + 0.005
        await asyncio.sleep(0.005)
        held_up.append(time.perf_counter() - due)
