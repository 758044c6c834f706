"""What the store costs: a batch of events, a relist, and the reads, at 50,000 pods.

    python -m bench.store             # the table, about half a minute
    python -m bench.store --short     # 5,000 pods, a few seconds

Each figure is the best of five. Decoding is not part of it: the objects are there, as the reflector
has them. "an event" counts all that `apply` does, its deltas included; the line "dict only" is what
two plain dict writes cost, for comparison.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable

from listwatch import Event, EventType, Unstructured
from listwatch.cache.store import Store

BATCH = 32
"""Events a batch: what one read of 64 KiB holds of 2 KB pods."""

NODES = 500


def pod(number: int, version: int, node: int | None = None) -> Unstructured:
    name = f"web-{number:06}"
    value = {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "namespace": f"team-{number % 50}",
            "uid": f"00000000-0000-4000-8000-{number:012}",
            "resourceVersion": str(version),
        },
        "spec": {"nodeName": f"node-{(number if node is None else node) % NODES}"},
    }
    return Unstructured.from_bytes(json.dumps(value, separators=(",", ":")).encode())


def node_of(obj: Unstructured) -> list[str]:
    return [obj["spec"]["nodeName"]]


def best(work: Callable[[], object], setup: Callable[[], object] = lambda: None) -> float:
    """Seconds of the quickest of five runs; `setup` is not counted."""
    fastest = float("inf")
    for _ in range(5):
        setup()
        gc.collect()
        begin = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


class Bench:
    def __init__(self, count: int, *, indexed: bool) -> None:
        self.count = count
        self.indexed = indexed
        self.pods = [pod(number, number + 1000) for number in range(count)]
        self.again = [Unstructured.from_bytes(bytes(old.raw)) for old in self.pods]
        self.next_version = 2_000_000
        self.fill()

    def fill(self) -> None:
        self.store: Store[Unstructured] = Store(indexes={"node": node_of} if self.indexed else {})
        self.store.replace(self.pods, "1000000")

    def changes(self) -> list[list[Event[Unstructured]]]:
        """Every pod once more, in batches, newer than all before."""
        first = self.next_version
        self.next_version += self.count
        events = [
            Event(EventType.MODIFIED, pod(number, first + number)) for number in range(self.count)
        ]
        return [events[start : start + BATCH] for start in range(0, self.count, BATCH)]

    def apply(self) -> float:
        batches: list[list[Event[Unstructured]]] = []

        def setup() -> None:
            batches[:] = self.changes()

        def work() -> None:
            for batch in batches:
                self.store.apply(batch)

        return best(work, setup)

    def dict_only(self) -> float:
        left: dict[str, object] = {item.key: item for item in self.pods}
        right = dict(left)
        keys = [item.key for item in self.again]

        def work() -> None:
            for key, item in zip(keys, self.again, strict=True):
                left[key] = item
                right[key] = item

        return best(work)

    def replace(self) -> float:
        self.fill()
        return best(lambda: self.store.replace(self.again, "3000000"))

    def by_index(self) -> None:
        for value in self.store.index_values("node"):
            self.store.by_index("node", value)

    def replace_peak(self) -> int:
        """Bytes that a relist of the same set takes beside the store, at its highest."""
        self.fill()
        raw = [item.raw for item in self.pods]
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        self.store.replace((Unstructured.from_bytes(data) for data in raw), "4000000")
        peak = tracemalloc.get_traced_memory()[1] - before
        tracemalloc.stop()
        return peak


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true", help="5,000 pods instead of 50,000")
    count = 5_000 if parser.parse_args().short else 50_000
    plain, indexed = Bench(count, indexed=False), Bench(count, indexed=True)
    print(f"{count:,} pods, batches of {BATCH}")
    rows = (
        ("dict only", plain.dict_only(), count, "an event"),
        ("apply", plain.apply(), count, "an event"),
        ("apply, one index", indexed.apply(), count, "an event"),
        ("replace, nothing changed", plain.replace(), count, "an object"),
        ("replace, one index", indexed.replace(), count, "an object"),
        ("list", best(plain.store.list), count, "an object"),
        ("list of a namespace", best(lambda: plain.store.list("team-7")), count, "an object held"),
        ("by_index, each value", best(indexed.by_index), count, "an object found"),
        ("snapshot", best(plain.store.snapshot), count, "an object"),
        ("snapshot, one index", best(indexed.store.snapshot), count, "an object"),
        ("get", best(lambda: [plain.store.get(key) for key in plain.store]), count, "an object"),
    )
    for what, seconds, things, each in rows:
        print(f"{what:<26} {seconds * 1e3:>9.3f} ms {seconds / things * 1e9:>9.0f} ns {each}")
    print(f"{'replace, peak beside it':<26} {plain.replace_peak() / count:>9.0f} bytes an object")


if __name__ == "__main__":
    main()
