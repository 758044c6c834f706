"""A mirror is the server's set again after whatever happens to a real one.

Each test ends with the store held against a consistent LIST, by uid and RV, and what a consumer was
told against the rules of `tests/mirror/seen.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from conformance.cluster import Cluster
from conformance.mirror.cable import Cable
from conformance.mirror.scene import (
    back_up,
    collection,
    kill_apiserver,
    kill_both,
    kill_etcd,
    listed_at,
    many_changes,
    scene_of,
    turn_back,
    turn_back_etcd,
)
from conformance.mirror.writer import Writer
from conformance.objects import config_map
from listwatch import ListOptions, ObjectList
from listwatch.cache import Cause, Listed, Liveness, Setback
from tests.mirror.seen import identities

pytestmark = pytest.mark.timeout(180)

Strike = Callable[[Cluster], None]
Before = dict[int, Callable[[], Awaitable[None]]]
"""What happens before the request for which page."""
BOTH_WAYS = pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])


# Servers that are killed


@pytest.mark.clause("H7", "H8", "H9", "H18")
@BOTH_WAYS
@pytest.mark.parametrize("strike", [kill_apiserver, kill_etcd, kill_both])
async def test_a_killed_server_costs_a_mirror_some_seconds_and_nothing_else(
    cluster: Cluster, namespace: str, strike: Strike, watch_list: bool
) -> None:
    async with scene_of(cluster, namespace, watch_list=watch_list) as scene:
        with Writer(cluster, namespace) as writer:
            await asyncio.sleep(1)
            await asyncio.to_thread(strike, cluster)
            await asyncio.sleep(1)
            await asyncio.to_thread(writer.pause)
            await scene.converged()
            assert writer.writes > 0
        assert scene.mirror.store.epoch == 0
        assert Cause.WENT_BACK not in scene.mirror.health.relists


@pytest.mark.clause("H18")
@BOTH_WAYS
async def test_an_etcd_restored_from_an_older_folder_turns_the_mirror_back(
    cluster: Cluster, namespace: str, watch_list: bool
) -> None:
    async with scene_of(cluster, namespace, watch_list=watch_list) as scene:
        await asyncio.to_thread(back_up, cluster)
        # The RVs have to be well behind: what the server itself writes must not pass ours.
        await asyncio.to_thread(many_changes, cluster, namespace, 300)
        cluster.create(collection(namespace), config_map("after", n="0"))
        cluster.delete(collection(namespace, "there-00"))
        cluster.patch(collection(namespace, "there-01"), {"data": {"n": "after"}})
        await scene.converged()
        before, epoch = identities(scene.mirror.store), scene.mirror.store.epoch

        await asyncio.to_thread(turn_back, cluster)
        await scene.converged(within=120)
        now = identities(scene.mirror.store)
        assert f"{namespace}/after" not in now
        assert f"{namespace}/there-00" in now
        assert int(now[f"{namespace}/there-01"][1]) < int(before[f"{namespace}/there-01"][1])
        assert scene.mirror.store.epoch == epoch + 1
        assert scene.relists == {str(Cause.WENT_BACK): 1}
        [listed] = [note for note in scene.notes if isinstance(note, Listed) and note.new_epoch]
        assert (listed.added, listed.vanished) == (1, 1)

        # And on it goes, at RVs that it has seen before.
        cluster.patch(collection(namespace, "there-02"), {"data": {"n": "again"}})
        cluster.delete(collection(namespace, "there-03"))
        await scene.converged(within=5)


@pytest.mark.clause("H18")
async def test_an_etcd_restored_under_a_running_server_is_noticed_when_that_one_does(
    cluster: Cluster, namespace: str
) -> None:
    """Its watch cache goes on showing the lost objects, in consistent lists as well, so nobody who
    asks it can know. Once it has started anew the mirror is right, too.
    """
    async with scene_of(cluster, namespace) as scene:
        await asyncio.to_thread(back_up, cluster)
        await asyncio.to_thread(many_changes, cluster, namespace, 300)
        cluster.create(collection(namespace), config_map("after", n="0"))
        await scene.converged()
        await asyncio.to_thread(turn_back_etcd, cluster)
        await asyncio.sleep(2)
        await asyncio.to_thread(kill_apiserver, cluster)
        await scene.converged(within=120)
        assert f"{namespace}/after" not in scene.mirror.store
        assert scene.relists == {str(Cause.WENT_BACK): 1}


# History


@pytest.mark.clause("H1", "H8")
@BOTH_WAYS
async def test_history_that_is_gone_costs_one_relist_and_tells_of_what_changed(
    cluster: Cluster, namespace: str, watch_list: bool
) -> None:
    async with (
        Cable(cluster.server) as cable,
        scene_of(cluster, namespace, server=cable.url, watch_list=watch_list) as scene,
    ):
        await cable.unplug()
        told = scene.seen.total
        await asyncio.to_thread(many_changes, cluster, namespace, 20)
        cluster.delete(collection(namespace, "there-00"))
        made = cluster.create(collection(namespace), config_map("new", n="0"))
        await asyncio.to_thread(cluster.compact_etcd, made["metadata"]["resourceVersion"])
        await asyncio.to_thread(cluster.restart_apiserver)
        await cable.plug()
        await scene.converged()
        assert scene.relists == {str(Cause.EXPIRED): 1}
        assert scene.seen.total == told + 3  # changed, vanished, new: each told once
        assert scene.seen.unseen_ends == 1


@pytest.mark.clause("G2", "H9")
async def test_pages_whose_history_is_gone_half_way_still_give_the_set(
    cluster: Cluster, namespace: str
) -> None:
    """After the third page etcd forgets, and the kube-apiserver comes back without its cache."""

    async def strike() -> None:
        made = cluster.create(collection(namespace), config_map("new", n="0"))
        cluster.delete(collection(namespace, "there-01"))
        cluster.delete(collection(namespace, "there-19"))
        version = int(made["metadata"]["resourceVersion"]) + 2
        await asyncio.to_thread(cluster.compact_etcd, version)
        await asyncio.to_thread(cluster.restart_apiserver)

    before: Before = {4: strike}

    def around(source: Any) -> Any:
        return SlowPages(source, before)

    async with scene_of(
        cluster, namespace, watch_list=False, page_size=4, around=around, synced=False
    ) as scene:
        await scene.mirror.synced(timeout=90)
        await scene.converged()
        assert before == {}
        assert f"{namespace}/new" in scene.mirror.store
        assert len(scene.mirror.store) == 20


@pytest.mark.clause("G1", "G4", "H6")
async def test_slow_and_small_pages_under_a_writer_give_the_set(
    cluster: Cluster, namespace: str
) -> None:
    async def wait() -> None:
        await asyncio.sleep(0.2)

    before: Before = dict.fromkeys(range(2, 8), wait)

    def around(source: Any) -> Any:
        return SlowPages(source, before)

    with Writer(cluster, namespace, rate=50) as writer:
        await asyncio.sleep(1)
        async with scene_of(
            cluster, namespace, watch_list=False, page_size=3, around=around
        ) as scene:
            await asyncio.to_thread(writer.pause)
            await scene.converged()
            assert before == {}
            assert scene.relists == {}


class SlowPages:
    """A source; ``before`` says what happens, once, before the request for which page.

    It asks for consistent lists where any state would do: at RV 0 the server's watch cache would
    give all in one page, whatever the limit.
    """

    def __init__(self, source: Any, before: Before) -> None:
        self._source = source
        self._before = before
        self._page = 0

    async def alist(self, options: ListOptions) -> ObjectList[Any]:
        self._page = self._page + 1 if options.continue_ else 1
        if options.resource_version == "0":
            options = options.replace(resource_version="")
        happens = self._before.pop(self._page, None)
        if happens is not None:
            await happens()
        found: ObjectList[Any] = await self._source.alist(options)
        return found

    async def awatch(self, options: ListOptions) -> Any:
        return await self._source.awatch(options)


# Silence


@pytest.mark.clause("E4")
async def test_a_connection_that_is_dead_and_does_not_say_so_is_replaced_in_time(
    cluster: Cluster, namespace: str
) -> None:
    """With a deadline of 4 s rather than 150, so that it can be waited for."""
    async with (
        Cable(cluster.server) as cable,
        scene_of(
            cluster, namespace, server=cable.url, liveness=Liveness(idle=4.0, shortest=2.0)
        ) as scene,
    ):
        cluster.patch(collection(namespace, "there-00"), {"data": {"n": "1"}})
        await scene.converged(within=5)
        assert cable.freeze() >= 1
        loop = asyncio.get_running_loop()
        began = loop.time()
        cluster.patch(collection(namespace, "there-00"), {"data": {"n": "unheard of"}})
        cluster.delete(collection(namespace, "there-01"))
        await scene.converged(within=10)
        assert 2 < loop.time() - began < 8
        assert scene.relists == {}


@pytest.mark.clause("E4")
async def test_a_server_that_hangs_is_waited_for(cluster: Cluster, namespace: str) -> None:
    """SIGSTOP: connections stay open, and nothing is answered. With a deadline of 2 s."""
    async with scene_of(cluster, namespace, liveness=Liveness(idle=2.0, shortest=2.0)) as scene:
        cluster.apiserver.pause()
        await asyncio.sleep(8)
        silent = [note for note in scene.notes if isinstance(note, Setback)]
        age = scene.mirror.health.last_byte_age
        cluster.apiserver.resume()
        assert silent != []
        assert age is not None
        assert age > 6
        cluster.patch(collection(namespace, "there-00"), {"data": {"n": "1"}})
        cluster.delete(collection(namespace, "there-01"))
        await scene.converged()
        assert scene.mirror.store.epoch == 0


# Two ways, one set


@pytest.mark.clause("H4")
async def test_watch_list_and_list_give_the_same_store(cluster: Cluster, namespace: str) -> None:
    with Writer(cluster, namespace, rate=50) as writer:
        await asyncio.sleep(1)
        async with (
            scene_of(cluster, namespace, watch_list=True) as one,
            scene_of(cluster, namespace, watch_list=False) as other,
        ):
            await asyncio.sleep(1)
            await asyncio.to_thread(writer.pause)
            await one.converged()
            await other.converged()
            stores = one.mirror.store, other.mirror.store
            assert {store.resource_version for store in stores} == {stores[0].resource_version}
            for store in stores:
                at = listed_at(cluster, collection(namespace), store.resource_version)
                assert identities(store) == at
            assert [note.via for note in one.notes if isinstance(note, Listed)] == ["watch-list"]
            assert [note.via for note in other.notes if isinstance(note, Listed)] == ["list"]
