"""What is said where there is no way through a proxy: the server, the proxy, and neither user nor
password."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace

import pytest

from listwatch.rest._aiohttp_proxy import ProxyConnector
from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
    TLSFailed,
    TransportError,
    TransportTimeout,
)
from tests.rest.loopback import (
    GET,
    Authority,
    Loopback,
    Peer,
    authority,
    free_port,
    hello,
    transport_to,
)
from tests.rest.proxies import KINDS, LoopbackProxy, MakeProxy

pytestmark = pytest.mark.clause("N2", "N4")


def shown(error: BaseException) -> str:
    """All that a traceback would show of it."""
    text = repr(error) + str(error)
    for below in (error.__cause__, error.__context__):
        if below is not None:
            text += shown(below)
    return text


class TestNoWay:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("scheme", ["http", "https"])
    async def test_nobody_listens_there(self, kind: str, scheme: str) -> None:
        port = free_port()
        async with transport_to(
            f"{scheme}://10.0.0.1:6443", proxy_url=f"{kind}://alice:hunter2@127.0.0.1:{port}"
        ) as transport:
            with pytest.raises(ConnectionRefused) as caught:
                await transport.send(GET)
        assert str(caught.value) == (
            f"cannot connect to the proxy {kind}://127.0.0.1:{port} on the way to"
            f" {scheme}://10.0.0.1:6443: connection refused"
        )
        assert caught.value.url == f"{scheme}://10.0.0.1:6443/x"
        assert "hunter2" not in shown(caught.value)

    async def test_a_name_that_does_not_resolve(self) -> None:
        async with transport_to(
            "https://10.0.0.1", proxy_url="http://alice:hunter2@proxy.invalid:3128"
        ) as transport:
            with pytest.raises(
                ConnectFailed,
                match=r"through the proxy http://proxy\.invalid:3128, whose host name",
            ) as caught:
                await transport.send(GET)
        assert "hunter2" not in shown(caught.value)

    @pytest.mark.parametrize("scheme", ["http", "https"])
    async def test_a_wrong_password(self, locked_proxy: LoopbackProxy, scheme: str) -> None:
        async with (
            locked_proxy as proxy,
            transport_to(
                f"{scheme}://127.0.0.1:1", proxy_url=proxy.url.replace("hunter2", "hunter3")
            ) as transport,
        ):
            with pytest.raises(
                ConnectFailed, match=f"{proxy.shown_url}: it does not accept the user"
            ) as caught:
                await transport.send(GET)
        assert "hunter" not in shown(caught.value)
        assert "alice" not in shown(caught.value)

    @pytest.mark.parametrize("scheme", ["http", "https"])
    async def test_no_password_where_one_is_wanted(
        self, locked_proxy: LoopbackProxy, scheme: str
    ) -> None:
        async with (
            locked_proxy as proxy,
            transport_to(f"{scheme}://127.0.0.1:1", proxy_url=proxy.shown_url) as transport,
        ):
            with pytest.raises(ConnectFailed, match="it wants a user and a password"):
                await transport.send(GET)

    @pytest.mark.parametrize(
        ("kind", "answer", "error", "message"),
        [
            ("http", b"HTTP/1.1 403 Forbidden\r\n\r\n", ConnectFailed, "answers 403 Forbidden"),
            ("https", b"HTTP/1.0 503 No way\r\nA: b\r\n\r\n", ConnectFailed, "answers 503 No way"),
            ("http", b"HTTP/1.1 302\r\n\r\n", ConnectFailed, "it answers 302$"),
            ("http", b"SSH-2.0-OpenSSH_9.6\r\n\r\n", ConnectFailed, "does not answer in HTTP"),
            ("http", b"x" * 200_000, ConnectFailed, "more than 65536 bytes"),
            ("http", b"", ConnectionLost, "closed the connection"),
            ("http", b"HTTP/1.1 200 OK\r\n\r\nhello", ConnectFailed, "went on after its answer"),
            ("socks5", b"HTTP/1.1 400 Bad Request\r\n\r\n", ConnectFailed, "not speak SOCKS5"),
            ("socks5", b"\x05\xff", ConnectFailed, "it wants a user and a password"),
            ("socks5", b"", ConnectionLost, "closed the connection"),
            ("socks5", b"\x05\x00\x05\x02\x00\x01", ConnectFailed, "its rules do not allow it"),
            ("socks5", b"\x05\x00\x05\x04\x00\x01", ConnectFailed, "host unreachable"),
            ("socks5", b"\x05\x00\x05\x05\x00\x01", ConnectionRefused, "connection refused"),
            ("socks5", b"\x05\x00\x05\x63\x00\x01", ConnectFailed, "error 99"),
            ("socks5", b"\x05\x00\x05\x00\x00\x07", ConnectFailed, "breaks the rules"),
            ("socks5", b"\x05\x00\x05\x00\x00", ConnectionLost, "closed the connection"),
        ],
    )
    async def test_it_does_not_open_the_way(
        self,
        make_proxy: MakeProxy,
        kind: str,
        answer: bytes,
        error: type[TransportError],
        message: str,
    ) -> None:
        async with (
            make_proxy(kind, answer=answer) as proxy,
            transport_to("https://10.0.0.1:6443", proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(error, match=message) as caught:
                await transport.send(GET)
            assert type(caught.value) is error
            assert proxy.shown_url in str(caught.value)
            assert "https://10.0.0.1:6443" in str(caught.value)

    async def test_informational_answers_come_before_that_to_connect(
        self, make_proxy: MakeProxy
    ) -> None:
        answer = b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 500 Sorry\r\n\r\n"
        async with (
            make_proxy("http", answer=answer) as proxy,
            transport_to("https://10.0.0.1:6443", proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(ConnectFailed, match="answers 500 Sorry"):
                await transport.send(GET)

    async def test_a_proxy_without_tls_that_is_said_to_have_it(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            await peer.wait_gone()

        async with Loopback(serve) as proxy:
            url = proxy.url.replace("http://", "https://alice:hunter2@")
            async with transport_to("https://10.0.0.1", proxy_url=url) as transport:
                with pytest.raises(TLSFailed, match=r"the proxy https://.*does not speak TLS"):
                    await transport.send(GET)

    async def test_a_server_that_cannot_be_trusted(
        self, proxy: LoopbackProxy, pki: Authority
    ) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            proxy,
            transport_to(server.url, ca_data=authority().ca_pem, proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(
                TLSFailed,
                match=f"connect to {server.url} through the proxy {proxy.shown_url}: certificate",
            ):
                await transport.send(GET)

    async def test_a_server_that_ends_inside_the_handshake(self, proxy: LoopbackProxy) -> None:
        async def serve(peer: Peer) -> None:
            peer.cut()

        async with Loopback(serve) as server, proxy:
            url = server.url.replace("http://", "https://")
            async with transport_to(url, proxy_url=proxy.url) as transport:
                with pytest.raises(ConnectionLost, match=f"through the proxy {proxy.shown_url}"):
                    await transport.send(GET)

    @pytest.mark.clause("B11")
    async def test_a_proxy_that_says_nothing(self, proxy: LoopbackProxy) -> None:
        """The limit is a tiny one, and what it waits for never comes."""
        proxy.silent = True
        async with (
            proxy,
            transport_to("https://10.0.0.1:6443", proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(
                TransportTimeout, match=f"through the proxy {proxy.shown_url}: no connection within"
            ):
                await transport.send(replace(GET, connect_timeout=0.05))

    @pytest.mark.clause("B8")
    async def test_to_be_cancelled_while_the_proxy_thinks(
        self, proxy: LoopbackProxy, sockets: list[socket.socket]
    ) -> None:
        proxy.silent = True
        async with (
            proxy,
            transport_to("https://10.0.0.1:6443", proxy_url=proxy.url) as transport,
        ):
            sending = asyncio.create_task(transport.send(GET))
            await proxy.busy.wait()
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            for _turn in range(5):
                await asyncio.sleep(0)
            assert [held.fileno() for held in sockets] == [-1]

    async def test_no_connection_goes_past_the_proxy_if_aiohttp_has_changed(
        self, proxy: LoopbackProxy, pki: Authority, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr(ProxyConnector, "_create_connection")
        async with (
            Loopback(hello, ssl=pki.server) as server,
            proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(ConnectFailed, match="does not let us use a proxy"):
                await transport.send(GET)
            assert server.peers == []
