"""How long a connection lives: the pool, other event loops, cancellation."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading

import pytest

from listwatch.api import ListOptions
from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import (
    ConnectionLost,
    TransportError,
)
from listwatch.rest.transport import HTTPResponse
from listwatch.watch import Watch
from tests.rest.loopback import (
    GET,
    Authority,
    Loopback,
    Peer,
    connected,
    hello,
    transport_to,
)

pytestmark = pytest.mark.usefixtures("both_ways")


class TestPool:
    async def test_a_connection_is_used_again(self) -> None:
        async with connected(hello) as (transport, server):
            for _ in range(5):
                await (await transport.send(GET)).read()
            assert len(server.peers) == 1

    async def test_one_that_the_server_has_closed_is_not_used_however_busy_the_loop_was(
        self,
    ) -> None:
        closed = threading.Event()

        def serve(listener: socket.socket) -> None:
            for _ in range(2):
                connection, _address = listener.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                closed.set()

        with socket.create_server(("127.0.0.1", 0)) as listener:
            thread = threading.Thread(target=serve, args=(listener,))
            thread.start()
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            async with transport_to(url) as transport:
                assert await (await transport.send(GET)).read() == b"hello"
                closed.wait()  # the loop stands still meanwhile, and sees nothing
                assert await (await transport.send(GET)).read() == b"hello"
            thread.join()

    async def test_many_watches_do_not_hinder_one_another(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"hello")
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            responses = await asyncio.gather(*(transport.send(GET) for _ in range(150)))
            for response in responses:
                assert await response.receive() == b"hello"
            assert len(server.peers) == 150

    @pytest.mark.clause("E4")
    async def test_the_socket_probes_a_silent_peer_and_does_not_wait_to_send(
        self, sockets: list[socket.socket]
    ) -> None:
        async with connected(hello) as (transport, _):
            response = await transport.send(GET)
            [raw] = sockets
            assert raw.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
            assert raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
            if sys.platform == "linux":
                options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_USER_TIMEOUT)
                values = [raw.getsockopt(socket.IPPROTO_TCP, option) for option in options]
                assert values == [30, 30, 60_000]
            await response.read()

    @pytest.mark.clause("B8")
    async def test_close_returns_when_every_connection_is_gone(
        self, sockets: list[socket.socket]
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"x")
            await peer.wait_gone()

        async with Loopback(serve) as server:
            transport = AiohttpTransport(ClientConfig(server=server.url))
            responses = [await transport.send(GET) for _ in range(3)]
            waiting = asyncio.create_task(_drain(responses[0]))
            await transport.close()
            assert [raw.fileno() for raw in sockets] == [-1, -1, -1]
            await transport.close()
            with pytest.raises(ConnectionLost):
                await waiting
            for peer in server.peers:
                await peer.gone.wait()
            with pytest.raises(TransportError, match="is closed"):
                await transport.send(GET)

    @pytest.mark.clause("B8")
    async def test_close_ends_a_request_that_waits_for_its_answer(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            asked.set()
            await peer.wait_gone()

        asked = asyncio.Event()
        async with connected(serve) as (transport, server):
            sending = asyncio.create_task(transport.send(GET))
            await asked.wait()
            await transport.close()
            with pytest.raises(ConnectionLost):
                await sending
            await server.peers[0].gone.wait()

    async def test_closing_one_that_was_never_used_is_fine(self) -> None:
        await AiohttpTransport(ClientConfig(server="http://127.0.0.1:1")).close()


async def _drain(response: HTTPResponse) -> None:
    while await response.receive():
        pass


class TestOtherLoops:
    async def test_a_request_from_another_loop_has_a_connection_of_its_own(self) -> None:
        async with connected(hello) as (transport, server):
            await (await transport.send(GET)).read()

            async def elsewhere() -> bytes:
                return await (await transport.send(GET)).read()

            assert await asyncio.to_thread(asyncio.run, elsewhere()) == b"hello"
            assert await asyncio.to_thread(asyncio.run, elsewhere()) == b"hello"
            assert len(server.peers) == 3
            await (await transport.send(GET)).read()
            assert len(server.peers) == 3
            for peer in server.peers[1:]:
                await peer.gone.wait()
            assert not server.peers[0].gone.is_set()

    async def test_one_that_fails_there_leaves_nothing(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            if peer is server.peers[0]:
                await peer.answer(b"hello")
                await peer.wait_gone()

        async with Loopback(serve) as server, transport_to(server.url) as transport:
            await (await transport.send(GET)).read()

            async def elsewhere() -> None:
                with pytest.raises(ConnectionLost):
                    await transport.send(GET)

            await asyncio.to_thread(asyncio.run, elsewhere())

    async def test_the_client_may_be_closed_from_another_loop(self) -> None:
        async with Loopback(hello) as server:
            transport = AiohttpTransport(ClientConfig(server=server.url))
            await (await transport.send(GET)).read()
            await asyncio.to_thread(asyncio.run, transport.close())
            await server.peers[0].gone.wait()

    async def test_closing_ends_an_answer_on_another_loop(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            await peer.wait_gone()

        async with Loopback(serve) as server:
            transport = AiohttpTransport(ClientConfig(server=server.url))
            response = await transport.send(GET)
            open_there = threading.Event()

            async def elsewhere() -> None:
                foreign = await transport.send(GET)
                open_there.set()
                with pytest.raises(ConnectionLost):
                    await foreign.receive()

            there = asyncio.create_task(asyncio.to_thread(asyncio.run, elsewhere()))
            await asyncio.to_thread(open_there.wait)
            await transport.close()
            await there
            with pytest.raises(ConnectionLost):
                await response.receive()

    def test_a_home_that_ends_takes_its_connections_along_and_the_next_loop_is_home(self) -> None:
        """Nobody closes the client here, and yet no socket is left behind."""
        ports: list[int] = []

        async def main(transports: list[AiohttpTransport]) -> None:
            async with Loopback(hello) as server:
                ports.append(server.port)
                if not transports:
                    transports.append(AiohttpTransport(ClientConfig(server=server.url)))
                transport = transports[0]
                transport._config = ClientConfig(server=server.url)
                for _ in range(2):
                    await (await transport.send(GET)).read()
                assert len(server.peers) == 1

        transports: list[AiohttpTransport] = []
        asyncio.run(main(transports))
        asyncio.run(main(transports))
        asyncio.run(transports[0].close())
        assert len(ports) == 2


class TestCancellation:
    pytestmark = pytest.mark.clause("B8")

    @pytest.mark.parametrize("tls", [False, True])
    async def test_at_any_step_nothing_is_left_open(self, pki: Authority, tls: bool) -> None:
        """Cancelled before the connection, in the handshake, before the head, inside the body."""
        steps = in_the_body = 0

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"x")
            await peer.wait_gone()

        async def ask(transport: AiohttpTransport) -> None:
            nonlocal in_the_body
            response = await transport.send(GET)
            in_the_body += 1
            await response.read()

        async with Loopback(serve, ssl=pki.server if tls else None) as server:
            config = ClientConfig(server=server.url, ca_data=pki.ca_pem if tls else None)
            transport = AiohttpTransport(config)
            while in_the_body < 5:
                task = asyncio.create_task(ask(transport))
                for _ in range(steps):
                    await asyncio.sleep(0)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                steps += 1
            assert steps > 10
            await transport.close()
            for peer in server.peers:
                await peer.gone.wait()

    async def test_a_receive_that_is_cancelled_closes_its_connection(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            await peer.wait_gone()

        async with connected(serve) as (transport, server):
            response = await transport.send(GET)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await response.receive()
            await server.peers[0].gone.wait()

    @pytest.mark.clause("E3")
    async def test_stopping_a_watch_closes_its_connection(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(headers="Content-Type: application/json\r\n")
            await peer.wait_gone()

        async with (
            Loopback(serve) as server,
            RESTClient(ClientConfig(server=server.url)) as client,
        ):
            options = ListOptions(resource_version="7")
            watch: Watch[bytes] = await client.get().path("/w").decoder(bytes).watch(options)
            reading = asyncio.create_task(anext(aiter(watch), None))
            await asyncio.sleep(0)
            watch.stop()
            assert await reading is None
            await server.peers[0].gone.wait()
