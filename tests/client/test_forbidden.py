"""Who may see one namespace, and asks for all of them. Virtual time, no sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from listwatch import Forbidden, StaticToken
from listwatch.client import Client
from listwatch.testing.apiserver import Auth, Rule, User

from .conftest import Bench, config_map, memory_bench

pytestmark = pytest.mark.virtual_time

DEV = User(name="dev", token="made-up", rules=(Rule(namespaces=("a",)),))
HINT = 'all namespaces were asked for: namespace="NAME" asks for one alone'


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with memory_bench(auth=Auth([DEV])) as bench:
        bench.load(config_map("one", "a"))
        yield bench


@pytest.fixture
async def client(bench: Bench) -> AsyncIterator[Client]:
    async with bench.client(credentials=StaticToken(DEV.token)) as client:
        yield client


async def test_a_list_of_all_says_what_asks_for_one(bench: Bench, client: Client) -> None:
    with pytest.raises(Forbidden) as caught:
        await client.list("configmaps")
    assert caught.value.__notes__[0].startswith(HINT)
    assert bench.transport.paths == ["GET /api/v1/configmaps"]
    assert len(await client.list("configmaps", namespace="a")) == 1


async def test_a_refusal_within_a_namespace_is_what_it_is(client: Client) -> None:
    for request in (
        client.list("configmaps", namespace="b"),
        client.get("configmaps", "one", namespace="b"),
        client.list("nodes"),
    ):
        with pytest.raises(Forbidden) as caught:
            await request
        assert not hasattr(caught.value, "__notes__")


async def test_a_mirror_says_it_in_its_health_its_notes_and_the_log(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    notes: list[str] = []
    with caplog.at_level(logging.WARNING, "listwatch"):
        async with client.mirror("configmaps", on_note=lambda note: notes.append(str(note))) as m:
            await asyncio.sleep(60)
            assert HINT in m.health.last_error
            assert HINT in str(m.health)
            assert not m.health.synced
    assert any(HINT in note for note in notes)
    assert any(HINT in record.getMessage() for record in caplog.records)


async def test_who_fails_fast_gets_it_with_the_error(client: Client) -> None:
    with pytest.raises(Forbidden) as caught:
        async with client.mirror("configmaps", fail_fast=True) as mirror:
            await mirror.synced()
    assert caught.value.__notes__[0].startswith(HINT)


async def test_the_option_that_it_names_is_one(client: Client) -> None:
    async with client.informer("configmaps", namespaces=["a"]) as informer:
        await informer.synced()
        assert len(informer.store) == 1
    async with client.informer("configmaps") as informer:
        await asyncio.sleep(60)
        assert 'to an informer: namespaces=["NAME", ...]' in informer.health.last_error
