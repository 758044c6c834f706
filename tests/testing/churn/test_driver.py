from __future__ import annotations

import asyncio
import logging

import pytest

from listwatch.testing.apiserver.auth import Auth
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.churn import ChurnDriver
from listwatch.testing.churn.driver import Pace
from tests.testing.churn.worlds import World

pytestmark = pytest.mark.virtual_time


class LiveWorld(World):
    """One whose time is the loop's."""

    def __init__(self, seed: int = 0, **load: int) -> None:
        self._begin = asyncio.get_running_loop().time()
        super().__init__(seed, **load)

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time() - self._begin

    @now.setter
    def now(self, value: float) -> None:
        assert value == 0.0


async def test_it_does_as_many_steps_a_second_as_it_should() -> None:
    world = LiveWorld(pods=20)
    async with ChurnDriver(world.core, world.churn, rate=20.0) as driver:
        before = world.core.state.log.revision
        await asyncio.sleep(10.0)
        assert 198 <= driver.steps <= 200
        assert world.core.state.log.revision - before >= driver.steps
        assert driver.refused == 0


async def test_nothing_happens_after_it() -> None:
    world = LiveWorld(pods=20)
    listeners = list(world.core.state.log.listeners)
    async with ChurnDriver(world.core, world.churn, rate=20.0):
        await asyncio.sleep(1.0)
    revision = world.core.state.log.revision
    await asyncio.sleep(10.0)
    assert world.core.state.log.revision == revision
    assert world.core.state.log.listeners == listeners


async def test_a_short_delay_is_made_up_for() -> None:
    pace = Pace(20.0, start=100.0)
    assert (pace.due(100.0), pace.wait(100.0)) == (0, pytest.approx(0.05))
    assert pace.due(100.05) == 1
    pace.done += 1
    assert (pace.due(100.05), pace.wait(100.05)) == (0, pytest.approx(0.05))
    assert (pace.due(100.85), pace.wait(100.85)) == (16, 0.0)


async def test_what_it_was_too_late_for_it_lets_go() -> None:
    pace = Pace(20.0, start=100.0)
    assert pace.due(200.0) == 1
    pace.done += 1
    assert (pace.due(200.0), pace.due(200.04), pace.due(200.06)) == (0, 0, 1)


async def test_rates_below_and_far_above_one_a_second_are_kept() -> None:
    assert [Pace(0.5, start=0.0).due(now) for now in (1.9, 2.0, 3.9)] == [0, 1, 1]
    assert Pace(10_000.0, start=0.0).due(0.5) == 5000


async def test_a_pod_that_somebody_deletes_is_replaced_soon() -> None:
    world = LiveWorld(pods=4)
    async with ChurnDriver(world.core, world.churn, rate=20.0):
        victim = world.values("pods")[0]["metadata"]["name"]
        path = f"/api/v1/namespaces/shop/pods/{victim}"
        answer = world.core.handle(ServerRequest(method="DELETE", path=path))
        assert isinstance(answer, Answer)
        assert answer.status == 200
        await asyncio.sleep(3.0)
        names = [pod["metadata"]["name"] for pod in world.values("pods")]
        assert victim not in names
        assert len(names) >= 4


async def test_the_rules_for_clients_are_not_for_it() -> None:
    world = LiveWorld(pods=20)
    world.core.auth = auth = Auth([])
    async with ChurnDriver(world.core, world.churn, rate=20.0) as driver:
        await asyncio.sleep(5.0)
        assert (driver.refused, world.core.auth) == (0, auth)


async def test_a_bug_is_told_when_it_happens_and_raised_at_the_end(
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = LiveWorld(pods=20)

    def broken(step: object) -> object:
        raise LookupError("a bug")

    world.core.handle = broken  # type: ignore[assignment,method-assign]
    caplog.set_level(logging.ERROR)

    async def run() -> None:
        async with ChurnDriver(world.core, world.churn, rate=20.0):
            await asyncio.sleep(3.0)
            assert "the churn has ended: LookupError: a bug" in caplog.text

    with pytest.raises(LookupError, match="a bug"):
        await run()


async def test_a_cluster_in_which_nothing_can_happen_is_left_alone() -> None:
    world = LiveWorld(configmaps=2)
    async with ChurnDriver(world.core, world.churn, rate=20.0) as driver:
        await asyncio.sleep(3.0)
        assert driver.steps == 0


async def test_a_rate_is_above_nothing() -> None:
    world = LiveWorld(pods=1)
    with pytest.raises(ValueError, match="above 0"):
        ChurnDriver(world.core, world.churn, rate=0.0)
