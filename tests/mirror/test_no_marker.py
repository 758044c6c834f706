"""A server that takes a WatchList and never says that the initial events are over (H5)."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.cache import Cause, Listed, Liveness, WatchListGivenUp

from .seen import assert_same, identities
from .world import World, open_world

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H5", "H19")]

SKIP = "watch configmaps: skip marker"


def now() -> float:
    return asyncio.get_running_loop().time()


def watch_lists(world: World) -> list[float]:
    return world.asked("sendInitialEvents=true")


async def test_it_is_synced_through_a_list_within_the_bound_and_health_says_why() -> None:
    async with open_world(SKIP) as world:
        assert 30 <= now() <= 35
        world.check()
        health = world.mirror.health
        assert health.synced
        assert "initial events" in health.watch_list
        assert health.relists == {}
        [given_up] = [note for note in world.notes if isinstance(note, WatchListGivenUp)]
        assert given_up.why in health.watch_list
        [listed] = [note for note in world.notes if isinstance(note, Listed)]
        assert (listed.via, listed.is_first, listed.count) == ("list", True, 3)
        world.put("d", n="0")
        await world.caught_up()


async def test_the_bound_can_be_set() -> None:
    async with open_world(SKIP, liveness=Liveness(initial=5.0)) as world:
        assert 5 <= now() <= 10
        world.check()


async def test_no_object_is_there_before_the_set_is_whole() -> None:
    async with open_world(SKIP, synced=False) as world:
        await asyncio.sleep(29)
        assert len(world.mirror.store) == 0
        assert world.seen.total == 0
        assert not world.mirror.health.synced
        await world.mirror.synced(timeout=10)
        world.check()


async def test_a_set_that_is_busy_does_not_put_the_bound_off_for_ever() -> None:
    async with open_world(SKIP, synced=False) as world:

        async def churn() -> None:
            for turn in range(100):
                await asyncio.sleep(3)
                world.put("a", n=str(turn))

        churning = asyncio.create_task(churn())
        await world.mirror.synced(timeout=45)
        assert now() <= 40
        churning.cancel()
        await world.caught_up()


async def test_it_is_remembered_and_after_an_hour_tried_again() -> None:
    async with open_world(SKIP) as world:
        begun = now()
        assert len(watch_lists(world)) == 1
        for turn in range(5):
            await asyncio.sleep(600)
            world.expire(lambda: world.put("a", n="changed"))  # a whole set is needed
            await asyncio.sleep(70)
            await world.caught_up()
            assert world.mirror.health.relists == {Cause.EXPIRED: turn + 1}
        assert len(watch_lists(world)) == 1

        world.faults.clear()
        await asyncio.sleep(600)
        world.expire(lambda: world.put("a", n="last"))
        await asyncio.sleep(70)
        await world.caught_up()
        assert len(watch_lists(world)) == 2
        assert watch_lists(world)[1] >= begun + 3600
        assert world.mirror.health.watch_list == ""


async def test_a_stream_that_ends_without_it_leaves_nothing_behind() -> None:
    # The first stream has shown all three objects; before the next one is opened, one is gone.
    fault = "watch configmaps: end after 3 events, once"
    async with open_world(SKIP, fault, synced=False) as world:
        await asyncio.sleep(0.5)
        assert len(world.mirror.store) == 0
        world.delete("b")
        await world.mirror.synced(timeout=120)
        assert_same(identities(world.mirror.store), world.there())
        world.seen.check(world.there())
        assert world.seen.told.total() == 2


@pytest.mark.clause("H4")
async def test_two_streams_that_end_without_it_are_enough() -> None:
    async with open_world("watch configmaps: end after 2 events, 2 times") as world:
        assert len(watch_lists(world)) == 2
        assert now() < 10
        assert world.mirror.health.watch_list != ""
        world.check()


@pytest.mark.clause("F6", "H4")
async def test_a_server_that_knows_no_watch_list_is_listed_in_the_same_round() -> None:
    from listwatch.testing.apiserver import Settings

    async with open_world(settings=Settings(watch_list=False)) as world:
        assert now() < 1
        assert world.mirror.health.watch_list != ""
        world.check()
