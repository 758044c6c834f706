from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from listwatch.testing import Ending, Match, Recording, ReplayServer
from listwatch.testing.replay.connection import Connection, Reader
from tests.support import tls
from tests.support.vectors import vector, vectors

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]

REQUEST = b"GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n"
EMPTY_LIST = b'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{"kind":"PodList"      }\n'
PARTIAL = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"


@asynccontextmanager
async def _connected(server: ReplayServer, *, with_tls: bool = False) -> AsyncIterator[Streams]:
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", server.port, ssl=tls.client_context() if with_tls else None
    )
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(OSError):  # the other side was there first
            await writer.wait_closed()


async def _ask(server: ReplayServer, request: bytes, size: int) -> bytes:
    async with _connected(server) as (reader, writer):
        writer.write(request)
        return await reader.readexactly(size)


class _Pieces(asyncio.Protocol):
    """Notes each piece as the loop got it, and when."""

    def __init__(self) -> None:
        self.pieces: list[tuple[float, bytes]] = []
        self.ended = asyncio.Event()
        self.error: Exception | None = None
        self.changed = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.pieces.append((asyncio.get_running_loop().time(), data))
        self.changed.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self.error = exc
        self.ended.set()

    @property
    def data(self) -> bytes:
        return b"".join(data for _, data in self.pieces)


async def _pieces(
    server: ReplayServer, request: bytes, size: int, *, with_tls: bool = False
) -> _Pieces:
    """Ask, and collect so many bytes; with 0, all until the server closes."""
    transport, protocol = await asyncio.get_running_loop().create_connection(
        _Pieces, "127.0.0.1", server.port, ssl=tls.client_context() if with_tls else None
    )
    transport.write(request)
    if not size:
        await protocol.ended.wait()
    while len(protocol.data) < size:
        protocol.changed.clear()
        await protocol.changed.wait()
    transport.abort()
    await protocol.ended.wait()
    return protocol


async def test_every_vector_is_played_byte_for_byte() -> None:
    async with ReplayServer(vectors(), match=Match.ORDER) as server:
        for recording in vectors():
            answer = await _ask(server, recording.request, len(recording.response))
            assert answer == recording.response, recording.name
    assert [request.recording for request in server.requests] == list(vectors())


