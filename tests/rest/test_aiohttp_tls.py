"""TLS over real sockets, and peers that no longer answer."""

from __future__ import annotations

import asyncio
import socket

import pytest

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import (
    ConnectionLost,
    TLSFailed,
)
from listwatch.rest.transport import HTTPRequest
from tests.rest.loopback import (
    GET,
    Authority,
    Loopback,
    Peer,
    authority,
    hello,
    transport_to,
)

pytestmark = pytest.mark.usefixtures("both_ways")


class TestTLS:
    async def test_a_trusted_server(self, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            transport_to(server.url, ca_data=pki.ca_pem) as transport,
        ):
            for _ in range(3):
                assert await (await transport.send(GET)).read() == b"hello"
            assert len(server.peers) == 1

    async def test_another_authority(self, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            transport_to(server.url, ca_data=authority().ca_pem) as transport,
        ):
            with pytest.raises(TLSFailed, match=r"certificate verify failed: .*authority"):
                await transport.send(GET)

    async def test_another_name(self, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            transport_to(server.url, ca_data=pki.ca_pem, tls_server_name="kubernetes") as transport,
        ):
            with pytest.raises(TLSFailed, match=r"certificate verify failed: .*kubernetes"):
                await transport.send(GET)

    async def test_the_name_that_the_configuration_gives(self) -> None:
        named = authority(host="kubernetes.default")
        async with (
            Loopback(hello, ssl=named.server) as server,
            transport_to(
                server.url, ca_data=named.ca_pem, tls_server_name="kubernetes.default"
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_no_verification_where_it_is_turned_off(self, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            transport_to(server.url, insecure_skip_tls_verify=True) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_a_client_certificate(self) -> None:
        mutual = authority(ask_client=True)
        async with (
            Loopback(hello, ssl=mutual.server) as server,
            transport_to(
                server.url,
                ca_data=mutual.ca_pem,
                client_cert_data=mutual.client_pem,
                client_key_data=mutual.client_key_pem,
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_a_client_certificate_that_is_wanted_and_missing(self) -> None:
        mutual = authority(ask_client=True)
        async with (
            Loopback(hello, ssl=mutual.server) as server,
            transport_to(server.url, ca_data=mutual.ca_pem) as transport,
        ):
            with pytest.raises((TLSFailed, ConnectionLost)):
                await transport.send(GET)

    async def test_a_server_without_tls(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await peer.wait_gone()

        async with Loopback(serve) as server:
            url = server.url.replace("http://", "https://")
            async with transport_to(url) as transport:
                with pytest.raises(TLSFailed, match=r"does not speak TLS.*http://"):
                    await transport.send(GET)

    @pytest.mark.clause("B5")
    async def test_a_connection_that_ends_inside_the_handshake(self) -> None:
        async def serve(peer: Peer) -> None:
            peer.cut()

        async with Loopback(serve) as server:
            url = server.url.replace("http://", "https://")
            async with transport_to(url) as transport:
                with pytest.raises(ConnectionLost):
                    await transport.send(GET)

    @pytest.mark.clause("B5")
    async def test_an_end_without_a_goodbye_before_the_answer(self, pki: Authority) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            peer.cut()

        async with (
            Loopback(serve, ssl=pki.server) as server,
            transport_to(server.url, ca_data=pki.ca_pem) as transport,
        ):
            with pytest.raises(ConnectionLost, match="before it answered"):
                await transport.send(GET)

    @pytest.mark.clause("E2")
    async def test_an_end_without_a_goodbye_inside_a_watch(self, pki: Authority) -> None:
        """What a killed API server looks like: no last chunk, no close_notify."""

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"event\n")
            await came.wait()
            peer.cut()

        came = asyncio.Event()
        async with (
            Loopback(serve, ssl=pki.server) as server,
            transport_to(server.url, ca_data=pki.ca_pem) as transport,
        ):
            response = await transport.send(GET)
            assert await response.receive() == b"event\n"
            came.set()
            with pytest.raises(ConnectionLost):
                await response.receive()


class TestDeadPeers:
    """A polite end of a TLS connection waits for the other side, by default for 30 s."""

    pytestmark = pytest.mark.clause("B8")

    @pytest.mark.parametrize("when", ["before the answer", "inside the answer", "after the answer"])
    async def test_a_connection_that_is_given_up_is_gone_at_once(
        self, pki: Authority, when: str, sockets: list[socket.socket]
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            peer.stop_reading()
            if when == "inside the answer":
                await peer.begin_chunked(b"x")
            elif when == "after the answer":
                await peer.answer(b"x", headers="Connection: close\r\n")
            asked.set()
            await done.wait()

        asked, done = asyncio.Event(), asyncio.Event()
        async with (
            Loopback(serve, ssl=pki.server) as server,
            transport_to(server.url, ca_data=pki.ca_pem) as transport,
        ):
            sending = asyncio.create_task(transport.send(GET))
            await asked.wait()
            [held] = sockets
            if when == "before the answer":
                sending.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await sending
            else:
                response = await sending
                assert await response.receive() == b"x"
                if when == "after the answer":
                    assert await response.receive() == b""
                response.close()
            for _turn in range(5):
                await asyncio.sleep(0)
            assert held.fileno() == -1
            done.set()

    @pytest.mark.parametrize("what", ["an idle connection", "an upload that was answered early"])
    async def test_closing_the_transport_does_not_wait_for_them(
        self, pki: Authority, what: str, sockets: list[socket.socket]
    ) -> None:
        async def serve(peer: Peer) -> None:
            if what == "an idle connection":
                await peer.request()
            peer.stop_reading()
            await peer.answer(b"too large", status="413 Payload Too Large")
            await done.wait()

        done = asyncio.Event()
        async with Loopback(serve, ssl=pki.server) as server:
            transport = AiohttpTransport(ClientConfig(server=server.url, ca_data=pki.ca_pem))
            body = b"x" * (16 * 1024 * 1024) if what != "an idle connection" else b""
            response = await transport.send(HTTPRequest(method="POST", path="/", body=body))
            assert await response.read() == b"too large"
            [held] = sockets
            async with asyncio.timeout(5):
                await transport.close()
            assert held.fileno() == -1
            done.set()
