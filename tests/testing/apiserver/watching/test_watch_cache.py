"""Watch caches: how much they remember, and how far they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from listwatch.testing.apiserver.storage.log import StoredObject, Write, WriteKind
from listwatch.testing.apiserver.watching.watch_cache import TooOld, WatchCache
from tests.testing.apiserver.read_server import ReadServer


def _write(rv: int, time: float) -> Write:
    new = StoredObject(("", f"x{rv}"), {"metadata": {}}, rv)
    return Write(rv, WriteKind.CREATED, "xs", new, None, time)


def _filled(start: int, count: int, time: float = 0.0) -> WatchCache:
    cache = WatchCache("xs", start)
    for rv in range(start + 1, start + count + 1):
        cache.record(_write(rv, time))
    return cache


def test_a_new_cache_tells_what_happens_after_it_was_made() -> None:
    cache = _filled(722, 3)
    assert [write.rv for write in cache.events_after(723)] == [724, 725]
    assert cache.events_after(725) == []
    assert cache.events_after(9999) == []
    with pytest.raises(TooOld, match=r"^too old resource version: 721 \(722\)$"):
        cache.events_after(721)


def test_it_grows_while_its_oldest_event_is_young() -> None:
    """K22."""
    cache = _filled(0, 5000)
    assert cache.size == 5000
    assert cache.oldest == 0


def test_it_keeps_a_hundred_events_when_they_are_old() -> None:
    """K22."""
    cache = WatchCache("xs", 0)
    for rv in range(1, 301):
        cache.record(_write(rv, rv * 100.0))
    assert cache.size == 100
    assert cache.oldest == 200


def test_three_hundred_events_of_one_second_are_there_80_seconds_later() -> None:
    """K22: as recorded, 101 more and it is 410, with the RV that the real server named."""
    cache = WatchCache("xs", 1330)
    for rv in range(1339, 1379):
        cache.record(_write(rv, 0.0))
    for rv in range(1379, 1679):
        cache.record(_write(rv, 1.0))
    assert len(cache.events_after(1378)) == 300
    for rv in range(1679, 1780):
        cache.record(_write(rv, 82.0))
    with pytest.raises(TooOld, match=r"^too old resource version: 1378 \(1579\)$"):
        cache.events_after(1378)


def test_it_does_not_grow_without_bound() -> None:
    cache = _filled(0, 102_400 + 500)
    assert cache.size == 102_400
    assert cache.oldest == 500


class _Ring:
    """The same by the book: a window of positions that grows and shrinks."""

    def __init__(self) -> None:
        self.capacity, self.kept, self.lost = 100, list[Write](), False

    def record(self, write: Write) -> None:
        kept = self.kept
        if len(kept) == self.capacity and write.time - kept[0].time < 75:
            self.capacity *= 2
        elif len(kept) == self.capacity and write.time - kept[-(self.capacity // 4)].time > 75:
            self.capacity = max(100, self.capacity // 2)
            del kept[: len(kept) - self.capacity]
        if len(kept) >= self.capacity:
            del kept[0]
            self.lost = True
        kept.append(write)


@given(st.lists(st.tuples(st.integers(1, 250), st.floats(0.0, 120.0)), max_size=12))
def test_the_window_is_the_real_ones(bursts: list[tuple[int, float]]) -> None:
    """K22: whatever the pace of the writes."""
    cache, ring, rv, now = WatchCache("xs", 0), _Ring(), 0, 0.0
    for count, pause in bursts:
        now += pause
        for _ in range(count):
            rv += 1
            write = _write(rv, now)
            cache.record(write)
            ring.record(write)
        assert cache.events_after(cache.oldest) == ring.kept
        assert cache.has_snapshot(ring.kept[0].rv if ring.lost else 0)


def test_the_oldest_state_is_that_of_the_oldest_event() -> None:
    """K21: a snapshot goes when its event does; a watch can still begin just before."""
    cache = WatchCache("xs", 0)
    for rv in range(1, 151):
        cache.record(_write(rv, rv * 100.0))
    assert cache.oldest == 50
    assert not cache.has_snapshot(50)
    assert cache.has_snapshot(51)


def test_a_cache_gets_on_by_its_own_writes_and_by_fresh_reads() -> None:
    """K15."""
    server = ReadServer(rv=10)
    caches = server.state.caches
    server.put("pods", "a")
    server.put("nodes", "n")
    assert caches.of("pods").rv == 11
    assert caches.of("secrets").rv == 10
    assert caches.refresh("pods", 11).rv == 11
    assert caches.refresh("pods").rv == 12


def test_a_restart_forgets_the_history() -> None:
    """K21."""
    server = ReadServer(rv=10)
    server.put("pods", "a")
    server.put("pods", "b")
    server.state.caches.restart()
    with pytest.raises(TooOld):
        server.state.caches.of("pods").events_after(11)
    server.put("pods", "c")
    assert len(server.state.caches.of("pods").events_after(12)) == 1


def test_a_new_definition_begins_anew_with_one_storage() -> None:
    """K43."""
    server = ReadServer(rv=10)
    server.put("widgets", "a")
    server.put("pods", "a")
    server.state.caches.initialize("example.com/widgets")
    assert server.state.caches.of("example.com/widgets").oldest == 12
    assert server.state.caches.of("pods").oldest == 10


def test_who_waits_for_a_revision_is_woken_when_it_is_there() -> None:
    server = ReadServer(rv=10)
    woken: list[int] = []
    server.state.caches.wait(12, 3.0, lambda: woken.append(12))
    server.state.caches.wait(11, 3.0, lambda: woken.append(11))
    server.state.caches.wait(13, 3.0, lambda: woken.append(13))
    server.put("pods", "a")
    assert woken == [11]
    server.put("pods", "b")
    assert woken == [11, 12]
    server.now = 4.0
    server.state.caches.wait(20, 7.0, lambda: None)  # those whose time is up are dropped
    server.put("pods", "c")
    assert woken == [11, 12]
