"""SharedInformer: one mirror, many handlers."""

from __future__ import annotations

import asyncio
import random
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch import ClientConfig, GroupVersionResource, PatchType, RESTClient
from listwatch.api import Event, EventType, Forbidden
from listwatch.cache import (
    Bounded,
    ListWatch,
    MirrorStopped,
    ReflectorOptions,
    SharedInformer,
    Tombstone,
)
from listwatch.testing import VirtualTimeLoop
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.testing.apiserver.faults.current import Faults

from .hearing import WAYS, Gate, Hearing, Way, caught_up, informer_of, listen
from .scripted import (
    Delayed,
    Page,
    Scripted,
    Watch,
    added,
    bookmark,
    deleted,
    end_of_initial_events,
    failure,
    modified,
    names,
    pod,
    refusal,
    refused_object,
    settle,
    until,
)

EACH_WAY = pytest.mark.parametrize("way", WAYS)


# What is told


@pytest.mark.virtual_time
@pytest.mark.clause("K1", "J1", "J2", "J3")
@EACH_WAY
async def test_a_handler_is_told_what_changes_in_its_order(way: Way) -> None:
    source = Scripted(
        Page(pod("a", 3), pod("b", 4), rv=5),
        watch := Watch(),
        Page(pod("a", 9), pod("d", 10, uid="another"), rv=11),
        Watch(),
    )
    informer = informer_of(source)
    heard, registration = listen(informer, way)
    async with informer:
        await registration.synced()
        assert heard.take() == ["add a 3 initial", "add b 4 initial"]
        watch.send(added(pod("c", 6)), modified(pod("b", 7)), deleted(pod("a", 8)))
        watch.send(added(pod("a", 9)), added(pod("d", 10)))
        await settle()
        await caught_up(registration)
        assert heard.take() == ["add c 6", "update b 4 7", "delete a 8", "add a 9", "add d 10"]
        watch.send(failure(410))
        await settle()
        await caught_up(registration)
        # Of a relist only what differs: a is the same.
        assert heard.take() == ["update d 10 10", "gone b 7", "gone c 6"]
        assert registration.told == 10
        assert registration.failures == 0


@pytest.mark.virtual_time
@pytest.mark.clause("J1", "K1")
@EACH_WAY
async def test_many_at_once_are_told_one_at_a_time(way: Way) -> None:
    count, inside = 1000, 0

    def hook(line: str) -> None:
        nonlocal inside
        inside += 1
        assert inside == 1
        inside -= 1

    source = Scripted(Page(rv=5), watch := Watch())
    informer = informer_of(source)
    heard, registration = listen(informer, way, hook)
    async with informer:
        watch.send(*(added(pod(f"p{number}", 10 + number)) for number in range(count)))
        await settle()
        await caught_up(registration)
    assert heard.lines == [f"add p{number} {10 + number}" for number in range(count)]
    assert registration.failures == 0


@pytest.mark.virtual_time
@pytest.mark.clause("J3", "K1")
@EACH_WAY
async def test_store_and_indexes_show_at_least_what_a_handler_is_told(way: Way) -> None:
    """Property 9, store first."""
    source = Scripted(
        Page(pod("a", 3, spec="x"), pod("b", 4, spec="y"), rv=5),
        watch := Watch(),
        Page(pod("b", 9, spec="x"), pod("c", 10, spec="y"), rv=11),
        Watch(),
    )
    looked = 0

    def look(obj: Any, last: bool = False) -> None:
        nonlocal looked
        snapshot = informer.store.snapshot()
        found = snapshot.get(obj.key)
        if last:
            assert found is None or int(found.resource_version) > int(obj.resource_version)
        elif found is not None:
            assert int(found.resource_version) >= int(obj.resource_version)
        else:
            assert int(snapshot.resource_version) > int(obj.resource_version)
        for spec in "xy":
            in_index = obj.key in snapshot.index_keys("spec", spec)
            assert in_index is (found is not None and found["spec"] == spec)
        looked += 1

    informer = informer_of(source, indexes={"spec": lambda obj: [obj["spec"]]})
    functions: dict[str, Any] = {
        "on_add": lambda obj, initial: look(obj),
        "on_update": lambda old, new: look(new),
        "on_delete": lambda obj: look(getattr(obj, "object", obj), last=True),
    }
    if way == "task":
        functions = {name: _async(function) for name, function in functions.items()}
    registration = informer.add_handler(**functions, inline=way == "inline")
    async with informer:
        await registration.synced()
        watch.send(modified(pod("a", 6, spec="y")), deleted(pod("b", 7, spec="y")))
        watch.send(failure(410))
        await settle()
        await caught_up(registration)
        assert registration.failures == 0
        assert looked == 7


