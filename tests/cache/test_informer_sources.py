"""Several namespaces, or an OR of selectors, as one informer (K9)."""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from listwatch import ClientConfig, GroupVersionResource, PatchType, RESTClient
from listwatch.api import EventType, Forbidden
from listwatch.cache import (
    Bounded,
    Health,
    ListWatch,
    MirrorStopped,
    ReflectorOptions,
    SharedInformer,
    State,
)
from listwatch.testing.apiserver import APIServer, ServerTransport

from .hearing import WAYS, Way, caught_up, informer_of, listen
from .scripted import (
    Delayed,
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    names,
    pod,
    refusal,
    refused_object,
    settle,
    until,
)

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("K9")]

EACH_WAY = pytest.mark.parametrize("way", WAYS)


def quiet(*_: object) -> None: ...


# Together


@pytest.mark.clause("K9", "K1", "J1")
@EACH_WAY
async def test_several_sources_are_one_informer_with_one_store(way: Way) -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), rv=5), first := Watch()),
        "y": Scripted(Page(pod("b", 4), rv=9), second := Watch()),
    }
    informer = informer_of(sources, indexes={"name": lambda obj: [obj.name]})
    heard, registration = listen(informer, way)
    async with informer:
        await informer.synced()
        await registration.synced()
        assert names(informer.store) == {"a": "3", "b": "4"}
        first.send(modified(pod("a", 6)), added(pod("c", 7)), modified(pod("c", 8)))
        await settle()
        second.send(deleted(pod("b", 10)), added(pod("b", 11)))
        await settle()
        await caught_up(registration)
        assert heard.lines == [
            "add a 3 initial",
            "add b 4 initial",
            "update a 3 6",
            "add c 7",
            "update c 7 8",
            "delete b 10",
            "add b 11",
        ]
        assert informer.store.index_keys("name", "c") == ["default/c"]
    assert all(source.open_watches == 0 for source in sources.values())


@pytest.mark.clause("K3", "J4", "K9")
async def test_it_is_synced_when_all_of_them_are() -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), rv=5), Watch()),
        "y": Scripted(Delayed(7, Page(pod("b", 4), rv=9)), Watch()),
    }
    informer = informer_of(sources)
    heard, registration = listen(informer)
    async with informer:
        await settle()
        # What is there flows, and says that it belongs to the initial set.
        assert heard.lines == ["add a 3 initial"]
        late, other = listen(informer)
        assert late.lines == ["add a 3 initial"]
        assert [each.is_synced for each in (informer, registration, other)] == [False] * 3
        await registration.synced()
        await informer.synced()
        assert asyncio.get_running_loop().time() == 7
        assert heard.lines == late.lines == ["add a 3 initial", "add b 4 initial"]
        assert other.is_synced


@pytest.mark.clause("K2", "K9")
async def test_a_late_handler_hears_of_the_union_once() -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), pod("b", 4), rv=5), first := Watch()),
        "y": Scripted(Page(pod("a", 3), pod("c", 6), rv=7), Watch()),
    }
    informer = informer_of(sources)
    async with informer:
        await informer.synced()
        heard, _ = listen(informer)
        first.send(deleted(pod("a", 8)), deleted(pod("b", 9)))
        await settle()
        assert sorted(heard.lines[:3]) == ["add a 3 initial", "add b 4 initial", "add c 6 initial"]
        assert heard.lines[3:] == ["delete b 9"]


@pytest.mark.clause("K6", "K9")
@pytest.mark.parametrize("as_two", [True, False])
async def test_made_again_between_two_looks_at_one_of_them(as_two: bool) -> None:
    again = Page(pod("a", 9, uid="another"), rv=9)
    sources = {
        "x": Scripted(Page(pod("a", 3), rv=5), watch := Watch(), again, Watch()),
        "y": Scripted(Page(rv=5), Watch()),
    }
    informer = informer_of(sources, recreate_as_two=as_two)
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        watch.send(failure(410))
        await settle()
    assert heard.lines[1:] == (["gone a 3", "add a 9"] if as_two else ["update a 3 9"])


@pytest.mark.clause("H10", "K9")
async def test_what_cannot_be_decoded_in_one_of_them() -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), rv=5), watch := Watch()),
        "y": Scripted(Page(pod("b", 4), rv=5), Watch()),
    }
    informer = informer_of(sources, on_error=quiet)
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        watch.send(refused_object(EventType.MODIFIED, pod("a", 6)))
        await settle()
        assert informer.health.undecodable == ("default/a",)
        late, _ = listen(informer)
        assert sorted(late.lines) == ["add a 3 initial", "add b 4 initial"]
        watch.send(modified(pod("a", 7)))
        await settle()
        assert heard.lines[2:] == late.lines[2:] == ["update a 3 7"]


