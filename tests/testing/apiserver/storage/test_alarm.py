from __future__ import annotations

import asyncio

import pytest

from listwatch.testing.apiserver.storage.alarm import Alarm

pytestmark = pytest.mark.virtual_time


class Rung:
    """An alarm on the loop's clock, or one that is `ahead` of it, and when it rang."""

    def __init__(self, ahead: float = 0.0) -> None:
        loop = asyncio.get_running_loop()
        self.clock = lambda: loop.time() + ahead
        self.times: list[float] = []
        self.alarm = Alarm(self.clock, lambda: self.times.append(self.clock()))


async def until(seconds: float) -> None:
    await asyncio.sleep(seconds - asyncio.get_running_loop().time())


async def test_it_rings_at_exactly_its_time() -> None:
    rung = Rung()
    await until(0.1)
    rung.alarm.set(0.1 + 0.2)
    await until(1)
    assert rung.times == [0.1 + 0.2]


async def test_a_clock_that_is_not_the_loops_is_never_met_too_early() -> None:
    rung = Rung(ahead=1234.5)
    for due in (1235.1, 1240.7, 1300.3):
        rung.alarm.set(due)
        await until(due - 1234.5 + 0.001)
        assert due <= rung.times[-1] < due + 0.001


async def test_what_is_past_rings_as_soon_as_the_loop_turns() -> None:
    rung = Rung()
    await until(5)
    rung.alarm.set(3)
    await until(6)
    assert rung.times == [5]


async def test_another_time_takes_the_place_of_the_first() -> None:
    rung = Rung()
    rung.alarm.set(3)
    rung.alarm.set(2)
    rung.alarm.set(2)
    await until(10)
    rung.alarm.set(11)
    rung.alarm.set(None)
    await until(20)
    rung.alarm.set(21)
    rung.alarm.cancel()
    await until(30)
    assert rung.times == [2]


async def test_it_can_be_set_again_when_it_rings() -> None:
    rung = Rung()

    def ring() -> None:
        rung.times.append(rung.clock())
        alarm.set(rung.clock() + 1)

    alarm = Alarm(rung.clock, ring)
    alarm.set(1)
    await until(3.5)
    alarm.cancel()
    assert rung.times == [1, 2, 3]
