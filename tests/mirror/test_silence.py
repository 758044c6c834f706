"""A connection that is dead and does not say so is replaced; nothing is lost, nothing repeated
(E4).
"""

from __future__ import annotations

import asyncio

import pytest

from listwatch.cache import Liveness

from .world import World, open_world

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("E4")]


async def write_on(world: World, seconds: int) -> None:
    """A change every five seconds: of one that stays, of one that comes and goes."""
    for turn in range(seconds // 5):
        world.put("a", n=str(turn))
        if turn % 2:
            world.delete("x")
        else:
            world.put("x", n=str(turn))
        await asyncio.sleep(5)


@pytest.mark.parametrize("watch_list", [True, False])
@pytest.mark.parametrize("idle", [150.0, 20.0])
async def test_a_socket_that_goes_silent_is_replaced_within_its_deadline(
    idle: float, watch_list: bool
) -> None:
    fault = f"watch configmaps: stall after {7 if watch_list else 4} events, once"
    liveness = Liveness(idle=idle)
    async with open_world(fault, watch_list=watch_list, liveness=liveness) as world:
        loop = asyncio.get_running_loop()
        writing = asyncio.create_task(write_on(world, 300))
        silent = await world.until(lambda: bool(world.faults.log))
        opened = len(world.asked("watch="))
        while len(world.asked("watch=")) == opened:
            age = world.mirror.health.last_byte_age
            # What nobody hears of is seen to grow old meanwhile.
            assert age is not None
            assert abs(age - (loop.time() - silent)) < 1.5
            await asyncio.sleep(0.5)
        # A watch of ours that made no progress for so long pays H9's pause; it made some here.
        assert idle - 1 <= loop.time() - silent <= idle + 4
        await writing
        await world.caught_up(within=5)
        assert world.mirror.health.relists == {}


async def test_bookmarks_shorten_the_deadline() -> None:
    # They come every 60 s: after the second one silence is noticed after twice that.
    async with open_world("watch configmaps: stall after 200s, once") as world:
        world.put("a", n="1")
        silent = await world.until(lambda: bool(world.faults.log))
        opened = len(world.asked("watch="))
        world.put("b", n="unheard of")
        waited = await world.until(lambda: len(world.asked("watch=")) > opened) - silent
        assert 100 <= waited <= 122 + 4
        await world.caught_up(within=5)
        assert world.mirror.health.relists == {}


async def test_a_quiet_type_is_not_relisted_for_being_quiet() -> None:
    async with open_world(synced=True) as world:
        before = world.seen.total
        await asyncio.sleep(3600)
        assert world.seen.total == before
        assert world.mirror.health.relists == {}
        # Each 150 s a watch, and two looks whether history went back (H18).
        assert len(world.requests) <= 3600 / 150 * 3 + 3
        await world.caught_up()


async def test_a_watch_whose_answer_never_comes_is_given_up_and_opened_again() -> None:
    async with open_world("watch configmaps: hang, request 2", watch_list=True) as world:
        world.core.end_watches()
        world.put("a", n="1")
        world.put("d", n="0")
        await asyncio.sleep(45)
        await world.caught_up(within=20)
        assert world.mirror.health.relists == {}


@pytest.mark.clause("B11")
async def test_a_list_whose_body_goes_silent_is_given_up_and_asked_again() -> None:
    fault = "list configmaps: stall after 300 bytes, once"
    async with open_world(fault, watch_list=False) as world:
        assert 30 <= asyncio.get_running_loop().time() <= 40
        world.check()
