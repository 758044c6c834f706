"""A refresh, as the provider sees it, and what is said when it fails."""

from __future__ import annotations

import asyncio
import base64
import re
import traceback
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import pytest

from listwatch.rest.aiohttp_transport import AiohttpTransport
from listwatch.rest.errors import ConfigError, ConnectionRefused, CredentialsFailed
from listwatch.rest.oidc.provider import OIDCProvider, transport_for
from listwatch.rest.oidc.tokens import OIDCTokens
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import HANG, MemoryTransport, Pause, Reply
from listwatch.testing.transport import Answer
from tests.rest.oidc.fake_idp import CLIENT_ID, CLIENT_SECRET, DISCOVERY, ISSUER, Clock, FakeIdP

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("N2")]

HELD = OIDCTokens("id-s3cret", "refresh-0")
ENDPOINT = "https://idp.example/token"


@pytest.fixture
def idp() -> FakeIdP:
    return FakeIdP(now=Clock())


def provider_at(idp: FakeIdP, **kwargs: Any) -> OIDCProvider:
    arguments: dict[str, Any] = {
        "issuer": ISSUER,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "transport_for": idp.transport_for,
    }
    return OIDCProvider(**arguments | kwargs)


def provider_answering(discovery: Answer | None, token: Answer | None = None) -> OIDCProvider:
    """One that gives these answers."""

    def handle(request: HTTPRequest) -> Answer:
        if request.method == "GET":
            return discovery or Reply.json({"token_endpoint": ENDPOINT})
        assert token is not None
        return token

    return OIDCProvider(
        issuer=ISSUER,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        transport_for=lambda server, ca_data: MemoryTransport(handle),
    )


async def failure_of(provider: OIDCProvider) -> str:
    """What is said when it fails, all of it, and without a secret."""
    with pytest.raises(CredentialsFailed) as caught:
        await provider.refresh(HELD)
    shown = "".join(traceback.format_exception(caught.value))
    basic = base64.b64encode(f"{quote_plus(CLIENT_ID)}:{quote_plus(CLIENT_SECRET)}".encode())
    secrets = (HELD.id_token, HELD.refresh_token, CLIENT_SECRET, quote_plus(CLIENT_SECRET))
    for secret in (*secrets, basic.decode()):
        assert secret not in shown
    message = str(caught.value)
    assert message.startswith(f"OIDC issuer {ISSUER}: ")
    return message


async def test_the_endpoint_is_discovered_and_asked_for_new_tokens(idp: FakeIdP) -> None:
    got = await provider_at(idp, ca_data=b"PEM").refresh(HELD)
    assert got == OIDCTokens(idp.id_token, "refresh-1")
    assert idp.requests == [
        ("GET", DISCOVERY, {}),
        (
            "POST",
            "/token?p=a%20b",
            {"grant_type": "refresh_token", "refresh_token": "refresh-0"},
        ),
    ]
    assert idp.servers == [("https://idp.example", b"PEM")] * 2
    assert idp.all_closed


@pytest.mark.parametrize("issuer", [ISSUER, f"{ISSUER}/"])
async def test_a_slash_at_the_end_of_the_issuer_does_not_matter(idp: FakeIdP, issuer: str) -> None:
    await provider_at(idp, issuer=issuer).refresh(HELD)
    assert idp.requests[0][1] == DISCOVERY


async def test_each_request_has_its_time_limits_and_asks_for_json(idp: FakeIdP) -> None:
    await provider_at(idp).refresh(HELD)
    for transport in idp.transports:
        [received] = transport.requests
        request = received.request
        assert request.connect_timeout
        assert request.first_byte_timeout
        assert request.silence_timeout
        assert request.headers["Accept"] == "application/json"
        assert request.headers["User-Agent"].startswith("listwatch/")
    assert "Authorization" not in idp.transports[0].requests[0].headers
    posted = idp.transports[1].requests[0].headers
    assert posted["Content-Type"] == "application/x-www-form-urlencoded"


async def test_a_provider_that_does_not_rotate_leaves_the_refresh_token(idp: FakeIdP) -> None:
    idp.rotates = False
    assert (await provider_at(idp).refresh(HELD)).refresh_token == "refresh-0"


@pytest.mark.parametrize(("takes", "asked"), [("both", 1), ("header", 1), ("body", 2)])
async def test_the_client_is_named_in_the_header_then_in_the_body_and_then_as_it_worked(
    idp: FakeIdP, takes: str, asked: int
) -> None:
    idp.takes = takes
    provider = provider_at(idp)
    got = await provider.refresh(HELD)
    assert idp.refreshes == asked
    await provider.refresh(got)
    assert idp.refreshes == asked + 1