@pytest.mark.clause("H11", "K9", "J1")
async def test_a_resync_tells_of_each_object_once_whoever_has_it() -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), pod("b", 4), rv=5), Watch()),
        "y": Scripted(Page(pod("b", 4), pod("c", 6), rv=7), Watch()),
    }
    informer = informer_of(sources, options=ReflectorOptions(resync_period=60))
    heard, _ = listen(informer)
    async with informer:
        await until(59)
        heard.take()
        for minute in (61, 121):
            await until(minute)
            assert sorted(heard.take()) == ["update a 3 3", "update b 4 4", "update c 6 6"]


@pytest.mark.clause("K4", "K9")
async def test_a_full_queue_that_blocks_stops_the_reading_of_all() -> None:
    watches = {name: Watch() for name in "xyz"}
    sources = {part: Scripted(Page(pod(part, 3), rv=5), watch) for part, watch in watches.items()}
    informer = informer_of(sources)
    opened = asyncio.Event()

    async def waits(line: str) -> None:
        await opened.wait()

    heard, registration = listen(informer, "task", waits, queue=Bounded(2, "block"))
    async with informer:
        await informer.synced()
        for number in range(10, 20):
            for part, watch in watches.items():
                watch.send(modified(pod(part, number)))
        await settle(400)
        assert all(watch.unread >= 8 for watch in watches.values())
        # One read of each at the most beyond the size.
        assert registration.queued <= 2 + 3
        opened.set()
        await settle(400)
        await caught_up(registration)
        assert heard.shown == dict.fromkeys("xyz", "19")
        assert len(heard.lines) == 33


# One that fails


@pytest.mark.clause("K9", "K10")
async def test_one_without_permission_shows_in_health_and_holds_no_other_back() -> None:
    sources = {
        "open": Scripted(Page(pod("a", 3), rv=5), watch := Watch()),
        "secret": Scripted(*[refusal(403)] * 6, Page(pod("b", 90), rv=90), Watch()),
    }
    informer = informer_of(sources, on_error=quiet)
    heard, registration = listen(informer)
    async with informer:
        with pytest.raises(TimeoutError, match=r"mirror secret was not synced .* 5 s: .*Forbidden"):
            await informer.synced(timeout=5)
        watch.send(modified(pod("a", 6)))
        await settle()
        assert heard.lines == ["add a 3 initial", "update a 3 6"]
        assert not registration.is_synced
        health = informer.health
        assert not health.ready
        assert set(health.sources) == {"open", "secret"}
        assert health.sources["open"].state is State.WATCHING
        assert health.sources["open"].synced
        assert health.sources["secret"].state is State.BACKING_OFF
        assert not health.sources["secret"].synced
        assert "403" in health.sources["secret"].last_error
        assert health.last_error.startswith("secret: ")
        assert health.state is State.BACKING_OFF
        assert health.objects == 1
        assert health.last_byte_age is None
        # It is permitted after all.
        await informer.synced(timeout=600)
        assert names(informer.store) == {"a": "6", "b": "90"}
        assert registration.is_synced
        assert informer.health.ready


@pytest.mark.clause("K9", "K3")
async def test_nobody_waits_for_an_optional_one_but_its_objects_come() -> None:
    sources = {
        "open": Scripted(Page(pod("a", 3), rv=5), Watch()),
        "secret": Scripted(*[refusal(403)] * 3, Page(pod("b", 90), rv=90), Watch()),
    }
    informer = informer_of(sources, on_error=quiet, optional=["secret"])
    heard, registration = listen(informer)
    async with informer:
        await informer.synced()
        assert asyncio.get_running_loop().time() == 0
        assert registration.is_synced
        assert informer.health.synced
        assert not informer.health.sources["secret"].synced
        await informer.at_least("5")
        await informer.fresh(within=1)
        await until(600)
        assert informer.health.sources["secret"].synced
        assert heard.shown == {"a": "3", "b": "90"}


@pytest.mark.clause("K9", "K3")
async def test_where_all_are_optional_nobody_waits_for_any() -> None:
    informer = informer_of({"x": Scripted(), "y": Scripted()}, optional="xy")
    _, registration = listen(informer, "task")
    async with informer:
        assert informer.is_synced
        await informer.synced()
        await registration.synced()