def _async(function: Any) -> Any:
    async def called(*given: Any) -> None:
        function(*given)

    return called


@pytest.mark.virtual_time
@pytest.mark.clause("J1", "H11")
async def test_a_resync_tells_an_update_of_each_to_itself_once() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    informer = informer_of(source, options=ReflectorOptions(resync_period=60))
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        heard.take()
        await until(59)
        assert heard.take() == []
        await until(61)
        assert heard.take() == ["update a 3 3", "update b 4 4"]
        watch.send(deleted(pod("a", 7)))
        await until(121)
        assert heard.take() == ["delete a 7", "update b 4 4"]
        assert len(source.asked) == 2


@pytest.mark.virtual_time
@pytest.mark.clause("H10", "K1")
async def test_an_object_that_cannot_be_decoded_is_as_it_was() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5, undecodable=[pod("b", 4)]),
        watch := Watch(),
    )
    informer = informer_of(source, on_error=lambda *_: None)
    heard, _ = listen(informer)
    async with informer:
        await informer.synced()
        watch.send(refused_object(EventType.MODIFIED, pod("a", 6)))
        await settle()
        assert heard.take() == ["add a 3 initial"]
        assert set(informer.health.undecodable) == {"default/a", "default/b"}
        # Who is added now knows what the others know.
        late, _ = listen(informer)
        assert late.take() == ["add a 3 initial"]
        watch.send(modified(pod("a", 7)), modified(pod("b", 8)))
        await settle()
        assert heard.take() == late.take() == ["update a 3 7", "add b 8"]


# Made again between two looks


@pytest.mark.virtual_time
@pytest.mark.clause("K6")
@pytest.mark.parametrize("as_two", [True, False])
async def test_made_again_between_two_looks(as_two: bool) -> None:
    source = Scripted(
        Page(old := pod("a", 3), rv=5),
        watch := Watch(),
        Page(new := pod("a", 9, uid="another"), rv=11),
        Watch(),
    )
    told: list[tuple[Any, ...]] = []
    informer = informer_of(source, recreate_as_two=as_two)
    informer.add_handler(
        on_add=lambda *given: told.append(given),
        on_update=lambda *given: told.append(given),
        on_delete=lambda *given: told.append(given),
        inline=True,
    )
    async with informer:
        await informer.synced()
        watch.send(failure(410))
        await settle()
    if as_two:
        assert told[1:] == [(Tombstone("default/a", old),), (new, False)]
    else:
        assert told[1:] == [(old, new)]
        assert old.uid != new.uid


# Synced


@pytest.mark.virtual_time
@pytest.mark.clause("K3", "J4")
async def test_synced_is_when_the_store_is_complete() -> None:
    source = Scripted(
        Delayed(3, Page(pod("a", 3), rv=5, more="c1")), Delayed(4, Page(pod("b", 4), rv=5)), Watch()
    )
    informer = informer_of(source)
    async with informer:
        assert not informer.is_synced
        await informer.synced()
        assert informer.is_synced
        assert asyncio.get_running_loop().time() == 7
        assert names(informer.store) == {"a": "3", "b": "4"}
    await informer.synced()


@pytest.mark.virtual_time
@pytest.mark.clause("K3", "J4")
@pytest.mark.parametrize("way", ["task", "thread"])
async def test_a_handler_is_synced_when_it_has_finished_the_initial_set(way: Way) -> None:
    """Property 11, synced means handled."""
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), Watch())
    gate = Gate(way)
    informer = informer_of(source)
    heard, registration = listen(informer, way, gate.passes)
    async with informer:
        await informer.synced()
        for told in (1, 2):
            await gate.reached()
            assert not registration.is_synced
            assert len(heard.lines) == told
            gate.open()
        await registration.synced()
        assert registration.is_synced
        await registration.synced()


