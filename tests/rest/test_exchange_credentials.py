"""Credentials that the server no longer takes: refreshed once, for all who wait."""

from __future__ import annotations

import asyncio

import pytest

from listwatch.api import (
    Forbidden,
    ListWatchError,
    Unauthorized,
)
from listwatch.rest import ClientConfig
from listwatch.rest.authentication import Authentication
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import Reply, in_turn
from tests.rest.scripted import GET, OK, Asked, Token, busy, only

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H15")]


async def test_they_go_with_every_request_and_leave_other_headers_alone() -> None:
    asked = Asked(only("a"), credentials=Token("a"))
    await asked.ends()
    assert asked.transport.requests[0].headers == {
        "Accept": "application/json",
        "Authorization": "Bearer a",
    }
    assert GET.headers == {"Accept": "application/json"}


@pytest.mark.parametrize("watch", [False, True])
@pytest.mark.parametrize("max_retries", [0, 10])
async def test_a_401_is_repeated_once_with_fresh_ones(watch: bool, max_retries: int) -> None:
    asked = Asked(only("b"), credentials=Token("a", "b"), max_retries=max_retries)
    assert await asked.ends(watch=watch)
    assert [request.headers["Authorization"] for request in asked.transport.requests] == [
        "Bearer a",
        "Bearer b",
    ]


async def test_once_and_no_more() -> None:
    token = Token("a", "b", "c")
    asked = Asked(only("c"), credentials=token)
    error = await asked.fails()
    assert isinstance(error, Unauthorized)
    assert (len(asked.times), token.refreshes) == (2, 1)
    assert error.__notes__ == ["it was shown the made-up token"]


async def test_without_new_ones_it_is_not_repeated() -> None:
    asked = Asked(only("b"), credentials=Token("a"))
    assert isinstance(await asked.fails(), Unauthorized)
    assert len(asked.times) == 1


async def test_without_any_it_is_not_repeated() -> None:
    asked = Asked(only("b"))
    error = await asked.fails()
    assert isinstance(error, Unauthorized)
    assert len(asked.times) == 1
    assert error.__notes__ == ["no credentials were shown to it"]


async def test_a_403_refreshes_nothing() -> None:
    token = Token("a", "b")
    asked = Asked(in_turn(Reply(403, b"")), credentials=token)
    assert isinstance(await asked.fails(), Forbidden)
    assert token.refreshes == 0


async def test_a_server_that_passes_them_over_is_said_to() -> None:
    nobody = b'{"kind":"Status","message":"pods is forbidden: User \\"system:anonymous\\" cannot"}'
    error = await Asked(in_turn(Reply(403, nobody)), credentials=Token("a")).fails()
    assert error.__notes__ == ["it was shown the made-up token, which it does not recognise"]
    error = await Asked(in_turn(Reply(403, nobody))).fails()
    assert not hasattr(error, "__notes__")


async def test_a_certificate_that_stays_is_named_too() -> None:
    config = ClientConfig(
        server="https://a",
        client_cert_data=b"-----BEGIN",
        client_key_data=b"-----BEGIN",
        source="context 'dev' of /k",
    )
    assert Authentication(config).description == "the client certificate (context 'dev' of /k)"


async def test_many_who_are_refused_share_one_refresh() -> None:
    token = Token("a", "b")
    asked = Asked(only("b"), credentials=token)
    responses = await asyncio.gather(*(asked.send() for _ in range(20)))
    assert not any(isinstance(response, ListWatchError) for response in responses)
    assert (token.refreshes, token.most_at_once) == (1, 1)
    for response in responses:
        assert not isinstance(response, ListWatchError)
        await response.read()


async def test_many_who_are_refused_share_one_refresh_that_brings_nothing() -> None:
    token = Token("a")
    asked = Asked(only("b"), credentials=token)
    results = await asyncio.gather(*(asked.send() for _ in range(20)), return_exceptions=True)
    assert all(isinstance(result, Unauthorized) for result in results)
    assert token.refreshes == 1


async def test_who_was_refused_before_a_refresh_needs_none_of_its_own() -> None:
    token = Token("a", "b", "c")

    async def slow(request: HTTPRequest) -> Reply:
        answer = only("b")(request)
        assert isinstance(answer, Reply)
        if answer.status == 401 and request.path == "/slow":
            await asyncio.sleep(60)
        return answer

    asked = Asked(slow, credentials=token)
    late = asyncio.create_task(asked.exchange.send(HTTPRequest(method="GET", path="/slow")))
    await asked.ends()
    response = await late
    assert not isinstance(response, ListWatchError)
    await response.read()
    assert token.refreshes == 1


async def test_what_has_renewed_itself_since_needs_no_refresh() -> None:
    """As a file does that is read again: its `refresh` would find nothing newer."""
    token = Token("a")

    async def renewed_meanwhile(request: HTTPRequest) -> Reply:
        answer = only("b")(request)
        assert isinstance(answer, Reply)
        token.tokens = ["b"]
        return answer

    asked = Asked(renewed_meanwhile, credentials=token)
    assert await asked.ends()
    assert (len(asked.times), token.refreshes) == (2, 0)


async def test_one_who_gives_up_does_not_spoil_the_refresh_for_the_others() -> None:
    token = Token("a", "b")
    asked = Asked(only("b"), credentials=token)
    first = asyncio.create_task(asked.send())
    second = asyncio.create_task(asked.ends())
    await asyncio.sleep(0.5)
    first.cancel()
    assert await second
    assert token.most_at_once == 1


async def test_a_refresh_that_fails_leaves_the_401_with_the_reason() -> None:
    class Broken(Token):
        async def refresh(self) -> bool:
            raise OSError("no such program")

    error = await Asked(only("b"), credentials=Broken("a")).fails()
    assert isinstance(error, Unauthorized)
    assert "no such program" in error.__notes__[-1]
    assert isinstance(error.__cause__, OSError)


async def test_a_refresh_is_no_retry_and_retries_go_on_after_it() -> None:
    answers = iter([Reply(401, b""), busy(429, "1"), busy(429, "1"), OK])
    asked = Asked(lambda request: next(answers), credentials=Token("a", "b"), max_retries=2)
    assert await asked.ends()
    assert asked.times == [0, 1, 2, 3]
