"""Webhooks over sockets: beside the server, on its own loop."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from listwatch import GroupVersionResource, RESTClient
from listwatch.api.errors import APIError
from listwatch.rest.errors import TransportError
from listwatch.testing.apiserver import EmbeddedServer
from listwatch.testing.apiserver.http.tls import Authority

CONFIG_MAPS = GroupVersionResource.parse("v1/configmaps")
HOOKS = GroupVersionResource.parse(
    "admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
)
Json = dict[str, Any]


class Webhook:
    """Lets everything in, once `answer` has returned."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.left = asyncio.Event()
        self.answer: Callable[[Json], Awaitable[None]] = self._at_once
        self.port = 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[Webhook]:
        self._authority = Authority.shared()
        context = self._authority.server_context("127.0.0.1")
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
        self.port = server.sockets[0].getsockname()[1]
        async with server:
            yield self

    def configuration(self, **more: Any) -> Json:
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "operations": ["*"],
            "resources": ["configmaps"],
        }
        webhook = {
            "name": "one.example.com",
            "clientConfig": {
                "url": f"https://127.0.0.1:{self.port}/",
                "caBundle": base64.b64encode(self._authority.ca_data).decode(),
            },
            "rules": [rule],
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
            **more,
        }
        return {"metadata": {"name": "hooks"}, "webhooks": [webhook]}

    async def _at_once(self, request: Json) -> None:
        """Nothing is to be waited for."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length:")[2].split("\r\n")[0])
            review = json.loads(await reader.readexactly(length))
            self.asked.set()
            answering = asyncio.ensure_future(self.answer(review["request"]))
            leaving = asyncio.ensure_future(reader.read())
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                answering.cancel()
                self.left.set()
                return
            leaving.cancel()
            answering.result()
            review["response"] = {"uid": review["request"]["uid"], "allowed": True}
            body = json.dumps(review).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await writer.drain()
        finally:
            writer.close()


@pytest.fixture
async def webhook() -> AsyncIterator[Webhook]:
    async with Webhook().listening() as listening:
        yield listening


@pytest.fixture
async def server(webhook: Webhook) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer() as running:
        async with RESTClient(running.client_config()) as client:
            await client.create(HOOKS, webhook.configuration())
        yield running


def _config_map(name: str) -> Json:
    return {"metadata": {"name": name}}


async def _never(request: Json) -> None:
    await asyncio.get_running_loop().create_future()


def _names(server: EmbeddedServer) -> list[str]:
    return [found.key[1] for found in server.core.state.log.objects("configmaps")]


async def test_a_webhook_is_left_when_its_client_goes(
    webhook: Webhook, server: EmbeddedServer
) -> None:
    webhook.answer = _never
    body = json.dumps(_config_map("a")).encode()
    _, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(
        b"POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    async with asyncio.timeout(10):
        await webhook.asked.wait()
        writer.close()
        await webhook.left.wait()
    assert _names(server) == []


async def test_a_webhook_is_left_when_the_server_stops(webhook: Webhook) -> None:
    webhook.answer = _never
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        await client.create(HOOKS, webhook.configuration())
        writing = asyncio.ensure_future(
            client.create(CONFIG_MAPS, _config_map("a"), namespace="default")
        )
        async with asyncio.timeout(10):
            await webhook.asked.wait()
            await server.stop()
            await webhook.left.wait()
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    assert _names(server) == []


async def test_a_restart_forgets_who_was_asked(webhook: Webhook, server: EmbeddedServer) -> None:
    webhook.answer = _never
    async with RESTClient(server.client_config(), max_retries=0) as client:
        writing = asyncio.ensure_future(
            client.create(CONFIG_MAPS, _config_map("a"), namespace="default")
        )
        async with asyncio.timeout(10):
            await webhook.asked.wait()
            server.restart()
            await webhook.left.wait()
        with pytest.raises(TransportError):
            await writing
    assert _names(server) == []


async def test_a_webhook_may_ask_the_server_that_asks_it(
    webhook: Webhook, server: EmbeddedServer
) -> None:
    async with RESTClient(server.client_config()) as client:

        async def answer(request: Json) -> None:
            if request["name"] == "a":
                await client.create(CONFIG_MAPS, _config_map("b"), namespace="default")
                await client.list(CONFIG_MAPS, namespace="default")

        webhook.answer = answer
        async with asyncio.timeout(10):
            await client.create(CONFIG_MAPS, _config_map("a"), namespace="default")
    assert sorted(_names(server)) == ["a", "b"]


async def test_many_are_asked_about_at_once(webhook: Webhook, server: EmbeddedServer) -> None:
    together = asyncio.Barrier(20)

    async def answer(request: Json) -> None:
        await together.wait()

    webhook.answer = answer
    async with RESTClient(server.client_config()) as client, asyncio.timeout(20):
        await asyncio.gather(
            *(
                client.create(CONFIG_MAPS, _config_map(f"a-{number}"), namespace="default")
                for number in range(20)
            )
        )
    assert len(_names(server)) == 20


@pytest.mark.parametrize("url", ["https://127.0.0.1:99999/", "https://[::1/"])
async def test_an_address_that_cannot_be_is_told(
    webhook: Webhook, server: EmbeddedServer, url: str
) -> None:
    configuration = webhook.configuration(name="two.example.com", clientConfig={"url": url})
    configuration["metadata"]["name"] = "other"
    server.core.load([{**configuration, "apiVersion": HOOKS.group_version, "kind": _KIND}])
    async with RESTClient(server.client_config(), max_retries=0) as client:
        with pytest.raises(APIError, match="failed call"):
            await client.create(CONFIG_MAPS, _config_map("a"), namespace="default")


_KIND = "ValidatingWebhookConfiguration"
