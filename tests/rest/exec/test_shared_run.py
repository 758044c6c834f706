"""One run for all who need its outcome, in whatever event loops."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest

from listwatch.rest.exec._shared_run import SharedRun

pytestmark = pytest.mark.clause("N2")


class Works:
    """What a `SharedRun` begins: each ends when the test says so."""

    def __init__(self) -> None:
        self.reports: list[Callable[[str | Exception], None]] = []
        self.stops: list[int] = []
        self.begun = threading.Semaphore(0)

    def begin(self, report: Callable[[str | Exception], None]) -> Callable[[], None]:
        number = len(self.reports)
        self.reports.append(report)
        self.begun.release()
        return lambda: self.stops.append(number)


def never(value: str) -> bool:
    return False


def always(value: str) -> bool:
    return True


async def turns() -> None:
    """Let everybody get as far as they can."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def shared(works: Works) -> SharedRun[str]:
    return SharedRun(works.begin)


async def test_a_good_value_needs_no_run(works: Works, shared: SharedRun[str]) -> None:
    asker = asyncio.create_task(shared.get(always))
    await turns()
    works.reports[0]("a")
    assert await asker == "a"
    assert await shared.get(always) == "a"
    assert shared.value == "a"
    assert len(works.reports) == 1


async def test_those_who_come_meanwhile_get_the_same(works: Works, shared: SharedRun[str]) -> None:
    askers = [asyncio.create_task(shared.get(never)) for _ in range(10)]
    await turns()
    works.reports[0]("a")
    assert await asyncio.gather(*askers) == ["a"] * 10
    assert (len(works.reports), works.stops) == (1, [])


async def test_those_who_have_a_good_value_do_not_wait_for_a_run(
    works: Works, shared: SharedRun[str]
) -> None:
    first = asyncio.create_task(shared.get(always))
    await turns()
    works.reports[0]("a")
    await first
    asker = asyncio.create_task(shared.get(never))
    await turns()
    assert await shared.get(always) == "a"
    works.reports[1]("b")
    assert await asker == "b"


async def test_a_failure_is_a_separate_exception_for_each(
    works: Works, shared: SharedRun[str]
) -> None:
    askers = [asyncio.create_task(shared.get(never)) for _ in range(3)]
    await turns()
    works.reports[0](ValueError("no"))
    failures = await asyncio.gather(*askers, return_exceptions=True)
    assert [str(failure) for failure in failures] == ["no"] * 3
    assert len({id(failure) for failure in failures}) == 3


async def test_a_report_may_come_before_the_beginning_is_over() -> None:
    def at_once(report: Callable[[str | Exception], None]) -> Callable[[], None]:
        report("a")
        return lambda: None

    assert await SharedRun(at_once).get(never) == "a"


async def test_what_the_beginning_raises_reaches_the_asker_and_the_next_begins_anew() -> None:
    tries = []

    def begin(report: Callable[[str | Exception], None]) -> Callable[[], None]:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("no")
        report("a")
        return lambda: None

    shared = SharedRun(begin)
    with pytest.raises(ValueError, match="no"):
        await shared.get(never)
    assert await shared.get(never) == "a"


async def test_an_interrupt_in_the_beginning_leaves_nobody_waiting() -> None:
    tries = []

    def begin(report: Callable[[str | Exception], None]) -> Callable[[], None]:
        tries.append(1)
        if len(tries) == 1:
            raise GeneratorExit
        report("a")
        return lambda: None

    shared = SharedRun(begin)
    with pytest.raises(GeneratorExit):
        await shared.get(never)
    assert await shared.get(never) == "a"


@pytest.mark.parametrize("gone", [0, 1, 2])
async def test_who_gives_up_does_not_disturb_the_others(
    gone: int, works: Works, shared: SharedRun[str]
) -> None:
    askers = [asyncio.create_task(shared.get(never)) for _ in range(3)]
    await turns()
    askers.pop(gone).cancel()
    await turns()
    assert works.stops == []
    works.reports[0]("a")
    assert await asyncio.gather(*askers) == ["a", "a"]


async def test_when_all_have_given_up_the_run_is_stopped_once(
    works: Works, shared: SharedRun[str]
) -> None:
    askers = [asyncio.create_task(shared.get(never)) for _ in range(3)]
    await turns()
    for asker in askers:
        asker.cancel()
    await asyncio.gather(*askers, return_exceptions=True)
    assert works.stops == [0]
    works.reports[0](ValueError("stopped"))
    assert works.stops == [0]


