"""Readers in other threads see the store between two batches, never inside one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from listwatch import Event, Unstructured
from listwatch.cache import Identity, Store
from listwatch.cache._seqlock import Seqlock

from .pods import added, deleted, modified, node_of, pod, unreadable

pytestmark = pytest.mark.clause("I1", "I2", "H14")

SIZE = 20
BATCHES = 150
PATIENCE = 20.0
"""Seconds after which a test that hangs fails."""


@pytest.fixture
def hasty() -> Iterator[None]:
    """Threads take turns as often as the interpreter can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def generation(number: int) -> list[Any]:
    """The set that batch `number` leaves, all of whose objects say so; one cannot be decoded."""
    first = (number + 1) * 100
    node = f"gen-{number}"
    objects: list[Any] = [
        pod(f"d/{number}-{item}", first + item, node=node) for item in range(SIZE - 1)
    ]
    return [*objects, unreadable(f"d/{number}-x", first + SIZE)]


def batch(number: int) -> list[Event[Any]]:
    """From one generation to the next, one object at a time."""
    gone = [deleted(gone_state(obj)) for obj in generation(number - 1)]
    come = [added(obj) for obj in generation(number)]
    return [event for pair in zip(come, gone, strict=True) for event in pair]


def gone_state(obj: Any) -> Unstructured:
    return pod(obj.key, int(obj.resource_version) + 100)


def check(store: Store[Any], read: str) -> None:
    """One read, which must fit to one generation."""
    if read == "list":
        found = store.list()
        assert len(found) == SIZE - 1
        assert len({node_of(obj)[0] for obj in found}) == 1
    elif read == "list of a namespace":
        assert len({node_of(obj)[0] for obj in store.list("d")}) == 1
    elif read == "keys":
        keys = store.keys()
        assert len(keys) == SIZE
        assert len({key.partition("-")[0] for key in keys}) == 1
    elif read == "len":
        assert len(store) == SIZE
    elif read == "undecodable":
        assert len(store.undecodable) == 1
    elif read == "index values":
        assert len(store.index_values("node")) == 1
    elif read == "by_index":
        [value] = store.index_values("node")
        assert len(store.by_index("node", value)) in (0, SIZE - 1)
    elif read == "snapshot":
        snapshot = store.snapshot()
        [value] = snapshot.index_values("node")
        [broken] = snapshot.undecodable
        number = value.removeprefix("gen-")
        assert broken == f"d/{number}-x"
        assert snapshot.by_index("node", value) == snapshot.list()
        assert snapshot.keys() == [obj.key for obj in generation(int(number))]


READS = (
    "list",
    "list of a namespace",
    "keys",
    "len",
    "undecodable",
    "index values",
    "by_index",
    "snapshot",
)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("read", READS)
def test_no_read_of_many_objects_sees_the_inside_of_a_batch(read: str) -> None:
    store: Store[Any] = Store(indexes={"node": node_of})
    store.replace(generation(0), "199")
    batches = [batch(number) for number in range(1, BATCHES)]
    begun, done = threading.Barrier(3), threading.Event()

    def reading() -> int:
        begun.wait(PATIENCE)
        count = 0
        while not done.is_set():
            check(store, read)
            count += 1
        return count

    with ThreadPoolExecutor(max_workers=2) as pool:
        readers = [pool.submit(reading) for _ in range(2)]
        begun.wait(PATIENCE)
        try:
            for events in batches:
                assert len(store.apply(events)) == 2 * SIZE
        finally:
            done.set()
        assert all(reader.result(PATIENCE) > 0 for reader in readers)
    assert (store.late_writes, store.index_values("node")) == (0, [f"gen-{BATCHES - 1}"])


