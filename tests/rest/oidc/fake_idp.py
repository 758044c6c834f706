"""An OpenID Connect provider that rotates its refresh tokens: each is good for one time."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl, unquote_plus

from listwatch.rest.transport import HTTPRequest
from listwatch.testing import MemoryTransport, Reply
from tests.rest.loopback import Peer

ISSUER = "https://idp.example/realm"
DISCOVERY = "/realm/.well-known/openid-configuration"
CLIENT_ID = "kube rnetes"
CLIENT_SECRET = "s3cret+of the/client"


class Clock:
    """A wall clock that a test sets."""

    def __init__(self) -> None:
        self.time = datetime(2030, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time

    def pass_by(self, **delta: float) -> None:
        self.time += timedelta(**delta)


def jwt(expiry: datetime | float | None, **claims: object) -> str:
    """A token with that `exp`, whose signature is none."""
    if isinstance(expiry, datetime):
        expiry = int(expiry.timestamp())
    if expiry is not None:
        claims["exp"] = expiry
    head, body = ({"alg": "RS256"}, claims)
    return ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (json.dumps(head).encode(), json.dumps(body).encode(), b"no signature")
    )


@dataclass
class FakeIdP:
    """Answers by `handle`, in memory; `serve` does the same on a socket."""

    now: Clock
    lifetime: timedelta = timedelta(minutes=5)
    rotates: bool = True
    takes: str = "both"
    """Where it wants the client's credentials: `header`, `body` or `both`."""
    token_endpoint: str = "https://idp.example/token?p=a+b"
    client_secret: str = CLIENT_SECRET
    good: str = "refresh-0"
    """The one refresh token that it takes."""
    number: int = 0
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)
    """Method, target and form of each."""
    transports: list[MemoryTransport] = field(default_factory=list)
    servers: list[tuple[str, bytes | None]] = field(default_factory=list)
    before_answer: Callable[[HTTPRequest], Awaitable[Reply | None]] | None = None
    """May wait, and may answer in its place."""

    @property
    def id_token(self) -> str:
        """The newest."""
        return jwt(self.now() + self.lifetime, sub="alice", jti=self.number)

    @property
    def refreshes(self) -> int:
        return sum(method == "POST" for method, _, _ in self.requests)

    def transport_for(self, server: str, ca_data: bytes | None) -> MemoryTransport:
        self.servers.append((server, ca_data))
        self.transports.append(MemoryTransport(self.handle))
        return self.transports[-1]

    @property
    def all_closed(self) -> bool:
        return all(
            transport._closed and not transport.open_responses for transport in self.transports
        )

    async def handle(self, request: HTTPRequest) -> Reply:
        form = dict(parse_qsl((request.body or b"").decode()))
        self.requests.append((request.method, request.target, form))
        if self.before_answer is not None:
            instead = await self.before_answer(request)
            if instead is not None:
                return instead
        if request.method == "GET":
            return Reply.json({"issuer": "whoever", "token_endpoint": self.token_endpoint})
        return self.token(form, request.headers.get("Authorization", ""))

    def token(self, form: Mapping[str, str], authorization: str) -> Reply:
        if not self._knows_client(form, authorization):
            return Reply.json({"error": "invalid_client"}, status=401)
        if form["grant_type"] != "refresh_token" or form["refresh_token"] != self.good:
            return Reply.json(
                {
                    "error": "invalid_grant",
                    "error_description": f"{form['refresh_token']} is not active",
                },
                status=400,
            )
        self.number += 1
        answer = {"access_token": "unused", "token_type": "Bearer", "id_token": self.id_token}
        if self.rotates:
            self.good = answer["refresh_token"] = f"refresh-{self.number}"
        return Reply.json(answer)

    def _knows_client(self, form: Mapping[str, str], authorization: str) -> bool:
        in_header = in_body = False
        if authorization:
            name, _, secret = (
                base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
            )
            in_header = (unquote_plus(name), unquote_plus(secret)) == (
                CLIENT_ID,
                self.client_secret,
            )
        elif form.get("client_id") == CLIENT_ID:
            in_body = form.get("client_secret", "") == self.client_secret
        return {"header": in_header, "body": in_body, "both": in_header or in_body}[self.takes]

    async def serve(self, peer: Peer) -> None:
        """One connection of a `Loopback`."""
        while True:
            received = await peer.request()
            method, target, _ = received.line.split(" ")
            reply = await self.handle(
                HTTPRequest(
                    method=method, path=target, headers=received.headers, body=received.body
                )
            )
            assert isinstance(reply.body, bytes)
            await peer.answer(
                reply.body,
                status=f"{reply.status} Whatever",
                headers="Content-Type: application/json\r\n",
            )
