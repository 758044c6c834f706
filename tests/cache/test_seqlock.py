"""The sequence lock: a writer who waits for nobody, and readers who look again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from listwatch.cache._seqlock import Seqlock

pytestmark = pytest.mark.clause("I1")

PATIENCE = 20.0
"""Seconds after which a test that hangs fails."""


@pytest.fixture
def elsewhere() -> Iterator[ThreadPoolExecutor]:
    """Another thread."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool


def test_a_reader_that_comes_in_the_middle_of_a_write_waits_for_its_end(
    elsewhere: ThreadPoolExecutor,
) -> None:
    waits = threading.Event()
    lock = Seqlock(pause=waits.set)
    pair = [0, 0]
    with lock:
        pair[0] = 1
        found = elsewhere.submit(lock.read, lambda: tuple(pair))
        assert waits.wait(PATIENCE)
        pair[1] = 1
    assert found.result(PATIENCE) == (1, 1)


def test_a_write_in_the_middle_of_a_read_makes_the_reader_look_again(
    elsewhere: ThreadPoolExecutor,
) -> None:
    lock = Seqlock()
    pair = [0, 0]
    looking, written = threading.Event(), threading.Event()
    looks = []

    def look() -> tuple[int, int]:
        first = pair[0]
        looking.set()
        assert written.wait(PATIENCE)
        looks.append((first, pair[1]))
        return looks[-1]

    found = elsewhere.submit(lock.read, look)
    assert looking.wait(PATIENCE)
    # The reader is in the middle of its look, and the writer does not wait for it.
    with lock:
        pair[:] = [1, 1]
    written.set()
    assert found.result(PATIENCE) == (1, 1)
    assert looks == [(0, 1), (1, 1)]


def test_what_a_look_raises_over_a_half_written_state_is_not_raised(
    elsewhere: ThreadPoolExecutor,
) -> None:
    lock = Seqlock()
    looking, written = threading.Event(), threading.Event()
    broken = [True]

    def look() -> str:
        was_broken = broken[0]
        looking.set()
        assert written.wait(PATIENCE)
        if was_broken:
            raise RuntimeError("dictionary changed size during iteration")
        return "whole"

    found = elsewhere.submit(lock.read, look)
    assert looking.wait(PATIENCE)
    with lock:
        broken[0] = False
    written.set()
    assert found.result(PATIENCE) == "whole"


def test_what_a_look_raises_over_a_whole_state_is_raised() -> None:
    with pytest.raises(KeyError):
        Seqlock().read(lambda: {}["missing"])


def test_the_writers_own_thread_never_waits_for_itself() -> None:
    lock = Seqlock(pause=lambda: pytest.fail("it would wait for ever"))
    with lock:
        assert lock.read(lambda: "a finalizer looks") == "a finalizer looks"


def test_a_write_that_is_broken_off_leaves_no_reader_waiting() -> None:
    lock = Seqlock()
    with pytest.raises(KeyboardInterrupt), lock:
        raise KeyboardInterrupt
    assert lock.read(lambda: "read") == "read"


def test_each_write_is_a_new_version() -> None:
    lock = Seqlock()
    before = lock.version
    with lock:
        pass
    assert lock.version > before
