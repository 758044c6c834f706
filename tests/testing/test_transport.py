from __future__ import annotations

import asyncio

import pytest

from listwatch.rest.errors import (
    ConnectionLost,
    ConnectionRefused,
    TransportError,
    TransportTimeout,
)
from listwatch.rest.transport import HTTPRequest, Transport
from listwatch.testing import HANG, MemoryBody, MemoryTransport, Pause, Reply, in_turn

pytestmark = pytest.mark.virtual_time


def _now() -> float:
    return asyncio.get_running_loop().time()


def _request(
    path: str = "/api/v1/pods", *, first_byte: float | None = None, silence: float | None = None
) -> HTTPRequest:
    return HTTPRequest(
        method="GET",
        path=path,
        query=(("limit", "5"),),
        first_byte_timeout=first_byte,
        silence_timeout=silence,
    )


async def test_it_is_a_transport() -> None:
    transport: Transport = MemoryTransport(lambda _: Reply())
    await transport.close()


async def test_requests_are_kept_with_their_times() -> None:
    transport = MemoryTransport(lambda _: Reply())
    await transport.send(_request("/a"))
    await asyncio.sleep(30)
    await transport.send(_request("/b"))
    assert [(each.method, each.path, each.time) for each in transport.requests] == [
        ("GET", "/a", 0),
        ("GET", "/b", 30),
    ]
    assert transport.requests[0].query == {"limit": "5"}


async def test_status_and_headers_arrive() -> None:
    transport = MemoryTransport(
        lambda _: Reply(429, b"slow", [("Warning", "a"), ("Warning", "b"), ("Retry-After", "1")])
    )
    response = await transport.send(_request())
    assert response.status == 429
    assert response.headers.get("retry-after") == "1"
    assert response.headers.get_all("warning") == ("a", "b")
    assert await response.read() == b"slow"


async def test_the_head_comes_after_its_delay_and_the_body_after_its_pauses() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [Pause(1), b"a"], delay=4))
    response = await transport.send(_request())
    assert _now() == 4
    assert await response.receive() == b"a"
    assert _now() == 5
    assert await response.receive() == b""


async def test_the_pauses_run_from_the_head_even_if_nobody_reads() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [Pause(3), b"a"]))
    response = await transport.send(_request())
    await asyncio.sleep(10)
    assert await response.receive() == b"a"
    assert _now() == 10
    response.close()


async def test_an_async_handler_may_wait() -> None:
    async def handler(_: HTTPRequest) -> Reply:
        await asyncio.sleep(2)
        return Reply(200, b"x")

    response = await MemoryTransport(handler).send(_request())
    assert await response.read() == b"x"
    assert _now() == 2


@pytest.mark.parametrize("raises", [True, False], ids=["raised", "returned"])
async def test_an_exception_of_the_handler_is_what_send_raises(raises: bool) -> None:
    def handler(_: HTTPRequest) -> Exception:
        error = ConnectionRefused("nobody listens")
        if raises:
            raise error
        return error

    transport = MemoryTransport(handler)
    with pytest.raises(ConnectionRefused):
        await transport.send(_request())
    assert transport.open_responses == 0


async def test_answers_in_turn_and_no_further() -> None:
    transport = MemoryTransport(in_turn(Reply(200), ConnectionRefused("no"), Reply(201)))
    assert (await transport.send(_request())).status == 200
    with pytest.raises(ConnectionRefused):
        await transport.send(_request())
    assert (await transport.send(_request())).status == 201
    with pytest.raises(AssertionError, match=r"no answer is left for GET /api/v1/pods\?limit=5"):
        await transport.send(_request())


@pytest.mark.clause("B11")
@pytest.mark.parametrize(
    "answer", [HANG, Reply(delay=100)], ids=["no answer ever", "a late answer"]
)
async def test_no_head_in_time_is_a_timeout(answer: Reply) -> None:
    transport = MemoryTransport(lambda _: answer)
    with pytest.raises(TransportTimeout, match="no answer within 30 s"):
        await transport.send(_request(first_byte=30))
    assert _now() == 30
    assert transport.open_responses == 0


