"""Bodies past aiohttp: the same answers as aiohttp reads, from whatever cuts."""

from __future__ import annotations

import asyncio
import functools
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from aiohttp.client_proto import ResponseHandler
from hypothesis import given, settings
from hypothesis import strategies as st

from listwatch.rest._aiohttp_protocol import READ_SIZE, Incoming, take_bodies
from listwatch.rest._chunked import ChunkError
from listwatch.rest.errors import ConnectionLost
from tests.rest.loopback import GET, Peer, chunk, connected

BUFFER = 64 + 17 * 1024  # bytes: a piece of 64, and a record of TLS

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
BODY = b"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n"
CHUNKED = HEAD + BODY
EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"

ANSWERS = {
    "chunked": CHUNKED,
    "chunked, in capitals": CHUNKED.replace(b"chunked", b"Chunked"),
    "after hints": b"HTTP/1.1 100 Continue\r\n\r\n" + EARLY + CHUNKED,
    "with trailers": HEAD + BODY[:-2] + b"X-Sum: 1\r\nX-More: 2\r\n\r\n",
    "with a length": b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
    "of no length": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "empty": HEAD + b"0\r\n\r\n",
    "no content": b"HTTP/1.1 204 No Content\r\n\r\n",
    "not modified": b"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
    "the last": CHUNKED.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1),
    "with blank chunks of a head": HEAD + b"8\r\n\r\n\r\n\r\n\r\n\r\n0\r\n\r\n",
    "gzip": CHUNKED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n", 1),
}
BROKEN = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.6\r\n\r\nmore\r\n\r\nand more\r\n\r\n",
    "no HTTP at all": b"\r\n\r\n" * 100 + b"<html>",
    "no size": HEAD + b"5\r\nhello\r\nfive\r\nworld\r\n0\r\n\r\n",
    "cut in a chunk": HEAD + b"5\r\nhello\r\n9\r\nworld",
    "cut behind a chunk": HEAD + b"5\r\nhello\r\n",
    "cut in the trailers": HEAD + b"5\r\nhello\r\n0\r\nX-Y: z",
    "cut in the head": HEAD[:-2],
    "cut before its length": b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello",
}


