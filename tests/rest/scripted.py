"""Servers that answer by a script, over a transport without sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from listwatch.api import APIResource, GroupVersionResource, ListWatchError
from listwatch.rest.authentication import Authentication
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import Credentials
from listwatch.rest.exchange import Exchange
from listwatch.rest.rate_limit import RateLimiter
from listwatch.rest.retry import RetryPolicy
from listwatch.rest.transport import HTTPRequest, HTTPResponse
from listwatch.rest.warnings import (
    IgnoreWarnings,
    WarningHandler,
)
from listwatch.testing import MemoryTransport, Recording, Reply
from listwatch.testing.transport import Handler

PODS = APIResource(group="", version="v1", name="pods", kind="Pod", namespaced=True)


WIDGETS = GroupVersionResource("example.com", "v1", "widgets")


CONFIG = ClientConfig(server="https://127.0.0.1:6443")


GET = HTTPRequest(method="GET", path="/api/v1/pods", headers={"Accept": "application/json"})


OK = Reply.json({"kind": "PodList", "items": []})


def client_of(handler: Handler, **kwargs: Any) -> tuple[RESTClient, MemoryTransport]:
    transport = MemoryTransport(handler)
    return RESTClient(CONFIG, transport=transport, **kwargs), transport


def pod(name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "a"}, **more}


def pod_list(*items: Any, **metadata: Any) -> dict[str, Any]:
    return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": list(items)}


def replay(recording: Recording) -> Reply:
    return Reply(recording.status, recording.body, recording.headers)


class Pod(msgspec.Struct):
    metadata: dict[str, str]
    node: str = ""


def status(code: int, reason: str = "", message: str = "", **details: Any) -> bytes:
    return json.dumps(
        {
            "kind": "Status",
            "code": code,
            "reason": reason,
            "message": message,
            "details": details or None,
        }
    ).encode()


def busy(code: int = 429, retry_after: str | None = "2", body: bytes = b"busy") -> Reply:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return Reply(code, body, headers)


class Asked:
    """An Exchange over scripted answers."""

    def __init__(
        self,
        handler: Handler,
        *,
        max_retries: int = 10,
        credentials: Credentials | None = None,
        warnings: WarningHandler | None = None,
        rate_limiter: RateLimiter | None = None,
    ) -> None:
        self.transport = MemoryTransport(handler)
        self.exchange = Exchange(
            self.transport,
            authentication=Authentication(
                ClientConfig(server="https://server", credentials=credentials)
            ),
            policy=RetryPolicy(max_retries),
            warnings=warnings or IgnoreWarnings(),
            rate_limiter=rate_limiter,
            silence=30,
        )

    async def send(self, *, watch: bool = False) -> HTTPResponse | ListWatchError:
        return await self.exchange.send(GET, watch=watch)

    async def ends(self, *, watch: bool = False) -> bytes | ListWatchError:
        """Send, read what comes, and see that nothing is left open. The error is that of an empty
        watch.
        """
        response = await self.send(watch=watch)
        body = response if isinstance(response, ListWatchError) else await response.read()
        assert self.transport.open_responses == 0
        return body

    async def fails(self, *, watch: bool = False) -> Exception:
        with pytest.raises(Exception) as caught:  # noqa: PT011 - the test looks at it
            await self.send(watch=watch)
        assert self.transport.open_responses == 0
        return caught.value

    @property
    def times(self) -> list[float]:
        return [request.time for request in self.transport.requests]


class Token:
    """Credentials whose token is refreshed to the next of `tokens`, a second later."""

    description = "the made-up token"

    def __init__(self, *tokens: str) -> None:
        self.tokens = list(tokens)
        self.refreshes = 0
        self.at_once = 0
        self.most_at_once = 0

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.tokens[0]}"}

    async def refresh(self) -> bool:
        self.refreshes += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(1)
        finally:
            self.at_once -= 1
        if len(self.tokens) == 1:
            return False
        self.tokens.pop(0)
        return True


def only(token: str) -> Handler:
    def handle(request: HTTPRequest) -> Reply:
        good = request.headers.get("Authorization") == f"Bearer {token}"
        return OK if good else Reply(401, status(401, "Unauthorized", "Unauthorized"))

    return handle
