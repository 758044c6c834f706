"""until and until_with_sync: waiting for what becomes true."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient
from listwatch.api import Event, EventType, Expired, Forbidden, Unauthorized
from listwatch.cache import (
    Delta,
    Mirror,
    MirrorStopped,
    ReflectorOptions,
    SharedInformer,
    Store,
)
from listwatch.cache.until import NotMet, until, until_with_sync
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.testing.apiserver.faults.current import Faults

from .scripted import (
    Page,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    deleted,
    failure,
    modified,
    pod,
    refusal,
    refused_object,
    settle,
)
from .scripted import until as until_time

pytestmark = pytest.mark.clause("L3")


def running(event: Event[Any]) -> bool:
    return event.type != EventType.DELETED and event.object.get("phase") == "Running"


def gone(event: Event[Any]) -> bool:
    return event.type == EventType.DELETED


def any_change(event: Event[Any]) -> bool:
    return True


def never(event: Event[Any]) -> bool:
    return False


def told(event: Event[Any] | None) -> str:
    assert event is not None
    return f"{event.type} {event.object.name} {event.object.resource_version}"


def wait(source: Any, *conditions: Any, **more: Any) -> Any:
    return until(source, "5", *conditions, **{"rng": Still(), **more})


def sync(source: Any, *conditions: Any, **more: Any) -> Any:
    return until_with_sync(source, *conditions, **{"rng": Still(), **more})


# until


@pytest.mark.virtual_time
async def test_it_gives_the_event_that_met_the_condition() -> None:
    watch = Watch(added(pod("a", 6, phase="Pending")), modified(pod("a", 7, phase="Running")))
    source = Scripted(watch)
    assert told(await wait(source, running)) == "MODIFIED a 7"
    assert source.asked == ["watch rv=5"]
    assert source.open_watches == 0


@pytest.mark.virtual_time
async def test_conditions_are_met_one_after_the_other() -> None:
    source = Scripted(
        Watch(
            deleted(pod("b", 6)),  # too early
            added(pod("a", 7, phase="Running")),
            modified(pod("a", 8, phase="Running")),
            deleted(pod("a", 9)),
            added(pod("c", 10)),
        )
    )
    assert told(await wait(source, running, gone)) == "DELETED a 9"


@pytest.mark.virtual_time
async def test_the_event_that_met_one_is_shown_to_the_next() -> None:
    source = Scripted(Watch(added(pod("a", 6, phase="Running")), added(pod("b", 7))))
    assert told(await wait(source, any_change, running)) == "ADDED a 6"


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_it_goes_on_over_ends_and_sees_every_event_once() -> None:
    first = Watch(added(pod("a", 6)))
    first.fail()
    second = Watch(added(pod("a", 6)), bookmark(8))
    second.end()
    source = Scripted(first, refusal(503), second, Watch(modified(pod("a", 9, phase="Running"))))
    seen: list[str] = []

    def see(event: Event[Any]) -> bool:
        seen.append(told(event))
        return running(event)

    await wait(source, see)
    assert seen == ["ADDED a 6", "MODIFIED a 9"]


@pytest.mark.virtual_time
async def test_when_time_is_over_it_says_what_it_saw_last() -> None:
    source = Scripted(Watch(added(pod("a", 6)), deleted(pod("a", 7))))
    with pytest.raises(NotMet) as caught:
        await wait(source, running, timeout=30)
    assert asyncio.get_running_loop().time() == 30
    assert isinstance(caught.value, TimeoutError)
    assert str(caught.value) == (
        "the condition was not met within 30 s; last seen: DELETED default/a at resourceVersion 7"
    )
    assert told(caught.value.last) == "DELETED a 7"
    assert source.open_watches == 0


@pytest.mark.virtual_time
async def test_and_how_far_it_has_come() -> None:
    source = Scripted(Watch(added(pod("a", 6))))
    with pytest.raises(NotMet, match=r"1 of 3 conditions were met within 2.5 s; last seen: ADDED"):
        await wait(source, any_change, never, any_change, timeout=2.5)
    with pytest.raises(NotMet, match="nothing was seen") as caught:
        await wait(Scripted(Watch()), never, timeout=1)
    assert (caught.value.met, caught.value.last) == (0, None)


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
@pytest.mark.parametrize(("code", "kind"), [(410, Expired), (403, Forbidden), (401, Unauthorized)])
@pytest.mark.parametrize("opening", [True, False])
async def test_it_raises_what_the_watch_ends_with(code: int, kind: Any, opening: bool) -> None:
    source = Scripted(refusal(code) if opening else Watch(failure(code)))
    with pytest.raises(kind, match=f"a scripted {code}"):
        await wait(source, any_change)


@pytest.mark.virtual_time
@pytest.mark.parametrize("error", [KeyError("phase"), TimeoutError("mine")], ids=repr)
@pytest.mark.parametrize("synced", [True, False])
async def test_what_a_condition_raises_is_raised(error: Exception, synced: bool) -> None:
    def broken(event: Event[Any]) -> bool:
        raise error

    source = Scripted(Page(rv=5), watch := Watch(added(pod("a", 6))))
    if not synced:
        source.answers.pop(0)
    with pytest.raises(type(error)) as caught:
        await (sync if synced else wait)(source, broken, timeout=30)
    assert caught.value is error
    assert not watch.is_open


@pytest.mark.virtual_time
@pytest.mark.parametrize("function", [wait, sync])
async def test_a_condition_is_needed_and_must_be_a_plain_function(function: Any) -> None:
    async def later(event: Event[Any]) -> bool:
        return True

    with pytest.raises(ValueError, match="give a condition"):
        await function(Scripted())
    source = Scripted(Page(pod("a", 5), rv=5), Watch())
    if function is wait:
        source = Scripted(Watch(added(pod("a", 6))))
    with pytest.raises(TypeError, match="must be a plain function"):
        await function(source, later)


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
@pytest.mark.parametrize("rv", ["", "0"])
async def test_it_does_not_begin_where_there_is_no_history(rv: str) -> None:
    with pytest.raises(ValueError, match="no point in history"):
        await until(Scripted(), rv, any_change)


@pytest.mark.virtual_time
@pytest.mark.clause("H10")
async def test_what_cannot_be_decoded_is_shown_only_when_it_goes() -> None:
    source = Scripted(
        Watch(
            refused_object(EventType.ADDED, pod("a", 6)),
            refused_object(EventType.MODIFIED, pod("a", 7)),
            last := refused_object(EventType.DELETED, pod("a", 8)),
        )
    )
    assert await wait(source, any_change) is last


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
@pytest.mark.parametrize("function", [wait, sync])
async def test_cancelled_at_whatever_step_it_leaves_nothing(function: Any) -> None:
    for steps in range(1, 60):
        first = Watch(added(pod("a", 6)), bookmark(7))
        first.end()
        watches = [first, Watch(modified(pod("a", 8))), Watch()]
        source = Scripted(*([Page(rv=5)] if function is sync else []), *watches)
        before = asyncio.all_tasks()
        task = asyncio.create_task(function(source, never, timeout=500))
        for _ in range(steps):
            await asyncio.sleep(0 if steps < 30 else 0.1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        del task
        await settle(20)
        assert asyncio.all_tasks() == before, steps
        assert source.open_watches == 0, steps


# until_with_sync


@pytest.mark.virtual_time
async def test_what_is_there_is_seen_first_then_what_changes() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    seen: list[Delta[Any]] = []

    def see(delta: Delta[Any]) -> bool:
        seen.append(delta)
        return gone(delta)

    task = asyncio.create_task(sync(source, see))
    await settle()
    watch.send(modified(pod("a", 6, uid="another")), added(pod("c", 7)), deleted(pod("b", 8)))
    last = await task
    assert [told(delta) for delta in seen] == [
        "ADDED a 3",
        "ADDED b 4",
        "MODIFIED a 6",
        "ADDED c 7",
        "DELETED b 8",
    ]
    assert [delta.initial for delta in seen] == [True, True, False, False, False]
    assert [delta.recreated for delta in seen] == [False, False, True, False, False]
    assert seen[2].old is seen[0].object
    assert [delta.key for delta in seen] == [f"default/{name}" for name in "abacb"]
    assert seen[2].raw == pod("a", 6, uid="another").raw
    assert last is seen[-1]
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("J2", "H8")
async def test_it_survives_expired_and_sees_what_was_missed() -> None:
    source = Scripted(
        Page(pod("a", 3, phase="Pending"), pod("b", 4), rv=5),
        Watch(failure(410)),
        Page(pod("a", 20, phase="Running"), rv=21),
        Watch(),
    )
    assert told(await sync(source, any_change, running)) == "MODIFIED a 20"
    source = Scripted(
        Page(pod("a", 3), pod("b", 4), rv=5), Watch(failure(410)), Page(pod("a", 3), rv=9), Watch()
    )
    last = await sync(source, gone)
    assert told(last) == "DELETED b 4"
    assert last.final_state_unknown


@pytest.mark.virtual_time
async def test_the_precondition_is_asked_once_and_of_the_whole_set() -> None:
    source = Scripted(Page(pod("a", 3), rv=5, more="c"), Page(pod("b", 4), rv=5), watch := Watch())
    asked: list[list[str]] = []

    def precondition(store: Store[Any]) -> bool:
        asked.append(store.keys())
        return False

    task = asyncio.create_task(sync(source, running, precondition=precondition))
    await settle()
    watch.send(added(pod("c", 6, phase="Running")))
    assert told(await task) == "ADDED c 6"
    assert asked == [["default/a", "default/b"]]


@pytest.mark.virtual_time
async def test_where_it_holds_nothing_is_waited_for() -> None:
    source = Scripted(Page(rv=5), Watch())
    assert await sync(source, never, precondition=lambda store: len(store) == 0) is None
    assert source.open_watches == 0


@pytest.mark.virtual_time
async def test_what_the_precondition_raises_is_raised() -> None:
    def broken(store: Store[Any]) -> bool:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await sync(Scripted(Page(rv=5), Watch()), never, precondition=broken)


@pytest.mark.virtual_time
async def test_when_time_is_over_it_says_how_its_copy_is() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    with pytest.raises(NotMet, match="last seen: ADDED default/a at resourceVersion 3; watching"):
        await sync(source, running, timeout=60)
    source = Scripted(refusal(503))
    with pytest.raises(NotMet, match=r"nothing was seen; .*a scripted 503"):
        await sync(source, running, timeout=60)
    with pytest.raises(NotMet, match=r"nothing was seen; .*a scripted 503"):
        await sync(Scripted(refusal(503)), running, timeout=60, precondition=lambda store: False)


@pytest.mark.virtual_time
async def test_fail_fast_is_passed_on() -> None:
    source = Scripted(*[refusal(403)] * 2)
    options = ReflectorOptions(fail_fast=True)
    with pytest.raises(Forbidden, match="a scripted 403"):
        await sync(source, running, options=options, timeout=60)


@pytest.mark.virtual_time
@pytest.mark.clause("H10")
async def test_what_cannot_be_decoded_is_as_it_was() -> None:
    source = Scripted(
        Page(pod("a", 3), rv=5),
        Watch(refused_object(EventType.MODIFIED, pod("a", 6)), deleted(pod("a", 7))),
    )
    seen: list[str] = []

    def see(delta: Delta[Any]) -> bool:
        seen.append(told(delta))
        return gone(delta)

    await sync(source, see)
    assert seen == ["ADDED a 3", "DELETED a 7"]


# On an informer that others use, too


@pytest.mark.virtual_time
@pytest.mark.clause("K2")
async def test_an_informer_that_runs_is_asked_nothing_more() -> None:
    source = Scripted(Page(pod("a", 3, phase="Running"), rv=5), watch := Watch())
    async with SharedInformer(source, rng=Still()) as informer:
        await informer.synced()
        assert told(await until_with_sync(informer, running)) == "ADDED a 3"
        task = asyncio.create_task(until_with_sync(informer, gone, timeout=60))
        await until_time(5)
        watch.send(deleted(pod("a", 6)))
        assert told(await task) == "DELETED a 6"
        assert await until_with_sync(informer, never, precondition=lambda store: True) is None
        with pytest.raises(NotMet):
            await until_with_sync(informer, never, timeout=60)
        assert watch.is_open
        assert source.asked == ["list rv=0 limit=500", "watch rv=5"]


@pytest.mark.virtual_time
async def test_one_that_is_stopped_meanwhile_is_waited_for_no_longer() -> None:
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    async with SharedInformer(source, rng=Still()) as informer:
        task = asyncio.create_task(until_with_sync(informer, never))
        await until_time(5)
        informer.stop()
        with pytest.raises(MirrorStopped):
            await task
    with pytest.raises(MirrorStopped):
        await until_with_sync(informer, never)


async def test_a_mirror_has_no_ear_for_it() -> None:
    mirror: Any = Mirror(Scripted())
    with pytest.raises(TypeError, match="SharedInformer"):
        await until_with_sync(mirror, never)


@pytest.mark.virtual_time
async def test_and_one_that_fails_says_why() -> None:
    source = Scripted(*[refusal(403)] * 2)
    informer = SharedInformer(source, options=ReflectorOptions(fail_fast=True), rng=Still())

    async def use() -> None:
        async with informer:
            with pytest.raises(Forbidden):
                await until_with_sync(informer, never)

    with pytest.raises(Forbidden):
        await use()


# Against a server


@asynccontextmanager
async def serving(*faults: str) -> AsyncIterator[tuple[APIServer, ServerTransport, ListWatch[Any]]]:
    clock = asyncio.get_running_loop().time
    start = datetime(2026, 1, 1, tzinfo=UTC)
    core = APIServer(clock=clock, wall=lambda: start + timedelta(seconds=clock()), rng=Random(1))
    transport = ServerTransport(core, Faults(*faults))
    config = ClientConfig(server="http://memory")
    async with RESTClient(config, transport=transport) as rest:
        source = ListWatch.from_client(rest, GroupVersionResource.parse("v1/configmaps"))
        yield core, transport, source
    assert transport.open_responses == 0


def put(core: APIServer, transport: ServerTransport, name: str, value: str) -> str:
    metadata = {"name": name, "namespace": "default"}
    core.load(
        [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"v": value}}]
    )
    transport.service.look_again()
    return str(core.state.log.revision)


def past(value: int) -> Any:
    return lambda event: int(event.object["data"]["v"]) >= value


FAULTS = [
    (),
    ("watch: cut after 700 bytes",),
    ("every 11s: refuse for 5s", "any: answer 503, chance 30%"),
    ("watch: stall after 2 events, once",),
]


@pytest.mark.virtual_time
@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: "; ".join(faults) or "none")
@pytest.mark.parametrize("synced", [True, False])
async def test_whatever_happens_it_is_told(faults: tuple[str, ...], synced: bool) -> None:
    async with serving(*faults) as (core, transport, source):
        rv = put(core, transport, "a", "0")
        if synced:
            waiting = until_with_sync(source, past(3), past(6), timeout=600, rng=Random(2))
        else:
            waiting = until(source, rv, past(3), past(6), timeout=600, rng=Random(2))  # type: ignore[assignment]
        task = asyncio.create_task(waiting)
        for turn in range(1, 8):
            await asyncio.sleep(40)
            put(core, transport, "a", str(turn))
        found = await task
    assert found is not None
    assert int(found.object["data"]["v"]) >= 6


@pytest.mark.virtual_time
async def test_so_it_is_where_the_server_restarts_again_and_again() -> None:
    async with serving("every 7s: restart") as (core, transport, source):
        task = asyncio.create_task(until_with_sync(source, past(3), timeout=600, rng=Random(2)))
        for turn in range(4):
            await asyncio.sleep(40)
            put(core, transport, "a", str(turn))
        assert await task is not None


@pytest.mark.virtual_time
@pytest.mark.clause("H8")
async def test_history_that_is_forgotten_ends_the_one_and_not_the_other() -> None:
    async with serving() as (core, transport, source):
        rv = put(core, transport, "a", "0")
        plain = asyncio.create_task(until(source, rv, past(2), timeout=600))
        synced = asyncio.create_task(until_with_sync(source, past(2), timeout=600))
        await asyncio.sleep(10)
        transport.service.refuse(5)
        transport.service.kill()
        put(core, transport, "a", "1")
        put(core, transport, "a", "2")
        core.compact()
        core.restart()
        with pytest.raises(Expired):
            await plain
        assert (await synced) is not None