class _Writes(asyncio.Transport):
    """The server's side of a connection, of which every write is kept with its time."""

    def __init__(self, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self.writes: list[tuple[float, bytes]] = []
        self.closed_at: float | None = None
        self._protocol = protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append((asyncio.get_running_loop().time(), bytes(data)))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass  # there is no buffer

    def is_closing(self) -> bool:
        return self.closed_at is not None

    def close(self) -> None:
        if self.closed_at is None:
            self.closed_at = asyncio.get_running_loop().time()
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    abort = close


async def _writes(recording: Recording, speed: float | None) -> _Writes:
    """What a server writes to a client that asks once."""
    reader = Reader()
    protocol = asyncio.StreamReaderProtocol(reader)
    transport = _Writes(protocol)
    protocol.connection_made(transport)
    writer = asyncio.StreamWriter(transport, protocol, reader, asyncio.get_running_loop())
    connection = Connection(reader, writer, speed=speed, choose=lambda *_: recording, targets=list)
    reader.feed_data(REQUEST.replace(b"Host", b"Connection: close\r\nHost"))
    await connection.run()
    return transport


@pytest.mark.virtual_time
@pytest.mark.parametrize("speed", [1.0, 10.0, None])
async def test_each_recorded_read_is_a_write_of_its_own_at_its_time(speed: float | None) -> None:
    recording = vector("3-watch-add-modify-status-delete")
    played = await _writes(recording, speed)
    assert b"".join(data for _, data in played.writes) == recording.response
    assert [(when, len(data)) for when, data in played.writes] == [
        (pytest.approx(seconds / speed if speed is not None else 0.0), size)
        for seconds, size in recording.reads
    ]


@pytest.mark.virtual_time
@pytest.mark.parametrize("speed", [1.0, 10.0])
async def test_the_server_closes_when_it_did(speed: float) -> None:
    recording = Recording("eof", REQUEST, PARTIAL, end=Ending.EOF, meta={"seconds": 70})
    played = await _writes(recording, speed)
    assert played.writes == [(0, PARTIAL)]
    assert played.closed_at == 70 / speed


async def test_it_can_be_asked_over_tls() -> None:
    recording = vector("2-list-default")
    async with ReplayServer([recording], ssl=tls.server_context()) as server:
        assert server.url == f"https://127.0.0.1:{server.port}"
        async with _connected(server, with_tls=True) as (reader, writer):
            for _ in range(2):
                writer.write(recording.request)
                assert await reader.readexactly(len(recording.response)) == recording.response


async def test_a_client_without_tls_is_sent_away() -> None:
    async with (
        ReplayServer([vector("2-list-default")], ssl=tls.server_context()) as server,
        _connected(server) as (reader, writer),
    ):
        writer.write(REQUEST)
        assert not (await reader.read()).startswith(b"HTTP")
    assert server.requests == []


async def test_without_a_speed_nothing_is_waited_for() -> None:
    reads = ((0.0, 10), (3600.0, len(PARTIAL) - 10))
    recording = Recording(
        "hours", REQUEST, PARTIAL, reads=reads, end=Ending.EOF, meta={"seconds": 9000}
    )
    async with ReplayServer([recording]) as server:
        answer = await _pieces(server, REQUEST, 0)
    assert answer.data == PARTIAL


async def test_an_end_of_file_without_the_last_chunk() -> None:
    recording = Recording("eof", REQUEST, PARTIAL, end=Ending.EOF)
    async with ReplayServer([recording]) as server:
        answer = await _pieces(server, REQUEST, 0)
    assert answer.data == PARTIAL
    assert answer.error is None


async def test_an_abort_is_a_reset_where_there_is_no_tls() -> None:
    recording = Recording("abort", REQUEST, PARTIAL, end=Ending.ABORT)
    async with ReplayServer([recording]) as server:
        answer = await _pieces(server, REQUEST, 0)
    assert answer.data == PARTIAL
    assert isinstance(answer.error, ConnectionResetError)


async def test_an_abort_ends_tls_too() -> None:
    recording = Recording("abort", REQUEST, PARTIAL, end=Ending.ABORT)
    async with ReplayServer([recording], ssl=tls.server_context()) as server:
        answer = await _pieces(server, REQUEST, 0, with_tls=True)
    assert answer.data == PARTIAL


async def test_where_the_client_left_the_server_waits_for_that() -> None:
    recording = Recording("client", REQUEST, PARTIAL, end=Ending.CLIENT)
    async with ReplayServer([recording]) as server, _connected(server) as (reader, writer):
        writer.write(REQUEST)
        assert await reader.readexactly(len(PARTIAL)) == PARTIAL
        silent = asyncio.create_task(reader.read())
        for _ in range(100):
            await asyncio.sleep(0)
        assert not silent.done()
        await server.stop()
        assert await silent == b""


async def test_the_connection_is_kept_for_the_next_request() -> None:
    recording = Recording("list", REQUEST, EMPTY_LIST)
    async with ReplayServer([recording]) as server, _connected(server) as (reader, writer):
        for _ in range(3):
            writer.write(REQUEST)
            assert await reader.readexactly(len(EMPTY_LIST)) == EMPTY_LIST
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("request_bytes", "answer"),
    [
        (REQUEST, EMPTY_LIST.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n")),
        (REQUEST, EMPTY_LIST.replace(b"HTTP/1.1", b"HTTP/1.0")),
        (REQUEST.replace(b"Host", b"Connection: close\r\nHost"), EMPTY_LIST),
        (REQUEST.replace(b"HTTP/1.1", b"HTTP/1.0"), EMPTY_LIST),
    ],
    ids=["the answer says so", "an answer of 1.0", "the request says so", "a request of 1.0"],
)
async def test_the_connection_is_closed_where_either_side_says_so(
    request_bytes: bytes, answer: bytes
) -> None:
    async with ReplayServer([Recording("list", REQUEST, answer)]) as server:
        assert (await _pieces(server, request_bytes, 0)).data == answer


async def test_a_request_that_nothing_answers_gets_a_404_that_says_what_there_is() -> None:
    recording = Recording("list", REQUEST, EMPTY_LIST)
    async with ReplayServer([recording]) as server, _connected(server) as (reader, writer):
        writer.write(b"GET /apis HTTP/1.1\r\nHost: x\r\n\r\n")
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        assert head.startswith("HTTP/1.1 404 Not Found\r\n")
        length = int(head.partition("Content-Length: ")[2].partition("\r\n")[0])
        status = json.loads(await reader.readexactly(length))
        assert (status["kind"], status["code"], status["reason"]) == ("Status", 404, "NotFound")
        assert status["message"] == ("no recording answers GET /apis; recorded: GET /api/v1/pods")
        writer.write(REQUEST)  # and the connection goes on
        assert await reader.readexactly(len(EMPTY_LIST)) == EMPTY_LIST
    assert [request.recording for request in server.requests] == [None, recording]


async def test_a_head_request_that_nothing_answers_gets_no_body() -> None:
    async with ReplayServer([]) as server:
        answer = await _pieces(server, b"HEAD /x HTTP/1.0\r\n\r\n", 0)
    assert answer.data.startswith(b"HTTP/1.1 404")
    assert answer.data.endswith(b"\r\n\r\n")


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /p HTTP/1.1\r\nX: y\r\nContent-Length: 5\r\n\r\nhello",
        b"POST /p HTTP/1.1\r\nX: y\r\nTransfer-Encoding: chunked\r\n\r\n"
        b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
    ],
    ids=["length", "chunked"],
)
async def test_requests_are_kept_whole(sent: bytes) -> None:
    recording = Recording("post", b"POST /p HTTP/1.1\r\n\r\n", EMPTY_LIST)
    async with ReplayServer([recording]) as server:
        await _ask(server, sent, len(EMPTY_LIST))
    [request] = server.requests
    assert (request.method, request.target, request.body) == ("POST", "/p", b"hello")
    assert request.headers.get("x") == "y"
    assert request.recording is recording


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01 no HTTP at all\r\n\r\n",
        b"x" * 100_000,
        b"GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["no request", "a head without end", "no length", "no chunk"],
)
async def test_what_is_no_request_gets_a_400(sent: bytes) -> None:
    async with ReplayServer([]) as server:
        assert (await _pieces(server, sent, 0)).data.startswith(b"HTTP/1.1 400 Bad Request")


