"""Credentials that run out, are renewed or are refused under a mirror that lives on."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from listwatch import Client, ClientConfig
from listwatch.rest.credentials import ClientCertificate, StaticToken
from listwatch.rest.errors import CredentialsFailed
from listwatch.rest.exec._program import Finished
from listwatch.rest.exec.credential import ClusterInfo, ExecVersion
from listwatch.rest.exec.plugin import ExecCredentials, ExecPlugin, InteractiveMode
from listwatch.rest.transport import HTTPRequest, HTTPResponse, Transport
from listwatch.testing.apiserver import (
    ADMIN,
    Auth,
    EmbeddedServer,
    Faults,
    ServerTransport,
    User,
)
from tests.mirror.seen import assert_same, identities
from tests.mirror.world import World, new_core, open_world, put, there_on

START = datetime(2026, 1, 1, tzinfo=UTC)
GOOD_FOR = 2.0
"""Seconds."""


def now() -> datetime:
    return START + timedelta(seconds=asyncio.get_running_loop().time())


def pem(kind: str, number: int) -> str:
    return f"-----BEGIN {kind}-----\nbm8u{number:08d}\n-----END {kind}-----\n"


class Issuer:
    """A plugin that gives another certificate, or token, each time it is run, good for 2 seconds,
    and a server that takes only what is good then.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self.runs = 0
        self.refused = 0
        self._until: dict[str, datetime] = {}
        self._behind: Transport

    def credentials(self) -> ExecCredentials:
        plugin = ExecPlugin(
            user="user 'alice' in a file",
            command="made-up",
            version=ExecVersion.V1,
            interactive_mode=InteractiveMode.NEVER,
            cluster=ClusterInfo(server="https://server"),
        )
        return ExecCredentials(
            plugin, start=self._start, now=now, environ={}, check=lambda certificate, source: None
        )

    def before(self, behind: Transport) -> Transport:
        self._behind = behind
        return self

    def _start(self, *args: Any, done: Callable[[Any], None], **kwargs: Any) -> Callable[[], None]:
        self.runs += 1
        until = now() + timedelta(seconds=GOOD_FOR)
        status: dict[str, str] = {"expirationTimestamp": until.isoformat()}
        if self.what == "certificate":
            certificate = pem("CERTIFICATE", self.runs)
            status |= {
                "clientCertificateData": certificate,
                "clientKeyData": pem("PRIVATE KEY", self.runs),
            }
            self._until[certificate] = until
        else:
            status["token"] = f"token-{self.runs}"
            self._until[f"Bearer token-{self.runs}"] = until
        answer = {
            "apiVersion": "client.authentication.k8s.io/v1",
            "kind": "ExecCredential",
            "status": status,
        }
        finished = Finished(code=0, stdout=json.dumps(answer).encode(), stderr=b"")
        # As a program does, it takes its time.
        asyncio.get_running_loop().call_later(0.05, done, finished)
        return lambda: None

    async def send(self, request: HTTPRequest) -> HTTPResponse:
        shown = request.headers.get("Authorization", "")
        if self.what == "certificate":
            assert isinstance(request.certificate, ClientCertificate)
            shown = request.certificate.certificate.decode()
        if now() < self._until.get(shown, START):
            return await self._behind.send(request)
        self.refused += 1
        raise AssertionError("what was shown was not good any more")

    async def close(self) -> None:
        await self._behind.close()


async def write_for(world: World, seconds: float) -> None:
    """Ten changes a second, one of ten a deletion."""
    for number in range(int(seconds * 10)):
        world.put(f"c{number % 7}", n=str(number))
        if number % 10 == 9:
            world.delete(f"c{number % 7}")
        await asyncio.sleep(0.1)


@pytest.mark.virtual_time
@pytest.mark.clause("N2", "H15")
@pytest.mark.parametrize("what", ["certificate", "token"])
@pytest.mark.parametrize("ends", ["end", "cut", "reset"])
async def test_a_plugin_that_rotates_every_two_seconds_loses_nothing(what: str, ends: str) -> None:
    issuer = Issuer(what)
    async with open_world(
        f"every 3s watch configmaps: {ends}",
        wrap=issuer.before,
        credentials=issuer.credentials(),
    ) as world:
        await write_for(world, 60)
        await world.caught_up()
        assert issuer.runs > 10
        assert issuer.refused == 0
        assert sum(world.mirror.health.relists.values()) == 0


@pytest.mark.virtual_time
@pytest.mark.clause("N2", "H15")
async def test_a_token_that_expires_in_the_middle_of_a_watch_loses_nothing() -> None:
    """The stream goes on; the next request is refused once, and the new token is used."""
    auth = Auth([User(name="alice", token="first", rules=ADMIN)])
    token = Renewed("first", "second")
    async with open_world("every 60s watch configmaps: end", auth=auth, credentials=token) as world:
        await write_for(world, 5)
        auth.add(User(name="alice", token="second", rules=ADMIN))
        auth.expire("first")
        watches = len(world.asked("watch="))
        await write_for(world, 20)
        await world.caught_up()
        assert len(world.asked("watch=")) == watches, "the stream has gone on"
        await write_for(world, 60)
        await world.caught_up()
        assert token.refreshes == 1
        assert sum(world.mirror.health.relists.values()) == 0