@pytest.mark.virtual_time
@pytest.mark.clause("K3")
async def test_an_empty_set_is_a_set() -> None:
    informer = informer_of(Scripted(Page(rv=5), Watch()))
    registrations = [listen(informer, way)[1] for way in WAYS]
    async with informer:
        for registration in registrations:
            await registration.synced()
            assert registration.told == 0


@pytest.mark.virtual_time
@pytest.mark.clause("K3")
async def test_a_handler_that_is_not_synced_in_time_says_what_waits_for_it() -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), pod("b", 4), pod("c", 4), rv=5), Watch()))
    gate = Gate("task")
    _, registration = listen(informer, "task", gate.passes, name="slow")
    async with informer:
        with pytest.raises(TimeoutError, match=r"slow had not .* within 5 s; 2 notifications wait"):
            await registration.synced(timeout=5)
        assert asyncio.get_running_loop().time() == 5


@pytest.mark.virtual_time
@pytest.mark.clause("K3")
@EACH_WAY
async def test_or_that_the_set_itself_is_not_there(way: Way) -> None:
    informer = informer_of(Scripted(*[refusal(500)] * 9))
    _, registration = listen(informer, way, name="idle")
    async with informer:
        with pytest.raises(TimeoutError, match=r"idle had not .* 5 s; the store is not complete"):
            await registration.synced(timeout=5)


@pytest.mark.virtual_time
@pytest.mark.clause("K3", "K5")
@EACH_WAY
async def test_nobody_waits_for_a_handler_that_will_never_be_synced(way: Way) -> None:
    informer = informer_of(Scripted())
    removed, left = (listen(informer, way, name=name)[1] for name in ("removed", "left"))
    async with informer:
        waiting = [asyncio.create_task(each.synced()) for each in (removed, left)]
        await settle()
        removed.remove()
        await settle()
        assert [each.done() for each in waiting] == [True, False]
    for each in waiting:
        with pytest.raises(MirrorStopped):
            await each
    with pytest.raises(MirrorStopped):
        await left.synced()
    assert not left.is_synced


@pytest.mark.virtual_time
@pytest.mark.clause("K3")
@EACH_WAY
async def test_what_ends_the_informer_is_raised_by_all_who_wait_for_the_set(way: Way) -> None:
    informer = informer_of(Scripted(*[refusal(403)] * 2), options=ReflectorOptions(fail_fast=True))
    _, registration = listen(informer, way)

    async def use() -> None:
        async with informer:
            with pytest.raises(Forbidden):
                await registration.synced()
            with pytest.raises(Forbidden):
                await informer.synced()
            with pytest.raises(Forbidden):
                await informer.ended()

    with pytest.raises(Forbidden):
        await use()


# Handlers that come late


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "K3")
@EACH_WAY
async def test_a_late_handler_is_told_what_is_there_and_then_what_changes(way: Way) -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    informer = informer_of(source)
    async with informer:
        await informer.synced()
        watch.send(modified(pod("a", 6)), deleted(pod("b", 7)))
        await settle()
        heard, registration = listen(informer, way)
        watch.send(modified(pod("a", 8)), added(pod("c", 9)))
        await registration.synced()
        await settle()
        await caught_up(registration)
        assert heard.take() == ["add a 6 initial", "update a 6 8", "add c 9"]


