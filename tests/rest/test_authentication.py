"""Who asks: credentials of any class, when they are renewed, and what goes with a request."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from listwatch.api import Forbidden, Unauthorized
from listwatch.rest.authentication import Authentication, Proof
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import ClientCertificate, StaticToken
from listwatch.rest.errors import CredentialsFailed
from listwatch.rest.impersonation import Impersonation
from listwatch.rest.transport import HTTPRequest
from listwatch.testing import MemoryTransport, Reply
from tests.rest.scripted import Asked, Token, only, status

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("H15")]

SECRET = "s3cret-of-alice"


@dataclass
class Rotating:
    """Somebody's own credentials: a plain dataclass has no hash."""

    token: str
    refreshes: int = 0

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    async def refresh(self) -> bool:
        self.refreshes += 1
        self.token = "new"
        return True


class Signed(Rotating):
    """A new header with every request, such as a signature of the time or a nonce."""

    count = itertools.count()

    async def headers(self) -> Mapping[str, str]:
        return {**await super().headers(), "X-Nonce": str(next(self.count))}


class Failing(Token):
    async def refresh(self) -> bool:
        await super().refresh()
        raise CredentialsFailed("the single sign-on does not answer")


@pytest.mark.parametrize("kind", [Rotating, Signed])
async def test_credentials_of_any_class_are_refreshed_once_where_they_are_refused(
    kind: type[Rotating],
) -> None:
    credentials = kind("old")
    asked = Asked(only("new"), credentials=credentials)
    assert await asked.ends()
    assert (credentials.refreshes, len(asked.times)) == (1, 2)


async def test_what_stays_refused_is_told_as_that() -> None:
    error = await Asked(only("other"), credentials=Rotating("old")).fails()
    assert isinstance(error, Unauthorized)
    assert error.__notes__ == ["it was shown the credentials of type Rotating"]


async def test_a_refresh_that_fails_is_shared_by_all_who_wait() -> None:
    credentials = Failing("old")
    asked = Asked(only("new"), credentials=credentials)
    failed = await asyncio.gather(*(asked.send() for _ in range(20)), return_exceptions=True)
    for error in failed:
        assert isinstance(error, Unauthorized)
        assert "the single sign-on does not answer" in error.__notes__[-1]
    assert credentials.refreshes == 1


async def test_who_is_refused_after_that_tries_again() -> None:
    credentials = Failing("old")
    asked = Asked(only("new"), credentials=credentials)
    for tries in (1, 2):
        assert isinstance(await asked.fails(), Unauthorized)
        assert credentials.refreshes == tries


@pytest.mark.clause("N4")
async def test_nothing_that_is_shown_to_the_server_is_shown_elsewhere() -> None:
    proof = Proof(
        1,
        {"Authorization": f"Bearer {SECRET}"},
        (("Impersonate-User", SECRET),),
        ClientCertificate(SECRET.encode(), SECRET.encode()),
    )
    assert repr(proof) == str(proof) == "Proof(number=1, <hidden>)"
    given = Authentication(ClientConfig(server="https://a", credentials=StaticToken(SECRET)))
    assert SECRET not in repr(await given.prove())


@pytest.mark.clause("B1")
@pytest.mark.parametrize("name", ["Authorization", "authorization", "IMPERSONATE-USER"])
async def test_a_header_of_the_request_takes_the_place_of_ours(name: str) -> None:
    seen: list[HTTPRequest] = []

    def handle(request: HTTPRequest) -> Reply:
        seen.append(request)
        return Reply.json({})

    config = ClientConfig(
        server="https://a",
        credentials=StaticToken("ours"),
        impersonate=Impersonation(user="ours", groups=("guests",)),
    )
    async with RESTClient(config, transport=MemoryTransport(handle)) as client:
        await client.request("GET").path("/version").header(name, "theirs").raw()
    [request] = seen
    sent = [*request.headers.items(), *request.more_headers]
    assert [text for each, text in sent if each.lower() == name.lower()] == ["theirs"]
    assert ("Impersonate-Group", "guests") in sent


@pytest.mark.clause("A5", "N2")
async def test_who_acts_as_nobody_known_is_not_told_that_its_own_credentials_are_unknown() -> None:
    said = status(403, "Forbidden", 'User "system:anonymous" cannot list pods')
    config = ClientConfig(
        server="https://a",
        credentials=StaticToken("good"),
        impersonate=Impersonation(user="system:anonymous"),
    )
    transport = MemoryTransport(lambda request: Reply(403, said))
    async with RESTClient(config, transport=transport) as client:
        with pytest.raises(Forbidden) as caught:
            await client.read("/api/v1/pods")
    assert "does not recognise" not in "".join(getattr(caught.value, "__notes__", []))
