"""The same over every event loop that is installed: asyncio's own, and uvloop, which gives what it
reads in another way.
"""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable

import pytest

from listwatch.rest.errors import ConnectionLost
from tests.rest.loopback import GET, Authority, Loopback, Peer, chunk, transport_to

pytestmark = pytest.mark.usefixtures("both_ways")

NewLoop = Callable[[], asyncio.AbstractEventLoop]
LOOPS: list[NewLoop] = [asyncio.new_event_loop]
if importlib.util.find_spec("uvloop"):
    import uvloop

    LOOPS.append(uvloop.new_event_loop)
    uvloop.new_event_loop().close()  # the first one of a process opens pipes for all of them


def name_of(loop: NewLoop) -> str:
    return loop.__module__.partition(".")[0]


@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize("new_loop", LOOPS, ids=name_of)
class TestOverALoop:
    @pytest.fixture
    def run(self, new_loop: NewLoop) -> Callable[[Awaitable[None]], None]:
        async def bounded(what: Awaitable[None]) -> None:
            async with asyncio.timeout(30):
                await what

        def run(what: Awaitable[None]) -> None:
            with asyncio.Runner(loop_factory=new_loop) as runner:
                runner.run(bounded(what))

        return run

    @pytest.fixture
    def server(self, pki: Authority, tls: bool) -> Callable[..., Loopback]:
        return lambda serve: Loopback(serve, ssl=pki.server if tls else None)

    def test_a_stream_comes_as_it_is_sent_and_its_connection_is_used_again(
        self, run: Callable[..., None], server: Callable[..., Loopback], pki: Authority, tls: bool
    ) -> None:
        body = bytes(range(253)) * 10_000

        async def serve(peer: Peer) -> None:
            while True:
                await peer.request()
                await peer.begin_chunked(b"event\n")
                await came.wait()
                for begin in range(0, len(body), 6_700):
                    await peer.send(chunk(body[begin : begin + 6_700]))
                await peer.send(b"0\r\n\r\n")

        async def main() -> None:
            ca = pki.ca_pem if tls else None
            async with server(serve) as served, transport_to(served.url, ca_data=ca) as transport:
                for _ in range(2):
                    came.clear()
                    response = await transport.send(GET)
                    assert await response.receive() == b"event\n"
                    came.set()
                    assert await response.read() == body
                assert len(served.peers) == 1

        came = asyncio.Event()
        run(main())

    def test_what_came_is_given_before_the_connection_is_lost(
        self, run: Callable[..., None], server: Callable[..., Loopback], pki: Authority, tls: bool
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked(b"one", b"two")
            await came.wait()
            peer.cut()

        async def main() -> None:
            ca = pki.ca_pem if tls else None
            async with server(serve) as served, transport_to(served.url, ca_data=ca) as transport:
                response = await transport.send(GET)
                body = b""
                while len(body) < 6:
                    body += await response.receive()
                came.set()
                with pytest.raises(ConnectionLost, match="inside the answer"):
                    await response.receive()
                assert body == b"onetwo"

        came = asyncio.Event()
        run(main())

    @pytest.mark.clause("E1")
    def test_what_nobody_reads_stays_with_the_server(
        self, run: Callable[..., None], server: Callable[..., Loopback], pki: Authority, tls: bool
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            while not held_back.is_set():
                sending = asyncio.create_task(peer.send(chunk(b"x" * 65536)))
                done, _ = await asyncio.wait([sending], timeout=0.2)
                if not done:
                    held_back.set()
                await sending
            await peer.send(b"0\r\n\r\n")
            await peer.wait_gone()

        async def main() -> None:
            ca = pki.ca_pem if tls else None
            async with server(serve) as served, transport_to(served.url, ca_data=ca) as transport:
                response = await transport.send(GET)
                await held_back.wait()
                first = await response.receive()
                assert 0 < len(first) <= 640 * 1024
                assert set(await response.read()) == set(b"x")

        held_back = asyncio.Event()
        run(main())

    @pytest.mark.clause("B8")
    def test_closing_wakes_a_reader(
        self, run: Callable[..., None], server: Callable[..., Loopback], pki: Authority, tls: bool
    ) -> None:
        async def serve(peer: Peer) -> None:
            await peer.request()
            await peer.begin_chunked()
            await peer.wait_gone()

        async def main() -> None:
            ca = pki.ca_pem if tls else None
            async with server(serve) as served, transport_to(served.url, ca_data=ca) as transport:
                response = await transport.send(GET)
                reading = asyncio.create_task(response.receive())
                await asyncio.sleep(0)
                response.close()
                with pytest.raises(ConnectionLost, match="closed by its reader"):
                    await reading
                await served.peers[0].gone.wait()

        run(main())