@pytest.mark.clause("K9")
async def test_each_keeps_its_own_pace() -> None:
    sources = {
        "bad": Scripted(*[refusal(500)] * 40),
        **{f"n{number}": Scripted(Page(rv=5), Watch()) for number in range(10)},
    }
    informer = informer_of(sources, on_error=quiet)
    async with informer:
        await until(60)
        assert informer.health.requests > 10 * 2 + 4
        for name, source in sources.items():
            if name != "bad":
                assert [at for at, _ in source.asked_at] == [0, 0]


def test_what_is_optional_must_be_there() -> None:
    with pytest.raises(ValueError, match="optional, but no source: z"):
        informer_of({"x": Scripted(), "y": Scripted()}, optional=["y", "z"])


async def test_one_that_fails_fast_is_raised_and_the_others_go_on_until_the_end() -> None:
    sources = {
        "open": Scripted(Page(pod("a", 3), rv=5), watch := Watch()),
        "secret": Scripted(*[refusal(403)] * 2),
    }
    informer = informer_of(sources, on_error=quiet, options=ReflectorOptions(fail_fast=True))
    heard, registration = listen(informer)

    async def use() -> None:
        async with informer:
            with pytest.raises(Forbidden):
                await informer.synced()
            with pytest.raises(Forbidden):
                await registration.synced()
            watch.send(modified(pod("a", 6)))
            await settle()
            assert heard.lines == ["add a 3 initial", "update a 3 6"]

    with pytest.raises(Forbidden):
        await use()
    assert sources["open"].open_watches == 0


async def test_whoever_waits_for_it_hears_that_it_was_stopped() -> None:
    informer = informer_of({"x": Scripted(Page(rv=5), Watch()), "y": Scripted()})
    with pytest.raises(MirrorStopped):
        await informer.synced()
    async with informer:
        waiting = [
            asyncio.create_task(wait) for wait in (informer.synced(), informer.at_least("9"))
        ]
        await settle()
        informer.stop()
        for each in waiting:
            with pytest.raises(MirrorStopped):
                await each
    with pytest.raises(MirrorStopped):
        await informer.synced()


# Overlapping


@pytest.mark.clause("K9", "I3")
async def test_an_object_that_several_select_vanishes_when_none_has_it() -> None:
    sources = {
        "x": Scripted(Page(pod("a", 3), rv=5), first := Watch()),
        "y": Scripted(Page(pod("a", 3), rv=5), second := Watch()),
    }
    informer = informer_of(sources)
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        first.send(modified(pod("a", 6)))
        await settle()
        first.send(deleted(pod("a", 7)))
        await settle()
        # It is in y still, which has not caught up: no state goes back.
        assert names(informer.store) == {"a": "6"}
        second.send(modified(pod("a", 6)), modified(pod("a", 7)))
        await settle()
        second.send(deleted(pod("a", 8)))
        await settle()
        assert heard.lines == ["add a 3 initial", "update a 3 6", "update a 6 7", "delete a 8"]
        assert names(informer.store) == {}


@pytest.mark.clause("K9", "H18")
async def test_the_history_of_one_of_them_goes_back() -> None:
    sources = {
        "x": Scripted(
            Page(pod("a", 40), pod("b", 45), rv=50),
            first := Watch(),
            Watch(),
            Page(pod("a", 30), rv=49),
            Watch(),
            checks=[49],
        ),
        "y": Scripted(Page(pod("z", 44), rv=50), Watch()),
    }
    informer = informer_of(sources, on_error=quiet)
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        heard.take()
        first.fail()
        await until(10)
        assert heard.take() == ["update a 40 30", "gone b 45"]
        assert names(informer.store) == {"a": "30", "z": "44"}
        assert informer.health.epoch == 1


# Over a whole server

CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")


def _server() -> ServerTransport:
    clock = asyncio.get_running_loop().time
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    core = APIServer(
        clock=clock, wall=lambda: begin + timedelta(seconds=clock()), rng=random.Random(1)
    )
    return ServerTransport(core)