async def test_a_client_may_go_at_any_time() -> None:
    slow = Recording("slow", REQUEST, PARTIAL, reads=((0.0, 9), (3600.0, len(PARTIAL) - 9)))
    async with ReplayServer([slow], speed=1.0) as server:
        for request in (b"", b"GET", REQUEST, b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\nhi"):
            async with _connected(server) as (_, writer):
                writer.write(request)
                await writer.drain()


async def test_stopping_ends_every_connection_and_can_be_repeated() -> None:
    slow = Recording("slow", REQUEST, PARTIAL, reads=((0.0, 9), (3600.0, len(PARTIAL) - 9)))
    async with ReplayServer([slow], speed=1.0) as server, _connected(server) as (reader, writer):
        writer.write(REQUEST)
        await reader.readexactly(9)
        await server.stop()
        assert await reader.read() == b""
        await server.stop()
        with pytest.raises(RuntimeError, match="not running"):
            _ = server.url


async def test_stopping_gives_up_a_tls_handshake() -> None:
    async with (
        ReplayServer([], ssl=tls.server_context()) as server,
        _connected(server) as (reader, _),
    ):
        await asyncio.sleep(0)
        await server.stop()
        assert await reader.read() == b""


def test_a_recording_that_makes_no_sense_is_refused() -> None:
    too_long = Recording("too long", REQUEST, EMPTY_LIST + b"more")
    with pytest.raises(ValueError, match="too many"):
        ReplayServer([too_long])


async def test_it_can_be_given_a_port() -> None:
    async with ReplayServer([]) as first:
        port = first.port
    async with ReplayServer([], port=port) as second:
        assert second.url == f"http://127.0.0.1:{port}"


@pytest.mark.parametrize("speed", [0, -1.0])
def test_a_speed_of_nothing_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="more than 0"):
        ReplayServer([], speed=speed)
