"""The whole way over sockets, with what real API servers answered: bytes and ends as recorded."""

from __future__ import annotations

import json

import pytest

from listwatch.api import APIError, EventType, Expired
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig
from listwatch.rest.request import Request
from listwatch.rest.warnings import IgnoreWarnings
from listwatch.testing import Match, Recording, ReplayServer
from tests.rest.loopback import authority
from tests.support.vectors import vector, vectors

JSON = "application/json"


def in_json(recording: Recording) -> bool:
    return (recording.headers.get("Content-Type") or "").startswith(JSON)


def asked(client: RESTClient, recording: Recording) -> Request[bytes]:
    """The request of a recording, but for its `watch`."""
    request = client.get().path(recording.path).decoder(bytes)
    for name, value in recording.query:
        if name != "watch":
            request = request.query(name, value)
    return request


LISTS = [
    recording
    for recording in vectors()
    if recording.is_list and recording.status == 200 and in_json(recording)
    if b"Table" not in recording.body[:200]
]


@pytest.mark.clause("B2", "B10")
@pytest.mark.parametrize(
    "name",
    ["k-list-pods", "2-list-default", "5-gzip-list-large", "5-gzip-list-small", "5-list-pretty"],
)
async def test_a_list(name: str) -> None:
    recording = vector(name)
    async with (
        ReplayServer([recording], match=Match.ORDER) as server,
        RESTClient(ClientConfig(server=server.url)) as client,
    ):
        found = await asked(client, recording).list()
    assert found.items
    assert found.resource_version
    assert not found.undecodable


@pytest.mark.clause("B2")
async def test_every_recorded_list_in_json_over_one_client() -> None:
    assert len(LISTS) > 80
    async with (
        ReplayServer(LISTS, match=Match.ORDER) as server,
        RESTClient(ClientConfig(server=server.url), warnings=IgnoreWarnings()) as client,
    ):
        for recording in LISTS:
            found = await asked(client, recording).list()
            assert found.kind.endswith("List"), recording.name
            assert not found.undecodable, recording.name
    assert len(server.requests) == len(LISTS)


@pytest.mark.clause("B6", "A5")
async def test_every_recorded_error_is_an_api_error_of_its_code_and_sent_once() -> None:
    errors = [r for r in vectors() if r.status >= 400 and (r.is_list or r.is_watch)]
    assert len(errors) > 50
    for recording in errors:
        async with (
            ReplayServer([recording], match=Match.ORDER) as server,
            RESTClient(ClientConfig(server=server.url), max_retries=0) as client,
        ):
            request = asked(client, recording)
            with pytest.raises(APIError) as caught:
                await (request.watch() if recording.is_watch else request.list())
            assert caught.value.code == recording.status, recording.name
            assert len(server.requests) == 1


@pytest.mark.clause("B2", "E2")
@pytest.mark.parametrize("tls", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "3-watch-add-modify-status-delete",
        "3-watch-http10-style-close",
        "3-watch-timeout3-noevents",
        "7-kill9-idle-watch",
        "7-sigterm-grace5s-idle-watch",
    ],
)
async def test_a_watch_to_its_end_whatever_kind_of_end_that_is(name: str, tls: bool) -> None:
    recording = vector(name)
    pki = authority() if tls else None
    ca_data = pki.ca_pem if pki else None
    async with (
        ReplayServer([recording], match=Match.ORDER, ssl=pki.server if pki else None) as server,
        RESTClient(ClientConfig(server=server.url, ca_data=ca_data), max_retries=0) as client,
        await asked(client, recording).watch() as watch,
    ):
        seen = [event.type async for event in watch]
    lines = recording.body.splitlines()
    assert seen == [json.loads(line)["type"] for line in lines if line]


@pytest.mark.clause("B6")
async def test_an_expired_watch_is_an_event_of_a_good_answer() -> None:
    recording = vector("3-watch-rv1-after-compaction")
    async with (
        ReplayServer([recording], match=Match.ORDER) as server,
        RESTClient(ClientConfig(server=server.url)) as client,
        await asked(client, recording).watch() as watch,
    ):
        [event] = [event async for event in watch]
    assert event.type is EventType.ERROR
    assert event.status is not None
    assert event.status.reason == Expired.reason_word
