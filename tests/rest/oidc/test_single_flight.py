"""One run for all who ask while it runs."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.rest.oidc._single_flight import SingleFlight
from listwatch.testing.virtual_time import VirtualTimeLoop

pytestmark = pytest.mark.clause("H15")


class Work:
    """Takes a second, and gives how often it was done, or fails with it."""

    def __init__(self, *, fails: bool = False) -> None:
        self.begun = 0
        self.done = 0
        self.fails = fails

    async def __call__(self) -> int:
        self.begun += 1
        await asyncio.sleep(1)
        self.done += 1
        if self.fails:
            raise ValueError(self.done)
        return self.done


@pytest.mark.virtual_time
async def test_all_who_ask_while_it_runs_share_its_outcome_and_the_next_one_has_a_new_one() -> None:
    flight = SingleFlight(Work(), patience=60)
    assert await asyncio.gather(*(flight.join() for _ in range(20))) == [1] * 20
    assert await flight.join() == 2


@pytest.mark.virtual_time
async def test_they_share_its_failure_too() -> None:
    work = Work(fails=True)
    flight = SingleFlight(work, patience=60)
    outcomes = await asyncio.gather(*(flight.join() for _ in range(20)), return_exceptions=True)
    assert [str(outcome) for outcome in outcomes] == ["1"] * 20
    assert all(isinstance(outcome, ValueError) for outcome in outcomes)
    assert len({id(outcome) for outcome in outcomes}) == 20
    work.fails = False
    assert await flight.join() == 2


@pytest.mark.virtual_time
async def test_it_goes_on_when_all_who_wait_give_up() -> None:
    work = Work()
    flight = SingleFlight(work, patience=60)
    waiting = [asyncio.create_task(flight.join()) for _ in range(3)]
    await asyncio.sleep(0.5)
    for task in waiting:
        task.cancel()
    assert await flight.join() == 1
    assert work.begun == 1
    assert all(task.cancelled() for task in waiting)


@pytest.mark.virtual_time
async def test_a_timeout_of_the_work_itself_is_its_failure() -> None:
    async def work() -> None:
        raise TimeoutError("of its own")

    with pytest.raises(TimeoutError, match="of its own"):
        await SingleFlight(work, patience=60).join()


async def test_two_loops_share_a_run() -> None:
    here = asyncio.get_running_loop()
    go = asyncio.Event()
    runs = 0

    async def work() -> int:
        nonlocal runs
        runs += 1
        await go.wait()
        return runs

    flight = SingleFlight(work, patience=60)

    async def elsewhere() -> int:
        waiting = asyncio.create_task(flight.join())
        await asyncio.sleep(0)  # it has asked
        here.call_soon_threadsafe(go.set)
        return await waiting

    first = asyncio.create_task(flight.join())
    await asyncio.sleep(0)
    assert await asyncio.to_thread(asyncio.run, elsewhere()) == 1
    assert await first == 1


def test_a_run_whose_loop_has_ended_is_done_again_by_the_next_one_who_asks() -> None:
    work = Work()
    flight = SingleFlight(work, patience=60)

    async def give_up() -> None:
        waiting = asyncio.create_task(flight.join())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting.cancel()

    asyncio.run(give_up())
    assert (work.begun, work.done) == (1, 0)

    async def at_once() -> int:
        return 7

    flight._work = at_once
    assert asyncio.run(flight.join()) == 7


async def test_who_waits_in_another_loop_does_it_when_the_first_loop_ends() -> None:
    begun, end = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()
    runs = 0

    async def work() -> int:
        nonlocal runs
        runs += 1
        if runs == 1:
            here.call_soon_threadsafe(begun.set)
            await asyncio.Event().wait()
        return runs

    flight = SingleFlight(work, patience=60)

    async def elsewhere() -> None:
        asyncio.create_task(flight.join())  # noqa: RUF006 - it ends with its loop
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(end.wait(), here))

    thread = asyncio.create_task(asyncio.to_thread(asyncio.run, elsewhere()))
    await begun.wait()
    waiting = asyncio.create_task(flight.join())
    await asyncio.sleep(0)
    end.set()
    assert await waiting == 2
    await thread


@pytest.mark.virtual_time
async def test_a_loop_that_stands_still_is_not_waited_for_longer_than_the_patience() -> None:
    work = Work()
    flight = SingleFlight(work, patience=60)
    still = VirtualTimeLoop()

    def begin_and_leave() -> asyncio.Task[int]:
        async def begin() -> asyncio.Task[int]:
            waiting = asyncio.create_task(flight.join())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return waiting

        return still.run_until_complete(begin())

    left = await asyncio.to_thread(begin_and_leave)
    began = asyncio.get_running_loop().time()
    assert await asyncio.gather(flight.join(), flight.join()) == [1, 1]
    assert asyncio.get_running_loop().time() - began == 61
    assert work.begun == 2

    def end() -> None:
        assert still.run_until_complete(left) == 2
        still.run_until_complete(still.shutdown_default_executor())
        still.close()

    await asyncio.to_thread(end)