@pytest.mark.parametrize(("takes", "asked"), [("both", 1), ("body", 1), ("header", 2)])
async def test_a_client_without_a_secret_is_named_in_the_body_first(
    idp: FakeIdP, takes: str, asked: int
) -> None:
    idp.takes, idp.client_secret = takes, ""
    await provider_at(idp, client_secret="").refresh(HELD)
    assert idp.refreshes == asked
    if asked == 1:
        assert "client_secret" not in idp.requests[-1][2]


async def test_a_used_refresh_token_is_refused_and_the_error_says_to_log_in(idp: FakeIdP) -> None:
    provider = provider_at(idp)
    await provider.refresh(HELD)
    message = await failure_of(provider)
    assert "POST https://idp.example/token: HTTP 400, invalid_grant" in message
    assert "<hidden> is not active" in message
    assert "log in again" in message


async def test_of_two_refusals_the_one_that_is_not_about_the_client_is_told(idp: FakeIdP) -> None:
    idp.takes, idp.good = "header", "another"
    assert "invalid_grant" in await failure_of(provider_at(idp))
    idp.takes = "body"
    assert "invalid_grant" in await failure_of(provider_at(idp))


async def test_a_client_that_is_not_known_is_told_as_that(idp: FakeIdP) -> None:
    idp.client_secret = "another"
    assert "HTTP 401, invalid_client" in await failure_of(provider_at(idp))


@pytest.mark.parametrize("status", [400, 200])
async def test_an_error_in_a_form_or_with_status_200_is_understood(status: int) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded;charset=utf-8"}
    body = b"error=unauthorized_client&error_description=not+for%0Ayou"
    message = await failure_of(provider_answering(None, Reply(status, body, form)))
    assert message.endswith(f"HTTP {status}, unauthorized_client: not for you")


async def test_tokens_in_a_form_are_understood() -> None:
    body = b"id_token=new&refresh_token=next"
    provider = provider_answering(None, Reply(200, body, {"Content-Type": "text/plain"}))
    assert await provider.refresh(HELD) == OIDCTokens("new", "next")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Reply(404, b"<html>\n no such\x00 realm", {}), r"HTTP 404. It begins: <html> no such rea"),
        (Reply(500, b""), r"HTTP 500$"),
        (Reply(301, b"", {"Location": "https://new.example/?s=1"}), r"redirect to https://new\.ex"),
        (Reply(200, b"hello"), r"no JSON object. It begins: hello$"),
        (Reply.json(["token_endpoint"]), r"no JSON object"),
        (Reply.json({}), r"has no token_endpoint$"),
        (Reply.json({"token_endpoint": 7}), r"has no token_endpoint$"),
        (Reply.json({"token_endpoint": "http://idp.example/t"}), r"plain http"),
        (Reply.json({"token_endpoint": "/token"}), r"should be a URL"),
        (Reply.json({"token_endpoint": "https://u:pw@idp.example/"}), r"'https://idp\.example/' h"),
        (Reply(200, b" " * (1024 * 1024 + 1)), r"longer than 1048576 bytes"),
        (ConnectionRefused("nobody listens there", url=""), r"nobody listens there$"),
        (HANG, r"no answer within 30 s$"),
        (Reply(200, [b"{", Pause(60)]), r"nothing more came of the answer within 10 s$"),
        (Reply(200, [b" ", Pause(9)] * 10), r"no whole answer came within 45 s$"),
    ],
)
async def test_what_is_wrong_with_the_discovery_is_told(answer: Answer, problem: str) -> None:
    message = await failure_of(provider_answering(answer))
    step = f"GET {ISSUER}/.well-known/openid-configuration: "
    assert step in message
    assert re.search(problem, message), message


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Reply(502, b"<html>id-s3cret", {"Content-Type": "text/html"}), r"HTTP 502.*\(text/html\)"),
        (Reply(400, b"refresh-0"), r"HTTP 400, and no OAuth error \(no Content-Type\)"),
        (
            Reply.json({"error": "x", "error_description": CLIENT_SECRET}, status=400),
            r"x: <hidden>",
        ),
        (Reply.json({"error": "y" * 999}, status=400), r"HTTP 400, y{300}\.\.\.$"),
        (Reply.json({"error": {"code": 7}}, status=403), r"HTTP 403, and no OAuth error"),
        (Reply(307, b"", {"Location": "https://x.example/?t=id-s3cret"}), r"https://x\.example/$"),
        (Reply.json({"access_token": "a"}), r"no id_token.*scope openid"),
        (Reply.json({"id_token": "two words"}), r"the id_token is none:.*position 3"),
        (Reply(200, b'{"id_token": "x'), r"no id_token"),
        (ConnectionRefused("nobody listens there", url=""), r"nobody listens there$"),
    ],
)
async def test_what_is_wrong_with_the_token_endpoint_is_told(answer: Answer, problem: str) -> None:
    message = await failure_of(provider_answering(None, answer))
    assert f"POST {ENDPOINT}: " in message
    assert re.search(problem, message), message


