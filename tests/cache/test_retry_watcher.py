"""RetryWatcher: a watch that goes on where it was, whatever ends the one below it."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient
from listwatch.api import Event, EventType, InvalidOptions, ListOptions, Status
from listwatch.cache import Liveness
from listwatch.cache.retry_watcher import RetryWatcher
from listwatch.rest import InvalidRequest
from listwatch.rest.errors import ConnectionLost, ConnectionRefused
from listwatch.testing import MemoryTransport, Reply
from listwatch.testing.apiserver import APIServer, ServerTransport
from listwatch.testing.apiserver.faults.current import Faults
from listwatch.testing.transport import in_turn
from listwatch.watch import EmptyWatch
from listwatch.wire import FrameSyntaxError

from .scripted import (
    Delayed,
    Scripted,
    Still,
    Watch,
    added,
    bookmark,
    deleted,
    error_event,
    failure,
    modified,
    pod,
    refusal,
    refused_object,
    settle,
    too_large,
    too_large_status,
    until,
)


def retrying(source: Any, rv: str = "5", **more: Any) -> RetryWatcher[Any]:
    return RetryWatcher(source, rv, **{"rng": Still(), **more})


def told(event: Event[Any]) -> str:
    if event.type is EventType.ERROR:
        assert event.status is not None
        return f"ERROR {event.status.code} {event.status.reason}"
    return f"{event.type} {event.object.name} {event.object.resource_version}"


@asynccontextmanager
async def reading(source: Any, rv: str = "5", **more: Any) -> AsyncIterator[list[str]]:
    """What a RetryWatcher brings while inside; `"end"` at its end."""
    came: list[str] = []

    async def read() -> None:
        async with retrying(source, rv, **more) as watch:
            async for event in watch:
                came.append(told(event))  # noqa: PERF401  somebody looks on
            came.append("end")

    task = asyncio.create_task(read())
    try:
        await settle()
        yield came
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()


# Where it begins


@pytest.mark.clause("L1")
@pytest.mark.parametrize("rv", ["", "0"])
async def test_it_does_not_begin_where_there_is_no_history(rv: str) -> None:
    with pytest.raises(ValueError, match="no point in history"):
        retrying(Scripted(), rv)


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_it_asks_from_its_rv_on_with_bookmarks_for_a_time_that_is_drawn() -> None:
    source = Scripted(Watch(), Watch(), Watch())
    seconds: set[int | None] = set()
    for seed in range(3):
        async with reading(source, "17", rng=random.Random(seed)):
            options = source.requests[-1].options
            assert options == ListOptions(
                watch=True,
                allow_watch_bookmarks=True,
                resource_version="17",
                timeout_seconds=options.timeout_seconds,
            )
            seconds.add(options.timeout_seconds)
    assert all(300 <= each <= 600 for each in seconds if each)
    assert len(seconds) > 1


@pytest.mark.virtual_time
async def test_nothing_is_asked_before_somebody_reads() -> None:
    source = Scripted(Watch())
    async with retrying(source):
        await until(100)
    assert source.asked == []


# Going on


LASTS = [
    None,
    ConnectionLost("cut"),
    TimeoutError("silence"),
    EOFError(),
    FrameSyntaxError("", 1, ""),
]


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
@pytest.mark.parametrize("last", LASTS, ids=repr)
async def test_after_any_end_it_watches_again_from_the_last_rv(last: Exception | None) -> None:
    source = Scripted(first := Watch(added(pod("a", 6)), modified(pod("a", 9))), second := Watch())
    async with reading(source) as came:
        if last is None:
            first.end()
        else:
            first.fail(last)
        await until(3)
        second.send(deleted(pod("a", 12)))
        await settle()
        assert source.asked == ["watch rv=5", "watch rv=9"]
        assert came == ["ADDED a 6", "MODIFIED a 9", "DELETED a 12"]


RETRIED = [
    refusal(400),
    refusal(404),
    refusal(429),
    refusal(500),
    refusal(503),
    refusal(504),
    too_large(),
    ConnectionRefused("no"),
    ConnectionLost("cut"),
    OSError("no route"),
    KeyError("a bug in a source"),
    EmptyWatch(),
    EmptyWatch(ConnectionResetError("cut")),
]


@pytest.mark.virtual_time
@pytest.mark.clause("L1", "L2")
@pytest.mark.parametrize("answer", RETRIED, ids=repr)
async def test_what_may_pass_is_asked_again(answer: Any) -> None:
    source = Scripted(answer, Watch(added(pod("a", 6))))
    async with reading(source) as came:
        await until(10)
        assert source.asked == ["watch rv=5"] * 2
        assert came == ["ADDED a 6"]


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
@pytest.mark.parametrize("code", [400, 404, 429, 500, 503, 504])
async def test_so_it_is_after_an_error_event_that_says_so(code: int) -> None:
    source = Scripted(Watch(added(pod("a", 6)), failure(code)), Watch(added(pod("b", 7))))
    async with reading(source) as came:
        await until(10)
        assert source.asked == ["watch rv=5", "watch rv=6"]
        assert came == ["ADDED a 6", "ADDED b 7"]
        assert source.open_watches == 1


@pytest.mark.virtual_time
@pytest.mark.clause("L1", "E4")
@pytest.mark.parametrize("idle", [150.0, 20.0])
async def test_a_silent_watch_is_replaced(idle: float) -> None:
    source = Scripted(first := Watch(), second := Watch())
    async with reading(source, liveness=Liveness(idle=idle)) as came:
        await until(idle / 2)
        first.send(added(pod("a", 6)))
        await until(idle * 1.5 - 1)
        assert source.asked == ["watch rv=5"]
        await until(idle * 1.5 + 1)
        assert source.asked == ["watch rv=5", "watch rv=6"]
        assert not first.is_open
        second.send(added(pod("b", 7)))
        await settle()
        assert came == ["ADDED a 6", "ADDED b 7"]


@pytest.mark.virtual_time
@pytest.mark.clause("E4")
async def test_bookmarks_shorten_its_patience_and_a_busy_consumer_is_no_silence() -> None:
    source = Scripted(first := Watch(), Watch())
    async with retrying(source) as watch:
        batches = watch.batches()
        first.send(added(pod("a", 6)))
        assert [told(event) for event in await anext(batches)] == ["ADDED a 6"]
        await until(1000)  # busy
        assert source.asked == ["watch rv=5"]
        waiting = asyncio.ensure_future(anext(batches))
        await until(1010)
        first.send(bookmark(7))
        await until(1050)
        first.send(bookmark(8))
        await until(1129)
        assert source.asked == ["watch rv=5"]
        await until(1131)  # twice 40 s
        assert source.asked == ["watch rv=5", "watch rv=8"]
        waiting.cancel()
        await asyncio.wait([waiting])


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_bookmarks_move_the_rv_and_are_not_delivered() -> None:
    source = Scripted(first := Watch(bookmark(20)), Watch(added(pod("a", 21))))
    async with reading(source) as came:
        first.end()
        await until(3)
        assert source.asked == ["watch rv=5", "watch rv=20"]
        assert came == ["ADDED a 21"]


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_nothing_comes_twice_and_nothing_out_of_order() -> None:
    source = Scripted(
        first := Watch(added(pod("a", 5)), added(pod("b", 8)), modified(pod("a", 7))),
        Watch(added(pod("b", 8)), bookmark(6), modified(pod("b", 10)), modified(pod("c", 9))),
    )
    async with reading(source) as came:
        first.fail()
        await until(3)
        assert came == ["ADDED b 8", "MODIFIED b 10"]
        assert source.asked == ["watch rv=5", "watch rv=8"]


@pytest.mark.virtual_time
@pytest.mark.clause("A2", "L1")
async def test_an_rv_that_cannot_be_compared_is_carried_along() -> None:
    source = Scripted(first := Watch(added(pod("a", "x9")), modified(pod("a", "x10"))), Watch())
    async with reading(source, "x1") as came:
        first.end()
        await until(3)
        assert came == ["ADDED a x9", "MODIFIED a x10"]
        assert source.asked == ["watch rv=x1", "watch rv=x10"]


@pytest.mark.virtual_time
@pytest.mark.clause("H10", "L1")
async def test_an_object_that_its_decoder_refused_is_delivered_and_moves_the_rv() -> None:
    odd = refused_object(EventType.MODIFIED, pod("a", 9))
    source = Scripted(first := Watch(odd), Watch())
    async with retrying(source) as watch:
        assert await anext(watch.batches()) == [odd]
        assert watch.resource_version == "9"
        first.end()


@pytest.mark.virtual_time
async def test_an_object_need_not_keep_its_metadata_where_its_bytes_are_at_hand() -> None:
    event: Event[Any] = Event(EventType.ADDED, "web", pod("web", 8).raw)
    source = Scripted(Watch(event))
    async with retrying(source) as watch:
        assert await anext(watch.batches()) == [event]
        assert watch.resource_version == "8"


@pytest.mark.virtual_time
@pytest.mark.clause("E4")
async def test_bytes_that_complete_no_event_are_no_silence_and_it_says_when_they_came() -> None:
    source = Scripted(watch := Watch(), Watch())
    reader = retrying(source)
    task = asyncio.create_task(_all_of(reader))
    for turn in range(1, 10):
        await until(turn * 100)
        watch.trickle()
    watch.send(added(pod("a", 6)))
    await settle()
    assert source.asked == ["watch rv=5"]
    assert reader.last_read == 900
    reader.stop()
    assert await task == ["ADDED a 6"]


@pytest.mark.virtual_time
@pytest.mark.clause("E1")
async def test_it_reads_when_it_is_read() -> None:
    source = Scripted(watch := Watch())
    async with retrying(source) as reader:
        for rv in range(6, 12):
            watch.send(added(pod("a", rv)))
        batches = reader.batches()
        await anext(batches)
        await until(10)
        assert watch.reads == 1
        await anext(batches)
        assert watch.reads == 2


# Its pace


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_watches_that_end_at_once_are_opened_a_second_apart_then_more_slowly() -> None:
    source = Scripted(*[EmptyWatch() for _ in range(8)])
    async with reading(source):
        await until(130)
        times = [at for at, _ in source.asked_at]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps == [2, 4, 8, 16, 30, 30, 30]


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
async def test_a_watch_that_brought_something_costs_a_second_and_one_that_lived_nothing() -> None:
    source = Scripted(
        first := Watch(added(pod("a", 6))), second := Watch(added(pod("a", 7))), Watch()
    )
    async with reading(source):
        first.end()
        await until(50)
        assert [at for at, _ in source.asked_at] == [0, 1]
        second.end()
        await settle()
        assert [at for at, _ in source.asked_at] == [0, 1, 50]


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
@pytest.mark.parametrize("seed", range(5))
async def test_two_opens_are_never_less_than_a_second_apart(seed: int) -> None:
    chance = random.Random(seed)
    rv = 5
    answers: list[Any] = []
    for _ in range(40):
        rv += 1
        watch = Watch(*chance.choice([[], [added(pod("a", rv))], [bookmark(rv)]]))
        watch.end()
        answers.append(chance.choice([watch, refusal(503), EmptyWatch(), ConnectionRefused("no")]))
    source = Scripted(*answers)
    async with reading(source, rng=chance):
        await until(3600)
    times = [at for at, _ in source.asked_at]
    assert len(times) > 40
    for earlier, later in pairwise(times):
        assert later - earlier >= 1


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
@pytest.mark.parametrize(
    "answer",
    [
        lambda: refusal(429, retry_after=20),
        lambda: refusal(503, retry_after=20),
        lambda: too_large(retry_after=20),
        lambda: Watch(failure(429, retry_after=20)),
        lambda: Watch(error_event(too_large_status(retry_after=20))),
    ],
    ids=["429", "503", "too large", "429 as event", "too large as event"],
)
async def test_retry_after_is_obeyed(answer: Any) -> None:
    source = Scripted(answer(), Watch())
    async with reading(source):
        await until(19)
        assert len(source.asked) == 1
        await until(21)
        assert len(source.asked) == 2


@pytest.mark.virtual_time
@pytest.mark.clause("H9")
async def test_a_source_that_sends_more_than_it_is_asked_is_paced_in_that_too() -> None:
    class Finding(Scripted):
        def paced_by(self, permit: Any) -> None:
            self.permit = permit

        async def awatch(self, options: ListOptions, /) -> Any:
            for _ in range(2):
                await self.permit()
                looks.append(asyncio.get_running_loop().time())
            return await super().awatch(options)

    looks: list[float] = []
    source = Finding(*[refusal(503) for _ in range(60)])
    async with reading(source):
        await until(600)
    times = sorted([*looks, *(at for at, _ in source.asked_at)])
    assert len(times) > 12
    assert all(later - earlier > 10 for earlier, later in zip(times, times[10:], strict=False))


# How it ends

FINAL = [(410, "Expired"), (403, "Forbidden"), (401, "Unauthorized")]


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
@pytest.mark.parametrize(("code", "reason"), FINAL)
@pytest.mark.parametrize("opening", [True, False])
async def test_what_no_repetition_mends_is_delivered_and_is_the_end(
    code: int, reason: str, opening: bool
) -> None:
    refused: Any = refusal(code) if opening else Watch(failure(code))
    first = Watch(added(pod("a", 6)))
    source = Scripted(first, refused, Watch())
    async with reading(source) as came:
        first.end()
        await until(1000)
        assert came == ["ADDED a 6", f"ERROR {code} {reason}", "end"]
        assert source.asked == ["watch rv=5", "watch rv=6"]
        assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
async def test_events_before_the_error_are_not_lost_and_none_after_it_are_delivered() -> None:
    source = Scripted(Watch(added(pod("a", 6)), failure(410), added(pod("b", 7))))
    async with reading(source) as came:
        assert came == ["ADDED a 6", "ERROR 410 Expired", "end"]


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
@pytest.mark.parametrize("kind", [added, modified, deleted, bookmark])
async def test_an_object_without_an_rv_is_the_end(kind: Any) -> None:
    event = kind("") if kind is bookmark else kind(pod("b", ""))
    source = Scripted(Watch(added(pod("a", 6)), event, added(pod("c", 7))), Watch())
    async with reading(source) as came:
        await until(100)
        assert came == ["ADDED a 6", "ERROR 500 InternalError", "end"]
        assert len(source.asked) == 1


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
async def test_an_event_of_an_unknown_type_is_the_end() -> None:
    strange: Any = Event("RENAMED", pod("b", 7))  # type: ignore[arg-type]  # a source of somebody's
    source = Scripted(Watch(added(pod("a", 6)), strange), Watch())
    async with retrying(source) as watch:
        events = [event async for event in watch]
    assert [told(event) for event in events] == ["ADDED a 6", "ERROR 500 InternalError"]
    assert "RENAMED" in events[-1].object.message


@pytest.mark.virtual_time
@pytest.mark.parametrize("error", [InvalidRequest("no such path"), InvalidOptions("no")], ids=repr)
async def test_a_request_that_can_never_be_sent_is_the_end(error: Exception) -> None:
    source = Scripted(error)
    async with retrying(source) as watch:
        [event] = [event async for event in watch]
    assert isinstance(event.object, Status)
    assert event.object.message == str(error)


# Stopping it


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
@pytest.mark.parametrize(
    "answers",
    [
        lambda: [Watch()],
        lambda: [Delayed(100, Watch())],
        lambda: [EmptyWatch(), Watch()],
        lambda: [refusal(429, retry_after=100)],
    ],
    ids=["reading", "opening", "waiting", "waiting long"],
)
async def test_stop_ends_it_wherever_it_is(answers: Any) -> None:
    tasks = asyncio.all_tasks()
    source = Scripted(*answers())
    watch = retrying(source)

    async def read() -> list[Any]:
        return [event async for event in watch]

    task = asyncio.create_task(read())
    await until(1)
    watch.stop()
    watch.stop()
    assert await asyncio.wait_for(task, 0.1) == []
    del task
    assert asyncio.all_tasks() == tasks
    assert source.open_watches == 0


@pytest.mark.clause("E3")
async def test_it_may_be_stopped_from_another_thread() -> None:
    source = Scripted(Watch(added(pod("a", 6))))
    thread: threading.Thread | None = None
    async with asyncio.timeout(20), retrying(source) as watch:
        async for _ in watch:
            thread = threading.Thread(target=watch.stop)
            thread.start()
    assert thread is not None
    thread.join()
    assert source.open_watches == 0


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
async def test_after_a_stop_nothing_is_delivered() -> None:
    source = Scripted(Watch(added(pod("a", 6)), added(pod("b", 7))))
    came = []
    async with retrying(source) as watch:
        async for event in watch:
            came.append(told(event))
            watch.stop()
    assert came == ["ADDED a 6"]


@pytest.mark.virtual_time
@pytest.mark.clause("E3")
async def test_leaving_the_block_ends_a_reader_in_another_task() -> None:
    source = Scripted(Watch(added(pod("a", 6))))
    async with retrying(source) as watch:
        task = asyncio.create_task(_all_of(watch))
        await settle()
    assert await asyncio.wait_for(task, 0.1) == ["ADDED a 6"]
    assert source.open_watches == 0


async def _all_of(watch: RetryWatcher[Any]) -> list[str]:
    return [told(event) async for event in watch]


@pytest.mark.virtual_time
@pytest.mark.clause("E3", "H17")
@pytest.mark.parametrize("bare", [True, False])
@pytest.mark.parametrize("batches", [True, False])
async def test_cancelled_at_whatever_step_it_leaves_nothing(bare: bool, batches: bool) -> None:
    reached: list[int] = []
    for steps in range(1, 60):
        first, second = Watch(added(pod("a", 6)), bookmark(7)), Watch(modified(pod("a", 8)))
        first.end()
        source = Scripted(EmptyWatch(), first, second)
        came: list[Any] = []

        async def consume(source: Scripted = source, came: list[Any] = came) -> None:
            watch = retrying(source)

            async def loop() -> None:
                async for event in watch.batches() if batches else watch:
                    came.append(event)
                    await asyncio.sleep(0.3)

            if bare:
                await loop()
            else:
                async with watch:
                    await loop()

        before = asyncio.all_tasks()
        task = asyncio.create_task(consume())
        for _ in range(steps):
            await asyncio.sleep(0.1)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        del task  # its traceback holds the generators
        await settle(20)
        assert asyncio.all_tasks() == before, steps
        assert source.open_watches == 0, steps
        reached.append(len(came))
    assert reached[-1] == 2


@pytest.mark.virtual_time
async def test_two_readers_at_once_are_an_error() -> None:
    source = Scripted(Watch())
    async with retrying(source) as watch:
        one = asyncio.create_task(_all_of(watch))
        await settle()
        with pytest.raises(RuntimeError, match="one consumer"):
            await anext(watch.batches())
        watch.stop()
        await one


# Against a server


class Server:
    """A server without sockets, and a RetryWatcher of its ConfigMaps."""

    def __init__(self, *faults: str) -> None:
        clock = asyncio.get_running_loop().time
        start = datetime(2026, 1, 1, tzinfo=UTC)
        self.core = APIServer(
            clock=clock, wall=lambda: start + timedelta(seconds=clock()), rng=random.Random(1)
        )
        self.transport = ServerTransport(self.core, Faults(*faults))
        self.written: list[tuple[str, str]] = []

    @property
    def rv(self) -> str:
        return str(self.core.state.log.revision)

    def put(self, name: str) -> None:
        obj = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"at": self.rv}}
        self.core.load([{**obj, "metadata": {"name": name, "namespace": "default"}}])
        self.transport.service.look_again()
        self.written.append((name, self.rv))

    @asynccontextmanager
    async def source(self) -> AsyncIterator[ListWatch[Any]]:
        config = ClientConfig(server="http://memory")
        async with RESTClient(config, transport=self.transport) as rest:
            yield ListWatch.from_client(rest, GroupVersionResource.parse("v1/configmaps"))
        assert self.transport.open_responses == 0


FAULTS = [
    (),
    ("watch: cut after 700 bytes, 6 times",),
    ("watch: end after 2 events, 6 times",),
    (
        "watch: answer 503, from request 2, 3 times",
        "watch: cut after 900 bytes, 9 times",
    ),
    ("watch: answer 429 with retry-after 3, from request 2, 3 times", "every 15s watch: end"),
    ("watch: stall after 3 events, 3 times",),
    ("watch: hang, request 1",),
    ("watch: garbage after 2 events, 4 times",),
    ("watch: error 500 after 2 events, 5 times",),
    ("every 20s: refuse for 4s",),
    ("every 35s: restart", "watch: cut after 900 bytes, chance 50%"),
]


@pytest.mark.virtual_time
@pytest.mark.clause("L1")
@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: "; ".join(faults) or "none")
async def test_whatever_happens_every_write_comes_once_and_in_order(
    faults: tuple[str, ...],
) -> None:
    server = Server(*faults)
    server.put("before")
    server.written.clear()
    came: list[tuple[str, str]] = []
    async with server.source() as source:
        watch = RetryWatcher(source, server.rv, rng=random.Random(3), liveness=Liveness(idle=20))

        async def read() -> None:
            async with watch:
                async for event in watch:
                    came.append((event.object.name, event.object.resource_version))  # noqa: PERF401

        task = asyncio.create_task(read())
        for turn in range(60):
            await asyncio.sleep(2)
            server.put("abc"[turn % 3])
        await asyncio.sleep(200)
        task.cancel()
        await asyncio.wait([task])
    assert came == server.written
    assert not faults or server.transport.faults.log


@pytest.mark.virtual_time
@pytest.mark.clause("L2")
async def test_an_rv_that_the_server_has_forgotten_is_the_end() -> None:
    server = Server()
    server.put("a")
    old = server.rv
    server.put("a")
    server.core.compact()
    server.core.restart()
    async with server.source() as source, retrying(source, old) as watch:
        [event] = [event async for event in watch]
    assert event.status is not None
    assert (event.status.code, event.status.reason) == (410, "Expired")


POD = '{"type":"%s","object":{"kind":"Pod","apiVersion":"v1","metadata":%s}}\n'
ONE = POD % ("ADDED", '{"name":"a","resourceVersion":"6"}')
OTHER = POD % ("ADDED", '{"name":"b","resourceVersion":"7"}')
STRANGE = POD % ("RENAMED", '{"name":"b","resourceVersion":"8"}')


@pytest.mark.virtual_time
@pytest.mark.clause("L2", "D2")
async def test_an_unknown_type_on_the_wire_is_the_end_and_a_damaged_frame_is_not() -> None:
    def answer(text: str) -> Reply:
        return Reply(body=text.encode(), headers={"Content-Type": "application/json"})

    transport = MemoryTransport(in_turn(answer(f"{ONE}}}{{\n{OTHER}"), answer(OTHER + STRANGE)))
    config = ClientConfig(server="http://memory")
    async with RESTClient(config, transport=transport) as rest:
        source = ListWatch.from_client(rest, GroupVersionResource.parse("v1/pods"))
        async with retrying(source) as watch:
            events = [event async for event in watch]
    assert [told(event) for event in events] == [
        "ADDED a 6",
        "ADDED b 7",
        "ERROR 500 InternalError",
    ]
    assert "RENAMED" in events[-1].object.message
    assert [each.query["resourceVersion"] for each in transport.requests] == ["5", "6"]
    assert transport.open_responses == 0