async def test_a_coroutine_that_is_closed_has_given_up(
    works: Works, shared: SharedRun[str]
) -> None:
    asker = shared.get(never)
    asker.send(None)
    asker.close()
    assert works.stops == [0]
    works.reports[0](ValueError("stopped"))


async def test_a_coroutine_may_be_closed_at_any_moment(
    works: Works, shared: SharedRun[str]
) -> None:
    first = asyncio.create_task(shared.get(never))
    await turns()
    works.reports[0]("a")
    await first
    abandoned = shared.get(never)
    abandoned.send(None)

    def collected_meanwhile(value: str) -> bool:
        abandoned.close()
        return False

    asker = asyncio.create_task(shared.get(collected_meanwhile))
    await turns()
    assert works.stops == [1]
    works.reports[1](ValueError("stopped"))
    await turns()
    works.reports[2]("b")
    assert await asker == "b"


async def test_who_comes_after_the_stop_waits_for_its_end_and_begins_another(
    works: Works, shared: SharedRun[str]
) -> None:
    first = asyncio.create_task(shared.get(never))
    await turns()
    first.cancel()
    second = asyncio.create_task(shared.get(never))
    third = asyncio.create_task(shared.get(never))
    await turns()
    assert (works.stops, len(works.reports)) == ([0], 1)
    third.cancel()
    works.reports[0](ValueError("stopped"))
    await turns()
    assert len(works.reports) == 2
    works.reports[1]("b")
    assert await second == "b"
    assert (works.stops, third.cancelled()) == ([0], True)


async def test_a_run_that_had_succeeded_before_it_was_stopped_counts(
    works: Works, shared: SharedRun[str]
) -> None:
    first = asyncio.create_task(shared.get(never))
    await turns()
    first.cancel()
    second = asyncio.create_task(shared.get(never))
    await turns()
    works.reports[0]("a")
    assert await second == "a"
    assert len(works.reports) == 1


class Elsewhere:
    """An asker in an event loop of its own, in a thread of its own."""

    def __init__(self, shared: SharedRun[str]) -> None:
        self.loop = asyncio.new_event_loop()
        self.result: str | BaseException | None = None
        self._shared = shared
        self._waits = threading.Event()
        self._stays = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._waits.wait(30)

    def _run(self) -> None:
        self._task = self.loop.create_task(self._shared.get(never))
        self.loop.call_soon(self.loop.call_soon, self._waits.set)
        try:
            self.result = self.loop.run_until_complete(self._task)
        except BaseException as error:
            self.result = error

    def cancel(self) -> None:
        self.loop.call_soon_threadsafe(self._task.cancel)
        self.join()

    def abandon(self) -> None:
        """Stop the loop, with everything in it still going on."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.join()

    def join(self) -> None:
        self._thread.join(30)
        assert not self._thread.is_alive()


def test_askers_in_several_loops_share_a_run(works: Works, shared: SharedRun[str]) -> None:
    askers = [Elsewhere(shared) for _ in range(4)]
    works.reports[0]("a")
    for asker in askers:
        asker.join()
        asker.loop.close()
    assert [asker.result for asker in askers] == ["a"] * 4
    assert len(works.reports) == 1


def test_the_loop_that_began_a_run_may_end(works: Works, shared: SharedRun[str]) -> None:
    first, second = Elsewhere(shared), Elsewhere(shared)
    first.cancel()
    first.loop.close()
    works.reports[0]("a")
    second.join()
    second.loop.close()
    assert (second.result, works.stops, len(works.reports)) == ("a", [], 1)


def test_the_loop_that_began_a_run_may_stand_still(works: Works, shared: SharedRun[str]) -> None:
    first, second = Elsewhere(shared), Elsewhere(shared)
    first.abandon()
    works.reports[0]("a")
    second.join()
    second.loop.close()
    assert second.result == "a"
    assert first.loop.run_until_complete(first._task) == "a"
    first.loop.close()


def test_the_last_of_several_loops_stops_the_run(works: Works, shared: SharedRun[str]) -> None:
    first, second = Elsewhere(shared), Elsewhere(shared)
    first.cancel()
    assert works.stops == []
    second.cancel()
    assert works.stops == [0]
    works.reports[0](ValueError("stopped"))
    for asker in (first, second):
        assert isinstance(asker.result, asyncio.CancelledError)
        asker.loop.close()