@pytest.mark.virtual_time
@pytest.mark.clause("K2")
@EACH_WAY
async def test_one_that_is_added_during_a_list_hears_of_the_set_once(way: Way) -> None:
    source = Scripted(
        Delayed(3, Page(pod("a", 3), rv=5, more="c1")), Delayed(4, Page(pod("b", 4), rv=5)), Watch()
    )
    informer = informer_of(source)
    async with informer:
        await until(4)
        heard, registration = listen(informer, way)
        assert heard.lines == []
        assert not registration.is_synced
        await registration.synced()
        assert heard.take() == ["add a 3 initial", "add b 4 initial"]


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "H4")
@EACH_WAY
async def test_or_during_the_initial_events_of_a_watch(way: Way) -> None:
    source = Scripted(watch := Watch(added(pod("a", 3))), watch_list=True)
    informer = informer_of(source)
    async with informer:
        await settle()
        heard, registration = listen(informer, way)
        watch.send(added(pod("b", 4)), end_of_initial_events(5), modified(pod("a", 6)))
        await registration.synced()
        await settle()
        await caught_up(registration)
        assert heard.take() == ["add a 3 initial", "add b 4 initial", "update a 3 6"]


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "J2")
@EACH_WAY
async def test_or_during_a_relist(way: Way) -> None:
    source = Scripted(
        Page(pod("a", 3), pod("b", 4), rv=5),
        watch := Watch(),
        Delayed(3, Page(pod("b", 8), rv=9, more="c1")),
        Delayed(4, Page(pod("c", 9), rv=9)),
        Watch(),
    )
    informer = informer_of(source)
    async with informer:
        await informer.synced()
        watch.send(failure(410))
        await until(5)
        heard, registration = listen(informer, way)
        # It is synced with the set that the store shows, and the relist is news.
        await registration.synced()
        assert heard.take() == ["add a 3 initial", "add b 4 initial"]
        await until(20)
        await caught_up(registration)
        assert heard.take() == ["update b 4 8", "add c 9", "gone a 3"]


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "K3")
@EACH_WAY
async def test_one_that_is_added_after_the_end_is_told_the_set_and_nothing_more(way: Way) -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    informer = informer_of(source)
    async with informer:
        await informer.synced()
    tasks = asyncio.all_tasks()
    heard, registration = listen(informer, way)
    await registration.synced()
    assert heard.lines == ["add a 3 initial"]
    await settle()
    assert asyncio.all_tasks() == tasks
    await registration.removed()


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "K3")
@EACH_WAY
async def test_after_an_end_before_the_set_there_is_nothing_to_tell(way: Way) -> None:
    informer = informer_of(Scripted())
    async with informer:
        informer.stop()
    heard, registration = listen(informer, way)
    with pytest.raises(MirrorStopped):
        await registration.synced()
    assert heard.lines == []
    await registration.removed()


@pytest.mark.clause("K2")
def test_when_the_loop_is_gone_an_inline_handler_is_still_told_and_others_say_why_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def run() -> SharedInformer[Any]:
        informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
        async with informer:
            await informer.synced()
        return informer

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        informer = runner.run(run())
    heard, registration = listen(informer)
    assert heard.lines == ["add a 3 initial"]
    registration.remove()
    for way in ("task", "thread"):
        with pytest.raises(RuntimeError, match="no running event loop"):
            listen(informer, way)


@pytest.mark.virtual_time
@pytest.mark.clause("K2", "K1")
@pytest.mark.parametrize("outer", WAYS)
@EACH_WAY
async def test_one_that_is_added_by_a_handler(outer: Way, way: Way) -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    informer = informer_of(source)
    inner: list[tuple[Hearing, Any]] = []

    def add(line: str) -> None:
        if not inner:
            inner.append(listen(informer, way))

    async def add_in_task(line: str) -> None:
        add(line)

    first, registration = listen(informer, outer, add_in_task if outer == "task" else add)
    async with informer:
        await registration.synced()
        watch.send(modified(pod("a", 6)), added(pod("c", 7)))
        [(heard, second)] = inner
        await second.synced()
        await settle()
        await caught_up(registration, second)
        assert registration.failures == 0
        assert heard.shown == first.shown == {"a": "6", "b": "4", "c": "7"}
        assert heard.lines[:2] == ["add a 3 initial", "add b 4 initial"]
        assert heard.lines[2:] == ["update a 3 6", "add c 7"]