@pytest.mark.usefixtures("hasty")
def test_no_read_sees_a_mixture_of_two_sets_either() -> None:
    store: Store[Any] = Store(indexes={"node": node_of})
    store.replace(generation(0), "1")
    sets = [generation(number) for number in range(1, BATCHES)]
    begun, done = threading.Barrier(2), threading.Event()

    def reading() -> None:
        begun.wait(PATIENCE)
        while not done.is_set():
            for read in READS:
                check(store, read)

    with ThreadPoolExecutor(max_workers=1) as pool:
        reader = pool.submit(reading)
        begun.wait(PATIENCE)
        try:
            for number, objects in enumerate(sets):
                store.replace(objects, str(number + 2))
        finally:
            done.set()
        reader.result(PATIENCE)


class Key(str):
    """A key that lets a test into the middle of a write, where no code of others runs."""

    __slots__ = ()
    inside: Callable[[], None] = staticmethod(lambda: None)

    def __hash__(self) -> int:
        Key.inside()
        return str.__hash__(self)

    __eq__ = str.__eq__


@pytest.mark.parametrize("read", [Store.list, Store.keys, Store.snapshot, Store.__len__])
def test_a_reader_that_comes_inside_a_batch_waits_and_sees_it_whole(
    monkeypatch: pytest.MonkeyPatch, read: Callable[[Store[Any]], Any]
) -> None:
    store: Store[Any] = Store(
        identify=lambda obj: Identity(Key(obj.key), obj.uid, obj.resource_version)
    )
    store.replace([pod("d/a", 1), pod("d/b", 2)], "10")
    waits = threading.Event()
    monkeypatch.setattr(store, "_lock", Seqlock(pause=waits.set))
    found: list[Any] = []

    def inside() -> None:
        if store._lock.version & 1 and not found:
            found.append(pool.submit(read, store))
            # The first object is in, the second is not: the reader is here, and has to wait.
            assert waits.wait(PATIENCE)

    with ThreadPoolExecutor(max_workers=1) as pool:
        monkeypatch.setattr(Key, "inside", staticmethod(inside))
        store.apply([deleted(pod("d/a", 11)), modified(pod("d/b", 12)), added(pod("d/c", 13))])
        [reader] = found
        seen = reader.result(PATIENCE)
    monkeypatch.undo()
    keys = {
        Store.list: lambda: [obj.key for obj in seen],
        Store.keys: lambda: seen,
        Store.snapshot: lambda: seen.keys(),
        Store.__len__: lambda: ["d/b", "d/c"][:seen],
    }[read]()
    assert keys == ["d/b", "d/c"]


@pytest.mark.usefixtures("hasty")
def test_a_greedy_reader_does_not_keep_the_writer_out() -> None:
    store: Store[Any] = Store(indexes={"node": node_of})
    store.replace([pod(f"d/{number}", number + 1, node="n1") for number in range(500)], "1000")
    begun, done = threading.Barrier(3), threading.Event()

    def reading() -> None:
        begun.wait(PATIENCE)
        while not done.is_set():
            store.list()
            store.by_index("node", "n1")
            store.snapshot()

    with ThreadPoolExecutor(max_workers=2) as pool:
        readers = [pool.submit(reading) for _ in range(2)]
        begun.wait(PATIENCE)
        try:
            for version in range(2_000, 2_300):
                store.apply([modified(pod("d/7", version, node="n1"))])
        finally:
            done.set()
        for reader in readers:
            reader.result(PATIENCE)
    assert store.resource_version == "2299"


def test_a_reader_in_the_middle_of_a_read_makes_no_write_wait() -> None:
    store: Store[Any] = Store()
    store.replace([pod("d/a", 1)], "10")
    looking, written = threading.Event(), threading.Event()
    looks = []

    def look(state: Any) -> list[str]:
        looks.append(list(state.objects))
        looking.set()
        assert written.wait(PATIENCE)
        return looks[-1]

    with ThreadPoolExecutor(max_workers=1) as pool:
        reader = pool.submit(store._read, look)
        assert looking.wait(PATIENCE)
        for version in range(11, 20):
            store.apply([modified(pod("d/a", version)), added(pod(f"d/{version}", version + 100))])
        store.replace([pod("d/last", 200)], "200")
        written.set()
        assert reader.result(PATIENCE) == ["d/last"]
    assert looks == [["d/a"], ["d/last"]]
