"""`client.mirror`: a store that shows what the server has. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from listwatch import Forbidden, UnknownResource, Unstructured
from listwatch.cache.delta import Delta
from listwatch.cache.freshness import NotFresh
from listwatch.cache.health import State
from listwatch.cache.reflector_options import ReflectorOptions
from listwatch.client import Client

from .conftest import (
    Bench,
    erase,
    on_server,
    tasks_besides_this,
    turn,
    widget,
    widget_definition,
    write,
)

pytestmark = pytest.mark.virtual_time


def by_x(obj: Unstructured) -> list[str]:
    return [obj["data"]["x"]] if "x" in obj.get("data", {}) else []


async def test_the_store_shows_what_the_server_has(bench: Bench, client: Client) -> None:
    for name in ("a", "b", "c"):
        write(bench.core, name, x="1")
    async with client.mirror("cm") as mirror:
        await mirror.synced()
        assert sorted(mirror.store.keys()) == ["default/a", "default/b", "default/c"]
        write(bench.core, "d")
        write(bench.core, "a", x="2")
        erase(bench.core, "b")
        await mirror.store.at_least(on_server(bench.core)["default/a"], timeout=5)
        await asyncio.sleep(1)
        now = {key: mirror.store[key].resource_version for key in mirror.store.keys()}  # noqa: SIM118
        assert now == on_server(bench.core)


@pytest.mark.clause("I2")
async def test_objects_are_found_by_index(bench: Bench, client: Client) -> None:
    for name, x in (("a", "1"), ("b", "2"), ("c", "1")):
        write(bench.core, name, x=x)
    async with client.mirror("cm", indexes={"x": by_x}) as mirror:
        await mirror.synced()
        assert sorted(mirror.store.index_keys("x", "1")) == ["default/a", "default/c"]
        assert [found.name for found in mirror.store.by_index("x", "2")] == ["b"]


@pytest.mark.clause("I3")
async def test_one_reads_ones_own_writes(client: Client) -> None:
    async with client.mirror("configmaps") as mirror:
        await mirror.synced()
        for number in range(5):
            made = await client.create({"metadata": {"name": f"n{number}"}}, resource="configmaps")
            await mirror.store.at_least(made.resource_version, timeout=10)
            assert mirror.store[made.key].uid == made.uid


@pytest.mark.clause("I3")
async def test_waiting_for_a_write_that_does_not_come_ends(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    async with client.mirror("configmaps") as mirror:
        await mirror.synced()
        with pytest.raises(TimeoutError):
            await mirror.store.at_least("999999", timeout=5)


@pytest.mark.clause("K11")
async def test_fresh_is_told_from_frozen(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    async with client.mirror("configmaps") as mirror:
        await mirror.synced()
        await asyncio.sleep(100)
        await mirror.fresh(within=1.0)
        bench.faults.add("any configmaps: hang")
        bench.restart()
        await asyncio.sleep(100)
        with pytest.raises(NotFresh):
            await mirror.fresh(within=1.0, timeout=5.0)


@pytest.mark.clause("K10")
async def test_health_tells_each_state(bench: Bench, client: Client) -> None:
    write(bench.core, "a")
    refusal = bench.faults.add("any configmaps: answer 403")
    mirror = client.mirror("configmaps")
    assert (mirror.health.state, mirror.health.ready) == (State.STARTING, False)
    async with mirror:
        await asyncio.sleep(20)
        assert mirror.health.state is State.BACKING_OFF
        assert not mirror.health.ready
        assert "forbidden" in mirror.health.last_error.lower()
        bench.faults.remove(refusal)
        await mirror.synced(timeout=120)
        await turn()
        health = mirror.health
        assert (health.state, health.ready, health.objects) == (State.WATCHING, True, 1)
    assert (mirror.health.state, mirror.health.ready) == (State.STOPPED, False)


async def test_every_change_is_told_after_the_store_has_it(bench: Bench, client: Client) -> None:
    seen: list[tuple[str, str, bool]] = []

    def look(deltas: Sequence[Delta[Any]]) -> None:
        seen.extend((item.type.value, item.key, item.key in mirror.store) for item in deltas)

    write(bench.core, "a")
    mirror = client.mirror("configmaps", on_deltas=look)
    async with mirror:
        await mirror.synced()
        erase(bench.core, "a")
        await asyncio.sleep(1)
    assert seen == [("ADDED", "default/a", True), ("DELETED", "default/a", False)]


@pytest.mark.clause("G5")
async def test_a_long_list_tells_how_far_it_is(bench: Bench, client: Client) -> None:
    for number in range(5):
        write(bench.core, f"n{number}")
    told: list[tuple[int, int | None]] = []
    bench.faults.add("list: answer 410, once")  # a consistent list follows, and that has pages
    options = ReflectorOptions(watch_list=False, page_size=2)
    async with client.mirror(
        "configmaps", options=options, on_progress=lambda *progress: told.append(progress)
    ) as mirror:
        await mirror.synced()
    assert told == [(2, 3), (4, 1), (5, 0)]


async def test_synced_has_a_limit(bench: Bench, client: Client) -> None:
    bench.faults.add("any configmaps: answer 503")
    async with client.mirror("configmaps") as mirror:
        with pytest.raises(TimeoutError):
            await mirror.synced(timeout=30)


async def test_fail_fast_is_raised_by_synced(bench: Bench, client: Client) -> None:
    bench.faults.add("any configmaps: answer 403")
    with pytest.raises(Forbidden):
        async with client.mirror("configmaps", fail_fast=True) as mirror:
            await mirror.synced()
    with pytest.raises(UnknownResource):
        async with client.mirror("wigdets", fail_fast=True) as mirror:
            await mirror.synced()


async def test_a_type_that_is_installed_later_is_mirrored_then(
    bench: Bench, client: Client
) -> None:
    async with client.mirror("widgets") as mirror:
        await asyncio.sleep(100)
        assert not mirror.health.ready
        bench.load(widget_definition(), widget("a"))
        await mirror.synced(timeout=120)
        assert [found.key for found in mirror.store.list()] == ["default/a"]


@pytest.mark.clause("H17")
async def test_nothing_runs_on_when_it_is_left(bench: Bench, client: Client) -> None:
    before = tasks_besides_this()
    async with client.mirror("configmaps") as mirror:
        await mirror.synced()
    assert tasks_besides_this() == before
    assert bench.transport.open_responses == 0


# --- the client is closed --------------------------------------------------------------------


async def test_closing_the_client_stops_a_mirror_which_keeps_what_it_has(bench: Bench) -> None:
    write(bench.core, "a")
    client = bench.client()
    async with client.mirror("configmaps") as mirror:
        await mirror.synced()
        await client.close()
        await turn()
        assert mirror.health.state is State.STOPPED
        assert [found.name for found in mirror.store.list()] == ["a"]


async def test_closing_the_client_ends_the_wait_for_a_first_set(bench: Bench) -> None:
    bench.faults.add("any: answer 503")
    client = bench.client()
    async with client.mirror("configmaps") as mirror:
        waiting = asyncio.create_task(mirror.synced())
        await asyncio.sleep(10)
        await client.close()
        async with asyncio.timeout(5):
            await asyncio.wait([waiting])
        assert waiting.exception() is not None


async def test_a_client_that_is_left_first_takes_its_mirror_along(bench: Bench) -> None:
    before = tasks_besides_this()
    async with bench.client() as client:
        mirror = client.mirror("configmaps")
        await mirror.__aenter__()
        await mirror.synced()
    await turn()
    assert tasks_besides_this() == before
    await mirror.__aexit__(None, None, None)