class Renewed:
    """A token that `refresh` replaces by the next."""

    description = "the token in a made-up file"

    def __init__(self, *tokens: str) -> None:
        self._tokens = list(tokens)
        self.refreshes = 0

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self._tokens[0]}"}

    async def refresh(self) -> bool:
        self.refreshes += 1
        if len(self._tokens) > 1:
            self._tokens.pop(0)
            return True
        return False


@pytest.mark.virtual_time
@pytest.mark.clause("H9", "H15", "N4")
async def test_a_401_for_ever_backs_off_and_says_which_credential_failed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    auth = Auth([User(name="alice", token="other", rules=ADMIN)])
    described = "the token of user 'alice' in a file"
    with caplog.at_level(logging.DEBUG):
        async with open_world(
            auth=auth, credentials=StaticToken("s3cret", described), synced=False
        ) as world:
            await asyncio.sleep(3600)
            asked = world.asked("configmaps")
            health = world.mirror.health
            assert "Unauthorized" in health.last_error
            assert f"it was shown {described}" in health.last_error
            assert len(asked) < 3600 / 25
            assert max(late - early for early, late in pairwise(asked)) > 25
            auth.add(User(name="alice", token="s3cret", rules=ADMIN))
            await world.mirror.synced(timeout=120)
            await world.caught_up()
    assert f"it was shown {described}" in caplog.text
    for shown in (caplog.text, str(health), repr(health), repr(world.notes)):
        assert "s3cret" not in shown


class Broken:
    """A plugin or a provider that fails for a while."""

    description = "the exec plugin 'made-up'"

    def __init__(self) -> None:
        self.works = True
        self.asked = 0

    async def headers(self) -> Mapping[str, str]:
        self.asked += 1
        if not self.works:
            raise CredentialsFailed("the exec plugin 'made-up' of user 'alice' ended with 1: no")
        return {"Authorization": "Bearer good"}

    async def refresh(self) -> bool:
        return False


@pytest.mark.virtual_time
@pytest.mark.clause("H8", "H9", "N2")
async def test_a_plugin_that_fails_for_an_hour_costs_no_list_and_no_flood() -> None:
    plugin = Broken()
    auth = Auth([User(name="alice", token="good", rules=ADMIN)])
    async with open_world(
        "every 10s watch configmaps: end", auth=auth, credentials=plugin
    ) as world:
        lists = len(world.asked("configmaps")) - len(world.asked("watch="))
        plugin.works, plugin.asked = False, 0
        await write_for(world, 3600)
        assert plugin.asked < 3600 / 15
        assert "ended with 1: no" in world.mirror.health.last_error
        plugin.works = True
        await world.caught_up(within=120)
        assert len(world.asked("configmaps")) - len(world.asked("watch=")) == lists


@pytest.mark.virtual_time
@pytest.mark.clause("N2", "H15", "K1")
async def test_an_informer_whose_plugin_rotates_every_two_seconds_tells_everything_once() -> None:
    issuer = Issuer("certificate")
    core = new_core()
    behind = ServerTransport(core, Faults("every 3s watch configmaps: end"))
    config = ClientConfig(server="https://server", credentials=issuer.credentials())
    told: Counter[str] = Counter()
    async with Client(config=config, transport=issuer.before(behind)) as client:
        informer = client.informer("configmaps")
        informer.add_handler(
            on_add=lambda obj, initial: told.update(["add"]),
            on_update=lambda old, new: told.update(["update"]),
            on_delete=lambda obj: told.update(["delete"]),
            inline=True,
        )
        async with informer:
            await informer.synced(timeout=60)
            for number in range(600):
                put(core, f"c{number % 100}", n=str(number))
                behind.service.look_again()
                await asyncio.sleep(0.1)
            core.state.log.delete("configmaps", ("default", "c7"))
            await informer.at_least(str(core.state.log.revision), timeout=60)
            assert_same(identities(informer.store), there_on(core))
            assert sum(informer.health.relists.values()) == 0
    assert told == {"add": 100, "update": 500, "delete": 1}
    assert issuer.runs > 10
    assert issuer.refused == 0


@pytest.mark.clause("N2")
@pytest.mark.parametrize("authority", [False, True], ids=["certificate", "authority"])
async def test_an_authority_that_is_renewed_on_disk_drops_no_watch_and_serves_the_next(
    authority: bool, tmp_path: Path
) -> None:
    file = tmp_path / "ca.crt"
    async with EmbeddedServer(tls=True) as server:

        async def write(name: str) -> str:
            """By somebody who is new, and knows the authority of the moment; the RV."""
            async with Client(config=server.client_config()) as other:
                made = await other.create({"metadata": {"name": name}}, resource="configmaps")
            return made.resource_version

        assert server.ca_data is not None
        await asyncio.to_thread(file.write_bytes, server.ca_data)
        config = ClientConfig(server=server.url, ca_file=file)
        async with Client(config=config) as client, client.mirror("configmaps") as mirror:
            await mirror.synced(timeout=20)
            requests = mirror.health.requests
            server.rotate_certificate(authority=authority)
            await asyncio.to_thread(file.write_bytes, server.ca_data)
            await mirror.store.at_least(await write("a"), 20)
            assert mirror.health.requests == requests, "the watch has gone on"
            server.restart()  # which ends it
            await mirror.store.at_least(await write("b"), 20)
            assert mirror.health.requests > requests
            assert sum(mirror.health.relists.values()) == 0
