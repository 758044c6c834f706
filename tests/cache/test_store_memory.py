"""What a store costs."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import pytest

from listwatch.cache import Store

from .pods import modified, node_of, pod


def make(*objects: Any, version: str = "10") -> Store[Any]:
    store: Store[Any] = Store()
    store.replace(objects, version)
    return store


@pytest.mark.clause("I1", "G4")
class TestMemory:
    def test_the_gc_tracks_nothing_for_an_object_of_the_default_store(self) -> None:
        def tracked(count: int) -> int:
            store = make(*[pod(f"d/{number}", number + 1) for number in range(count)])
            store.apply([modified(pod(f"d/{number}", 10_000 + number)) for number in range(count)])
            gc.collect()
            assert len(store) == count
            return len(gc.get_objects())

        tracked(10)
        few, many = tracked(10), tracked(1_000)
        assert abs(many - few) < 50

    @pytest.mark.clause("I2")
    def test_nor_for_an_entry_of_an_index(self) -> None:
        def tracked(count: int) -> int:
            store: Store[Any] = Store(
                indexes={
                    "name": lambda obj: [obj.name],
                    "two": lambda obj: [obj.name[-1:], "all"],
                    "ten": lambda obj: [obj.name[:-1]],
                }
            )
            store.replace([pod(f"d/{number}", number + 1) for number in range(count)], "9000")
            store.apply([modified(pod(f"d/{number}", 10_000 + number)) for number in range(count)])
            gc.collect()
            assert len(store.by_index("two", "all")) == len(store.index_values("name")) == count
            return len(gc.get_objects())

        tracked(10)
        few, many = tracked(10), tracked(1_000)
        assert abs(many - few) < 50

    @pytest.mark.clause("I2")
    def test_equal_values_of_all_indexes_are_held_once(self) -> None:
        store: Store[Any] = Store(
            indexes={"one": lambda obj: ["".join(node_of(obj))], "two": lambda obj: ["a", "b"]}
        )
        store.replace([pod(f"d/{number}", number + 1, node="n1") for number in range(200)], "900")
        store.apply(
            [modified(pod(f"d/{number}", 1_000 + number, node="n1")) for number in range(300)]
        )
        rows = store._state.indexes.rows
        assert len(rows) == 300
        assert len({id(row) for row in rows.values()}) == 1

    def test_a_snapshot_costs_a_few_pointers_for_an_object_whatever_indexes_there_are(self) -> None:
        count = 2_000
        store: Store[Any] = Store(
            indexes={f"i{number}": lambda obj: [obj.name, "all"] for number in range(5)}
        )
        store.replace([pod(f"d/{number}", number + 1) for number in range(count)], "9000")
        gc.collect()
        tracemalloc.start()
        try:
            snapshot = store.snapshot()
            assert tracemalloc.get_traced_memory()[0] < 64 * count
        finally:
            tracemalloc.stop()
        assert len(snapshot.by_index("i3", "all")) == count

    def test_a_relist_of_the_same_costs_pointers_and_of_a_change_what_changed(self) -> None:
        size, count = 4_000, 300

        def item(number: int, version: int) -> Any:
            return pod(f"d/{number}", version, padding="x" * size)

        def peak(versions: list[int]) -> int:
            store = make(*[item(number, 1) for number in range(count)])
            gc.collect()
            tracemalloc.start()
            try:
                store.replace((item(number, rv) for number, rv in enumerate(versions)), "20")
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

        one_copy_in_hand = 10 * size
        assert peak([1] * count) < one_copy_in_hand + 200 * count
        half = [1 + number % 2 for number in range(count)]
        assert peak(half) < one_copy_in_hand + 200 * count + (size + 1_000) * count / 2

    def test_a_store_that_shrinks_gives_its_room_back(self) -> None:
        gc.collect()
        tracemalloc.start()
        try:
            store = make(*[pod(f"d/{number}", 1) for number in range(5_000)])
            store.replace([pod("d/1", 1)], "20")
            assert tracemalloc.get_traced_memory()[0] < 20_000
        finally:
            tracemalloc.stop()
        assert store.keys() == ["d/1"]
