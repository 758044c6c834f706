"""The face over real sockets, in front of a core whose every answer is the test's."""

from __future__ import annotations

import asyncio
import gzip
import logging
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.http.heads import http_date
from listwatch.testing.apiserver.messages import Answer, ServerRequest, WatchStream
from tests.testing.apiserver.fake_core import (
    FakeCore,
    FakeLater,
    FakeStream,
    event,
    face_core,
    json_answer,
    pod_list,
)
from tests.testing.apiserver.wire_client import WireClient


@pytest.fixture
async def core() -> FakeCore:
    return face_core()


@pytest.fixture
async def server(core: FakeCore) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(core) as server:
        yield server


@pytest.fixture
async def client(server: EmbeddedServer) -> AsyncIterator[WireClient]:
    async with WireClient(server) as client:
        yield client


async def test_every_answer_has_the_common_headers_in_the_real_order(client: WireClient) -> None:
    answer = await client.ask("/small")
    assert answer.status_line == "HTTP/1.1 200 OK"
    assert answer.names == [
        "Audit-Id",
        "Cache-Control",
        "Content-Type",
        "X-Kubernetes-Pf-Flowschema-Uid",
        "X-Kubernetes-Pf-Prioritylevel-Uid",
        "Date",
        "Content-Length",
    ]
    assert re.fullmatch(
        r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", answer.header("Audit-Id") or ""
    )
    assert answer.header("Cache-Control") == "no-cache, private"
    assert answer.body == b'{"a":1}\n'


async def test_audit_ids_differ(client: WireClient) -> None:
    first, second = await client.ask("/small"), await client.ask("/small")
    assert first.header("Audit-Id") != second.header("Audit-Id")


async def test_a_401_has_no_priority_level(client: WireClient) -> None:
    answer = await client.ask("/unauthorized")
    assert not [name for name in answer.names if name.startswith("X-Kubernetes-Pf")]


async def test_headers_of_the_core_win_and_are_sorted_among_the_others(
    client: WireClient, core: FakeCore
) -> None:
    core.answers["/x"] = Answer(
        status=200, headers=(("Cache-Control", "public"), ("Warning", "a"), ("Warning", "b"))
    )
    answer = await client.ask("/x")
    assert answer.header("Cache-Control") == "public"
    assert answer.names[:5] == ["Audit-Id", "Cache-Control", "Content-Type", "Warning", "Warning"]


async def test_up_to_2048_bytes_have_a_length_and_more_come_in_chunks(client: WireClient) -> None:
    exact = await client.ask("/exact")
    assert (exact.header("Content-Length"), exact.chunks) == ("2048", [])
    longer = await client.ask("/object")
    assert longer.header("Content-Length") is None
    assert longer.names[-1] == "Transfer-Encoding"
    assert [len(chunk) for chunk in longer.chunks] == [len(longer.body)]


async def test_a_list_of_short_items_comes_in_chunks_of_2048(client: WireClient) -> None:
    answer = await client.ask("/list")
    assert {len(chunk) for chunk in answer.chunks[:-1]} == {2048}
    assert answer.body == pod_list(40, 200)


async def test_a_list_comes_whole_where_gzip_is_accepted_but_not_worth_it(
    client: WireClient,
) -> None:
    answer = await client.ask("/list", "Accept-Encoding: gzip")
    assert [len(chunk) for chunk in answer.chunks] == [len(pod_list(40, 200))]
    assert answer.header("Content-Encoding") is None


@pytest.mark.clause("B10")
async def test_from_128_kib_a_body_is_compressed_for_who_accepts_it(client: WireClient) -> None:
    answer = await client.ask("/large", "Accept-Encoding: gzip")
    assert answer.header("Content-Encoding") == "gzip"
    assert answer.header("Vary") == "Accept-Encoding"
    assert gzip.decompress(answer.body) == pod_list(40, 6000)
    plain = await client.ask("/large")
    assert plain.body == pod_list(40, 6000)
    assert plain.header("Content-Encoding") is None