@pytest.mark.clause("K9", "I3", "K11")
async def test_twenty_namespaces_as_one() -> None:
    transport = _server()
    namespaces = [f"team-{number}" for number in range(20)]
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        spaces = GroupVersionResource.parse("v1/namespaces")
        for name in namespaces:
            await client.create(spaces, {"metadata": {"name": name}})
            await client.create(CONFIGMAPS, {"metadata": {"name": "first"}}, namespace=name)
        await client.create(CONFIGMAPS, {"metadata": {"name": "other"}}, namespace="default")
        sources = {name: ListWatch.from_client(client, CONFIGMAPS, name) for name in namespaces}
        informer: SharedInformer[Any] = informer_of(sources, kind="ConfigMap")
        told: list[str] = []
        registration = informer.add_handler(
            on_add=lambda obj, initial: told.append(f"add {obj.key}"),
            on_delete=lambda obj: told.append(f"delete {obj.key}"),
        )
        async with informer:
            await informer.synced(timeout=60)
            await registration.synced()
            assert sorted(told) == sorted(f"add {name}/first" for name in namespaces)
            told.clear()
            for name in namespaces:
                made = await client.create(
                    CONFIGMAPS, {"metadata": {"name": "second"}}, namespace=name
                )
                await client.delete(CONFIGMAPS, "first", namespace=name)
            # Each of them has seen that, also those to which nobody wrote afterwards.
            await informer.at_least(made.resource_version, timeout=120)
            await informer.fresh(within=0, timeout=60)
            await caught_up(registration)
            for name in namespaces:
                assert [line for line in told if f"{name}/" in line] == [
                    f"add {name}/second",
                    f"delete {name}/first",
                ]
            assert sorted(informer.store.keys()) == sorted(f"{name}/second" for name in namespaces)
            health: Health = informer.health
            assert health.ready
            assert health.objects == 20
            assert set(health.sources) == set(namespaces)
            assert {each.state for each in health.sources.values()} == {State.WATCHING}
    assert transport.open_responses == 0
    await transport.close()


@pytest.mark.clause("K9")
async def test_overlapping_selectors_on_a_server() -> None:
    transport = _server()
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:

        async def label(name: str, **labels: str | None) -> None:
            changed = await client.patch(
                CONFIGMAPS,
                name,
                {"metadata": {"labels": labels}},
                patch_type=PatchType.MERGE,
                namespace="default",
            )
            await informer.at_least(changed.resource_version, timeout=120)

        for name, labels in {"a": {"x": "1"}, "b": {"y": "1"}, "c": {"x": "1", "y": "1"}}.items():
            made = {"metadata": {"name": name, "labels": labels}}
            await client.create(CONFIGMAPS, made, namespace="default")
        sources = {
            label: ListWatch.from_client(client, CONFIGMAPS, label_selector=label)
            for label in ("x", "y")
        }
        informer = informer_of(sources, kind="ConfigMap")
        heard, _ = listen(informer)
        async with informer:
            await informer.synced(timeout=60)
            assert sorted(heard.shown) == ["a", "b", "c"]
            heard.lines.clear()
            await label("c", x=None)
            await label("c", x="1", y=None)
            await label("a", y="1")
            assert [line.split()[0] for line in heard.lines] == ["update"] * len(heard.lines)
            await label("c", x=None)
            assert heard.lines[-1].startswith("delete c ")
            assert sorted(informer.store.keys()) == ["default/a", "default/b"]
            await label("c", y="2")
            assert heard.lines[-1].startswith("add c ")
    assert transport.open_responses == 0
    await transport.close()


async def test_bookmarks_of_one_do_not_speak_for_another() -> None:
    sources = {
        "x": Scripted(Page(rv=5), first := Watch()),
        "y": Scripted(Page(rv=5), second := Watch()),
    }
    informer = informer_of(sources)
    async with informer:
        waiting = asyncio.create_task(informer.at_least("9"))
        first.send(bookmark(10))
        await settle()
        assert not waiting.done()
        second.send(bookmark(9))
        await waiting


async def test_an_optional_source_ends_nothing_where_the_others_fail_fast() -> None:
    fine, refused = Scripted(Page(rv=5), Watch()), Scripted(*[refusal(403) for _ in range(9)])
    informer: SharedInformer[Any] = SharedInformer(
        {"fine": fine, "refused": refused},
        optional=["refused"],
        options=ReflectorOptions(fail_fast=True, watch_list=False),
        rng=random.Random(1),
    )
    async with informer:
        await informer.synced()
        await asyncio.sleep(30)
        assert informer.health.sources["refused"].state is State.BACKING_OFF


async def test_one_source_may_be_waited_for_alone() -> None:
    sources = {
        "x": Scripted(Page(rv=5), first := Watch()),
        "y": Scripted(Page(rv=5), Watch()),
    }
    async with SharedInformer(sources) as informer:
        await informer.synced()
        first.send(added(pod("a", 7)))
        await informer.at_least("7", timeout=1, source="x")
        with pytest.raises(TimeoutError):
            await informer.at_least("7", timeout=1)
        with pytest.raises(KeyError):
            await informer.at_least("7", source="z")
        assert repr(informer).startswith("<SharedInformer ")
        assert "1 object;" in repr(informer)
