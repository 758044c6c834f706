"""Is the mirror frozen? `fresh` proves that it is not, or raises."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from listwatch import ClientConfig, GroupVersionResource, RESTClient
from listwatch.api import EventType, ObjectMeta, PartialObjectMetadata, Unstructured
from listwatch.cache import (
    Cause,
    Identity,
    ListWatch,
    Mirror,
    MirrorStopped,
    NotFresh,
    ReflectorOptions,
)
from listwatch.rest import ConnectionLost
from listwatch.rest.errors import ConnectionRefused, TransportTimeout
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.testing.apiserver.faults.current import Faults

from .scripted import (
    Answer,
    Delayed,
    Page,
    Scripted,
    Still,
    Watch,
    WithMetadata,
    added,
    bookmark,
    failure,
    modified,
    names,
    pod,
    refusal,
    refused_object,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("K11")]


def mirror_of(source: Scripted, **more: Any) -> Mirror[Any]:
    return Mirror(source, **{"kind": "Pod", "rng": Still(), **more})


def now() -> float:
    return asyncio.get_running_loop().time()


# Known already


async def test_what_was_read_consistently_a_moment_ago_is_fresh_without_a_question() -> None:
    source = Scripted(refusal(410), Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(8)
        await mirror.fresh(within=10)
        assert source.checked_at == []
        await until(11)
        await mirror.fresh(within=10)
        assert source.checked_at == [11]


async def test_a_proof_serves_all_who_ask_for_no_more() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        await mirror.fresh(within=1)
        await until(14)
        await mirror.fresh(within=5)
        assert source.checked_at == [10]
        await mirror.fresh(within=3)
        assert source.checked_at == [10, 14]


async def test_those_who_ask_at_once_share_one() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        await asyncio.gather(*(mirror.fresh(within=0) for _ in range(50)))
        assert source.checked_at == [10]


async def test_one_who_asks_for_now_takes_no_proof_that_began_before() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), checks=[9, 9])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        first = asyncio.create_task(mirror.fresh(within=0))
        await until(11)
        second = asyncio.create_task(mirror.fresh(within=0))
        watch.send(bookmark(9))
        await settle()
        assert first.done()
        assert second.done()
        assert source.checked_at == [10, 11]
        await first
        await second


async def test_one_who_gives_up_leaves_the_turn_to_the_next() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), checks=[9, 9])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        first = asyncio.create_task(mirror.fresh(within=0))
        second = asyncio.create_task(mirror.fresh(within=0))
        await settle()
        first.cancel()
        await settle()
        watch.send(bookmark(9))
        await settle()
        assert second.done()
        await second


# By an event or a bookmark


async def test_a_store_at_the_servers_rv_is_fresh_at_once() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        watch.send(added(pod("a", 6)))
        await settle()
        await mirror.fresh(within=0)
        assert now() == 10
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


@pytest.mark.parametrize("event", [added(pod("a", 9)), bookmark(12)], ids=["event", "bookmark"])
async def test_an_event_or_bookmark_at_or_past_the_servers_rv_is_the_proof(event: Any) -> None:
    source = Scripted(Page(rv=5), watch := Watch(), checks=[9])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        asked = asyncio.create_task(mirror.fresh(within=0))
        await until(1)
        watch.send(added(pod("b", 8)))
        await settle()
        assert not asked.done()
        watch.send(event)
        await settle()
        assert asked.done()
        await asked
        assert len(source.asked) == 2


# A quiet type


async def test_where_nothing_comes_the_metadata_are_compared() -> None:
    source = WithMetadata(
        Page(pod("a", 3), pod("b", 4), rv=5), Watch(), meta("a", 3, "b", 4, rv=900), checks=[900]
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.asked_at[2:] == [(2, "metadata rv=- limit=500")]
        assert now() == 2
        assert not mirror.health.relists


def meta(*parts: Any, rv: int) -> Page:
    """A list of metadata: name, RV, name, RV ..."""
    items = [
        PartialObjectMetadata(
            "meta.k8s.io/v1",
            "PartialObjectMetadata",
            ObjectMeta(
                name=name, namespace="default", uid=f"uid-{name}", resource_version=str(version)
            ),
        )
        for name, version in zip(parts[::2], parts[1::2], strict=True)
    ]
    return Page(*items, rv=rv, kind="PartialObjectMetadataList")


async def test_a_source_without_metadata_is_listed_in_full_for_that() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch(), Page(pod("a", 3), rv=900), checks=[900])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.asked[2:] == ["list rv=- limit=500"]


async def test_in_pages() -> None:
    first, second = meta("a", 3, rv=900), meta("b", 4, rv=900)
    source = WithMetadata(
        Page(pod("a", 3), pod("b", 4), rv=5),
        Watch(),
        Page(*first.items, rv=900, more="c1"),
        second,
        checks=[900],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.asked[2:] == ["metadata rv=- limit=500", "metadata continue=c1 limit=500"]
        assert mirror.health.requests == 4  # later pages are free


async def test_pages_of_a_comparison_that_began_anew_are_void() -> None:
    source = WithMetadata(
        Page(pod("a", 3), pod("b", 4), rv=5),
        Watch(),
        Page(*meta("gone", 2, rv=890).items, rv=890, more="c1"),
        refusal(410),
        meta("a", 3, "b", 4, rv=900),
        checks=[900],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.asked[4:] == ["metadata rv=-"]
        assert not mirror.health.relists


async def test_rvs_that_cannot_be_compared_are_compared_object_by_object() -> None:
    source = WithMetadata(Page(pod("a", 3), rv="x"), Watch(), meta("a", 3, rv=900), checks=["y"])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.asked_at[2:] == [(0, "metadata rv=- limit=500")]


async def test_an_event_that_was_on_its_way_is_no_difference() -> None:
    source = WithMetadata(
        Page(pod("a", 3), rv=5), watch := Watch(), meta("a", 901, rv=901), checks=[900]
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        asked = asyncio.create_task(mirror.fresh(within=0))
        await until(3)
        watch.send(modified(pod("a", 901)))
        await settle()
        await asked
        assert now() == 3
        assert not mirror.health.relists


async def test_undecodable_objects_are_compared_like_the_others() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, undecodable=[pod("b", 4)]),
        Watch(),
        Page(pod("a", 3), rv=900, undecodable=[pod("b", 4)]),
        checks=[900],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert not mirror.health.relists


@pytest.mark.parametrize("metadata", [True, False])
async def test_so_are_objects_with_an_identity_of_their_own(metadata: bool) -> None:
    def identify(obj: Any) -> Identity:
        return Identity(obj["id"], obj["uid"], obj["rv"])

    obj = {"id": "default/a", "uid": "uid-a", "rv": "3"}
    kind: Any = WithMetadata if metadata else Scripted
    answer = meta("a", 3, rv=900) if metadata else Page(dict(obj), rv=900)
    source = kind(Page(obj, rv=5), Watch(), answer, checks=[900])
    async with mirror_of(source, identify=identify, kind="") as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert not mirror.health.relists


# Really out of date

DIFFERENT = [
    meta("a", 8, "b", 4, rv=900),
    meta("a", 3, rv=900),
    meta("a", 3, "b", 4, "c", 7, rv=900),
    meta("a", 3, "c", 4, rv=900),
]


@pytest.mark.parametrize("listed", DIFFERENT, ids=["changed", "gone", "new", "another"])
async def test_a_mirror_that_is_out_of_date_is_listed_at_once_and_it_is_said(listed: Page) -> None:
    truth = Page(*(pod(item.name, item.resource_version) for item in listed.items), rv=910)
    source = WithMetadata(
        Page(pod("a", 3), pod("b", 4), rv=5),
        frozen := Watch(),
        listed,
        truth,
        Watch(),
        checks=[900],
    )
    told: list[str] = []
    async with mirror_of(source, on_note=lambda note: told.append(str(note))) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert names(mirror.store) == {obj.name: obj.resource_version for obj in truth.items}
        # An event had the time it takes, before and after the comparison.
        assert source.asked_at[2:4] == [
            (2, "metadata rv=- limit=500"),
            (4, "list rv=- limit=500"),
        ]
        assert not frozen.is_open
        assert mirror.health.relists == {Cause.OUT_OF_DATE: 1}
        assert told[-1].startswith("the mirror was found out of date, relisted: ")
        await settle()
        assert source.open_watches == 1


async def test_an_object_made_again_at_the_same_rv_is_another_one() -> None:
    source = WithMetadata(
        Page(pod("a", 3, uid="before"), rv=5),
        Watch(),
        meta("a", 3, rv=900),
        Page(pod("a", 3), rv=910),
        Watch(),
        checks=[900],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert mirror.store["default/a"].uid == "uid-a"


# It cannot be shown


@pytest.mark.parametrize(
    "error", [ConnectionRefused("no"), ConnectionLost("no"), refusal(500), refusal(403)], ids=repr
)
async def test_where_the_server_does_not_answer_nothing_is_proven(error: Exception) -> None:
    source = Scripted(Page(rv=5), Watch(), checks=[error] * 200)
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        with pytest.raises(NotFresh, match=f"no older than 3 s.*{type(error).__name__}"):
            await mirror.fresh(within=3, timeout=12)
        assert now() == 22
        assert issubclass(NotFresh, TimeoutError)


@pytest.mark.parametrize("error", [ConnectionLost("no"), TransportTimeout("late"), TimeoutError()])
async def test_a_read_that_fails_is_tried_again(error: Exception) -> None:
    source = Scripted(Page(rv=5), Watch(), checks=[error, error])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.checked_at == [0, 1, 2]


@pytest.mark.clause("H9")
async def test_no_sooner_than_the_server_says() -> None:
    source = Scripted(Page(rv=5), Watch(), checks=[refusal(429, retry_after=20)])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert source.checked_at == [0, 20]


@pytest.mark.clause("H9")
async def test_its_questions_are_in_the_budget() -> None:
    source = Scripted(Page(rv=5), Watch(), checks=[ConnectionLost("no")] * 500)
    async with mirror_of(source) as mirror:
        await mirror.synced()
        with pytest.raises(NotFresh):
            await mirror.fresh(within=0, timeout=100)
        times = [request.at for request in source.requests]
        assert len(times) > 20
        for at in times:
            assert sum(at <= other < at + 10 for other in times) <= 10


async def test_a_mirror_that_is_not_synced_is_not_fresh() -> None:
    source = Scripted(*[refusal(503)] * 20)
    async with mirror_of(source) as mirror:
        with pytest.raises(NotFresh, match="not synced"):
            await mirror.fresh(within=5, timeout=20)
        assert now() == 20


async def test_one_that_becomes_so_in_time_is() -> None:
    source = Scripted(Delayed(3, Page(rv=5)), Watch())
    async with mirror_of(source) as mirror:
        await mirror.fresh(within=0, timeout=20)
        assert mirror.health.synced
        assert now() < 6


async def test_a_stopped_mirror_is_not_waited_for() -> None:
    source = Scripted(Page(rv=5), Watch(), checks=[ConnectionLost("no")] * 500)
    async with mirror_of(source) as mirror:
        await mirror.synced()
        waiting = asyncio.create_task(mirror.fresh(within=0, timeout=None))
        await until(5)
        mirror.stop()
        with pytest.raises(MirrorStopped):
            await asyncio.wait_for(waiting, 5)
    with pytest.raises(MirrorStopped):
        await asyncio.wait_for(mirror.fresh(within=0, timeout=None), 5)


async def test_a_negative_age_makes_no_sense() -> None:
    async with mirror_of(Scripted(Page(rv=5), Watch())) as mirror:
        for within in (-1, math.nan):
            with pytest.raises(ValueError, match="within"):
                await mirror.fresh(within=within)
        with pytest.raises(ValueError, match="within"):
            await mirror.fresh(within=-1)


# A history that went back meanwhile


@pytest.mark.clause("H18")
async def test_a_server_behind_us_proves_nothing_but_that_its_history_went_back() -> None:
    source = Scripted(
        Page(pod("a", 40), rv=50), Watch(), Page(pod("b", 14), rv=20), Watch(), checks=[20]
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await mirror.fresh(within=0)
        assert names(mirror.store) == {"b": "14"}
        assert mirror.health.epoch == 1
        assert mirror.health.relists == {Cause.WENT_BACK: 1}


@pytest.mark.clause("H18")
async def test_the_end_of_an_epoch_ends_no_wait_falsely() -> None:
    # While RV 60 is waited for, the history goes back: RV 60 of the old one will never come.
    source = Scripted(
        Page(pod("a", 40), rv=50),
        first := Watch(),
        Watch(),
        Page(pod("b", 14), rv=20),
        second := Watch(),
        Page(pod("b", 14), rv=21),
        checks=[60, 20],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        asked = asyncio.create_task(mirror.fresh(within=0))
        await until(1)
        first.send(bookmark(51))
        first.fail()
        await settle()
        assert asked.done()
        await asked
        assert mirror.health.epoch == 1
        assert names(mirror.store) == {"b": "14"}
        assert second.is_open


# A relist that comes in between


async def test_a_consistent_list_in_between_is_the_proof() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5),
        watch := Watch(),
        refusal(410),
        Page(pod("a", 8), rv=900),
        Watch(),
        checks=[890],
    )
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        asked = asyncio.create_task(mirror.fresh(within=0))
        await settle()
        watch.send(failure(410))
        await settle()
        assert asked.done()
        await asked
        assert now() == 10


async def test_while_the_watch_is_away_it_waits_for_it() -> None:
    answers: list[Answer] = [refusal(429, retry_after=8), Watch()]
    source = Scripted(Page(rv=5), first := Watch(), *answers)
    async with mirror_of(source) as mirror:
        await mirror.synced()
        await until(10)
        first.fail()
        await settle()
        await mirror.fresh(within=0)
        assert 18 <= now() < 20


async def test_an_event_that_cannot_be_decoded_is_a_sign_of_life_too() -> None:
    source = Scripted(Page(rv=5), watch := Watch(), checks=[9])
    async with mirror_of(source) as mirror:
        await mirror.synced()
        asked = asyncio.create_task(mirror.fresh(within=0))
        await settle()
        watch.send(refused_object(EventType.ADDED, pod("a", 9)))
        await settle()
        assert asked.done()
        await asked


# Over a whole server

CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")
SECRETS = GroupVersionResource.parse("v1/secrets")


@asynccontextmanager
async def served(*faults: str) -> AsyncIterator[tuple[RESTClient, ServerTransport, Any]]:
    loop = asyncio.get_running_loop()

    def wall() -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=loop.time())

    core = APIServer(clock=loop.time, wall=wall, rng=random.Random(1))
    transport = ServerTransport(core, Faults(*faults))
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        yield client, transport, core
    assert transport.open_responses == 0
    await transport.close()


async def test_a_quiet_type_on_a_busy_server_is_fresh_without_a_relist() -> None:
    async with served() as (client, _, _):
        for number in range(3):
            await client.create(
                CONFIGMAPS, {"metadata": {"name": f"c{number}"}}, namespace="default"
            )
        source = ListWatch.from_client(client, CONFIGMAPS)
        async with Mirror(source, kind="ConfigMap", rng=Still()) as mirror:
            await mirror.synced()
            for number in range(5):  # writes of another type move the server's RV
                await client.create(
                    SECRETS, {"metadata": {"name": f"s{number}"}}, namespace="default"
                )
                await asyncio.sleep(20)
                began = now()
                await mirror.fresh(within=0)
                assert now() - began < 5
            assert not mirror.health.relists
            assert len(mirror.store) == 3


async def test_after_fresh_the_store_shows_every_earlier_write() -> None:
    async with served() as (client, _, _):
        source = ListWatch.from_client(client, CONFIGMAPS)
        async with Mirror(source, kind="ConfigMap", rng=Still()) as mirror:
            await mirror.synced()
            for number in range(10):
                made: Unstructured = await client.create(
                    CONFIGMAPS, {"metadata": {"name": f"c{number}"}}, namespace="default"
                )
                await mirror.fresh(within=0)
                assert mirror.store[made.key].resource_version == made.resource_version
                await asyncio.sleep(7)


async def test_freshness_of_a_mirror_that_lists_in_full_each_time() -> None:
    async with served() as (client, _, _):
        source = ListWatch.from_client(client, CONFIGMAPS)
        options = ReflectorOptions(watch_list=False)
        async with Mirror(source, kind="ConfigMap", rng=Still(), options=options) as mirror:
            await client.create(CONFIGMAPS, {"metadata": {"name": "c"}}, namespace="default")
            await mirror.fresh(within=0)
            assert "default/c" in mirror.store