@pytest.mark.clause("B11")
async def test_silence_in_the_body_is_a_timeout_and_closes() -> None:
    body = MemoryBody(b"a", Pause(29), b"b", Pause(31), b"c")
    transport = MemoryTransport(lambda _: Reply(200, body))
    response = await transport.send(_request(silence=30))
    assert [await response.receive(), await response.receive()] == [b"a", b"b"]
    for _ in range(2):
        with pytest.raises(TransportTimeout, match="within 30 s"):
            await response.receive()
    assert _now() == 29 + 30
    assert body.closed
    assert transport.open_responses == 0


async def test_without_a_limit_silence_may_last() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [Pause(86_400), b"a"]))
    response = await transport.send(_request())
    assert await response.read() == b"a"


async def test_a_timeout_around_it_is_not_taken_for_its_own() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [HANG]))
    response = await transport.send(_request(silence=30))
    with pytest.raises(TimeoutError) as caught:
        async with asyncio.timeout(10):
            await response.receive()
    assert not isinstance(caught.value, TransportTimeout)


async def test_a_scripted_timeout_is_not_taken_for_a_silence() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [TransportTimeout("scripted")]))
    response = await transport.send(_request(silence=30))
    with pytest.raises(TransportTimeout, match="scripted"):
        await response.receive()
    assert transport.open_responses == 0


async def test_a_test_can_write_the_body_while_it_is_read() -> None:
    body = MemoryBody()
    transport = MemoryTransport(lambda _: Reply(200, body))
    response = await transport.send(_request())
    body.push(b"one")
    assert await response.receive() == b"one"
    body.fail(ConnectionLost("gone"))
    with pytest.raises(ConnectionLost, match="gone"):
        await response.receive()


@pytest.mark.clause("B8")
async def test_open_responses_are_counted_until_read_or_closed() -> None:
    transport = MemoryTransport(lambda _: Reply(200, [b"a", b"b"]))
    read, closed, cut = [await transport.send(_request()) for _ in range(3)]
    assert transport.open_responses == 3
    await read.read()
    assert transport.open_responses == 2
    closed.close()
    closed.close()
    assert transport.open_responses == 1
    assert await cut.read(1) == b"a"
    assert transport.open_responses == 0


async def test_an_answer_without_a_body_holds_no_connection() -> None:
    transport = MemoryTransport(lambda _: Reply(304))
    response = await transport.send(_request())
    assert transport.open_responses == 0
    assert await response.receive() == b""


async def test_read_with_a_limit_that_is_not_reached_reads_all() -> None:
    response = await MemoryTransport(lambda _: Reply(200, [b"ab", b"cd"])).send(_request())
    assert await response.read(4) == b"abcd"


@pytest.mark.clause("B8")
async def test_cancelling_send_leaves_nothing() -> None:
    cancelled = asyncio.Event()

    async def handler(_: HTTPRequest) -> Reply:
        try:
            await asyncio.sleep(100)
        finally:
            cancelled.set()
        return Reply()

    transport = MemoryTransport(handler)
    sending = asyncio.create_task(transport.send(_request()))
    await asyncio.sleep(1)
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending
    assert cancelled.is_set()
    assert transport.open_responses == 0


@pytest.mark.clause("B8")
async def test_cancelling_a_read_of_the_body_closes_the_connection() -> None:
    body = MemoryBody(b"a")
    transport = MemoryTransport(lambda _: Reply(200, body))
    response = await transport.send(_request())
    reading = asyncio.create_task(response.read())
    await asyncio.sleep(1)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert body.closed
    assert transport.open_responses == 0
    with pytest.raises(ConnectionLost):
        await response.receive()


async def test_closing_the_transport_ends_everything() -> None:
    transport = MemoryTransport(in_turn(Reply(200, [HANG]), HANG))
    response = await transport.send(_request())
    receiving = asyncio.create_task(response.receive())
    sending = asyncio.create_task(transport.send(_request()))
    await asyncio.sleep(1)
    await transport.close()
    await transport.close()
    for task in (receiving, sending):
        with pytest.raises(ConnectionLost):
            await task
    assert transport.open_responses == 0
    with pytest.raises(TransportError, match="the transport is closed"):
        await transport.send(_request())


async def test_an_answer_that_is_none_is_a_mistake_of_the_test() -> None:
    transport = MemoryTransport(lambda _: b"bytes")  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="which is no Reply"):
        await transport.send(_request())
