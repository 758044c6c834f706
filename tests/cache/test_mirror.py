"""Mirror: an exact, live copy."""

from __future__ import annotations

import asyncio
import gc
import random
import threading
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

import pytest

from listwatch import ClientConfig, GroupVersionResource, RESTClient
from listwatch.api import EventType, Forbidden, InvalidOptions, MalformedObject, Unstructured
from listwatch.cache import (
    Delta,
    Identity,
    ListWatch,
    Liveness,
    Mirror,
    MirrorStopped,
    Note,
    ReflectorOptions,
    State,
)
from listwatch.rest import ConnectionLost, InvalidRequest
from listwatch.rest.errors import ConnectionRefused, TLSFailed
from listwatch.testing import VirtualTimeLoop
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.testing.apiserver.faults.current import Faults

from .scripted import (
    Delayed,
    Page,
    Scripted,
    Still,
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
    settle,
    until,
)

ADDED, MODIFIED, DELETED = EventType.ADDED, EventType.MODIFIED, EventType.DELETED


def mirror_of(source: Scripted, **more: Any) -> Mirror[Unstructured]:
    return Mirror(source, **{"kind": "Pod", "rng": Still(), **more})


# Synced


@pytest.mark.virtual_time
@pytest.mark.clause("J4", "K3")
async def test_synced_waits_for_the_whole_set() -> None:
    source = Scripted(
        Delayed(3, Page(pod("a", 3), rv=5, more="c1")), Delayed(4, Page(pod("b", 4), rv=5)), Watch()
    )
    async with mirror_of(source) as mirror:
        assert names(mirror.store) == {}
        await mirror.synced()
        assert asyncio.get_running_loop().time() == 7
        assert names(mirror.store) == {"a": "3", "b": "4"}
        await mirror.synced()


@pytest.mark.virtual_time
@pytest.mark.clause("K3")
async def test_it_says_how_far_it_is_when_that_takes_too_long() -> None:
    source = Scripted(refusal(403))
    async with mirror_of(source) as mirror:
        with pytest.raises(TimeoutError, match=r"not synced within 5 s: .*Forbidden"):
            await mirror.synced(timeout=5)
        assert asyncio.get_running_loop().time() == 5


@pytest.mark.virtual_time
async def test_nobody_waits_for_a_mirror_that_is_not_running() -> None:
    mirror = mirror_of(Scripted(Page(rv=5), Watch()))
    with pytest.raises(MirrorStopped):
        await mirror.synced()
    async with mirror:
        waiting = asyncio.create_task(mirror.synced())
        mirror.stop()
        with pytest.raises(MirrorStopped):
            await waiting
    with pytest.raises(MirrorStopped):
        await mirror.synced()


@pytest.mark.virtual_time
@pytest.mark.clause("J4")
async def test_once_synced_it_stays_so() -> None:
    mirror = mirror_of(Scripted(Page(rv=5), watch := Watch()))
    async with mirror:
        await mirror.synced()
        watch.send(failure(503))
        await until(10)
        await mirror.synced()
    await mirror.synced()


@pytest.mark.virtual_time
async def test_a_mirror_runs_once() -> None:
    mirror = mirror_of(Scripted(Page(rv=5), Watch()))
    async with mirror:
        pass
    with pytest.raises(RuntimeError, match="make another"):
        async with mirror:
            pass


# Fail fast

FAST = ReflectorOptions(fail_fast=True)
HOPELESS: list[Exception] = [
    refusal(401),
    refusal(403),
    refusal(404),
    refusal(400),
    TLSFailed("the certificate does not verify"),
]