class Wire(asyncio.Transport):
    """What a protocol sees of a connection."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = False
        self.paused = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def is_closing(self) -> bool:
        return self.closing

    def close(self) -> None:
        self.closing = True

    def abort(self) -> None:
        self.closing = True

    def pause_reading(self) -> None:
        self.paused = True

    def resume_reading(self) -> None:
        self.paused = False


@dataclass
class Heard:
    """What became of an answer."""

    status: int | None = None
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""
    complete: bool = False
    usable: bool = False
    """Whether aiohttp would send another request over the connection."""
    taken: bool = False


def incoming(loop: asyncio.AbstractEventLoop) -> Incoming:
    return Incoming(memoryview(bytearray(BUFFER)), loop=loop)


def hear(
    protocol: ResponseHandler, pieces: list[bytes], *, lose: bool = False, head: bool = False
) -> Heard:
    """Feed an answer as asyncio would, and see what came of it."""
    wire = Wire()
    protocol.connection_made(wire)
    protocol.set_response_params(skip_payload=head, auto_decompress=False)
    for piece in pieces:
        if wire.closing:
            break
        if isinstance(protocol, Incoming) and len(piece) <= 64:
            protocol.get_buffer(-1)[: len(piece)] = piece
            protocol.buffer_updated(len(piece))
        else:
            protocol.data_received(piece)
    heard = Heard()
    content = None
    while protocol._buffer:
        message, content = protocol._buffer.popleft()[0]
        heard.status, heard.headers = message.code, message.raw_headers
    if lose:
        protocol.connection_lost(None)
    heard.usable = not wire.closing and not protocol.should_close
    inbox = getattr(protocol, "inbox", None)
    if inbox is not None:
        heard.taken = True
        heard.body, heard.complete = b"".join(inbox._pieces), inbox._ended
        assert content is not None
        assert heard.complete == content.is_eof()
    elif content is not None:
        heard.complete = content.is_eof()
        if lose and content.exception() is not None:
            content.set_exception(None)
        heard.body = content.read_nowait() if content is not aiohttp.EMPTY_PAYLOAD else b""
    assert not wire.paused
    return heard


def cuts_of(data: bytes, places: list[int]) -> list[bytes]:
    ends = [*sorted({place % len(data) for place in places} - {0}), len(data)]
    return [data[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


async def compare(sent: bytes, pieces: list[bytes], **how: bool) -> Heard:
    loop = asyncio.get_running_loop()
    ours = hear(incoming(loop), pieces, **how)
    # A byte at a time: of a read with a fault in it aiohttp gives nothing.
    theirs = hear(ResponseHandler(loop=loop), [sent[n : n + 1] for n in range(len(sent))], **how)
    taken, ours.taken = ours.taken, False
    assert ours == theirs
    ours.taken = taken
    return ours


@pytest.mark.parametrize("name", ANSWERS)
@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_an_answer_is_what_aiohttp_makes_of_it_however_it_is_cut(
    name: str, places: list[int]
) -> None:
    sent = ANSWERS[name]
    for pieces in (cuts_of(sent, places), [sent], [sent[n : n + 1] for n in range(len(sent))]):
        heard = asyncio.run(compare(sent, pieces))
        assert heard.taken == (b"hunked" in sent and heard.status != 304)
        assert heard.complete
        assert heard.usable == (name != "the last")


@pytest.mark.parametrize("name", BROKEN)
@settings(max_examples=30)
@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_a_broken_one_is_as_broken_and_gives_what_came_of_its_body(
    name: str, places: list[int]
) -> None:
    sent = BROKEN[name]
    for pieces in (cuts_of(sent, places), [sent], [sent[n : n + 1] for n in range(len(sent))]):
        heard = asyncio.run(compare(sent, pieces, lose=True))
        assert not heard.complete
        assert not heard.usable
        if heard.taken:
            assert heard.body.startswith(b"hello")


async def test_an_answer_to_head_has_no_body_whatever_it_says() -> None:
    heard = await compare(HEAD, [HEAD], head=True)
    assert (heard.taken, heard.complete, heard.usable) == (False, True, True)


async def test_the_next_answer_of_a_connection_is_taken_too() -> None:
    protocol = incoming(asyncio.get_running_loop())
    for _ in range(3):
        heard = hear(protocol, [CHUNKED])
        assert (heard.body, heard.taken, heard.usable) == (b"hello world", True, True)
    heard = hear(protocol, [ANSWERS["with a length"]])
    assert (heard.body, heard.taken, heard.usable) == (b"hello world", False, True)


async def test_what_follows_an_answer_unasked_makes_its_connection_unusable() -> None:
    for protocol in (
        incoming(asyncio.get_running_loop()),
        ResponseHandler(loop=asyncio.get_running_loop()),
    ):
        assert not hear(protocol, [CHUNKED + b"HTTP/1.1 408 Request Timeout\r\n\r\n"]).usable


async def test_a_head_that_ends_otherwise_is_left_to_aiohttp_with_its_body() -> None:
    sent = CHUNKED.replace(b"\r\n\r\n", b"\n\n", 1)
    protocol = incoming(asyncio.get_running_loop())
    heard = hear(protocol, [sent])
    assert not heard.taken
    assert heard == hear(ResponseHandler(loop=asyncio.get_running_loop()), [sent])


async def test_a_size_that_is_none_closes_the_connection_and_is_told_in_words() -> None:
    protocol = incoming(asyncio.get_running_loop())
    heard = hear(protocol, [BROKEN["no size"]])
    assert heard.body == b"hello"
    assert not heard.usable
    assert protocol.inbox is not None
    assert await protocol.inbox.receive() == b"hello"
    with pytest.raises(ChunkError, match="five"):
        await protocol.inbox.receive()


async def test_a_connection_that_breaks_is_told_with_the_reason_of_the_system() -> None:
    protocol = incoming(asyncio.get_running_loop())
    hear(protocol, [HEAD])
    protocol.connection_lost(ConnectionResetError(104, "reset"))
    assert protocol.inbox is not None
    with pytest.raises(ConnectionResetError, match="reset"):
        await protocol.inbox.receive()


@pytest.mark.clause("E2")
async def test_what_tls_held_back_is_taken_in_one_read() -> None:
    """asyncio reads once when the connection has ended, and drops what does not fit."""
    protocol = incoming(asyncio.get_running_loop())
    usual = protocol.get_buffer(-1)
    assert protocol.get_buffer(64) is usual
    for hint in (65, 300_000):
        assert len(protocol.get_buffer(hint)) >= hint + 16 * 1024
    wire = Wire()
    protocol.connection_made(wire)
    protocol.set_response_params()
    sent = HEAD + chunk(b"x" * 200_000)
    protocol.get_buffer(len(sent))[: len(sent)] = sent
    protocol.buffer_updated(len(sent))
    assert protocol.inbox is not None
    assert await protocol.inbox.receive() == b"x" * 200_000


@pytest.mark.clause("E2")
async def test_a_chunk_that_is_none_is_a_connection_that_is_lost_after_what_came() -> None:
    """Of one aiohttp says nothing at all: its reader waits for ever."""

    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.begin_chunked(b"whole")
        await came.wait()
        await peer.send(b"<html>no chunk</html>\r\n")
        await peer.wait_gone()

    came = asyncio.Event()
    async with connected(serve) as (transport, server):
        response = await transport.send(GET)
        assert await response.receive() == b"whole"
        came.set()
        for _ in range(2):
            with pytest.raises(ConnectionLost, match="breaks the rules of HTTP: b'<html>no chunk"):
                await response.receive()
        await server.peers[0].gone.wait()


class TestWhereAiohttpHasChanged:
    async def test_the_one_that_is_installed_has_not(self) -> None:
        """If this fails for a new aiohttp, bodies are still read, by it, but more slowly."""
        async with aiohttp.TCPConnector() as connector:
            assert take_bodies(connector)
            protocol = connector._factory()
            assert isinstance(protocol, Incoming)
            assert isinstance(protocol, asyncio.BufferedProtocol)
            assert len(protocol.get_buffer(-1)) == READ_SIZE
            assert connector._factory().get_buffer(-1) is protocol.get_buffer(-1)

    @pytest.mark.parametrize("factory", [None, lambda: None, functools.partial(dict, a=1)])
    async def test_protocols_that_are_made_otherwise_are_left_alone(self, factory: Any) -> None:
        async with aiohttp.TCPConnector() as connector:
            connector._factory = factory
            assert not take_bodies(connector)
            assert connector._factory is factory
            del connector._factory
            assert not take_bodies(connector)

    @pytest.mark.parametrize("renamed", ["set_response_params", "feed_data"])
    async def test_a_head_of_which_we_are_not_told_is_not_taken_for_one(
        self, renamed: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(Incoming, renamed, getattr(ResponseHandler, renamed))
        heard = hear(incoming(asyncio.get_running_loop()), [CHUNKED])
        assert (heard.body, heard.taken, heard.usable) == (b"hello world", False, True)

    def test_one_without_such_a_protocol_reads_the_bodies_itself(self) -> None:
        program = (
            "import asyncio, sys, aiohttp\n"
            "sys.modules['aiohttp.client_proto'] = None\n"
            "from listwatch.rest._aiohttp import Connections\n"
            "async def main():\n"
            "    await Connections('http://127.0.0.1:1', None, pooled=True).close()\n"
            "    assert 'listwatch.rest._aiohttp_protocol' not in sys.modules\n"
            "asyncio.run(main())\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)
