"""What faults do, over sockets and without them: the same."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.errors import ConnectionLost, ConnectionRefused, TransportError
from listwatch.rest.transport import HTTPRequest, Transport
from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.faults.current import Faults
from listwatch.testing.apiserver.memory import ServerTransport
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from tests.testing.apiserver.fake_core import (
    BOOKMARK,
    MARKER,
    FakeCore,
    FakeStream,
    event,
)

PODS = "/api/v1/namespaces/default/pods"
EVENTS = tuple(event(number, 300) for number in range(1, 7))
BODY = b'{"kind":"PodList",' + b"x" * 6000 + b"\n"


def ended_stream(request: ServerRequest) -> FakeStream:
    stream = FakeStream(*EVENTS[:3], MARKER, *EVENTS[3:], BOOKMARK)
    stream.ended = True
    return stream


class PodsCore(FakeCore):
    """Lists and watches of pods; watches give six events and end."""

    def __init__(self) -> None:
        super().__init__()
        self.answers["/version"] = Answer(status=200, body=b"{}\n")
        self.answers[f"{PODS}/web"] = Answer(status=200, body=b'{"kind":"Pod"}\n')
        self.answers[PODS] = lambda request: (
            ended_stream(request) if request.parameter("watch") else Answer(status=200, body=BODY)
        )


class Asked:
    """How one request went."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.error: TransportError | None = None

    @property
    def frames(self) -> list[bytes]:
        return self.body.splitlines(keepends=True)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Server:
    """A transport to the core, and the faults in between."""

    def __init__(self, core: PodsCore, transport: Transport, faults: Faults) -> None:
        self.core = core
        self.transport = transport
        self.faults = faults

    async def ask(self, path: str = PODS, *, watch: bool = False, method: str = "GET") -> Asked:
        query = (("watch", "true"),) if watch else ()
        asked = Asked()
        try:
            request = HTTPRequest(method=method, path=path, query=query)
            response = await self.transport.send(request)
            asked.status = response.status
            asked.headers = dict(response.headers)
            while piece := await response.receive():
                asked.body += piece
        except TransportError as error:
            asked.error = error
        return asked

    async def watch(self) -> Asked:
        return await self.ask(watch=True)


