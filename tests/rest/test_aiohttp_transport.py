"""Requests over real sockets, to a server whose every byte is the test's."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys

import pytest

from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import (
    ConnectFailed,
    ConnectionLost,
    ConnectionRefused,
)
from listwatch.rest.transport import HTTPRequest
from listwatch.watch import Watch
from tests.rest.loopback import (
    GET,
    Loopback,
    Peer,
    connected,
    free_port,
    hello,
    transport_to,
)

pytestmark = pytest.mark.usefixtures("both_ways")


class TestAnswers:
    async def test_status_headers_and_body(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            headers = 'Warning: 299 - "ünïcode"\r\nWarning: 299 - "two"\r\nX-Y: z\r\n'
            await peer.answer(b"made", status="201 Created", headers=headers)
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            assert response.status == 201
            assert response.headers.get_all("warning") == ('299 - "ünïcode"', '299 - "two"')
            assert await response.read() == b"made"
            assert await response.receive() == b""
            assert await response.receive() == b""

    async def test_a_request_travels_as_it_was_made_and_nothing_is_added(self) -> None:
        received = []

        async def serve(peer: Peer) -> None:
            received.append(await peer.request())
            await peer.answer(b"")
            await peer.wait_gone()

        request = HTTPRequest(
            method="PATCH",
            path="/a/system:x/%C3%BC",
            query=(("labelSelector", "a in (b,c)"), ("x", "ü&")),
            headers={"Content-Type": "application/merge-patch+json", "Authorization": "Bearer t"},
            body=b"{}",
        )
        async with (
            Loopback(serve) as server,
            transport_to(f"{server.url}/base/path/") as transport,
        ):
            await (await transport.send(request)).read()
        [got] = received
        assert got.line == (
            "PATCH /base/path/a/system:x/%C3%BC?labelSelector=a%20in%20%28b%2Cc%29&x=%C3%BC%26"
            " HTTP/1.1"
        )
        assert got.headers == {
            "Host": f"127.0.0.1:{server.port}",
            "Content-Type": "application/merge-patch+json",
            "Authorization": "Bearer t",
            "Content-Length": "2",
        }
        assert got.body == b"{}"

    async def test_a_body_of_several_megabytes_arrives(self) -> None:
        body = bytes(range(256)) * 8192

        async def serve(peer: Peer) -> None:
            got = await peer.request()
            await peer.answer(str(got.body == body).encode())
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            request = HTTPRequest(method="POST", path="/", body=body)
            assert await (await transport.send(request)).read() == b"True"

    @pytest.mark.clause("B10")
    async def test_gzip_is_unpacked(self) -> None:
        body = b"list" * 100_000

        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.answer(gzip.compress(body), headers="Content-Encoding: gzip\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            assert await (await transport.send(GET)).read() == body

    async def test_a_redirect_is_an_answer_and_no_cookie_is_kept(self) -> None:
        received = []

        async def serve(peer: Peer) -> None:
            while True:
                received.append(await peer.request())
                headers = "Location: /elsewhere\r\nSet-Cookie: a=b\r\n"
                await peer.answer(b"", status="302 Found", headers=headers)

        async with connected(serve) as (transport, _):
            for _attempt in range(2):
                response = await transport.send(GET)
                assert response.status == 302
                await response.read()
        assert [got.line for got in received] == ["GET /x HTTP/1.1"] * 2
        assert "Cookie" not in received[1].headers

    @pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
    async def test_a_proxy_in_the_environment_is_not_looked_at(
        self, variable: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(variable, f"http://127.0.0.1:{free_port()}")
        async with connected(hello) as (transport, _):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_a_header_of_32_kib_is_no_problem(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.answer(b"", headers=f"Warning: {'x' * 32768}\r\n")
            await peer.wait_gone()

        async with connected(serve) as (transport, _):
            response = await transport.send(GET)
            assert len(response.headers.get("Warning") or "") == 32768
            await response.read()


async def until_cut(response: object) -> None:
    """Return when aiohttp knows that the connection is gone, and nobody has read the body yet."""
    while response._head.content.exception() is None:  # type: ignore[attr-defined]  # noqa: ASYNC110
        await asyncio.sleep(0)  # aiohttp has no event for it


@pytest.mark.clause("E2")
async def test_what_came_before_a_connection_broke_is_read_before_that_is_told() -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.begin_chunked(b"an event, ", b"another")
        peer.cut()

    async with connected(serve) as (transport, server):
        response = await transport.send(GET)
        await until_cut(response)
        assert await response.receive() == b"an event, another"
        with pytest.raises(ConnectionLost):
            await response.receive()
        assert len(server.peers) == 1


class TestOneRequestIsOneRequest:
    pytestmark = pytest.mark.clause("B4", "B5")

    @pytest.mark.parametrize("how", ["cut", "reset"])
    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
    async def test_a_kept_connection_that_breaks_is_no_reason_to_ask_again(
        self, method: str, how: str
    ) -> None:
        """aiohttp by itself sends idempotent requests a second time then."""
        received = []

        async def serve(peer: Peer) -> None:
            received.append(await peer.request())
            await peer.answer(b"hello")
            received.append(await peer.request())
            peer.cut() if how == "cut" else peer.reset()

        async with connected(serve) as (transport, server):
            await (await transport.send(GET)).read()
            with pytest.raises(ConnectionLost, match="before it answered"):
                await transport.send(HTTPRequest(method=method, path="/x", body=b"y"))
            assert len(received) == 2
            assert len(server.peers) == 1

    @pytest.mark.parametrize("how", ["cut", "reset"])
    async def test_nor_is_a_new_one_that_breaks(self, how: str) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            peer.cut() if how == "cut" else peer.reset()

        async with connected(serve) as (transport, server):
            with pytest.raises(ConnectionLost):
                await transport.send(GET)
            assert len(server.peers) == 1

    async def test_a_watch_whose_server_says_nothing_is_opened_as_often_as_we_say(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()

        async with Loopback(serve) as server:
            config = ClientConfig(server=server.url)
            async with RESTClient(config, max_retries=0) as client:
                watch: Watch[bytes] = await client.get().path("/w").decoder(bytes).watch()
                assert [event async for event in watch] == []
            assert len(server.peers) == 1


class TestFailures:
    pytestmark = pytest.mark.clause("B5")

    async def test_refused(self) -> None:
        port = free_port()
        async with transport_to(f"http://127.0.0.1:{port}") as transport:
            with pytest.raises(ConnectionRefused) as caught:
                await transport.send(GET)
        assert str(caught.value) == f"cannot connect to http://127.0.0.1:{port}: connection refused"
        assert caught.value.url == f"http://127.0.0.1:{port}/x"

    async def test_refused_at_every_address_of_a_name(self) -> None:
        async with transport_to(f"http://localhost:{free_port()}") as transport:
            with pytest.raises(ConnectionRefused, match="connection refused"):
                await transport.send(GET)

    async def test_a_name_that_does_not_resolve(self) -> None:
        async with transport_to("http://no-such-host.invalid:80") as transport:
            with pytest.raises(ConnectFailed, match=r"'no-such-host\.invalid' does not resolve"):
                await transport.send(GET)

    async def test_an_address_that_cannot_be_reached(self) -> None:
        async with transport_to("http://255.255.255.255:80") as transport:
            with pytest.raises(ConnectFailed, match=r"cannot connect to http://255\.255"):
                await transport.send(GET)

    async def test_something_that_does_not_speak_http(self) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.send(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")

        async with connected(serve) as (transport, _):
            with pytest.raises(ConnectFailed, match="does not answer in HTTP"):
                await transport.send(GET)

    @pytest.mark.clause("N4")
    async def test_no_message_shows_the_query_or_a_header(self) -> None:
        secret = HTTPRequest(
            method="GET",
            path="/x",
            query=(("token", "hunter2"),),
            headers={"Authorization": "Bearer hunter2"},
        )
        async with transport_to(f"http://127.0.0.1:{free_port()}") as transport:
            with pytest.raises(ConnectionRefused) as caught:
                await transport.send(secret)
        shown = f"{caught.value} {caught.value!r} {caught.value.url} {secret.headers and ''}"
        assert "hunter2" not in shown


def test_aiohttp_is_imported_by_the_first_request_only() -> None:
    program = (
        "import sys, listwatch.rest\n"
        "from listwatch.rest import ClientConfig, RESTClient\n"
        "RESTClient(ClientConfig(server='http://127.0.0.1:1'))\n"
        "assert 'aiohttp' not in sys.modules and 'yaml' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.clause("N4")
@pytest.mark.parametrize(
    "answer", [b"SSH\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
)
async def test_a_token_is_in_nothing_that_hangs_on_an_error(answer: bytes) -> None:
    """aiohttp's own error has the headers that were sent."""

    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.send(answer)

    request = HTTPRequest(method="GET", path="/x", headers={"Authorization": "Bearer SEKRET"})
    async with connected(serve) as (transport, _):
        with pytest.raises(ConnectFailed) as caught:
            await transport.send(request)
    error: BaseException | None = caught.value
    told = ""
    while error is not None:
        told += f"{error!r} {error} {error.args} {vars(error)}"
        error = error.__cause__ or error.__context__
    assert "HTTP" in told
    assert "SEKRET" not in told


@pytest.mark.clause("B8")
async def test_a_connection_that_changes_its_protocol_is_given_up() -> None:
    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"
        )
        await peer.wait_gone()

    async with connected(serve) as (transport, server):
        with pytest.raises(ConnectFailed, match="101"):
            await transport.send(GET)
        await server.peers[0].gone.wait()