@pytest.mark.virtual_time
@pytest.mark.parametrize("answer", HOPELESS, ids=repr)
@pytest.mark.parametrize("watch_list", [True, False])
async def test_fail_fast_raises_what_waiting_does_not_mend_the_second_time(
    answer: Exception, watch_list: bool
) -> None:
    source = Scripted(*[answer] * 4, watch_list=watch_list)

    async def use() -> None:
        async with mirror_of(source, options=FAST) as mirror:
            with pytest.raises(type(answer)):
                await mirror.synced(timeout=60)
            assert asyncio.get_running_loop().time() <= 5
            assert mirror.health.state is State.STOPPED

    with pytest.raises(type(answer)):
        await use()
    assert 2 <= len(source.asked) <= 3


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
@pytest.mark.parametrize(("seconds", "at"), [(0, 1), (9, 9)])
async def test_the_second_look_is_after_a_second_unless_the_server_says_later(
    seconds: int, at: int
) -> None:
    source = Scripted(refusal(403, retry_after=seconds), Page(rv=5), Watch())
    async with mirror_of(source, options=FAST) as mirror:
        await mirror.synced()
        assert asyncio.get_running_loop().time() == at


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    "answer", [refusal(500), refusal(429), refusal(503), ConnectionRefused("no")], ids=repr
)
async def test_it_bears_with_what_waiting_may_mend(answer: Exception) -> None:
    source = Scripted(*[answer] * 5, Page(rv=5), Watch())
    async with mirror_of(source, options=FAST) as mirror:
        await mirror.synced()
        assert len(source.asked) == 7


@pytest.mark.virtual_time
async def test_a_different_failure_in_between_starts_the_count_again() -> None:
    source = Scripted(
        refusal(403),
        refusal(503),
        refusal(403),
        ConnectionLost("cut"),
        refusal(401),
        Page(rv=5),
        Watch(),
    )
    async with mirror_of(source, options=FAST) as mirror:
        await mirror.synced()


@pytest.mark.virtual_time
async def test_once_there_is_a_set_nothing_fails_fast() -> None:
    source = Scripted(Page(rv=5), Watch(failure(403)), *[refusal(403)] * 3, Page(rv=6), Watch())
    async with mirror_of(source, options=FAST) as mirror:
        await until(200)
        assert mirror.health.state is State.WATCHING
        assert mirror.health.resource_version == "6"


