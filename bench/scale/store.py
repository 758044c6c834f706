"""200,000 objects and 20 indexes: memory, filling, an event, reads."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from listwatch import Event, EventType, Unstructured
from listwatch.cache import Store
from listwatch.wire import WatchDecoder, decode_unstructured

from .figures import Sizes, Table, apart, cpu_of, interleaved, peak_memory, reset_peak, resident
from .pods import BATCH, Pods, index_functions

__all__ = ["measure"]

_EVENTS = 1_000
"""A round: few, and many rounds, for the least of them is what nobody disturbed."""

_FLAT = 1.15
"""So many times as much an event may cost among 200,000 objects as among 1,000, if it is
about one of the same 1,000. About any of them it costs what the processor makes of it: the old
object, its texts, its key and its places in the dicts are in no cache by then, which is some 15 or
20 reads of 0.1 us each."""


def measure(sizes: Sizes) -> int:
    table = Table(f"Store: {sizes.objects:,} pods of {sizes.bytes:,} bytes")
    _memory(table, sizes)
    _events(table, sizes)
    return table.missed


# Memory and filling


def _memory(table: Table, sizes: Sizes) -> None:
    kept = {count: apart(_filled, sizes, count) for count in (0, 1, sizes.indexes)}
    one = kept[1] - kept[0]
    entry = (kept[sizes.indexes] - kept[0]) / sizes.indexes
    table.row("memory of an index entry, one index", f"{one:.0f} bytes")
    table.claim(
        f"memory of an index entry, each of {sizes.indexes}",
        f"{entry:.0f} bytes",
        "at most 64",
        entry <= 64,
    )


def _filled(sizes: Sizes, indexes: int) -> float:
    """Bytes for an object of a store with so many indexes, the object itself apart."""
    table = Table()
    pods = Pods(sizes.objects, sizes.bytes)
    count = pods.count
    empty = resident()
    objects = list(pods.all())
    before = resident()
    if not indexes:
        table.row("memory of an object, the store apart", f"{(before - empty) / count:,.0f} bytes")
    store: Store[Unstructured] = Store(indexes=index_functions(pods, indexes))
    reset_peak()
    wall = time.perf_counter()
    cpu = cpu_of(lambda: store.replace(objects, "1000000"))
    wall = time.perf_counter() - wall
    peak = peak_memory() - before
    kept = resident() - before
    what = f"filled with all at once, {indexes} indexes"
    table.row(what, f"{cpu / count * 1e6:.2f} us an object", f"{wall:.2f} s of the clock")
    table.row("  memory of the store, an object", f"{kept / count:,.0f} bytes")
    table.row("  at most, while it was filled", f"{peak / count:,.0f} bytes")
    if indexes == sizes.indexes:
        _reads(table, store, pods)
    return kept / count


def _reads(table: Table, store: Store[Unstructured], pods: Pods) -> None:
    rng = Random(3)
    numbers = [rng.randrange(pods.count) for _ in range(2_000)]
    keys = [pods.key(number) for number in numbers]
    names = [f"team-{number % pods.namespaces}" for number in numbers]
    nodes = [f"node-{number % pods.nodes}" for number in numbers]
    few = range(5)

    def each(what: str, things: Sequence[object], read: Callable[[object], object]) -> None:
        [cpu] = interleaved(3, [lambda: cpu_of(lambda: [read(thing) for thing in things])])
        table.row(what, f"{cpu / len(things) * 1e6:,.2f} us")

    each("  get", keys, store.get)
    each("  by_index, 40 objects", nodes, lambda node: store.by_index("node", node))
    each("  list of a namespace, 100 objects", names, store.list)
    each("  by_index, all", few, lambda _: store.by_index("scheduler", "scheduler-0"))
    each("  list of all", few, lambda _: store.list())
    each("  snapshot", few, lambda _: store.snapshot())


# An event


class Filled:
    """A store of so many pods, and events for it."""

    def __init__(self, count: int, size: int, indexes: int) -> None:
        self.pods = Pods(count, size)
        self.functions = index_functions(self.pods, indexes)
        self.store: Store[Unstructured] = Store(indexes=self.functions)
        self.store.replace(self.pods.all(), str(count))
        self._version = 10_000_000
        self._rng = Random(5)

    def _batches(
        self, numbers: Sequence[int], kind: EventType = EventType.MODIFIED
    ) -> list[list[Event[Unstructured]]]:
        first = self._version
        self._version += len(numbers)
        return self.pods.batches(numbers, first, kind)

    def _some(self, among: int) -> list[int]:
        return [self._rng.randrange(among) for _ in range(_EVENTS)]

    def _apply(self, batches: Sequence[list[Event[Unstructured]]]) -> float:
        apply = self.store.apply

        def work() -> None:
            for batch in batches:
                apply(batch)

        return cpu_of(work) / sum(map(len, batches)) * 1e6

    def modified(self, among: int) -> float:
        """Microseconds of CPU for an event that changes one of the first `among` objects."""
        return self._apply(self._batches(self._some(among)))

    def moved(self, among: int) -> float:
        """The same for those that take one away or put it back."""
        numbers = self._rng.sample(range(among), min(among, _EVENTS) // 2)
        away = self._apply(self._batches(numbers, EventType.DELETED))
        back = self._apply(self._batches(numbers, EventType.ADDED))
        return (away + back) / 2

    def decoded(self, among: int) -> float:
        """The same as `modified`, from its bytes on."""
        lines = [
            b'{"type":"MODIFIED","object":%b}\n' % event.object.raw
            for batch in self._batches(self._some(among))
            for event in batch
        ]
        reads = [b"".join(lines[at : at + BATCH]) for at in range(0, len(lines), BATCH)]
        decoder = WatchDecoder(decode_unstructured)
        apply = self.store.apply

        def work() -> None:
            for read in reads:
                apply(decoder.feed(read))  # type: ignore[arg-type]  # no faults among them

        return cpu_of(work) / len(lines) * 1e6

    def called(self) -> float:
        """Microseconds that the index functions alone take for an event."""
        objects = [event.object for batch in self._batches(self._some(1_000)) for event in batch]
        functions = list(self.functions.values())

        def work() -> None:
            for obj in objects:
                for function in functions:
                    function(obj)

        return cpu_of(work) / len(objects) * 1e6


def _events(table: Table, sizes: Sizes) -> None:
    counts = [1_000, sizes.objects] if sizes.short else [1_000, 10_000, 50_000, sizes.objects]
    for indexes in (0, sizes.indexes):
        stores = [Filled(count, sizes.bytes, indexes) for count in counts]
        _event(table, sizes, stores, indexes)
        del stores
        gc.collect()


def _event(table: Table, sizes: Sizes, stores: list[Filled], indexes: int) -> None:
    small, large = stores[0], stores[-1]
    count = large.pods.count
    rounds = sizes.rounds * (3 if sizes.short else 6)
    called = interleaved(rounds, [large.called])[0] if indexes else 0.0
    table.row(f"an event, {indexes} indexes", "")
    if indexes:
        table.row("  (the index functions' own share, left out below)", f"{called:.2f} us")

    def ratio(what: str, figure: float, base: float, limit: float | None = None) -> None:
        net, base = figure - called, base - called
        if limit is None:
            table.row(f"    {what}", f"{net:.2f} us", f"x {net / base:.2f}")
        else:
            table.claim(
                f"    {what}",
                f"{net:.2f} us",
                f"x {net / base:.2f}, at most {limit}",
                net <= base * limit,
            )

    works: list[Callable[[], float]] = [
        lambda: large.modified(1_000),
        *[partial(each.modified, each.pods.count) for each in stores],
    ]
    same, base, *others = interleaved(rounds, works)
    table.row("  that changes an object, in the store alone", "")
    ratio("of 1,000 objects", base, base)
    ratio(f"of {count:,}, always the same 1,000", same, base, _FLAT)
    for each, figure in zip(stores[1:], others, strict=True):
        ratio(f"of {each.pods.count:,}, any of them", figure, base)
    table.row("  that changes an object, from its bytes on", "")
    works = [
        lambda: small.decoded(1_000),
        lambda: large.decoded(1_000),
        lambda: large.decoded(count),
    ]
    base, same, spread = interleaved(rounds, works)
    ratio("of 1,000 objects", base, base)
    ratio(f"of {count:,}, always the same 1,000", same, base, _FLAT)
    ratio(f"of {count:,}, any of them", spread, base)
    table.row("  that deletes or adds one, in the store alone", "")
    works = [lambda: small.moved(1_000), lambda: large.moved(1_000), lambda: large.moved(count)]
    base, same, spread = interleaved(rounds, works)
    ratio("of 1,000 objects", base, base)
    ratio(f"of {count:,}, always the same 1,000", same, base)
    ratio(f"of {count:,}, any of them", spread, base)