@pytest.mark.parametrize("status", [500, 503])
async def test_a_refresh_that_may_have_been_done_is_not_sent_again(status: int) -> None:
    """A refresh token that is used twice may end the login."""
    posts = 0

    def handle(request: HTTPRequest) -> Answer:
        nonlocal posts
        if request.method == "GET":
            return Reply.json({"token_endpoint": ENDPOINT})
        posts += 1
        return Reply(status, b"")

    provider = OIDCProvider(
        issuer=ISSUER,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        transport_for=lambda server, ca_data: MemoryTransport(handle),
    )
    await failure_of(provider)
    assert posts == 1


async def test_every_transport_is_closed_whatever_happens(idp: FakeIdP) -> None:
    begun = asyncio.Event()

    async def never(request: HTTPRequest) -> Reply | None:
        begun.set()
        await asyncio.Event().wait()
        return None

    idp.before_answer = never
    refresh = asyncio.create_task(provider_at(idp).refresh(HELD))
    await begun.wait()
    refresh.cancel()
    with pytest.raises(asyncio.CancelledError):
        await refresh
    assert idp.all_closed


async def test_the_authorities_are_read_again_for_each_refresh(
    idp: FakeIdP, tmp_path: Path
) -> None:
    ca_file = tmp_path / "ca.crt"
    ca_file.write_bytes(b"one")
    provider = provider_at(idp, ca_file=ca_file)
    got = await provider.refresh(HELD)
    ca_file.write_bytes(b"two")
    await provider.refresh(got)
    assert [ca_data for _, ca_data in idp.servers] == [b"one", b"one", b"two", b"two"]
    ca_file.unlink()
    with pytest.raises(CredentialsFailed, match=r"ca\.crt cannot be read: No such file"):
        await provider.refresh(got)


async def test_without_authorities_the_systems_have_to_do(idp: FakeIdP) -> None:
    await provider_at(idp).refresh(HELD)
    assert idp.servers[0] == ("https://idp.example", None)


@pytest.mark.parametrize(
    ("server", "proxy"),
    [
        ("https://idp.example", "http://proxy.example:3128"),
        ("https://near.example", None),
        ("https://127.0.0.1:5556", None),
        ("http://idp.localhost:5556", None),
    ],
)
def test_the_proxy_of_the_environment_leads_there_too(
    server: str, proxy: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "near.example")
    transport = transport_for(server, None)
    assert isinstance(transport, AiohttpTransport)
    assert transport._config.proxy_url == proxy


@pytest.mark.parametrize(
    "issuer",
    ["https://idp.example:8443/a", "http://127.0.0.1:5556/dex", "http://localhost", ISSUER],
)
def test_an_issuer_is_https_or_this_machine(idp: FakeIdP, issuer: str) -> None:
    assert provider_at(idp, issuer=issuer).issuer == issuer


@pytest.mark.parametrize(
    ("issuer", "problem"),
    [
        ("http://idp.example", "plain http"),
        ("idp.example", "should be a URL"),
        ("ftp://idp.example", "should be a URL"),
        ("https://", "should be a URL"),
        ("https://user:pw-s3cret@idp.example", "user name or password"),
        ("https://idp.example/?a=pw-s3cret", "query or fragment"),
        ("https://idp.example/#a", "query or fragment"),
        ("https://idp.example:port", "host or port"),
        ("https://idp example", "a space"),
    ],
)
def test_any_other_issuer_is_refused(idp: FakeIdP, issuer: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as caught:
        provider_at(idp, issuer=issuer)
    assert "pw-s3cret" not in str(caught.value)


@pytest.mark.clause("N4")
def test_the_secret_of_the_client_is_not_shown(idp: FakeIdP) -> None:
    assert repr(provider_at(idp)) == f"OIDCProvider(issuer={ISSUER!r}, client_id={CLIENT_ID!r})"


def test_the_clients_id_is_needed(idp: FakeIdP) -> None:
    with pytest.raises(ConfigError, match="which client"):
        provider_at(idp, client_id="")
