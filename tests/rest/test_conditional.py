"""Discovery that need not come again: Etag and 304. Virtual time, no sockets."""

from __future__ import annotations

from pathlib import Path

import pytest

from listwatch import APIError, UnknownResource
from listwatch.rest import Discovery
from listwatch.rest.conditional import read_unless
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import Reply
from tests.rest.scripted import client_of

pytestmark = pytest.mark.virtual_time

DATA = Path(__file__).parent / "data" / "discovery"
BODIES = {
    "/api": (DATA / "api-aggregated.json").read_bytes(),
    "/apis": (DATA / "apis-aggregated.json").read_bytes(),
}
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


class Tagging:
    """A server with Etags, as a real one has them."""

    def __init__(self) -> None:
        self.bodies = dict(BODIES)
        self.asked: list[tuple[str, str]] = []
        self.sent = 0

    def __call__(self, request: HTTPRequest) -> Reply:
        body = self.bodies[request.path]
        etag = f'"{hash(body)}"'
        wanted = request.headers.get("If-None-Match", "")
        self.asked.append((request.path, wanted))
        headers = {"Content-Type": AGGREGATED, "Etag": etag, "Vary": "Accept"}
        if wanted == etag:
            return Reply(304, b"", headers)
        self.sent += len(body)
        return Reply(200, body, headers)


async def test_what_has_not_changed_is_not_sent_again() -> None:
    server = Tagging()
    client, transport = client_of(server)
    discovery = Discovery(client)
    before = await discovery.resources()
    sent = server.sent
    await discovery.refresh()
    assert await discovery.resources() == before
    assert server.sent == sent
    assert [path for path, _ in server.asked] == ["/api", "/apis"] * 2
    assert all(etag for _, etag in server.asked[2:])
    assert transport.open_responses == 0


async def test_what_has_changed_is_sent_again_alone() -> None:
    server = Tagging()
    client, _ = client_of(server)
    discovery = Discovery(client)
    await discovery.resolve("widgets")
    server.bodies["/apis"] = b'{"kind":"APIGroupDiscoveryList","items":[]}'
    sent = server.sent
    await discovery.refresh()
    assert server.sent == sent + len(server.bodies["/apis"])
    with pytest.raises(UnknownResource):
        await discovery.resolve("widgets")
    assert (await discovery.resolve("pods")).name == "pods"


async def test_a_server_without_etags_is_asked_plainly() -> None:
    asked: list[str | None] = []

    def untagged(request: HTTPRequest) -> Reply:
        asked.append(request.headers.get("If-None-Match"))
        return Reply(200, BODIES[request.path], {"Content-Type": AGGREGATED})

    client, _ = client_of(untagged)
    discovery = Discovery(client)
    await discovery.resolve("widgets")
    await discovery.refresh()
    assert asked == [None] * 4


async def test_a_304_that_nobody_asked_for_is_an_error() -> None:
    client, transport = client_of(lambda request: Reply(304, b"", {}))
    with pytest.raises(APIError) as caught:
        await read_unless(client.request("GET").path("/api"), "")
    assert caught.value.code == 304
    assert transport.open_responses == 0
