"""The body of an answer over real sockets, and the time limits.

Where a limit in seconds is tested it is a tiny one, and what it waits for never comes.
"""

from __future__ import annotations

import asyncio
import gzip
import random
import socket

import pytest

from listwatch.rest.errors import (
    ConnectionLost,
    TransportError,
    TransportTimeout,
)
from listwatch.rest.transport import HTTPRequest
from tests.rest.loopback import (
    GET,
    Authority,
    Loopback,
    Peer,
    chunk,
    connected,
    hello,
    transport_to,
)

pytestmark = pytest.mark.usefixtures("both_ways")


class TestBody:
    async def test_one_read_gives_all_that_is_there(self) -> None:
        pieces = [b"%d" % n for n in range(1000)]

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(*pieces)
            await peer.send(b"0\r\n\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            reads = []
            while data := await response.receive():
                reads.append(data)
            assert b"".join(reads) == b"".join(pieces)
            assert len(reads) < 10

    async def test_a_head_with_bare_line_feeds_costs_nothing_of_the_body(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n")
            await peer.send(b"5\r\nabc\r\n\r\n3\r\nxyz\r\n0\r\n\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            assert await (await transport.send(GET)).read() == b"abc\r\nxyz"

    @pytest.mark.clause("E1")
    async def test_what_nobody_reads_stays_with_the_server(self) -> None:
        sent = 0

        async def serve(peer: Peer) -> None:
            nonlocal sent
            await peer.request()
            await peer.begin_chunked()
            piece = chunk(b"x" * 65536)
            while True:
                await peer.send(piece)
                sent += len(piece)
                progress.set()

        progress = asyncio.Event()
        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            while True:  # until the server is held back by TCP
                progress.clear()
                try:
                    async with asyncio.timeout(0.2):
                        await progress.wait()
                except TimeoutError:
                    break
            assert sent < 32 * 1024 * 1024
            first = await response.receive()
            assert 0 < len(first) <= 512 * 1024
            response.close()

    @pytest.mark.parametrize("tls", [False, True])
    async def test_a_reader_that_was_held_back_gets_every_byte(
        self, pki: Authority, tls: bool
    ) -> None:
        """Reading stops and goes on many times."""
        body = bytes(range(251)) * 20_000

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            for begin in range(0, len(body), 70_001):
                await peer.send(chunk(body[begin : begin + 70_001]))
            await peer.send(b"0\r\n\r\n")
            await peer.answer(str((await peer.request()).line).encode())
            await peer.wait_gone()

        async with (
            Loopback(serve, ssl=pki.server if tls else None) as server,
            transport_to(server.url, ca_data=pki.ca_pem if tls else None) as transport,
        ):
            response = await transport.send(GET)
            found = []
            while data := await response.receive():
                found.append(data)
                for _turn in range(5):
                    await asyncio.sleep(0)
            assert b"".join(found) == body
            assert max(map(len, found)) <= 512 * 1024
            assert await (await transport.send(GET)).read() == b"GET /x HTTP/1.1"
            assert len(server.peers) == 1

    async def test_extensions_and_trailers_are_no_part_of_it(self) -> None:
        async def serve(peer: Peer) -> None:
            while True:
                await peer.request()
                await peer.begin_chunked()
                await peer.send(b"3;name=value\r\nabc\r\n0\r\nX-Sum: 1\r\n")
                await peer.send(b"X-More: 2\r\n\r\n")

        async with connected(serve) as (transport, server):
            for _ in range(2):
                assert await (await transport.send(GET)).read() == b"abc"
            assert len(server.peers) == 1

    async def test_the_beginning_of_a_long_body_closes_the_connection(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"x" * 5000)
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            response = await transport.send(GET)
            assert await response.read(2048) == b"x" * 2048
            await server.peers[0].gone.wait()

    async def test_the_beginning_of_a_short_body_keeps_the_connection(self) -> None:
        async with connected(hello) as (transport, server):
            for _ in range(3):
                assert await (await transport.send(GET)).read(5) == b"hello"
            assert len(server.peers) == 1

    @pytest.mark.clause("E2")
    async def test_a_body_that_is_cut_raises_connection_lost_after_what_came(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"whole")
            await peer.send(b"64\r\nonly a part")
            await came.wait()
            peer.cut()

        came = asyncio.Event()
        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            body = b""
            while body != b"wholeonly a part":
                body += await response.receive()
            came.set()
            with pytest.raises(ConnectionLost, match="inside the answer") as caught:
                await response.receive()
            assert caught.value.url.endswith("/x")
            with pytest.raises(ConnectionLost):  # ... and from then on
                await response.receive()

    @pytest.mark.clause("E2")
    async def test_a_reset_inside_a_body_raises_connection_lost(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"whole")
            await came.wait()
            peer.reset()

        came = asyncio.Event()
        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            assert await response.receive() == b"whole"
            came.set()
            with pytest.raises(ConnectionLost):
                await response.receive()

    async def test_a_body_shorter_than_it_said_raises_connection_lost(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            with pytest.raises(ConnectionLost):
                await response.read()

    async def test_a_body_without_a_length_ends_with_its_connection(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end")

        async with connected(serve) as (transport, _):
            assert await (await transport.send(GET)).read() == b"to the end"

    async def test_closing_wakes_a_receive_that_waits(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            response = await transport.send(GET)
            waiting = asyncio.create_task(response.receive())
            await asyncio.sleep(0)
            response.close()
            response.close()
            with pytest.raises(ConnectionLost, match="closed by its reader"):
                await waiting
            await server.peers[0].gone.wait()


class TestPacked:
    """Bodies that travel as gzip (B10)."""

    pytestmark = pytest.mark.clause("B10")

    TEXT = b"".join(b"object %d, " % n for n in range(50_000))

    @pytest.mark.parametrize("chunked", [False, True])
    async def test_it_is_unpacked_a_bounded_piece_at_a_time(self, chunked: bool) -> None:
        packed = gzip.compress(self.TEXT)

        async def serve(peer: Peer) -> None:
            while True:
                await peer.request()
                headers = "Content-Encoding: gzip\r\n"
                if chunked:
                    middle = len(packed) // 2
                    await peer.begin_chunked(packed[:middle], packed[middle:], headers=headers)
                    await peer.send(b"0\r\n\r\n")
                else:
                    await peer.answer(packed, headers=headers)

        async with connected(serve) as (transport, server):
            response = await transport.send(GET)
            found = []
            while data := await response.receive():
                found.append(data)
            assert b"".join(found) == self.TEXT
            assert max(map(len, found)) <= 64 * 1024
            assert await response.receive() == b""
            assert await (await transport.send(GET)).read() == self.TEXT
            assert len(server.peers) == 1

    @pytest.mark.clause("E2")
    @pytest.mark.parametrize("how", ["the connection breaks", "the body ends", "it is damaged"])
    async def test_one_that_is_cut_or_damaged_is_given_as_far_as_it_goes(self, how: str) -> None:
        packed = gzip.compress(random.Random(1).randbytes(50_000))
        packed = packed[:-8] + b"checksum" if how == "it is damaged" else packed[:-8]

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(packed, headers="Content-Encoding: gzip\r\n")
            if how == "the body ends":
                await peer.send(b"0\r\n\r\n")
            elif how == "the connection breaks":
                await came.wait()
                peer.cut()
            await peer.wait_gone()

        came = asyncio.Event()
        async with connected(serve) as (transport, server):
            response = await transport.send(GET)
            expected = TransportError if how == "it is damaged" else ConnectionLost
            found = 0
            failures = []
            while len(failures) < 3:
                try:
                    found += len(await response.receive())
                except TransportError as error:
                    failures.append(error)
                came.set()
            assert {type(failure) for failure in failures} == {expected}
            assert "the answer of" in str(failures[0])
            assert found == 50_000 if how != "it is damaged" else found > 32_000
            if how != "the body ends":
                await server.peers[0].gone.wait()

    async def test_what_nobody_asked_for_is_said_when_it_is_read(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.answer(b"???", headers="Content-Encoding: br\r\n", status="502 Bad Gateway")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            assert response.status == 502
            with pytest.raises(TransportError, match="Content-Encoding 'br'"):
                await response.read()

    @pytest.mark.parametrize("encoding", ["identity", "br", "gzip"])
    async def test_an_empty_body_needs_no_unpacking(self, encoding: str) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.answer(b"", headers=f"Content-Encoding: {encoding}\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            assert await (await transport.send(GET)).read() == b""

    async def test_others_have_their_turn_while_much_comes_out_of_one_read(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.answer(
                gzip.compress(bytes(16_000_000)), headers="Content-Encoding: gzip\r\n"
            )
            await peer.wait_gone()

        async def turn() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0)
                turns += 1

        turns = 0
        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            found = len(await response.receive())
            turning = asyncio.create_task(turn())
            while data := await response.receive():
                found += len(data)
            turning.cancel()
            assert found == 16_000_000
            assert turns > 10

    async def test_of_one_that_was_closed_nothing_more_is_given(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            packed = gzip.compress(self.TEXT)
            await peer.begin_chunked(packed, headers="Content-Encoding: gzip\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            assert await response.receive()
            response.close()
            with pytest.raises(ConnectionLost, match="closed by its reader"):
                await response.receive()


class TestTimeLimits:
    pytestmark = pytest.mark.clause("B11")

    async def test_connecting(self) -> None:
        with socket.socket() as full:
            # A listener whose queue is full takes no more connections, and says nothing.
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            port = full.getsockname()[1]
            others = []
            for _ in range(3):
                other = socket.socket()
                other.setblocking(False)
                other.connect_ex(("127.0.0.1", port))
                others.append(other)
            async with transport_to(f"http://127.0.0.1:{port}") as transport:
                request = HTTPRequest(method="GET", path="/", connect_timeout=0.05)
                with pytest.raises(TransportTimeout, match=r"no connection within 0\.05 s"):
                    await transport.send(request)
            for other in others:
                other.close()

    async def test_the_first_byte_of_an_answer(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"HTTP/1.1 200")
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            request = HTTPRequest(
                method="GET", path="/x", connect_timeout=60, first_byte_timeout=0.05
            )
            with pytest.raises(TransportTimeout, match=r"did not answer GET /x within 0\.05 s"):
                await transport.send(request)
            await server.peers[0].gone.wait()

    async def test_the_limit_of_connecting_ends_with_the_connection(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            late = asyncio.Event()
            asyncio.get_running_loop().call_later(0.1, late.set)
            await late.wait()
            await peer.answer(b"late")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            request = HTTPRequest(method="GET", path="/x", connect_timeout=0.09)
            assert await (await transport.send(request)).read() == b"late"

    async def test_silence_inside_a_body(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"begin")
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            request = HTTPRequest(method="GET", path="/x", silence_timeout=0.05)
            response = await transport.send(request)
            assert await response.receive() == b"begin"
            with pytest.raises(TransportTimeout, match=r"within 0\.05 s"):
                await response.receive()
            await server.peers[0].gone.wait()
