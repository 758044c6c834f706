"""An ID token that is renewed when it ends, or the server does not take it, once for all."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from typing import Any

import pytest

from listwatch.rest.credentials import Credentials
from listwatch.rest.errors import ConfigError, CredentialsFailed
from listwatch.rest.oidc.credentials import OIDCCredentials
from listwatch.rest.oidc.tokens import OIDCTokens
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import Reply
from tests.rest.oidc.fake_idp import CLIENT_ID, CLIENT_SECRET, ISSUER, Clock, FakeIdP, jwt
from tests.rest.scripted import OK, Asked, status

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("N2")]


class MemoryStore:
    """What another program might write into, too."""

    def __init__(self) -> None:
        self.written_by_another: OIDCTokens | None = None
        self.kept: list[OIDCTokens] = []

    async def newer(self) -> OIDCTokens | None:
        found, self.written_by_another = self.written_by_another, None
        return found

    async def keep(self, tokens: OIDCTokens) -> None:
        self.kept.append(tokens)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def idp(clock: Clock) -> FakeIdP:
    return FakeIdP(now=clock)


def login(idp: FakeIdP, **kwargs: Any) -> OIDCCredentials:
    """The credentials of who has logged in just now."""
    arguments: dict[str, Any] = {
        "issuer": ISSUER,
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "id_token": idp.id_token,
        "refresh_token": idp.good,
        "transport_for": idp.transport_for,
        "now": idp.now,
    }
    return OIDCCredentials(**arguments | kwargs)


async def token_of(credentials: Credentials) -> str:
    headers = await credentials.headers()
    return headers["Authorization"].removeprefix("Bearer ")


async def test_the_id_token_is_sent_as_long_as_it_is_good(idp: FakeIdP, clock: Clock) -> None:
    credentials, token = login(idp), idp.id_token
    assert await credentials.headers() == {"Authorization": f"Bearer {token}"}
    clock.pass_by(minutes=5, seconds=-11)
    assert await token_of(credentials) == token
    assert not idp.requests


async def test_ten_seconds_before_its_end_it_is_renewed(idp: FakeIdP, clock: Clock) -> None:
    credentials = login(idp)
    clock.pass_by(minutes=5, seconds=-10)
    assert await token_of(credentials) == idp.id_token
    assert (idp.number, idp.refreshes) == (1, 1)
    assert idp.all_closed


async def test_with_a_refresh_token_alone_it_is_got_first(idp: FakeIdP) -> None:
    assert await token_of(login(idp, id_token="")) == idp.id_token
    assert idp.number == 1


async def test_each_renewal_uses_the_refresh_token_of_the_one_before(
    idp: FakeIdP, clock: Clock
) -> None:
    credentials = login(idp)
    for number in range(1, 4):
        clock.pass_by(minutes=5)
        assert await token_of(credentials) == idp.id_token
        assert idp.number == number


@pytest.mark.clause("H15")
async def test_all_who_wait_share_one_renewal(idp: FakeIdP, clock: Clock) -> None:
    credentials = login(idp)
    clock.pass_by(minutes=6)
    tokens = await asyncio.gather(*(token_of(credentials) for _ in range(20)))
    assert set(tokens) == {idp.id_token}
    assert idp.refreshes == 1


@pytest.mark.clause("H15")
async def test_who_gives_up_does_not_end_a_renewal_whose_token_is_used_up(
    idp: FakeIdP, clock: Clock
) -> None:
    answered, go = asyncio.Event(), asyncio.Event()

    async def slow(request: HTTPRequest) -> Reply | None:
        if request.method == "POST":
            answered.set()
            await go.wait()
        return None

    idp.before_answer = slow
    credentials = login(idp)
    clock.pass_by(minutes=6)
    first = asyncio.create_task(token_of(credentials))
    await answered.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    go.set()
    assert await token_of(credentials) == idp.id_token
    assert idp.refreshes == 1


@pytest.mark.clause("H15")
async def test_a_401_renews_a_token_that_seems_to_be_good(idp: FakeIdP) -> None:
    asked = Asked(api_server(idp), credentials=login(idp, id_token=jwt(None, sub="revoked")))
    assert await asked.ends()
    assert (len(asked.times), idp.refreshes) == (2, 1)


@pytest.mark.clause("H15")
async def test_a_403_renews_nothing(idp: FakeIdP) -> None:
    asked = Asked(lambda request: Reply(403, b""), credentials=login(idp))
    await asked.fails()
    assert not idp.requests


async def test_a_server_that_takes_none_does_not_make_us_ask_the_provider_all_the_time(
    idp: FakeIdP, clock: Clock
) -> None:
    asked = Asked(lambda request: Reply(401, b""), credentials=login(idp))
    for _ in range(5):
        await asked.fails()
        clock.pass_by(seconds=1)
    assert idp.refreshes == 1
    clock.pass_by(seconds=10)
    await asked.fails()
    assert idp.refreshes == 2


async def test_a_token_without_a_readable_end_is_sent_until_the_server_refuses_it(
    idp: FakeIdP,
) -> None:
    credentials = login(idp, id_token="opaque")
    assert await token_of(credentials) == "opaque"
    assert not idp.requests
    assert await credentials.refresh()
    assert await token_of(credentials) == idp.id_token


async def test_without_a_refresh_token_it_is_sent_until_the_server_refuses_it(
    idp: FakeIdP, clock: Clock
) -> None:
    token = idp.id_token
    credentials = login(idp, refresh_token="", description='the ID token of user "a" in FILE')
    clock.pass_by(hours=1)
    assert await token_of(credentials) == token
    with pytest.raises(CredentialsFailed, match=r"no refresh token.*log in again") as caught:
        await credentials.refresh()
    assert str(caught.value).startswith('the ID token of user "a" in FILE was not accepted')
    assert token not in str(caught.value)
    error = await Asked(api_server(idp), credentials=credentials).fails()
    assert any("no refresh token" in note for note in error.__notes__)
    assert not idp.requests


async def test_a_provider_that_fails_is_told_to_all_who_wait_and_asked_again_by_the_next(
    idp: FakeIdP, clock: Clock
) -> None:
    async def broken(request: HTTPRequest) -> Reply:
        return Reply(503, b"")

    idp.before_answer = broken
    credentials = login(idp)
    clock.pass_by(minutes=6)
    asks = (token_of(credentials) for _ in range(5))
    failures = await asyncio.gather(*asks, return_exceptions=True)
    assert {str(failure) for failure in failures} == {
        f"OIDC issuer {ISSUER}: GET {ISSUER}/.well-known/openid-configuration: HTTP 503"
    }
    assert all(isinstance(failure, CredentialsFailed) for failure in failures)
    assert len(idp.requests) == 1
    idp.before_answer = None
    assert await token_of(credentials) == idp.id_token


async def test_a_new_token_that_has_expired_already_is_not_renewed_for_each_request(
    idp: FakeIdP, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    idp.lifetime = timedelta(seconds=-60)
    credentials = login(idp)
    for _ in range(3):
        assert await token_of(credentials) == idp.id_token
    assert idp.refreshes == 1
    [record] = caplog.records
    assert record.levelno == logging.WARNING
    assert "is the clock right?" in record.getMessage()
    clock.pass_by(seconds=10)
    assert await credentials.refresh()
    assert idp.refreshes == 2


async def test_new_tokens_are_kept_before_anybody_gets_them(idp: FakeIdP, clock: Clock) -> None:
    store = MemoryStore()
    credentials = login(idp, store=store)
    await credentials.headers()
    assert not store.kept
    clock.pass_by(minutes=6)
    await credentials.headers()
    assert store.kept == [OIDCTokens(idp.id_token, "refresh-1")]


async def test_what_another_program_has_renewed_is_used(idp: FakeIdP, clock: Clock) -> None:
    store = MemoryStore()
    credentials = login(idp, store=store)
    clock.pass_by(minutes=6)
    theirs = idp.id_token
    store.written_by_another = OIDCTokens(theirs, "refresh-9")
    assert await token_of(credentials) == theirs
    assert not idp.requests
    assert not store.kept
    idp.good = "refresh-9"
    clock.pass_by(minutes=6)
    assert await token_of(credentials) == idp.id_token
    assert idp.refreshes == 1


@pytest.mark.parametrize("theirs", ["", "two words", jwt(0)])
async def test_their_refresh_token_is_used_where_their_id_token_is_no_good(
    idp: FakeIdP, clock: Clock, theirs: str
) -> None:
    store = MemoryStore()
    credentials = login(idp, store=store)
    clock.pass_by(minutes=6)
    idp.good = "refresh-9"
    store.written_by_another = OIDCTokens(theirs, "refresh-9")
    assert await token_of(credentials) == idp.id_token
    assert idp.refreshes == 1


async def test_a_login_by_another_program_helps_who_has_no_refresh_token(idp: FakeIdP) -> None:
    store = MemoryStore()
    credentials = login(idp, store=store, refresh_token="", id_token=jwt(0))
    store.written_by_another = OIDCTokens(idp.id_token, "")
    assert await credentials.refresh()
    assert await token_of(credentials) == idp.id_token


async def test_who_comes_second_with_a_refresh_token_finds_what_the_first_one_got(
    idp: FakeIdP, clock: Clock
) -> None:
    store = MemoryStore()
    credentials = login(idp, store=store)
    clock.pass_by(minutes=6)
    theirs = jwt(clock.time + timedelta(minutes=5), sub="theirs")

    async def meanwhile(request: HTTPRequest) -> Reply | None:
        if request.method == "POST":
            idp.good = "refresh-9"
            store.written_by_another = OIDCTokens(theirs, "refresh-9")
        return None

    idp.before_answer = meanwhile
    assert await token_of(credentials) == theirs
    assert not store.kept


def test_one_of_the_tokens_is_needed(idp: FakeIdP) -> None:
    with pytest.raises(ConfigError, match="neither an ID token nor a refresh token"):
        login(idp, id_token="", refresh_token="")


def test_a_token_no_header_can_carry_is_refused(idp: FakeIdP) -> None:
    with pytest.raises(ConfigError, match="position 3"):
        login(idp, id_token="two words")


@pytest.mark.clause("N4")
async def test_nothing_that_is_said_of_it_has_a_secret(
    idp: FakeIdP, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    credentials = login(idp)
    clock.pass_by(minutes=6)
    with caplog.at_level(logging.DEBUG):
        await credentials.headers()
    assert "was renewed" in caplog.text
    said = f"{caplog.text} {credentials!r} {credentials.description}"
    assert ISSUER in repr(credentials)
    for secret in (idp.id_token, "refresh-0", "refresh-1", CLIENT_SECRET):
        assert secret not in said


def test_it_can_be_used_from_one_event_loop_after_another(idp: FakeIdP, clock: Clock) -> None:
    credentials = login(idp)
    for number in (1, 2):
        clock.pass_by(minutes=6)
        assert asyncio.run(token_of(credentials)) == idp.id_token
        assert idp.number == number


def api_server(idp: FakeIdP) -> Any:
    """Takes the newest ID token only."""

    def handle(request: HTTPRequest) -> Reply:
        if request.headers["Authorization"] == f"Bearer {idp.id_token}":
            return OK
        return Reply(401, status(401, "Unauthorized", "Unauthorized"))

    return handle