@pytest.mark.virtual_time
@pytest.mark.clause("K2")
@settings(max_examples=30, deadline=None)
@given(st.data())
def test_whenever_it_is_added_there_is_no_gap_and_no_repeat(data: st.DataObject) -> None:
    """Property 10, late handlers: what each has heard makes sense, and leads to the store."""

    async def run() -> None:
        rv, there, answers = 5, {"a": 3}, []
        source = Scripted(Page(pod("a", 3), rv=rv), watch := Watch())
        informer = informer_of(source)
        heard = [listen(informer, "inline")]
        async with informer:
            for _ in range(data.draw(st.integers(1, 12))):
                match data.draw(st.sampled_from(["change", "change", "relist", "turn", "listen"])):
                    case "change":
                        events: list[Event[Any]] = []
                        for name in data.draw(st.lists(st.sampled_from("abc"), max_size=3)):
                            rv += 1
                            if name in there and data.draw(st.booleans()):
                                del there[name]
                                events.append(deleted(pod(name, rv)))
                            else:
                                kind = modified if name in there else added
                                there[name] = rv
                                events.append(kind(pod(name, rv)))
                        watch.send(*events or [bookmark(rv)])
                    case "relist":
                        watch.send(failure(410))
                        rv += 1
                        name = data.draw(st.sampled_from("abc"))
                        there.pop(name, None) or there.update({name: rv})
                        page = Page(*(pod(name, at) for name, at in there.items()), rv=rv)
                        source.then(Delayed(data.draw(st.integers(0, 3)), page), watch := Watch())
                        answers.append(page)
                    case "turn":
                        await settle(data.draw(st.integers(1, 9)))
                    case _:
                        heard.append(
                            listen(informer, data.draw(st.sampled_from(["inline", "task"])))
                        )
            await asyncio.sleep(600)
            await settle()
            await caught_up(*(registration for _, registration in heard))
            expected = {name: str(at) for name, at in there.items()}
            assert names(informer.store) == expected
            for hearing, registration in heard:
                assert registration.is_synced
                assert hearing.shown == expected
            watch.end()

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())


# Its life


@pytest.mark.virtual_time
@pytest.mark.clause("K1", "H17")
async def test_leaving_it_leaves_nothing_and_the_store_can_still_be_read() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    informer = informer_of(source)
    registrations = [listen(informer, way)[1] for way in WAYS]
    async with informer:
        for registration in registrations:
            await registration.synced()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0
    assert names(informer.store) == {"a": "3"}
    assert [registration.queued for registration in registrations] == [0, 0, 0]


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_run_runs_until_it_is_stopped() -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    heard, _ = listen(informer, "task")
    running = asyncio.create_task(informer.run())
    await settle()
    assert heard.lines == ["add a 3 initial"]
    assert not running.done()
    informer.stop()
    await running
    informer.stop()


@pytest.mark.clause("H17")
async def test_it_may_be_stopped_from_another_thread() -> None:
    informer = informer_of(Scripted(Page(pod("a", 3), rv=5), Watch()))
    _, registration = listen(informer, "thread", lambda line: informer.stop())
    async with asyncio.timeout(20):
        await informer.run()
    assert registration.told == 1


@pytest.mark.virtual_time
async def test_it_runs_once() -> None:
    informer = informer_of(Scripted(Page(rv=5), Watch()))
    async with informer:
        with pytest.raises(RuntimeError, match="make another"):
            await informer.run()
    with pytest.raises(RuntimeError, match="make another"):
        async with informer:
            pass


def test_it_needs_a_source() -> None:
    with pytest.raises(ValueError, match="needs a source"):
        SharedInformer({})


@pytest.mark.virtual_time
@pytest.mark.clause("I3", "K11")
async def test_one_reads_ones_own_writes_and_what_is_fresh() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    informer = informer_of(source)
    async with informer:
        waiting = asyncio.create_task(informer.at_least("8"))
        watch.send(added(pod("a", 7)))
        await settle()
        assert not waiting.done()
        watch.send(bookmark(9))
        await waiting
        await informer.fresh(within=1)


@pytest.mark.virtual_time
@pytest.mark.clause("I3", "J1")
async def test_late_writes_are_told_to_nobody() -> None:
    source = Scripted(Page(pod("a", 5), rv=5), watch := Watch())
    informer = informer_of(source)
    heard, _ = listen(informer)
    async with informer:
        watch.send(modified(pod("a", 8)), modified(pod("a", 7)), deleted(pod("a", 6)))
        await settle()
        assert heard.take() == ["add a 5 initial", "update a 5 8"]
        assert informer.health.late_writes == 2


# Over a whole server

CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")


def _server(fault: str = "") -> ServerTransport:
    clock = asyncio.get_running_loop().time
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    core = APIServer(
        clock=clock, wall=lambda: begin + timedelta(seconds=clock()), rng=random.Random(1)
    )
    return ServerTransport(core, Faults(*([fault] if fault else [])))


