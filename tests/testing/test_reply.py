from __future__ import annotations

import asyncio

import pytest

from listwatch.rest.errors import ConnectionLost
from listwatch.testing import HANG, MemoryBody, Pause, Reply

pytestmark = pytest.mark.virtual_time


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _received(body: MemoryBody) -> list[tuple[float, bytes]]:
    found = []
    while piece := await body.receive():
        found.append((_now(), piece))
    return found


async def test_each_part_is_one_read_and_a_pause_is_loop_time() -> None:
    body = MemoryBody(b"a", Pause(2), b"b", b"c", Pause(0.5), Pause(0.5), b"d")
    body.end()
    assert await _received(body) == [(0, b"a"), (2, b"b"), (2, b"c"), (3, b"d")]


async def test_a_pause_is_the_servers_so_a_late_reader_does_not_wait_again() -> None:
    body = MemoryBody(b"a", Pause(2), b"b", Pause(2), b"c")
    body.end()
    assert await body.receive() == b"a"
    await asyncio.sleep(3)
    assert await _received(body) == [(3, b"b"), (4, b"c")]


async def test_a_pause_after_a_push_counts_from_the_push() -> None:
    body = MemoryBody()
    body.begin()
    await asyncio.sleep(5)
    body.push(b"a", Pause(2), b"b")
    body.end()
    assert await _received(body) == [(5, b"a"), (7, b"b")]


async def test_empty_bytes_are_no_end() -> None:
    body = MemoryBody(b"", b"a", b"")
    body.end()
    assert await _received(body) == [(0, b"a")]


async def test_the_end_stays_the_end() -> None:
    body = MemoryBody(b"a")
    body.end()
    assert [await body.receive() for _ in range(3)] == [b"a", b"", b""]
    body.close()
    assert await body.receive() == b""


async def test_a_push_wakes_the_reader() -> None:
    body = MemoryBody()
    reading = asyncio.create_task(body.receive())
    await asyncio.sleep(10)
    assert not reading.done()
    body.push(b"late")
    assert await reading == b"late"


async def test_a_fault_is_raised_each_time() -> None:
    body = MemoryBody(b"a")
    body.fail(ConnectionLost("cut"))
    assert await body.receive() == b"a"
    for _ in range(2):
        with pytest.raises(ConnectionLost, match="cut"):
            await body.receive()


async def test_hang_never_ends_until_it_is_closed() -> None:
    body = MemoryBody(HANG)
    reading = asyncio.create_task(body.receive())
    await asyncio.sleep(86_400)
    assert not reading.done()
    body.close()
    with pytest.raises(ConnectionLost):
        await reading


@pytest.mark.parametrize("parts", [(), (Pause(100),), (HANG,)], ids=["idle", "pause", "hang"])
async def test_close_wakes_a_reader_that_waits(parts: tuple[Pause, ...]) -> None:
    body = MemoryBody(*parts)
    reading = asyncio.create_task(body.receive())
    await asyncio.sleep(1)
    body.close()
    body.close()
    await body.wait_closed()
    with pytest.raises(ConnectionLost, match="closed by this side"):
        await reading
    assert _now() == 1


@pytest.mark.parametrize("seconds", [1, 3])
async def test_a_cancelled_reader_loses_nothing(seconds: float) -> None:
    body = MemoryBody(Pause(2), b"a")
    body.end()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(1):
            await body.receive()
    await asyncio.sleep(seconds - 1)
    assert await _received(body) == [(max(2, seconds), b"a")]


async def test_pending_tells_what_nobody_has_taken() -> None:
    body = MemoryBody(b"a", b"b")
    assert body.pending == 2
    await body.receive()
    assert body.pending == 1


async def test_nothing_can_follow_the_end() -> None:
    body = MemoryBody()
    body.end()
    with pytest.raises(ValueError, match="over already"):
        body.push(b"more")


async def test_a_reply_can_be_given_twice() -> None:
    reply = Reply(200, [b"a", Pause(1), b"b"])
    for _ in range(2):
        pieces = [piece for _, piece in await _received(reply.open_body())]
        assert pieces == [b"a", b"b"]


async def test_a_reply_of_json_says_so() -> None:
    reply = Reply.json({"a": 1}, status=201)
    assert reply.status == 201
    assert reply.headers == {"Content-Type": "application/json"}
    assert await _received(reply.open_body()) == [(0, b'{"a": 1}')]
