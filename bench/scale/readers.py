"""8 threads with 1,000 reads a second each, beside the writer.

Of eight reads four are a `get`, two find the 40 pods of a node by an index, and two list a
namespace of 100. The readers keep to their pace: who is late reads until it is not. In CPython only
one thread runs at a time, so what a read costs, the writer loses; how often the threads take turns
is the program's to set (`sys.setswitchinterval`, 5 ms), and left alone here.
"""

from __future__ import annotations

import gc
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from listwatch import Event, EventType, Unstructured
from listwatch.cache import Store

from .figures import Sizes, Table
from .pods import Pods, index_functions

__all__ = ["measure"]

_THREADS = 8
_RATE = 1_000
"""Reads a second of each."""

_EVENTS = 20_000
"""That the writer writes again and again, in two states of each."""

_PACED = 5_000
"""Events a second of a writer that keeps to a pace."""

Read = Callable[[], object]


def measure(sizes: Sizes) -> int:
    table = Table(f"Reads: {_THREADS} threads, {_RATE:,} a second each, of {sizes.objects:,} pods")
    bench = Bench(sizes)
    seconds = 0.4 if sizes.short else 2.0
    bench.alone(table)
    bench.busy(table, seconds)
    bench.paced(table, seconds)
    bench.greedy(table, seconds)
    return table.missed


class Readers:
    """Threads that read at their pace until it is enough."""

    def __init__(self, reads: list[list[Read]], rate: float) -> None:
        self.count = 0
        self.cpu = 0.0
        self.slowest = 0.0
        self._rate = rate
        self._enough = False
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._work, args=(each,)) for each in reads]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._enough = True
        for thread in self._threads:
            thread.join()

    def _work(self, reads: list[Read]) -> None:
        rate, clock, done, slowest = self._rate, time.perf_counter, 0, 0.0
        cpu, begin = time.thread_time(), time.perf_counter()
        while not self._enough:
            due = int((clock() - begin) * rate)
            while done < due and not self._enough:
                at = clock()
                reads[done % len(reads)]()
                slowest = max(slowest, clock() - at)
                done += 1
            time.sleep(1 / rate)
        with self._lock:
            self.count += done
            self.cpu += time.thread_time() - cpu
            self.slowest = max(self.slowest, slowest)


