from __future__ import annotations

import asyncio

import pytest

from listwatch.cli.sink import Sink
from listwatch.cli.stopping import UNLIMITED, End, Limits, Stopping, stopping

pytestmark = pytest.mark.virtual_time


class Reader(Sink):
    """Somebody who reads for so many seconds, or for ever."""

    def __init__(self, leaves_after: float | None = None) -> None:
        self.leaves_after = leaves_after

    async def unread(self) -> None:
        if self.leaves_after is None:
            await asyncio.get_running_loop().create_future()
        else:
            await asyncio.sleep(self.leaves_after)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _wait(
    limits: Limits, reader: Reader, *, answer_after: float | None = None
) -> tuple[Stopping, float]:
    """Wait for ever inside of it: how it was left, and after how many seconds."""
    began = _now()
    async with stopping(reader, limits) as stop:
        if answer_after is not None:
            await asyncio.sleep(answer_after)
            stop.answer()
            stop.answer()
        await asyncio.sleep(1000)
    return stop, _now() - began


async def test_its_time_is_counted_from_the_start() -> None:
    stop, seconds = await _wait(Limits(duration=5), Reader(), answer_after=2)
    assert (stop.end, stop.answered, seconds) == (End.DURATION, True, 5)


async def test_or_from_the_answer() -> None:
    limits = Limits(duration=5, from_answer=True)
    stop, seconds = await _wait(limits, Reader(), answer_after=20)
    assert (stop.end, stop.answered, seconds) == (End.DURATION, True, 25)


async def test_it_says_when_there_was_no_answer() -> None:
    stop, seconds = await _wait(Limits(duration=5), Reader())
    assert (stop.end, stop.answered, seconds) == (End.DURATION, False, 5)


@pytest.mark.parametrize("limits", [UNLIMITED, Limits(duration=5)])
async def test_it_ends_when_nobody_reads(limits: Limits) -> None:
    stop, seconds = await _wait(limits, Reader(leaves_after=3))
    assert (stop.end, seconds) == (End.UNREAD, 3)


async def test_what_comes_first_counts() -> None:
    stop, seconds = await _wait(Limits(duration=3), Reader(leaves_after=5))
    assert (stop.end, seconds) == (End.DURATION, 3)


async def test_without_a_reason_it_is_left_as_anything_is() -> None:
    async with stopping(Reader(), Limits(duration=5)) as stop:
        await asyncio.sleep(1)
    assert stop.end is None
    await asyncio.sleep(10)


async def test_an_answer_after_the_end_changes_nothing() -> None:
    limits = Limits(duration=5, from_answer=True)
    async with stopping(Reader(leaves_after=1), limits) as stop:
        try:
            await asyncio.sleep(1000)
        finally:
            stop.answer()
    assert (stop.end, _now()) == (End.UNREAD, 1)


@pytest.mark.parametrize("kind", [LookupError, TimeoutError])
async def test_an_error_inside_is_raised_as_it_is(kind: type[Exception]) -> None:
    with pytest.raises(kind):
        async with stopping(Reader(), Limits(duration=5)):
            raise kind


async def test_ctrl_c_is_no_reason_of_ours() -> None:
    task = asyncio.create_task(_wait(Limits(duration=5), Reader()))
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
