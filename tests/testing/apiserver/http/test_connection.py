"""One connection over a real socket: requests of every kind, and what is none."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.http.limits import Limits
from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.fake_core import FakeCore, FakeStream, event, face_core, pod_list
from tests.testing.apiserver.wire_client import WireClient

MIB = 1024 * 1024


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


async def test_the_request_reaches_the_core_as_it_was_sent(
    client: WireClient, core: FakeCore
) -> None:
    client.send(
        b"POST /a%2Fb?x=1&y=a%20b+c&bare&x=2 HTTP/1.1\r\nHost: h\r\nUser-Agent: me\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    )
    await client.answer()
    [request] = core.requests
    assert (request.method, request.path, request.body) == ("POST", "/a%2Fb", b"{}")
    assert request.query == (("x", "1"), ("y", "a b c"), ("bare", ""), ("x", "2"))
    assert request.headers["user-agent"] == "me"


@pytest.mark.parametrize(
    ("query", "pairs"),
    [("", ()), ("a=1;b=2&c=3", (("c", "3"),)), ("a=%zz&b=1", (("b", "1"),)), ("&&a", (("a", ""),))],
)
async def test_odd_queries_are_read_as_far_as_they_go(
    client: WireClient, core: FakeCore, query: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    await client.ask(f"/small?{query}")
    assert core.requests[0].query == pairs


async def test_many_requests_go_over_one_connection(
    client: WireClient, server: EmbeddedServer
) -> None:
    for _ in range(20):
        assert (await client.ask("/small")).status == 200
    assert server.connections == 1


async def test_requests_sent_ahead_are_answered_in_order(client: WireClient) -> None:
    client.send(
        b"GET /small HTTP/1.1\r\nHost: x\r\n\r\nPOST /text HTTP/1.1\r\nHost: x\r\n"
        b"Content-Length: 3\r\n\r\nabcGET /list HTTP/1.1\r\nHost: x\r\n\r\n"
    )
    answers = [await client.answer() for _ in range(3)]
    assert [answer.status for answer in answers] == [200, 404, 200]
    assert answers[2].body == pod_list(40, 200)


async def test_what_is_sent_ahead_of_a_watch_waits_for_its_end(
    client: WireClient, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\nGET /small HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.head()
    assert len(core.requests) == 1
    stream.end()
    assert await client.chunk() == b""
    assert (await client.answer()).body == b'{"a":1}\n'


async def test_a_client_that_sends_ahead_without_end_is_not_read_without_end(
    client: WireClient, core: FakeCore
) -> None:
    stream = core.answers["/watch"] = FakeStream()
    client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
    await client.head()
    request = b"GET /small HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 1000 + b"\r\n\r\n"
    count = 20_000
    client.send(request * count)
    for _ in range(50):
        stream.write(event(1))
        await client.chunk()
    assert client.writer.transport.get_write_buffer_size() > 0  # type: ignore[attr-defined]
    stream.end()
    assert await client.chunk() == b""
    assert (await client.answer()).status == 200


async def test_http_1_0_gets_a_length_or_the_end_of_the_connection(server: EmbeddedServer) -> None:
    async with WireClient(server) as client:
        answer = await client.ask("/small", version="1.0")
        assert answer.status_line == "HTTP/1.0 200 OK"
        assert await client.rest() == b""
    async with WireClient(server) as client:
        answer = await client.ask("/list", "Connection: keep-alive", version="1.0")
        assert "Transfer-Encoding" not in answer.names
        assert answer.body == pod_list(40, 200)
    async with WireClient(server) as client:
        answer = await client.ask("/small", "Connection: keep-alive", version="1.0")
        assert answer.header("Connection") == "keep-alive"
        assert (await client.ask("/small", version="1.0")).status == 200


async def test_connection_close_is_honoured(client: WireClient) -> None:
    answer = await client.ask("/list", "Connection: close")
    assert answer.names[-2:] == ["Connection", "Transfer-Encoding"]
    assert await client.rest() == b""


async def test_an_answer_that_closes_the_connection_says_so_once(
    client: WireClient, core: FakeCore
) -> None:
    core.answers["/drain"] = Answer(status=429, headers=(("Connection", "close"),))
    answer = await client.ask("/drain")
    assert answer.names.count("Connection") == 1
    assert await client.rest() == b""


async def test_a_client_that_asks_before_it_sends_its_body_is_told_to_go_on(
    client: WireClient, core: FakeCore
) -> None:
    client.send(
        b"POST /small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    )
    assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    client.send(b"{}")
    assert (await client.answer()).status == 200
    assert core.requests[0].body == b"{}"


async def test_a_body_in_chunks_is_taken(client: WireClient, core: FakeCore) -> None:
    client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n")
    client.send(b"1\r\n}\r\n0\r\n\r\n")
    assert (await client.answer()).status == 200
    assert core.requests[0].body == b"{}"


async def test_a_body_of_3_mib_is_taken(client: WireClient, core: FakeCore) -> None:
    client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (3 * MIB))
    client.send(b"x" * (3 * MIB))
    assert (await client.answer()).status == 200
    assert len(core.requests[0].body) == 3 * MIB


@pytest.mark.parametrize(("size", "kept"), [(3 * MIB + 1, True), (8 * MIB, False)])
async def test_a_longer_body_is_413_and_ends_the_connection_if_it_is_much_longer(
    client: WireClient, size: int, kept: bool
) -> None:
    client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size)
    client.send(b"x" * size)
    answer = await client.answer()
    assert answer.status_line == "HTTP/1.1 413 Request Entity Too Large"
    assert json.loads(answer.body) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": "Request entity too large: limit is 3145728",
        "reason": "RequestEntityTooLarge",
        "code": 413,
    }
    assert (answer.header("Connection") is None) is kept
    if kept:
        assert (await client.ask("/small")).status == 200
    else:
        assert await client.rest() == b""


async def test_refusals_that_come_before_the_body_win_over_its_length(
    client: WireClient, core: FakeCore
) -> None:
    for path, status in (("/unauthorized", 401), ("/text", 404)):
        client.send(
            f"PUT {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {3 * MIB + 1}\r\n\r\n".encode()
        )
        client.send(b"x" * (3 * MIB + 1))
        assert (await client.answer()).status == status
    assert {request.body for request in core.requests} == {b"\x00"}


async def test_the_long_body_of_a_get_is_passed_over(client: WireClient, core: FakeCore) -> None:
    client.send(b"GET /small HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (4 * MIB))
    client.send(b"x" * (4 * MIB))
    assert (await client.answer()).status == 200
    assert core.requests[0].body == b""
    assert await client.rest() == b""


async def test_broken_chunks_are_a_500_with_a_status(client: WireClient) -> None:
    client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    answer = await client.answer()
    assert answer.status == 500
    assert json.loads(answer.body)["message"] == "invalid byte in chunk length"
    assert await client.rest() == b""


async def test_what_is_no_http_is_told_so_and_hurts_nobody(
    server: EmbeddedServer, client: WireClient
) -> None:
    async with WireClient(server) as hostile:
        hostile.send(b"\x16\x03\x01 this is no request\r\n\r\n")
        assert await hostile.rest() == (
            b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
            b"Connection: close\r\n\r\n400 Bad Request"
        )
    assert (await client.ask("/small")).status == 200


async def test_a_refusal_is_read_even_by_a_client_that_is_still_sending(
    server: EmbeddedServer,
) -> None:
    async with WireClient(server) as client:
        client.send(b"nonsense\r\n\r\n" + b"x" * 500_000)
        assert (await client.rest()).endswith(b"400 Bad Request")


@pytest.mark.parametrize("sent", [b"", b"GET /small HT", b"GET /small HTTP/1.1\r\nHost:"])
async def test_half_a_request_is_given_up_in_silence(core: FakeCore, sent: bytes) -> None:
    async with (
        EmbeddedServer(core, limits=Limits(head=0.05)) as server,
        WireClient(server) as client,
    ):
        client.send(sent)
        assert await client.rest() == b""
    assert core.requests == []


async def test_a_client_that_trickles_its_head_is_given_up_too(core: FakeCore) -> None:
    async with (
        EmbeddedServer(core, limits=Limits(head=0.05, idle=100)) as server,
        WireClient(server) as client,
    ):
        assert (await client.ask("/small")).status == 200
        client.send(b"GET /sm")
        assert await client.rest() == b""


async def test_half_a_body_is_a_504_of_the_real_kind(core: FakeCore) -> None:
    async with (
        EmbeddedServer(core, limits=Limits(body=0.05)) as server,
        WireClient(server) as client,
    ):
        client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        answer = await client.answer()
        assert answer.status == 504
        assert answer.header("Content-Type") == "text/plain; charset=utf-8"
        assert json.loads(answer.body)["reason"] == "Timeout"
        assert await client.rest() == b""
    assert core.requests == []


async def test_a_connection_without_requests_is_closed_after_a_while(core: FakeCore) -> None:
    async with (
        EmbeddedServer(core, limits=Limits(idle=0.05)) as server,
        WireClient(server) as client,
    ):
        assert (await client.ask("/small")).status == 200
        assert await client.rest() == b""


@pytest.mark.parametrize("target", ["http://elsewhere/small", "https://elsewhere:1/small"])
async def test_a_whole_url_in_the_request_line_is_its_path(client: WireClient, target: str) -> None:
    assert (await client.ask(target)).body == b'{"a":1}\n'


async def test_options_of_everything_are_answered_with_nothing(client: WireClient) -> None:
    answer = await client.ask("*", method="OPTIONS")
    assert (answer.status, answer.body) == (200, b"")


async def test_a_body_that_trickles_in_is_given_up_too(core: FakeCore) -> None:
    async with (
        EmbeddedServer(core, limits=Limits(body=0.1)) as server,
        WireClient(server) as client,
    ):
        client.send(b"POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
        answering = asyncio.create_task(client.answer())
        while not answering.done():
            client.send(b"x")
            await asyncio.wait((answering,), timeout=0.02)
        assert (await answering).status == 504
    assert core.requests == []


async def test_broken_chunks_behind_a_refusal_end_the_connection(
    client: WireClient, core: FakeCore
) -> None:
    core.answers["/small"] = FakeStream()
    client.send(b"GET /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n400000\r\n")
    client.send(b"x" * 0x400000 + b"zz")
    await client.head()
    assert await client.rest() == b""