async def test_a_304_has_neither_body_nor_length(client: WireClient) -> None:
    answer = await client.ask("/cached")
    assert answer.status_line == "HTTP/1.1 304 Not Modified"
    assert "Content-Length" not in answer.names
    assert "Content-Type" not in answer.names
    assert (await client.ask("/small")).status == 200


async def test_head_has_the_length_and_no_body(client: WireClient) -> None:
    assert (await client.ask("/small", method="HEAD")).header("Content-Length") == "8"
    longer = await client.ask("/object", method="HEAD")
    assert longer.header("Content-Length") is None
    assert longer.header("Transfer-Encoding") is None
    assert (await client.ask("/small")).body == b'{"a":1}\n'


async def test_a_watch_has_its_head_before_any_event(client: WireClient, core: FakeCore) -> None:
    stream = core.answers["/watch"] = FakeStream()
    client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
    head = await client.head()
    assert head.header("Transfer-Encoding") == "chunked"
    assert head.header("Content-Type") == "application/json"
    stream.write(event(1))
    assert await client.chunk() == event(1)
    stream.write(event(2))
    assert await client.chunk() == event(2)


async def test_events_of_a_burst_share_chunks_as_the_real_server_cuts_them(
    client: WireClient, core: FakeCore
) -> None:
    frames = [event(1, 2500), event(2, 3000), *(event(n, 500) for n in range(3, 9))]
    core.answers["/watch"] = FakeStream(*frames)
    client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.head()
    assert [len(await client.chunk()) for _ in range(4)] == [2500, 3000, 2048, 952]


