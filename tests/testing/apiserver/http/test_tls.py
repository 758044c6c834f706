from __future__ import annotations

import asyncio
import importlib.util
import shutil
import ssl
from collections.abc import AsyncIterator

import pytest

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.errors import TLSFailed
from listwatch.rest.transport import HTTPRequest
from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.http import tls as tls_module
from listwatch.testing.apiserver.http.limits import Limits
from listwatch.testing.apiserver.http.tls import Authority, TLSFailure, TLSPipe, TLSUnavailable
from listwatch.testing.apiserver.messages import Answer
from tests.testing.apiserver.fake_core import FakeCore, FakeStream, event
from tests.testing.apiserver.wire_client import WireClient

GET = HTTPRequest(method="GET", path="/small")


@pytest.fixture
async def core() -> FakeCore:
    return FakeCore(small=Answer(status=200, body=b"small\n"))


@pytest.fixture
async def server(core: FakeCore) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(core, tls=True) as server:
        yield server


def trusting(server: EmbeddedServer) -> ssl.SSLContext:
    assert server.ca_data is not None
    context = ssl.create_default_context(cadata=server.ca_data.decode())
    if hasattr(ssl, "VERIFY_X509_STRICT"):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


async def test_a_client_that_trusts_the_authority_is_served(server: EmbeddedServer) -> None:
    assert server.url.startswith("https://127.0.0.1:")
    transport = AiohttpTransport(server.client_config())
    assert await (await transport.send(GET)).read() == b"small\n"
    await transport.close()


async def test_the_certificate_satisfies_the_strict_rules(server: EmbeddedServer) -> None:
    async with WireClient(server, tls=trusting(server)) as client:
        assert (await client.ask("/small")).body == b"small\n"


async def test_plain_http_to_the_tls_port_is_told_so(server: EmbeddedServer) -> None:
    async with WireClient(server) as client:
        client.send(b"GET /version HTTP/1.1\r\nHost: x\r\n\r\n")
        assert await client.rest() == (
            b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
        )


@pytest.mark.parametrize(
    "data", [b"\x00\x01 garbage", b"\x16\x03\x01\x00\x05hello", b"\x16" + b"\xff" * 300]
)
async def test_what_is_no_handshake_ends_the_connection(
    server: EmbeddedServer, data: bytes
) -> None:
    async with WireClient(server) as client:
        client.send(data)
        assert b"HTTP" not in await client.rest()
    async with WireClient(server, tls=trusting(server)) as client:
        assert (await client.ask("/small")).status == 200


async def test_a_handshake_that_does_not_go_on_is_given_up(core: FakeCore) -> None:
    async with (
        EmbeddedServer(core, tls=True, limits=Limits(handshake=0.05)) as server,
        WireClient(server) as client,
    ):
        client.send(b"\x16\x03")
        assert await client.rest() == b""


async def test_stopping_does_not_wait_for_handshakes(core: FakeCore) -> None:
    async with EmbeddedServer(core, tls=True) as server, WireClient(server) as client:
        client.send(b"\x16\x03")
        await server.stop()
        assert await client.rest() == b""


async def test_a_large_answer_and_a_watch_go_over_tls(
    server: EmbeddedServer, core: FakeCore
) -> None:
    core.answers["/large"] = Answer(status=200, body=b"x" * 5_000_000)
    stream = core.answers["/watch"] = FakeStream(event(1))
    async with WireClient(server, tls=trusting(server)) as client:
        assert (await client.ask("/large")).body == b"x" * 5_000_000
        client.send(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.head()
        assert await client.chunk() == event(1)
        stream.write(event(2))
        assert await client.chunk() == event(2)


async def test_a_polite_end_says_goodbye_and_a_cut_does_not(
    server: EmbeddedServer, core: FakeCore
) -> None:
    async with WireClient(server, tls=trusting(server)) as client:
        await client.ask("/small", "Connection: close")
        assert await client.rest() == b""
    core.answers["/watch"] = FakeStream(event(1))
    server.faults.add("get /watch: cut after 10 bytes")
    raw, ready = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = trusting(server).wrap_bio(raw, ready, server_hostname="127.0.0.1")
    async with WireClient(server) as client:
        while True:
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                client.send(ready.read())
                raw.write(await client.reader.read(65536))
        tls.write(b"GET /watch HTTP/1.1\r\nHost: x\r\n\r\n")
        client.send(ready.read())
        raw.write(await client.rest())
        raw.write_eof()
        received = tls.read(65536)
        while not received.endswith(event(1)[:10]):
            received += tls.read(65536)
        with pytest.raises(ssl.SSLError, match="EOF"):
            tls.read(65536)


@pytest.mark.parametrize("authority", [False, True])
async def test_a_rotated_certificate_meets_new_connections(
    server: EmbeddedServer, authority: bool
) -> None:
    old_config, old_trust = server.client_config(), trusting(server)
    async with WireClient(server, tls=old_trust) as before:
        first = before.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        server.faults.add("rotate authority" if authority else "rotate certificate")
        assert (await before.ask("/small")).status == 200
        async with WireClient(server, tls=trusting(server)) as after:
            second = after.writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
            assert second != first
    transport = AiohttpTransport(old_config)
    if authority:
        with pytest.raises(TLSFailed):
            await transport.send(GET)
    else:
        assert await (await transport.send(GET)).read() == b"small\n"
    await transport.close()


async def test_a_context_of_your_own_is_taken(core: FakeCore) -> None:
    authority = Authority.shared()
    async with EmbeddedServer(core, tls=authority.server_context("127.0.0.1")) as server:
        assert server.ca_data is None
        context = ssl.create_default_context(cadata=authority.ca_data.decode())
        async with WireClient(server, tls=context) as client:
            assert (await client.ask("/small")).status == 200
        server.rotate_certificate()


@pytest.mark.parametrize("tool", ["cryptography", "openssl"])
async def test_either_tool_makes_certificates(
    core: FakeCore, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if tool == "openssl":
        monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
        if shutil.which("openssl") is None:
            with pytest.raises(TLSUnavailable):
                Authority.make()
            return
    authority = Authority.make()
    context = ssl.create_default_context(cadata=authority.ca_data.decode())
    served = authority.server_context("example.test", "10.0.0.1")
    async with EmbeddedServer(core, tls=served) as server:
        for name in ("localhost", "127.0.0.1", "::1", "example.test", "10.0.0.1"):
            opened = await asyncio.open_connection(
                "127.0.0.1", server.port, ssl=context, server_hostname=name
            )
            opened[1].transport.abort()


def test_without_a_tool_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(TLSUnavailable, match=r"install the package cryptography or the program"):
        Authority.make()


def test_an_openssl_that_fails_is_quoted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/false")
    monkeypatch.setattr(tls_module, "_OPENSSL", "false")
    with pytest.raises(TLSUnavailable, match="openssl could not make a certificate"):
        Authority.make()


def test_keys_are_in_no_repr() -> None:
    assert b"PRIVATE" not in repr(Authority.shared()).encode()


def test_a_broken_record_is_a_failure() -> None:
    pipe = TLSPipe(Authority.shared().server_context())
    with pytest.raises(TLSFailure):
        pipe.receive(b"\x16\x03\x01\x00\x05hello")
    assert pipe.goodbye() == b""