@pytest.fixture(params=["sockets", "memory"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    core, faults = PodsCore(), Faults()
    if request.param == "memory":
        memory = ServerTransport(core, faults)
        yield Server(core, memory, faults)
        await memory.close()
        assert memory.open_responses == 0
        return
    async with EmbeddedServer(core, faults=faults) as embedded:
        transport = AiohttpTransport(embedded.client_config())
        yield Server(core, transport, faults)
        await transport.close()


WHOLE = b"".join((*EVENTS[:3], MARKER, *EVENTS[3:], BOOKMARK))


async def test_without_faults_all_is_well(server: Server) -> None:
    assert (await server.watch()).body == WHOLE
    assert (await server.ask()).body == BODY
    assert len(server.faults) == 0


@pytest.mark.parametrize("size", [1, 299, 300, 301, 1000])
async def test_cut_ends_the_connection_after_so_many_bytes_of_the_body(
    server: Server, size: int
) -> None:
    server.faults.add(f"watch pods: cut after {size} bytes")
    asked = await server.watch()
    assert isinstance(asked.error, ConnectionLost)
    assert asked.body == WHOLE[:size]
    assert (await server.ask()).body == BODY


async def test_cut_without_a_place_leaves_the_head(server: Server) -> None:
    server.faults.add("watch: cut")
    asked = await server.watch()
    assert (asked.status, asked.body) == (200, b"")
    assert isinstance(asked.error, ConnectionLost)


async def test_cut_reaches_into_a_list(server: Server) -> None:
    server.faults.add("list pods: cut after 3000 bytes")
    asked = await server.ask()
    assert asked.body == BODY[:3000]
    assert isinstance(asked.error, ConnectionLost)


async def test_a_body_that_is_shorter_than_the_cut_is_not_cut(server: Server) -> None:
    fault = server.faults.add("any: cut after 1MiB")
    assert (await server.watch()).body == WHOLE
    assert fault.applied == 0


async def test_cut_in_the_head_leaves_no_answer(server: Server) -> None:
    server.faults.add("list: cut after 50 wire bytes")
    asked = await server.ask()
    assert asked.status == 0
    assert isinstance(asked.error, ConnectionLost)


async def test_cut_counts_the_bytes_of_the_connection_if_told_so(server: Server) -> None:
    server.faults.add("list: cut after 1500 wire bytes")
    asked = await server.ask()
    assert asked.status == 200
    assert 900 < len(asked.body) < 1300
    assert BODY.startswith(asked.body)
    assert isinstance(asked.error, ConnectionLost)


async def test_reset_ends_it_the_hard_way(server: Server) -> None:
    server.faults.add("watch: reset after 600 bytes")
    asked = await server.watch()
    assert isinstance(asked.error, ConnectionLost)
    assert len(asked.body) <= 600


async def test_end_ends_the_body_cleanly(server: Server) -> None:
    server.faults.add("watch: end after 2 events")
    asked = await server.watch()
    assert asked.error is None
    assert asked.frames == list(EVENTS[:2])
    assert (await server.ask()).status == 200


async def test_events_can_be_what_is_counted(server: Server) -> None:
    server.faults.add("watch: cut after 4 events")
    asked = await server.watch()
    assert asked.frames == [*EVENTS[:3], MARKER]
    assert isinstance(asked.error, ConnectionLost)


@pytest.mark.parametrize(
    ("form", "content_type", "begins"),
    [
        ("", "application/json", b'{"kind":"Status","apiVersion":"v1"'),
        (" as text", "text/plain; charset=utf-8", b"the server is currently"),
        (" as html", "text/html", b"<html>"),
    ],
)
async def test_answer_takes_the_place_of_the_real_one(
    server: Server, form: str, content_type: str, begins: bytes
) -> None:
    server.faults.add(f"list pods: answer 503{form}")
    asked = await server.ask()
    assert asked.status == 503
    assert asked.headers["Content-Type"] == content_type
    assert asked.body.startswith(begins)
    assert "Retry-After" not in asked.headers
    assert server.core.requests == []


async def test_answer_can_ask_to_come_back_later(server: Server) -> None:
    server.faults.add("list: answer 429 with retry-after 3, 2 times")
    first, second, third = [await server.ask() for _ in range(3)]
    assert (first.status, second.status, third.status) == (429, 429, 200)
    assert first.headers["Retry-After"] == "3"
    assert first.json["details"] == {"retryAfterSeconds": 3}
    assert first.json["reason"] == "TooManyRequests"


async def test_error_is_an_error_event_and_a_clean_end(server: Server) -> None:
    server.faults.add("watch: error 410 after 1 event")
    asked = await server.watch()
    assert asked.error is None
    assert asked.frames[0] == EVENTS[0]
    [error] = [json.loads(frame) for frame in asked.frames[1:]]
    assert error["type"] == "ERROR"
    assert (error["object"]["code"], error["object"]["reason"]) == (410, "Expired")


async def test_drop_loses_events_and_ends_cleanly_behind_them(server: Server) -> None:
    server.faults.add("watch: drop 2 events after 1 event")
    asked = await server.watch()
    assert asked.error is None
    assert asked.frames == [EVENTS[0]]


async def test_garbage_is_a_line_that_is_no_json(server: Server) -> None:
    server.faults.add("watch: garbage after 2 events")
    frames = (await server.watch()).frames
    assert frames[:2] == list(EVENTS[:2])
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(frames[2])
    assert b"".join([*frames[:2], *frames[3:]]) == WHOLE


async def test_oversize_makes_one_object_larger(server: Server) -> None:
    server.faults.add("watch: oversize 100KB after 1 event")
    frames = (await server.watch()).frames
    assert len(frames[1]) == 100_000
    padded = json.loads(frames[1])
    del padded["object"]["padding"]
    assert padded == json.loads(EVENTS[1])
    assert b"".join([frames[0], EVENTS[1], *frames[2:]]) == WHOLE


async def test_skip_marker_leaves_out_the_end_of_the_initial_events(server: Server) -> None:
    fault = server.faults.add("watch: skip marker")
    assert (await server.watch()).frames == [*EVENTS, BOOKMARK]
    assert fault.applied == 1


async def test_skip_bookmarks_leaves_out_the_others(server: Server) -> None:
    server.faults.add("watch: skip bookmarks")
    assert (await server.watch()).frames == [*EVENTS[:3], MARKER, *EVENTS[3:]]


async def test_two_faults_at_the_same_place_both_happen(server: Server) -> None:
    server.faults.add("watch: garbage after 2 events")
    server.faults.add("watch: error 500 after 2 events")
    frames = (await server.watch()).frames
    assert frames[:2] == list(EVENTS[:2])
    assert len(frames) == 4
    assert json.loads(frames[3])["type"] == "ERROR"


async def test_a_fault_that_is_used_up_lets_the_next_one_through(server: Server) -> None:
    used_up = server.faults.add("watch: end after 2 events, once")
    server.faults.add("watch: end after 2 events")
    await server.watch()
    assert (await server.watch()).frames == list(EVENTS[:2])
    assert used_up.spent


async def test_a_removed_fault_does_nothing_any_more(server: Server) -> None:
    fault = server.faults.add("watch: cut after 2 events")
    server.faults.remove(fault)
    assert (await server.watch()).body == WHOLE
    with pytest.raises(KeyError):
        server.faults.remove(fault)


@pytest.mark.parametrize(
    ("line", "failing"),
    [
        ("list: answer 500, 2 times", [1, 2]),
        ("list: answer 500, once", [1]),
        ("list: answer 500, request 3", [3]),
        ("list: answer 500, from request 4", [4, 5, 6]),
        ("list: answer 500, every 2nd request", [2, 4, 6]),
        ("list: answer 500, every 2nd request, from request 3", [3, 5]),
        ("list: answer 500, from request 2, 2 times", [2, 3]),
    ],
)
async def test_how_often_a_fault_happens_can_be_told(
    server: Server, line: str, failing: list[int]
) -> None:
    server.faults.add(line)
    statuses = [(await server.ask()).status for _ in range(6)]
    assert [number for number, status in enumerate(statuses, 1) if status == 500] == failing


async def test_a_chance_is_drawn_from_the_seed() -> None:
    drawn = []
    for _ in range(2):
        transport = ServerTransport(
            PodsCore(), Faults("list: answer 500, chance 30%", rng=Random(7))
        )
        server = Server(PodsCore(), transport, transport.faults)
        drawn.append([(await server.ask()).status for _ in range(100)])
        await transport.close()
    assert drawn[0] == drawn[1]
    assert 15 < drawn[0].count(500) < 45


@pytest.mark.parametrize(
    ("line", "hit"),
    [
        ("any: answer 500", {"list", "watch", "get", "delete", "version"}),
        ("read: answer 500", {"list", "watch", "get", "version"}),
        ("write: answer 500", {"delete"}),
        ("pods: answer 500", {"list", "watch", "get", "delete"}),
        ("any nodes: answer 500", set()),
        ("pods.apps: answer 500", set()),
        ("pods in default: answer 500", {"list", "watch", "get", "delete"}),
        ("pods in kube-system: answer 500", set()),
        ("pods named web: answer 500", {"get", "delete"}),
        ("get: answer 500", {"get", "version"}),
        ("get /version: answer 500", {"version"}),
    ],
)
async def test_whom_a_fault_hits_can_be_told(server: Server, line: str, hit: set[str]) -> None:
    server.faults.add(line)
    asked = {
        "list": await server.ask(),
        "watch": await server.watch(),
        "get": await server.ask(f"{PODS}/web"),
        "delete": await server.ask(f"{PODS}/web", method="DELETE"),
        "version": await server.ask("/version"),
    }
    assert {name for name, found in asked.items() if found.status == 500} == hit


async def test_what_took_effect_is_logged(server: Server) -> None:
    fault = server.faults.add("watch: end after 2 events, once")
    await server.watch()
    [applied] = server.faults.log
    assert (applied.id, str(applied.fault)) == (fault.id, "watch: end after 2 events, once")
    assert applied.request == f"watch {PODS}"
    assert (fault.requests, fault.applied, fault.spent) == (1, 1, True)


async def test_a_request_can_make_the_server_compact_first(server: Server) -> None:
    server.faults.add("list pods: compact, once")
    await server.ask()
    await server.ask()
    assert server.core.done == ["compact"]


async def test_some_things_happen_as_they_are_told(server: Server) -> None:
    await server.ask()
    server.faults.add("compact now")
    assert server.core.done == ["compact"]


async def test_restart_kills_every_connection(server: Server) -> None:
    stream = server.core.answers[PODS] = FakeStream(EVENTS[0])
    asking = asyncio.create_task(server.watch())
    await stream.opened.wait()
    server.faults.add("restart lost")
    asked = await asking
    assert isinstance(asked.error, ConnectionLost)
    assert server.core.done == ["restart lost"]
    assert stream.closed
    server.core.answers[PODS] = Answer(status=200, body=BODY)
    assert (await server.ask()).body == BODY


async def test_a_request_that_restarts_the_server_gets_no_answer(server: Server) -> None:
    server.faults.add("list: restart, once")
    assert isinstance((await server.ask()).error, ConnectionLost)
    assert (await server.ask()).body == BODY


async def test_refuse_refuses_until_it_is_removed(server: Server) -> None:
    fault = server.faults.add("refuse")
    assert isinstance((await server.ask()).error, ConnectionRefused)
    server.faults.remove(fault)
    assert (await server.ask()).body == BODY


async def test_an_open_watch_survives_refusals(server: Server) -> None:
    stream = server.core.answers[PODS] = FakeStream(EVENTS[0])
    asking = asyncio.create_task(server.watch())
    await stream.opened.wait()
    server.faults.add("refuse")
    stream.write(EVENTS[1])
    stream.end()
    assert (await asking).body == EVENTS[0] + EVENTS[1]


class Timed:
    """A watch on virtual time, by what was read when."""

    def __init__(self, *lines: str) -> None:
        self.core = PodsCore()
        self.stream = FakeStream()
        self.core.answers[PODS] = self.stream
        self.transport = ServerTransport(self.core, Faults(*lines))
        self.reads: list[tuple[float, bytes]] = []
        self.error: TransportError | None = None

    async def watch(self, seconds: float) -> None:
        """An event a second, for so long; then the end."""
        loop = asyncio.get_running_loop()
        for second in range(1, int(seconds)):
            loop.call_later(second, self.stream.write, event(second))
        loop.call_later(seconds, self.stream.end)
        request = HTTPRequest(method="GET", path=PODS, query=(("watch", "1"),))
        try:
            response = await self.transport.send(request)
            while piece := await response.receive():
                self.reads.append((loop.time(), piece))
        except TransportError as error:
            self.error = error
        await self.transport.close()

    @property
    def times(self) -> list[float]:
        return [moment for moment, _ in self.reads]


@pytest.mark.virtual_time
async def test_stall_holds_everything_back_for_its_time() -> None:
    timed = Timed("watch: stall after 2 events for 10s")
    await timed.watch(6)
    assert timed.times == [1, 2, 12]
    assert b"".join(data for _, data in timed.reads) == b"".join(event(n) for n in range(1, 6))


@pytest.mark.virtual_time
async def test_stall_can_come_in_the_middle_of_an_event() -> None:
    timed = Timed("watch: stall after 100 bytes for 5s")
    await timed.watch(4)
    assert sum(len(data) for moment, data in timed.reads if moment < 5) == 100
    assert b"".join(data for _, data in timed.reads) == b"".join(event(n) for n in range(1, 4))


@pytest.mark.virtual_time
async def test_a_stalled_watch_goes_on_having_its_time() -> None:
    timed = Timed("watch: stall after 0 events for 100s")
    timed.stream.due = 50.0
    await timed.watch(4)
    assert timed.stream.ticks == [50.0]


@pytest.mark.virtual_time
async def test_hang_after_some_events_is_silence_for_ever() -> None:
    timed = Timed("watch: hang after 1 event")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1000):
            await timed.watch(5)
    assert timed.times == [1]
    await timed.transport.close()
    assert timed.transport.open_responses == 0


@pytest.mark.virtual_time
async def test_hang_is_a_request_that_nobody_looks_at() -> None:
    transport = ServerTransport(PodsCore(), Faults("list: hang"))
    server = Server(PodsCore(), transport, transport.faults)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1000):
            await server.ask()
    assert transport.core.requests == []  # type: ignore[attr-defined]
    assert transport.open_responses == 0
    await transport.close()