def _labelled(name: str, team: str, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": {"team": team}, **more}}


@pytest.mark.virtual_time
@pytest.mark.clause("K1", "K2", "I3")
async def test_what_leaves_the_selection_is_deleted_and_what_returns_is_added() -> None:
    """Property 13, and read your writes."""
    transport = _server()
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:

        async def write(name: str, team: str) -> str:
            made = await client.patch(
                CONFIGMAPS,
                name,
                {"metadata": {"labels": {"team": team}}},
                patch_type=PatchType.MERGE,
                namespace="default",
            )
            await informer.at_least(made.resource_version, timeout=20)
            await caught_up(registration)
            return made.resource_version

        a = await client.create(CONFIGMAPS, _labelled("a", "red"), namespace="default")
        await client.create(CONFIGMAPS, _labelled("b", "blue"), namespace="default")
        source = ListWatch.from_client(client, CONFIGMAPS, label_selector="team=red")
        informer = informer_of(source, kind="ConfigMap")
        heard, registration = listen(informer, "task")
        async with informer:
            await registration.synced()
            assert heard.take() == [f"add a {a.resource_version} initial"]
            gone = await write("a", "blue")
            assert heard.take() == [f"delete a {gone}"]
            assert informer.store.keys() == []
            back = await write("a", "red")
            joined = await write("b", "red")
            assert heard.take() == [f"add a {back}", f"add b {joined}"]
            ended = await client.delete(CONFIGMAPS, "a", namespace="default")
            again = await client.create(CONFIGMAPS, _labelled("a", "red"), namespace="default")
            await informer.at_least(again.resource_version, timeout=20)
            await caught_up(registration)
            [last, first] = heard.take()
            assert last.startswith("delete a ")
            assert first == f"add a {again.resource_version}"
            assert ended is not None
    assert transport.open_responses == 0
    await transport.close()


async def _use(transport: ServerTransport) -> None:
    """A program: two sources, handlers of each kind, one of which comes late and one goes."""
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        for number in range(3):
            await client.create(CONFIGMAPS, _labelled(f"c{number}", "red"), namespace="default")
        sources = {
            "x": ListWatch.from_client(client, CONFIGMAPS, "default"),
            "y": ListWatch.from_client(client, CONFIGMAPS, "kube-system"),
        }
        informer = SharedInformer(
            sources,
            kind="ConfigMap",
            rng=random.Random(1),
            on_error=lambda *_: None,
            options=ReflectorOptions(page_size=2, resync_period=11),
        )

        async def slow(line: str) -> None:
            await asyncio.sleep(1)

        _, first = listen(informer, "thread")
        _, second = listen(informer, "task", slow, queue=Bounded(2, "block"))
        async with informer:
            await informer.synced()
            await first.synced()
            _, late = listen(informer, "thread", queue=Bounded(1))
            _, inline = listen(informer, "inline")
            await late.synced()
            inline.remove()
            made = await client.create(CONFIGMAPS, _labelled("new", "red"), namespace="default")
            await informer.at_least(made.resource_version)
            await late.removed()
            await second.synced()
            await asyncio.sleep(30)


async def _turn() -> None:
    loop = asyncio.get_running_loop()
    if loop._ready:  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return
    due = [handle for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
    await asyncio.sleep(max(min(handle.when() for handle in due) - loop.time(), 0) if due else 0)


@pytest.mark.clause("H17", "B8", "K5")
@pytest.mark.parametrize("again", [0, 1, 3], ids=["once", "then_at_once", "then_later"])
def test_cancelled_at_whatever_step_it_leaves_nothing(again: int) -> None:
    """Property 21, clean stop."""
    threads = threading.active_count()
    for steps in range(1, 700):

        async def run(steps: int = steps) -> bool:
            transport = _server()
            task = asyncio.create_task(_use(transport))
            for _ in range(steps):
                await _turn()
                if task.done():
                    break
            done = task.done()
            task.cancel()
            if again:
                for _ in range(again):
                    await asyncio.sleep(0)
                task.cancel()
            await asyncio.wait([task])
            await settle()
            if not task.cancelled():
                task.result()
            assert asyncio.all_tasks() == {asyncio.current_task()}, steps
            assert transport.open_responses == 0, steps
            await transport.close()
            return done

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            finished = runner.run(run())
        for thread in threading.enumerate():
            if thread.name.startswith("handler "):
                thread.join(5)
        assert threading.active_count() == threads, steps
        if finished:
            return
    pytest.fail("the program is longer than the steps")
