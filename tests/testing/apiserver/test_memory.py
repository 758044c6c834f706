"""The transport without sockets, on virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from random import Random

import pytest

from listwatch.rest.errors import (
    ConnectionLost,
    ConnectionRefused,
    TransportError,
    TransportTimeout,
)
from listwatch.rest.transport import HTTPRequest, HTTPResponse
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.faults.current import Faults
from listwatch.testing.apiserver.memory import ServerTransport
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.virtual_time import VirtualTimeLoop
from tests.testing.apiserver.fake_core import FakeCore, FakeLater, FakeStream, event, pod_list

pytestmark = pytest.mark.virtual_time

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def core() -> FakeCore:
    return FakeCore(
        small=Answer(status=200, body=b'{"a":1}\n'),
        list=Answer(status=200, body=pod_list(40, 200)),
        large=Answer(status=200, body=pod_list(40, 6000)),
    )


@pytest.fixture
async def transport(core: FakeCore) -> AsyncIterator[ServerTransport]:
    transport = ServerTransport(core)
    yield transport
    await transport.close()
    assert transport.open_responses == 0


def get(path: str, **options: object) -> HTTPRequest:
    return HTTPRequest(method="GET", path=path, **options)  # type: ignore[arg-type]


async def pieces(response: HTTPResponse) -> list[bytes]:
    found = []
    while piece := await response.receive():
        found.append(piece)
    return found


def now() -> float:
    return asyncio.get_running_loop().time()


async def after(seconds: float) -> None:
    """Return that much later, on virtual time."""
    await asyncio.sleep(seconds)


async def test_a_request_reaches_the_core_and_its_answer_comes_back(
    transport: ServerTransport, core: FakeCore
) -> None:
    request = HTTPRequest(
        method="POST",
        path="/small",
        query=(("dryRun", "All"),),
        headers={"User-Agent": "me"},
        body=b"{}",
    )
    response = await transport.send(request)
    assert response.status == 200
    assert response.headers.get("content-length") == "8"
    assert await response.read() == b'{"a":1}\n'
    assert core.requests == [
        ServerRequest(
            method="POST",
            path="/small",
            query=(("dryRun", "All"),),
            headers={"user-agent": "me"},
            body=b"{}",
        )
    ]
    assert transport.open_responses == 0
    assert transport.requests == 1


async def test_a_body_comes_in_the_pieces_of_the_http_face(transport: ServerTransport) -> None:
    response = await transport.send(get("/list"))
    found = await pieces(response)
    assert {len(piece) for piece in found[:-1]} == {2048}
    assert b"".join(found) == pod_list(40, 200)


async def test_a_compressed_body_is_given_unpacked(transport: ServerTransport) -> None:
    response = await transport.send(get("/large", headers={"Accept-Encoding": "gzip"}))
    assert response.headers.get("Content-Encoding") == "gzip"
    assert await response.read() == pod_list(40, 6000)


async def test_two_runs_are_the_same_to_the_byte(core: FakeCore) -> None:
    heads = []
    for _ in range(2):
        transport = ServerTransport(core)
        response = await transport.send(get("/list"))
        heads.append(tuple(response.headers))
        await response.read()
        await transport.close()
    assert heads[0] == heads[1]


async def test_events_come_when_they_are_written_and_one_read_is_one_chunk(
    transport: ServerTransport, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    response = await transport.send(get("/watch"))
    loop = asyncio.get_running_loop()
    loop.call_later(5, stream.write, event(1))
    loop.call_later(7, stream.write, event(2), event(3))
    loop.call_later(9, stream.end)
    assert (await response.receive(), now()) == (event(1), 5)
    assert (await response.receive(), now()) == (event(2) + event(3), 7)
    assert (await response.receive(), now()) == (b"", 9)
    assert await response.receive() == b""
    assert stream.closed


async def test_what_is_due_happens_at_exactly_its_time(
    transport: ServerTransport, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    stream.due = 0.1 + 0.2
    core.next_due = 58.4
    response = await transport.send(get("/watch"))
    asyncio.get_running_loop().call_later(60, stream.end)
    assert await response.receive() == b""
    assert stream.ticks == [0.1 + 0.2]
    assert core.runs == [58.4]


async def test_an_answer_for_later_comes_at_its_time(
    transport: ServerTransport, core: FakeCore
) -> None:
    core.answers["/later"] = FakeLater(3.0)
    response = await transport.send(get("/later"))
    assert (response.status, now()) == (504, 3.0)
    await response.read()


async def test_no_answer_in_time_is_a_timeout(transport: ServerTransport, core: FakeCore) -> None:
    later = core.answers["/later"] = FakeLater(1000.0)
    with pytest.raises(TransportTimeout, match="no answer within 75 s"):
        await transport.send(get("/later", first_byte_timeout=75.0))
    assert now() == 75
    assert later.wake is None


async def test_silence_inside_a_body_is_a_timeout(
    transport: ServerTransport, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream(event(1))
    response = await transport.send(get("/watch", silence_timeout=30.0))
    assert await response.receive() == event(1)
    with pytest.raises(TransportTimeout, match="within 30 s"):
        await response.receive()
    with pytest.raises(TransportTimeout):
        await response.receive()
    assert stream.closed


async def test_closing_an_answer_wakes_its_reader_and_ends_the_watch(
    transport: ServerTransport, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    response = await transport.send(get("/watch"))
    reading = asyncio.create_task(response.receive())
    asyncio.get_running_loop().call_later(1, response.close)
    with pytest.raises(ConnectionLost):
        await reading
    response.close()
    assert stream.closed
    assert transport.open_responses == 0


@pytest.mark.parametrize("path", ["/later", "/watch"])
async def test_a_caller_that_is_cancelled_leaves_nothing_open(
    transport: ServerTransport, core: FakeCore, path: str
) -> None:
    core.answers["/later"] = FakeLater(1000.0)
    core.answers["/watch"] = FakeStream()

    async def ask() -> None:
        await (await transport.send(get(path))).receive()

    asking = asyncio.create_task(ask())
    asyncio.get_running_loop().call_later(1, asking.cancel)
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert transport.open_responses == 0


async def test_a_watch_whose_reader_is_slow_is_not_written_to(core: FakeCore) -> None:
    transport = ServerTransport(core, buffer=5_000)
    stream = core.answers["/watch"] = FakeStream()
    response = await transport.send(get("/watch"))
    loop = asyncio.get_running_loop()
    for number in range(20):
        loop.call_later(number + 1, stream.write, event(number, 1000))
    loop.call_later(21, stream.end)
    await after(22)
    assert stream.waiting == 15
    assert b"".join(await pieces(response)) == b"".join(event(n, 1000) for n in range(20))
    assert stream.closed
    await transport.close()


async def test_reading_with_a_limit_gives_the_connection_up(transport: ServerTransport) -> None:
    response = await transport.send(get("/list"))
    assert await response.read(10) == pod_list(40, 200)[:10]
    assert transport.open_responses == 0


async def test_an_answer_that_is_not_read_counts_as_open(transport: ServerTransport) -> None:
    response = await transport.send(get("/small"))
    assert transport.open_responses == 1
    response.close()
    assert transport.open_responses == 0


async def test_after_close_nothing_is_sent(transport: ServerTransport, core: FakeCore) -> None:
    stream = core.answers["/watch"] = FakeStream()
    response = await transport.send(get("/watch"))
    await transport.close()
    assert stream.closed
    with pytest.raises(ConnectionLost):
        await response.receive()
    with pytest.raises(TransportError, match="closed"):
        await transport.send(get("/small"))


async def test_refused_connections_are_refused(core: FakeCore) -> None:
    transport = ServerTransport(core, Faults("refuse for 5s"))
    with pytest.raises(ConnectionRefused):
        await transport.send(get("/small"))
    await after(5)
    assert await (await transport.send(get("/small"))).read() == b'{"a":1}\n'
    await transport.close()


async def test_faults_serve_one_server_at_a_time(core: FakeCore) -> None:
    faults = Faults()
    first, second = ServerTransport(core, faults), ServerTransport(core, faults)
    first.start()
    with pytest.raises(RuntimeError, match="belong to another server"):
        second.start()
    await first.close()
    second = ServerTransport(core, faults)
    second.start()
    await second.close()


FAULTS = (
    "watch: cut after 900 bytes, chance 30%",
    "watch: drop 2 events after 3 events, chance 20%",
    "watch: garbage after 1 event, every 4th request",
    "watch: error 410 after 2 events, every 5th request",
    "watch: stall after 1 event for 7s, chance 20%",
    "every 13s watch: reset",
    "read: delay 0.3s, chance 50%",
    "list: answer 503 as html, every 3rd request",
    "list: cut after 100 wire bytes, chance 20%",
    "every 60s: compact",
    "every 45s: restart kept down 2s",
)


def run_with_faults(seed: int) -> list[tuple[float, str]]:
    """Five minutes of writing, listing and watching while things go wrong; what happened when."""
    story: list[tuple[float, str]] = []

    async def program() -> None:
        loop = asyncio.get_running_loop()
        core = APIServer(clock=loop.time, wall=lambda: START, rng=Random(seed))
        transport = ServerTransport(core, Faults(*FAULTS, rng=Random(seed)), rng=Random(seed))

        def write(number: int) -> None:
            metadata = {"name": f"c-{number % 7}", "namespace": "default"}
            core.load([{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}])
            loop.call_later(0.7, write, number + 1)

        async def read(*query: tuple[str, str]) -> None:
            request = HTTPRequest(
                method="GET", path="/api/v1/configmaps", query=query, silence_timeout=20.0
            )
            try:
                response = await transport.send(request)
                story.append((loop.time(), f"{response.status} {response.headers.get('Audit-Id')}"))
                while piece := await response.receive():
                    story.append((loop.time(), piece.decode()))
            except TransportError as error:
                story.append((loop.time(), repr(error)))

        loop.call_later(0.7, write, 0)
        while loop.time() < 300:
            await read()
            await read(("watch", "true"), ("timeoutSeconds", "10"), ("resourceVersion", "0"))
            await asyncio.sleep(1)
        story.extend((found.time, str(found.fault)) for found in transport.faults.log)
        await transport.close()
        assert transport.open_responses == 0

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(program())
    return story


@pytest.mark.parametrize("seed", range(3))
def test_a_run_with_faults_repeats_itself_from_its_seed(seed: int) -> None:
    first = run_with_faults(seed)
    assert first == run_with_faults(seed)
    applied = {line for _, line in first if line in FAULTS}
    assert applied == set(FAULTS)


def test_another_seed_is_another_run() -> None:
    assert run_with_faults(1) != run_with_faults(2)