class Bench:
    def __init__(self, sizes: Sizes) -> None:
        self.sizes = sizes
        pods = Pods(sizes.objects, sizes.bytes)
        self.store: Store[Unstructured] = Store(indexes=index_functions(pods, 3))
        self.store.replace(pods.all(), str(pods.count))
        rng = Random(11)
        numbers = [rng.randrange(pods.count) for _ in range(_EVENTS)]
        self._batches = [
            batch
            for version in (10_000_000, 20_000_000)
            for batch in pods.batches(numbers, version, EventType.MODIFIED)
        ]
        self._reads = [self._mixture(pods, Random(thread)) for thread in range(_THREADS)]

    def _mixture(self, pods: Pods, rng: Random) -> list[Read]:
        store = self.store

        def get() -> Read:
            key = pods.key(rng.randrange(pods.count))
            return lambda: store.get(key)

        def node() -> Read:
            name = f"node-{rng.randrange(pods.nodes)}"
            return lambda: store.by_index("node", name)

        def namespace() -> Read:
            name = f"team-{rng.randrange(pods.namespaces)}"
            return lambda: store.list(name)

        kinds = (get, get, get, get, node, node, namespace, namespace)
        reads = [kind() for _ in range(500) for kind in kinds]
        rng.shuffle(reads)
        return reads

    def alone(self, table: Table) -> None:
        reads = self._reads[0]
        cpu = time.thread_time()
        for read in reads:
            read()
        each = (time.thread_time() - cpu) / len(reads)
        share = each * _THREADS * _RATE
        table.row(
            "a read, with nobody else about",
            f"{each * 1e6:.1f} us",
            f"{_THREADS * _RATE:,} a second: {share * 100:.1f} % of a core",
        )

    @contextmanager
    def readers(self, reads: list[list[Read]], rate: float) -> Iterator[Readers]:
        readers = Readers(reads, rate)
        readers.start()
        try:
            yield readers
        finally:
            readers.stop()

    def write(self, seconds: float, rate: float = 0.0) -> tuple[float, float, float]:
        """Write for so long; events a second, CPU of this thread an event, and the longest batch
        was late, in seconds. With a rate it is kept to, else it is as fast as it goes.
        """
        apply, clock, batches = self.store.apply, time.perf_counter, self._batches
        gc.collect()
        done, late, at = 0, 0.0, 0
        cpu, begin = time.thread_time(), clock()
        while (now := clock()) < begin + seconds:
            if rate and done > (now - begin) * rate:
                time.sleep(0.001)
                continue
            if rate:
                late = max(late, now - begin - done / rate)
            batch: list[Event[Unstructured]] = batches[at]
            at = (at + 1) % len(batches)
            apply(batch, trusted=True, moves_rv=False)
            done += len(batch)
        return done / (clock() - begin), (time.thread_time() - cpu) / done, late

    def busy(self, table: Table, seconds: float) -> None:
        """A writer that never rests."""
        pairs = []
        for _ in range(self.sizes.rounds):
            alone = self.write(seconds)
            with self.readers(self._reads, _RATE) as readers:
                pairs.append((alone, self.write(seconds)))
            reads = readers.count / seconds
        kept = statistics.median(beside[0] / alone[0] for alone, beside in pairs)
        alone, beside = pairs[-1]
        table.row("a writer that never rests, alone", f"{alone[0]:,.0f} events a second")
        table.claim(
            "  beside the readers", f"{beside[0]:,.0f}", f"x {kept:.2f}, at least 0.80", kept >= 0.8
        )
        table.row(
            "  its own CPU an event, alone and beside them",
            f"{alone[1] * 1e6:.2f}, {beside[1] * 1e6:.2f} us",
        )
        table.claim(
            "  reads",
            f"{reads:,.0f} a second",
            "at least 0.95 of what is due",
            reads >= 0.95 * _THREADS * _RATE,
        )
        table.row(
            "  CPU of a read, taking turns included",
            f"{readers.cpu / readers.count * 1e6:.1f} us",
            f"slowest {readers.slowest * 1e3:.0f} ms",
        )

    def paced(self, table: Table, seconds: float) -> None:
        """A writer as a real one, which waits for its events."""
        pairs = []
        for _ in range(self.sizes.rounds):
            alone = self.write(seconds, _PACED)
            with self.readers(self._reads, _RATE) as readers:
                pairs.append((alone, self.write(seconds, _PACED)))
            reads = readers.count / seconds
        kept = statistics.median(beside[0] / alone[0] for alone, beside in pairs)
        cpu = statistics.median(beside[1] / alone[1] for alone, beside in pairs)
        late = statistics.median(beside[2] for _, beside in pairs)
        table.claim(
            f"a writer of {_PACED:,} events a second, beside them",
            f"x {kept:.2f}",
            "at least 0.80",
            kept >= 0.8,
        )
        table.row("  its own CPU an event, to that of it alone", f"x {cpu:.2f}")
        table.row("  a batch was late at most", f"{late * 1e3:.1f} ms")
        table.row("  reads", f"{reads:,.0f} a second")

    def greedy(self, table: Table, seconds: float) -> None:
        """Reads of everything, beside a writer that never rests: do they ever come to an end?"""
        store = self.store
        for what, read in (("list()", store.list), ("snapshot()", store.snapshot)):
            alone, _, _ = self.write(seconds)
            with self.readers([[read]], 10.0) as readers:
                beside, _, _ = self.write(seconds)
            table.row(
                f"one thread with 10 {what} a second, a writer that never rests",
                f"x {beside / alone:.2f}",
                f"{readers.count / seconds:.1f} a second, slowest {readers.slowest * 1e3:.0f} ms",
            )