@pytest.mark.virtual_time
async def test_without_fail_fast_it_goes_on_for_ever() -> None:
    source = Scripted(*[refusal(403)] * 20, Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced(timeout=1000)


@pytest.mark.virtual_time
@pytest.mark.parametrize("fail_fast", [True, False])
@pytest.mark.parametrize(
    "error", [InvalidRequest("no such path"), InvalidOptions("no such option")], ids=repr
)
async def test_a_request_that_can_never_be_sent_is_raised_at_once(
    error: Exception, fail_fast: bool
) -> None:
    source = Scripted(error)
    options = ReflectorOptions(fail_fast=fail_fast)
    with pytest.raises(type(error)):
        async with mirror_of(source, options=options) as mirror:
            await mirror.synced()
    assert len(source.asked) == 1


@pytest.mark.virtual_time
async def test_the_error_inside_the_block_is_the_one_that_is_raised() -> None:
    source = Scripted(*[refusal(403)] * 2)

    async def use() -> None:
        async with mirror_of(source, options=FAST):
            await asyncio.sleep(60)
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        await use()


@pytest.mark.virtual_time
@pytest.mark.clause("H12", "K10")
async def test_the_end_of_the_block_raises_what_ended_the_mirror() -> None:
    source = Scripted(*[refusal(403)] * 2)
    errors: list[str] = []
    mirror = mirror_of(source, options=FAST, on_error=lambda _, error: errors.append(str(error)))
    with pytest.raises(Forbidden, match="a scripted 403"):
        async with mirror:
            await asyncio.sleep(60)
    assert errors == ["403 Forbidden: a scripted 403"] * 2
    assert "403" in mirror.health.last_error


# What it tells


@pytest.mark.virtual_time
@pytest.mark.clause("J2", "J3", "J1")
async def test_it_tells_of_every_change_in_order_and_after_the_store() -> None:
    source = Scripted(
        Page(pod("a", 3), pod("b", 4), rv=5),
        watch := Watch(),
        Page(pod("a", 3), pod("c", 20, uid="another"), pod("d", 21), rv=22),
        Watch(),
    )
    told: list[tuple[Any, ...]] = []

    def on_deltas(deltas: Sequence[Delta[Unstructured]]) -> None:
        for delta in deltas:
            known = mirror.store.known(delta.key)
            if delta.type is DELETED:
                assert known is None
            else:
                assert known is delta.object
            old = delta.old.resource_version if delta.old is not None else None
            told.append((delta.type, delta.key[8:], old, delta.object.resource_version))
            marks.append((delta.initial, delta.final_state_unknown, delta.recreated))

    marks: list[tuple[bool, bool, bool]] = []
    async with mirror_of(source, on_deltas=on_deltas) as mirror:
        await mirror.synced()
        assert told == [(ADDED, "a", None, "3"), (ADDED, "b", None, "4")]
        assert marks == [(True, False, False)] * 2
        told.clear(), marks.clear()
        watch.send(added(pod("c", 6)), modified(pod("b", 7)))
        await settle()
        watch.send(deleted(pod("b", 8)))
        watch.send(added(pod("b", 9)))
        await settle()
        assert told == [
            (ADDED, "c", None, "6"),
            (MODIFIED, "b", "4", "7"),
            (DELETED, "b", "7", "8"),
            (ADDED, "b", None, "9"),
        ]
        assert marks == [(False, False, False)] * 4
        told.clear(), marks.clear()
        watch.send(failure(410))
        await settle()
        # A relist: what differs, and nothing else.
        assert told == [
            (MODIFIED, "c", "6", "20"),
            (ADDED, "d", None, "21"),
            (DELETED, "b", "9", "9"),
        ]
        assert marks == [(False, False, True), (False, False, False), (False, True, False)]


@pytest.mark.virtual_time
@pytest.mark.clause("J3")
async def test_what_one_read_brought_is_told_in_one_go() -> None:
    source = Scripted(Page(pod("a", 3), pod("b", 4), rv=5), watch := Watch())
    told: list[int] = []
    async with mirror_of(source, on_deltas=lambda deltas: told.append(len(deltas))):
        await settle()
        watch.send(modified(pod("a", 6)), modified(pod("b", 7)), deleted(pod("a", 8)))
        await settle()
        watch.send(bookmark(9))
        await settle()
    assert told == [2, 3]


@pytest.mark.virtual_time
@pytest.mark.clause("J2", "H18")
async def test_in_another_history_what_is_the_same_is_no_news() -> None:
    source = Scripted(
        Page(pod("same", 3), pod("changed", 40), pod("b", 45), rv=50),
        first := Watch(),
        Watch(),
        Page(pod("same", 3), pod("changed", 40, spec={"new": True}), rv=49),
        Watch(),
        checks=[49],
    )
    told: list[tuple[Any, str]] = []
    async with mirror_of(
        source, on_deltas=lambda deltas: told.extend((d.type, d.key[8:]) for d in deltas)
    ):
        await settle()
        told.clear()
        first.fail()
        await until(10)
    assert told == [(MODIFIED, "changed"), (DELETED, "b")]


@pytest.mark.virtual_time
@pytest.mark.clause("H12")
async def test_listeners_that_raise_change_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("a listener with a bug")

    source = Scripted(refusal(500), Page(pod("a", 3), rv=5), watch := Watch())
    async with mirror_of(source, on_deltas=broken, on_note=broken, on_error=broken) as mirror:
        await mirror.synced(timeout=60)
        watch.send(modified(pod("a", 6)))
        await settle()
        assert names(mirror.store) == {"a": "6"}
        assert source.open_watches == 1
    assert caplog.text.count("a listener with a bug") >= 4


@pytest.mark.virtual_time
@pytest.mark.clause("I2")
async def test_its_store_has_the_indexes_that_were_asked_for() -> None:
    source = Scripted(Page(pod("a", 3, spec={"nodeName": "n1"}), rv=5), watch := Watch())
    async with mirror_of(source, indexes={"node": lambda obj: [obj["spec"]["nodeName"]]}) as mirror:
        await mirror.synced()
        assert [obj.name for obj in mirror.store.by_index("node", "n1")] == ["a"]
        watch.send(modified(pod("a", 6, spec={"nodeName": "n2"})))
        await settle()
        assert mirror.store.index_keys("node", "n1") == []
        assert mirror.store.index_keys("node", "n2") == ["default/a"]


# Read your own writes


@pytest.mark.virtual_time
@pytest.mark.clause("I3")
async def test_at_least_waits_for_an_rv() -> None:
    source = Scripted(Page(rv=5), watch := Watch())
    async with mirror_of(source) as mirror:
        await mirror.at_least("5")
        waiting = asyncio.create_task(mirror.at_least("8"))
        watch.send(added(pod("a", 7)))
        await settle()
        assert not waiting.done()
        watch.send(bookmark(9))
        await settle()
        assert waiting.done()
        await waiting


@pytest.mark.virtual_time
@pytest.mark.clause("I3")
async def test_or_says_why_not() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        tasks = asyncio.all_tasks()
        with pytest.raises(TimeoutError, match="resourceVersion 8"):
            await mirror.at_least("8", timeout=5)
        assert asyncio.all_tasks() == tasks
        with pytest.raises(ValueError, match="decimal"):
            await mirror.at_least("abc")
        waiting = asyncio.create_task(mirror.at_least("8"))
        await settle()
        mirror.stop()
        with pytest.raises(MirrorStopped):
            await waiting


# Its end


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_leaving_it_leaves_nothing_and_the_store_can_still_be_read() -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(Page(pod("a", 3), rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0
    assert names(mirror.store) == {"a": "3"}
    assert mirror.health.state is State.STOPPED
    mirror.stop()


@pytest.mark.clause("H17")
async def test_it_may_be_stopped_from_another_thread() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        await mirror.synced()
        thread = threading.Thread(target=mirror.stop)
        thread.start()
        async with asyncio.timeout(20):
            with pytest.raises(MirrorStopped):
                await mirror.at_least("100")
        thread.join()
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("H17")
async def test_a_stop_before_its_task_has_begun_is_no_less_a_stop() -> None:
    source = Scripted(Page(rv=5), Watch())
    async with mirror_of(source) as mirror:
        mirror.stop()
        await settle()
        assert source.requests == []


class Thing:
    """An object whose life can be followed."""

    metadata: ClassVar = {"name": "a", "resourceVersion": "3"}


@pytest.mark.virtual_time
@pytest.mark.clause("G4", "H4", "H17")
@pytest.mark.parametrize("watch_list", [True, False])
async def test_a_mirror_stopped_in_the_middle_of_a_set_keeps_nothing_of_it(
    watch_list: bool,
) -> None:
    thing = Thing()
    life = weakref.ref(thing)
    begun = Watch(added(thing)) if watch_list else Page(thing, rv=5, more="c1")
    source = Scripted(begun, watch_list=watch_list)
    del thing, begun
    mirror = mirror_of(source, kind="")
    async with mirror:
        await settle()
        assert life() is not None
    source.watches.clear()
    gc.collect()
    assert len(mirror.store) == 0
    assert life() is None


# Cancelled anywhere, over a whole server

CONFIGMAPS = GroupVersionResource.parse("v1/configmaps")


def _wall() -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=asyncio.get_running_loop().time())


async def _use(transport: ServerTransport, core: APIServer) -> None:
    """A program: a mirror that is used in every way."""
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        source = ListWatch.from_client(client, CONFIGMAPS)
        options = ReflectorOptions(
            page_size=2, liveness=Liveness(idle=20), consistency_check=True, resync_period=11
        )
        async with Mirror(
            source, kind="ConfigMap", rng=random.Random(1), options=options, on_error=_ignore
        ) as mirror:
            await mirror.synced()
            await mirror.fresh(within=0)
            made = await client.create(
                CONFIGMAPS, {"metadata": {"name": "new"}}, namespace="default"
            )
            await mirror.at_least(made.resource_version)
            await asyncio.sleep(100)
            await mirror.fresh(within=1)


def _ignore(*_: object) -> None:
    pass


async def _turn() -> None:
    loop = asyncio.get_running_loop()
    if loop._ready:  # type: ignore[attr-defined]
        await asyncio.sleep(0)
        return
    due = [handle for handle in loop._scheduled if not handle.cancelled()]  # type: ignore[attr-defined]
    await asyncio.sleep(max(min(handle.when() for handle in due) - loop.time(), 0) if due else 0)


@pytest.mark.clause("H17", "B8")
@pytest.mark.parametrize("fault", ["", "watch: delay 3s", "list: delay 3s"])
def test_cancelled_at_whatever_step_it_leaves_nothing(fault: str) -> None:
    finished = 0
    for steps in range(1, 400):

        async def run(steps: int = steps) -> bool:
            core = APIServer(
                clock=asyncio.get_running_loop().time, wall=_wall, rng=random.Random(1)
            )
            transport = ServerTransport(core, Faults(*([fault] if fault else [])))
            task = asyncio.create_task(_use(transport, core))
            for _ in range(steps):
                await _turn()
                if task.done():
                    break
            done = task.done()
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.result()
            assert asyncio.all_tasks() == {asyncio.current_task()}, steps
            assert transport.open_responses == 0, steps
            await transport.close()
            return done

        with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
            finished = runner.run(run())
        if finished:
            break
    assert finished, "the program is longer than the steps"


@pytest.mark.virtual_time
@pytest.mark.clause("H4", "H14", "J4")
async def test_through_either_way_it_shows_the_same() -> None:
    core = APIServer(clock=asyncio.get_running_loop().time, wall=_wall, rng=random.Random(1))
    transport = ServerTransport(core)
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        for number in range(7):
            await client.create(
                CONFIGMAPS, {"metadata": {"name": f"c{number}"}}, namespace="default"
            )
        shown = []
        for watch_list in (True, False):
            source = ListWatch.from_client(client, CONFIGMAPS)
            options = ReflectorOptions(watch_list=watch_list, page_size=3)
            notes: list[Note] = []
            async with Mirror(
                source, kind="ConfigMap", options=options, rng=Still(), on_note=notes.append
            ) as mirror:
                await mirror.synced(timeout=10)
                shown.append(
                    (mirror.store.resource_version, sorted(o.raw for o in mirror.store.list()))
                )
                assert notes[0].via == ("watch-list" if watch_list else "list")  # type: ignore[union-attr]
        assert shown[0] == shown[1]
        assert len(shown[0][1]) == 7
    assert transport.open_responses == 0
    await transport.close()


@pytest.mark.virtual_time
@pytest.mark.clause("H10")
async def test_objects_of_ones_own_have_the_identity_that_one_says() -> None:
    def identify(obj: Any) -> Identity:
        if not obj["id"]:
            raise MalformedObject("an object without id")
        return Identity(obj["id"], "", str(obj["version"]))

    source = Scripted(
        Page({"id": "a", "version": 3}, rv=5),
        watch := Watch(),
        Page({"id": "a", "version": 8}, rv=9),
        Watch(),
    )
    async with mirror_of(source, identify=identify, kind="") as mirror:
        await mirror.synced()
        watch.send(added({"id": "b", "version": 6}), added({"id": "", "version": 7}))
        await until(10)
        assert source.asked[2:] == ["list rv=5 NotOlderThan", "watch rv=9"]
        assert mirror.store.keys() == ["a"]


@pytest.mark.virtual_time
@pytest.mark.clause("H4")
async def test_the_deltas_of_a_watch_list_are_told_once_and_as_initial() -> None:
    source = Scripted(
        Watch(added(pod("a", 3)), modified(pod("a", 4)), end_of_initial_events(5)), watch_list=True
    )
    told: list[Delta[Unstructured]] = []
    async with mirror_of(source, on_deltas=told.extend) as mirror:
        await mirror.synced()
    assert [(d.type, d.object.resource_version, d.initial) for d in told] == [(ADDED, "4", True)]
