"""Requests through proxies of each kind, over real sockets."""

from __future__ import annotations

import asyncio
import gzip
import random
import socket
import ssl
from dataclasses import replace
from pathlib import Path

import pytest

from listwatch.api import APIResource, ListOptions
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.errors import (
    ConnectionLost,
    TLSFailed,
)
from listwatch.rest.transport import HTTPRequest
from listwatch.testing.apiserver import EmbeddedServer
from tests.rest.loopback import (
    GET,
    Authority,
    Loopback,
    Peer,
    Received,
    authority,
    hello,
    transport_to,
)
from tests.rest.proxies import KINDS, LoopbackProxy, MakeProxy
from tests.rest.test_aiohttp_loops import LOOPS, NewLoop, name_of

pytestmark = pytest.mark.clause("N2")

CONFIG_MAPS = APIResource(
    group="", version="v1", name="configmaps", kind="ConfigMap", namespaced=True
)


def config_map(name: str, text: str = "") -> dict[str, object]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "default"},
        "data": {"text": text},
    }


@pytest.mark.usefixtures("both_ways")
@pytest.mark.parametrize("tls", [False, True], ids=["http server", "https server"])
class TestBodies:
    async def test_a_long_list_and_a_watch(self, proxy: LoopbackProxy, tls: bool) -> None:
        noise = random.Random(7)
        async with EmbeddedServer(tls=tls) as server, proxy:
            server.core.load(
                config_map(f"c{number}", noise.randbytes(20_000).hex()) for number in range(8)
            )
            config = ClientConfig(server=server.url, ca_data=server.ca_data, proxy_url=proxy.url)
            async with RESTClient(config) as client:
                found = await client.list(CONFIG_MAPS, namespace="default")
                assert [item.name for item in found] == [f"c{number}" for number in range(8)]
                options = ListOptions(resource_version=found.resource_version)
                watch = await client.watch(CONFIG_MAPS, namespace="default", options=options)
                async with watch:
                    events = aiter(watch)
                    for name in ("x", "y"):
                        await client.create(CONFIG_MAPS, config_map(name), namespace="default")
                        event = await anext(events)
                        assert (event.type, event.object.name) == ("ADDED", name)
        assert len(proxy.asked) >= 2

    async def test_gzip(self, proxy: LoopbackProxy, tls: bool, pki: Authority) -> None:
        text = b"".join(b'{"number": %d}' % number for number in range(200_000))

        async def serve(peer: Peer) -> None:
            await peer.request()
            packed = gzip.compress(text)
            pieces = [packed[start : start + 5000] for start in range(0, len(packed), 5000)]
            await peer.begin_chunked(*pieces, headers="Content-Encoding: gzip\r\n")
            await peer.send(b"0\r\n\r\n")
            await peer.wait_gone()

        async with (
            Loopback(serve, ssl=pki.server if tls else None) as server,
            proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            assert await (await transport.send(GET)).read() == text

    @pytest.mark.clause("E2")
    @pytest.mark.parametrize("whose", ["the server's", "the proxy's"])
    async def test_an_end_without_a_goodbye_inside_a_watch(
        self, proxy: LoopbackProxy, tls: bool, whose: str, pki: Authority
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"event\n")
            await came.wait()
            if whose == "the server's":
                peer.cut()
            else:
                proxy.cut()
            await peer.wait_gone()

        came = asyncio.Event()
        async with (
            Loopback(serve, ssl=pki.server if tls else None) as server,
            proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            response = await transport.send(GET)
            assert await response.receive() == b"event\n"
            came.set()
            with pytest.raises(ConnectionLost):
                await response.receive()

    @pytest.mark.clause("B8")
    async def test_what_is_given_up_is_gone_at_once(
        self, proxy: LoopbackProxy, tls: bool, pki: Authority, sockets: list[socket.socket]
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            peer.stop_reading()
            await peer.begin_chunked(b"x")
            await done.wait()

        done = asyncio.Event()
        async with (
            Loopback(serve, ssl=pki.server if tls else None) as server,
            proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            response = await transport.send(GET)
            assert await response.receive() == b"x"
            [held] = sockets
            response.close()
            for _turn in range(5):
                await asyncio.sleep(0)
            assert held.fileno() == -1
            done.set()


class TestWhatTheProxyIsTold:
    async def test_of_an_https_server_no_more_than_where_it_is(
        self, locked_proxy: LoopbackProxy, pki: Authority
    ) -> None:
        async def serve(peer: Peer) -> None:
            while True:
                seen.append(await peer.request())
                await peer.answer(b"hello")

        seen: list[Received] = []
        request = replace(GET, headers={"Authorization": "Bearer t0ken"})
        async with (
            Loopback(serve, ssl=pki.server) as server,
            locked_proxy as proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            for _ in range(3):
                assert await (await transport.send(request)).read() == b"hello"
            how = "SOCKS5" if proxy.kind.startswith("socks") else "CONNECT"
            assert proxy.asked == [f"{how} 127.0.0.1:{server.port}"]  # one connection, kept
            assert "t0ken" not in "".join(proxy.heads)
        assert [received.line for received in seen] == ["GET /x HTTP/1.1"] * 3
        assert not any("Proxy-Authorization" in received.headers for received in seen)

    async def test_of_an_http_server_the_whole_request(self, locked_proxy: LoopbackProxy) -> None:
        async def serve(peer: Peer) -> None:
            seen.append(await peer.request())
            await peer.answer(b"hello")

        seen: list[Received] = []
        request = HTTPRequest(method="GET", path="/a%2Fb", query=(("q", "x y"),))
        async with (
            Loopback(serve) as server,
            locked_proxy as proxy,
            transport_to(f"{server.url}/base", proxy_url=proxy.url) as transport,
        ):
            assert await (await transport.send(request)).read() == b"hello"
            if proxy.kind.startswith("socks"):
                assert proxy.asked == [f"SOCKS5 127.0.0.1:{server.port}"]
            else:
                assert proxy.asked == [f"GET {server.url}/base/a%2Fb?q=x%20y"]
        assert seen[0].line == "GET /base/a%2Fb?q=x%20y HTTP/1.1"
        assert seen[0].headers["Host"] == f"127.0.0.1:{server.port}"
        assert "Proxy-Authorization" not in seen[0].headers

    async def test_names_that_only_it_can_resolve(self, proxy: LoopbackProxy) -> None:
        named = authority(host="api.cluster.invalid")
        async with Loopback(hello, ssl=named.server) as server, proxy:
            proxy.hosts["api.cluster.invalid"] = "127.0.0.1"
            url = f"https://api.cluster.invalid:{server.port}"
            async with transport_to(url, ca_data=named.ca_pem, proxy_url=proxy.url) as transport:
                assert await (await transport.send(GET)).read() == b"hello"
            assert proxy.asked[0].endswith(f" api.cluster.invalid:{server.port}")

    async def test_a_full_name_with_its_dot_which_no_certificate_has(
        self, proxy: LoopbackProxy
    ) -> None:
        named = authority(host="api.cluster.invalid")
        async with Loopback(hello, ssl=named.server) as server, proxy:
            proxy.hosts["api.cluster.invalid."] = "127.0.0.1"
            url = f"https://api.cluster.invalid.:{server.port}"
            async with transport_to(url, ca_data=named.ca_pem, proxy_url=proxy.url) as transport:
                assert await (await transport.send(GET)).read() == b"hello"
            assert proxy.asked[0].endswith(f" api.cluster.invalid.:{server.port}")

    async def test_a_name_in_any_script_as_it_stands_in_the_dns(self, proxy: LoopbackProxy) -> None:
        named = authority(host="xn--bcher-kva.example")
        async with Loopback(hello, ssl=named.server) as server, proxy:
            proxy.hosts["xn--bcher-kva.example"] = "127.0.0.1"
            url = f"https://bücher.example:{server.port}"
            async with transport_to(url, ca_data=named.ca_pem, proxy_url=proxy.url) as transport:
                assert await (await transport.send(GET)).read() == b"hello"
            assert proxy.asked[0].endswith(f" xn--bcher-kva.example:{server.port}")

    async def test_an_ipv6_address(self, proxy: LoopbackProxy) -> None:
        async with Loopback(hello) as server, proxy:
            proxy.hosts |= {"fd00::1": "127.0.0.1", "[fd00::1]": "127.0.0.1"}
            async with transport_to(
                f"http://[fd00::1]:{server.port}", proxy_url=proxy.url
            ) as transport:
                assert await (await transport.send(GET)).read() == b"hello"

    async def test_the_name_in_the_servers_certificate_is_the_configured_one(
        self, proxy: LoopbackProxy
    ) -> None:
        named = authority(host="kubernetes.default")
        async with (
            Loopback(hello, ssl=named.server) as server,
            proxy,
            transport_to(
                server.url,
                ca_data=named.ca_pem,
                tls_server_name="kubernetes.default",
                proxy_url=proxy.url,
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_the_client_certificate_is_for_the_server_alone(
        self, make_proxy: MakeProxy
    ) -> None:
        mutual = authority(ask_client=True)
        curious = authority(name="CA of proxies")
        curious.server.verify_mode = ssl.CERT_OPTIONAL
        curious.server.load_verify_locations(cadata=mutual.ca_pem.decode())
        async with (
            Loopback(hello, ssl=mutual.server) as server,
            make_proxy("https", ssl=curious.server) as proxy,
            transport_to(
                server.url,
                ca_data=mutual.ca_pem + curious.ca_pem,
                client_cert_data=mutual.client_pem,
                client_key_data=mutual.client_key_pem,
                proxy_url=proxy.url,
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"
            assert proxy.certificates == [None]

    @pytest.mark.clause("E4")
    async def test_its_socket_probes_a_silent_peer(
        self, proxy: LoopbackProxy, pki: Authority, sockets: list[socket.socket]
    ) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            await (await transport.send(GET)).read()
            [held] = sockets
            assert held.getpeername()[1] == proxy.port
            assert held.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)


class TestTrustInAnHTTPSProxy:
    @pytest.mark.parametrize("tls", [False, True], ids=["http server", "https server"])
    async def test_the_authority_of_the_cluster_is_enough(self, tls: bool, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server if tls else None) as server,
            LoopbackProxy("https", ssl=pki.server) as proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    @pytest.mark.parametrize("tls", [False, True], ids=["http server", "https server"])
    async def test_also_where_it_is_in_a_file_which_is_read_again_when_it_was_renewed(
        self, tls: bool, tmp_path: Path
    ) -> None:
        old, new = authority(), authority()
        ca_file = tmp_path / "ca.crt"
        ca_file.write_bytes(old.ca_pem)
        async with (
            Loopback(hello, ssl=new.server if tls else None) as server,
            LoopbackProxy("https", ssl=new.server) as proxy,
            transport_to(server.url, ca_file=ca_file, proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(TLSFailed, match="its certificate does not verify"):
                await transport.send(GET)
            ca_file.write_bytes(new.ca_pem)
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_so_is_one_of_the_system(self, make_proxy: MakeProxy, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            make_proxy("https") as proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    @pytest.mark.clause("N4")
    @pytest.mark.parametrize("tls", [False, True], ids=["http server", "https server"])
    async def test_no_other(self, tls: bool, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server if tls else None) as server,
            LoopbackProxy("https", ssl=authority().server) as proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            with pytest.raises(TLSFailed, match=r"its certificate does not verify: .*SSL_CERT_F"):
                await transport.send(GET)
            assert server.peers == []

    @pytest.mark.clause("N4")
    async def test_nor_one_for_another_name(self, pki: Authority) -> None:
        other = authority(host="proxy.example", name="CA of proxies")
        async with (
            Loopback(hello, ssl=pki.server) as server,
            LoopbackProxy("https", ssl=other.server) as proxy,
            transport_to(
                server.url, ca_data=pki.ca_pem + other.ca_pem, proxy_url=proxy.url
            ) as transport,
        ):
            with pytest.raises(TLSFailed, match=r"does not verify: .*127\.0\.0\.1"):
                await transport.send(GET)

    async def test_the_servers_name_is_not_asked_of_it(self) -> None:
        named, own = authority(host="kubernetes"), authority(name="CA of proxies")
        async with (
            Loopback(hello, ssl=named.server) as server,
            LoopbackProxy("https", ssl=own.server) as proxy,
            transport_to(
                server.url,
                ca_data=named.ca_pem + own.ca_pem,
                tls_server_name="kubernetes",
                proxy_url=proxy.url,
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"

    async def test_any_where_the_server_is_not_verified_either(self, pki: Authority) -> None:
        async with (
            Loopback(hello, ssl=pki.server) as server,
            LoopbackProxy("https", ssl=authority().server) as proxy,
            transport_to(
                server.url, insecure_skip_tls_verify=True, proxy_url=proxy.url
            ) as transport,
        ):
            assert await (await transport.send(GET)).read() == b"hello"


@pytest.mark.parametrize("new_loop", LOOPS, ids=name_of)
@pytest.mark.parametrize("kind", KINDS)
def test_over_each_event_loop_a_body_comes_as_it_is_and_an_end_is_seen(
    new_loop: NewLoop, kind: str, make_proxy: MakeProxy, pki: Authority
) -> None:
    body = bytes(range(253)) * 10_000

    async def serve(peer: Peer) -> None:
        await peer.request()
        await peer.begin_chunked(body[:1_000_000], body[1_000_000:])
        await peer.send(b"0\r\n\r\n")
        await peer.request()
        await peer.begin_chunked(b"event\n")
        await came.wait()
        peer.cut()

    async def ask() -> None:
        async with (
            Loopback(serve, ssl=pki.server) as server,
            make_proxy(kind) as proxy,
            transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
        ):
            assert await (await transport.send(GET)).read() == body
            watch = await transport.send(GET)
            assert await watch.receive() == b"event\n"
            came.set()
            with pytest.raises(ConnectionLost):
                await watch.receive()
            assert len(proxy.asked) == 1

    came = asyncio.Event()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(ask())


async def test_another_event_loop_has_connections_of_its_own(
    proxy: LoopbackProxy, pki: Authority
) -> None:
    async with (
        Loopback(hello, ssl=pki.server) as server,
        proxy,
        transport_to(server.url, ca_data=pki.ca_pem, proxy_url=proxy.url) as transport,
    ):

        async def ask() -> bytes:
            return await (await transport.send(GET)).read()

        assert await ask() == b"hello"
        for _ in range(2):
            assert await asyncio.to_thread(asyncio.run, ask()) == b"hello"
        assert len(proxy.asked) == 3