async def test_several_writes_in_one_turn_of_the_loop_are_sent_together(
    client: WireClient, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.head()
    for number in range(3):
        stream.write(event(number))
    assert await client.chunk() == event(0) + event(1) + event(2)


async def test_a_watch_that_ends_leaves_the_connection_for_another_request(
    client: WireClient, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream(event(1))
    stream.ended = True
    answer = await client.ask("/watch")
    assert answer.body == event(1)
    assert stream.closed
    assert (await client.ask("/small")).status == 200


async def test_a_watch_over_http_1_0_ends_with_its_connection(
    client: WireClient, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream(event(1), event(2))
    stream.ended = True
    answer = await client.ask("/watch", version="1.0")
    assert answer.body == event(1) + event(2)


async def test_what_is_due_on_a_watch_is_done_at_its_time(
    client: WireClient, core: FakeCore
) -> None:
    loop = asyncio.get_running_loop()
    stream = core.answers["/watch"] = FakeStream()
    due = stream.due = loop.time() + 0.03
    ticked = loop.create_future()

    def tick() -> None:
        stream.due = None
        ticked.set_result(loop.time())
        stream.end()

    stream.tick = tick  # type: ignore[method-assign]
    answer = await client.ask("/watch")
    assert answer.body == b""
    assert due <= await ticked < due + 1


async def test_the_core_is_run_when_something_of_its_own_is_due(
    client: WireClient, core: FakeCore
) -> None:
    loop = asyncio.get_running_loop()
    ran = loop.create_future()

    def run_due() -> None:
        core.next_due = None
        ran.set_result(loop.time())

    core.run_due = run_due  # type: ignore[method-assign]
    due = core.next_due = loop.time() + 0.03
    await client.ask("/small")
    assert due <= await ran < due + 1


async def test_an_answer_for_later_comes_when_it_is_due(client: WireClient, core: FakeCore) -> None:
    core.answers["/later"] = FakeLater(asyncio.get_running_loop().time() + 0.03)
    assert (await client.ask("/later")).status == 504


async def test_an_answer_for_later_comes_when_what_it_waits_for_is_there(
    client: WireClient, core: FakeCore
) -> None:
    later = FakeLater(asyncio.get_running_loop().time() + 1000)

    def ask(request: ServerRequest) -> FakeLater:
        asyncio.get_running_loop().call_soon(later.give, json_answer(b"now\n"))
        return later

    core.answers["/later"] = ask
    assert (await client.ask("/later")).body == b"now\n"
    assert later.wake is None


async def test_a_client_that_leaves_ends_its_watch(server: EmbeddedServer, core: FakeCore) -> None:
    closed = asyncio.Event()
    stream = core.answers["/watch"] = FakeStream()
    stream.close = closed.set  # type: ignore[method-assign]
    async with WireClient(server) as client:
        client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.head()
        assert server.watches == 1
    await closed.wait()
    assert stream.wake is None


async def test_a_reader_that_does_not_read_is_not_written_to_and_hurts_nobody(
    server: EmbeddedServer, client: WireClient, core: FakeCore
) -> None:
    slow_stream = core.answers["/slow"] = FakeStream(limit=50)
    fast_stream = core.answers["/fast"] = FakeStream()
    async with WireClient(server) as slow:
        slow.send(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        await slow.head()
        slow.writer.transport.pause_reading()  # type: ignore[attr-defined]
        client.send(b"GET /fast HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.head()
        written = 0
        while not slow_stream.ended:
            assert written < 5000, "the server went on taking what nobody reads"
            slow_stream.write(event(written, 100_000))
            fast_stream.write(event(written))
            assert await client.chunk() == event(written)
            written += 1
        assert slow_stream.waiting > 50
        slow.writer.transport.resume_reading()  # type: ignore[attr-defined]
        received = b""
        while chunk := await slow.chunk():
            received += chunk
        # A clean end, and nothing lost of what was there before the reader was given up.
        assert received == b"".join(event(number, 100_000) for number in range(written))


async def test_a_long_body_is_made_as_fast_as_it_is_read_and_others_get_their_turn(
    server: EmbeddedServer, client: WireClient, core: FakeCore
) -> None:
    body = pod_list(20_000, 1000)
    core.answers["/huge"] = json_answer(body)
    client.send(b"GET /huge HTTP/1.1\r\nHost: x\r\n\r\n")
    async with WireClient(server) as other:
        await client.head()
        assert (await other.ask("/small")).status == 200
    received = bytearray()
    while chunk := await client.chunk():
        received += chunk
    assert bytes(received) == body


async def test_a_bug_of_the_core_is_logged_and_answered_as_a_panic(
    client: WireClient, core: FakeCore, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(request: ServerRequest) -> Answer:
        raise ZeroDivisionError

    core.answers["/broken"] = broken
    with caplog.at_level(logging.ERROR):
        answer = await client.ask("/broken")
    assert answer.status == 500
    assert answer.body.startswith(b"This request caused apiserver to panic")
    assert "ZeroDivisionError" in caplog.text
    assert (await client.ask("/small")).status == 200


async def test_a_bug_in_what_comes_later_is_answered_as_a_panic(
    client: WireClient, core: FakeCore, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken(FakeLater):
        def tick(self) -> Answer | WatchStream | None:
            raise ZeroDivisionError

    core.answers["/broken"] = Broken(due=0.0)
    with caplog.at_level(logging.ERROR):
        answer = await client.ask("/broken")
    assert answer.status == 500
    assert "ZeroDivisionError" in caplog.text
    assert (await client.ask("/small")).status == 200


async def test_stopping_ends_every_connection_and_every_watch(core: FakeCore) -> None:
    stream = core.answers["/watch"] = FakeStream()
    async with EmbeddedServer(core) as server:
        clients = [WireClient(server) for _ in range(5)]
        for client in clients:
            await client.__aenter__()
            client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.head()
        await server.stop()
        assert server.connections == 0
        for client in clients:
            assert await client.rest() == b""
            await client.__aexit__(None, None, None)
    assert stream.closed


async def test_stopping_while_clients_arrive_leaves_nothing(core: FakeCore) -> None:
    server = EmbeddedServer(core)
    await server.start()
    opening = [
        asyncio.create_task(asyncio.open_connection("127.0.0.1", server.port)) for _ in range(9)
    ]
    for _ in range(2):
        await asyncio.sleep(0)
    await server.stop()
    for opened in await asyncio.gather(*opening, return_exceptions=True):
        if not isinstance(opened, BaseException):
            opened[1].transport.abort()
    assert server.connections == 0


def test_the_date_is_written_in_english() -> None:
    assert (
        http_date(datetime(2026, 11, 29, 17, 5, 9, tzinfo=UTC)) == "Sun, 29 Nov 2026 17:05:09 GMT"
    )