@pytest.mark.virtual_time
async def test_delay_comes_before_the_request_is_looked_at() -> None:
    transport = ServerTransport(PodsCore(), Faults("list: delay 2s", "list: delay 500ms"))
    server = Server(PodsCore(), transport, transport.faults)
    assert (await server.ask()).body == BODY
    assert asyncio.get_running_loop().time() == 2.5
    await transport.close()


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("line", "times", "lost"),
    [
        ("watch: cut after 3.5 seconds", [1, 2, 3], True),
        ("watch: end after 3.5 seconds", [1, 2, 3], False),
        ("watch: error 500 after 3.5 seconds", [1, 2, 3, 3.5], False),
        ("every 2.5s watch pods: cut, once", [1, 2], True),
        ("after 2.5s: end", [1, 2], False),
        ("after 2.5s watch nodes: end", [1, 2, 3, 4, 5], False),
    ],
)
async def test_time_can_be_what_sets_it_off(line: str, times: list[float], lost: bool) -> None:
    timed = Timed(line)
    await timed.watch(6)
    assert timed.times == times
    assert isinstance(timed.error, ConnectionLost) is lost


@pytest.mark.virtual_time
async def test_every_so_often_the_server_compacts() -> None:
    timed = Timed("every 2s: compact, 2 times", "after 5s: compact")
    await timed.watch(20)
    assert timed.core.done == ["compact"] * 3
    assert [applied.time for applied in timed.transport.faults.log] == [2, 4, 5]


@pytest.mark.virtual_time
async def test_after_a_restart_the_server_may_stay_down() -> None:
    core = PodsCore()
    transport = ServerTransport(core, Faults("after 1s: restart kept down 3s"))
    server = Server(core, transport, transport.faults)
    found = []
    for _ in range(6):
        found.append((await server.ask()).status)
        await asyncio.sleep(0.9)
    assert found == [200, 200, 0, 0, 0, 200]
    await transport.close()


@pytest.mark.virtual_time
async def test_a_watch_that_nobody_reads_can_be_cut() -> None:
    core = PodsCore()
    transport = ServerTransport(core, Faults("after 5s watch: cut"), buffer=1000)
    core.answers[PODS] = stream = FakeStream(*EVENTS)
    response = await transport.send(HTTPRequest(method="GET", path=PODS, query=(("watch", ""),)))
    await asyncio.sleep(6)
    assert stream.closed
    assert await response.receive() == b"".join(EVENTS)
    with pytest.raises(ConnectionLost):
        await response.receive()
    await transport.close()
