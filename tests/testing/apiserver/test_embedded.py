"""The whole server, core and all, through the library's own client."""

from __future__ import annotations

import asyncio
import stat
import time
from pathlib import Path

import pytest

from listwatch import Conflict, Forbidden, NotFound, Unauthorized
from listwatch.api import BUILTIN_RESOURCES, EventType, ListOptions
from listwatch.api.errors import RequestEntityTooLarge
from listwatch.rest.client import RESTClient
from listwatch.rest.config import ClientConfig, load_config
from listwatch.rest.errors import ConnectionLost
from listwatch.testing.apiserver.auth import Auth, Rule, User
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.faults.language import FaultSyntaxError
from listwatch.testing.apiserver.memory import ServerTransport

PODS = next(r for r in BUILTIN_RESOURCES if (r.group, r.name) == ("", "pods"))
SECRETS = next(r for r in BUILTIN_RESOURCES if (r.group, r.name) == ("", "secrets"))
CONFIG_MAPS = next(r for r in BUILTIN_RESOURCES if (r.group, r.name) == ("", "configmaps"))


def config_map(name: str, **data: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


@pytest.mark.parametrize("tls", [False, True])
async def test_objects_are_made_listed_watched_and_deleted(tls: bool) -> None:
    async with EmbeddedServer(tls=tls) as server, RESTClient(server.client_config()) as client:
        created = await client.create(CONFIG_MAPS, config_map("one", a="1"), namespace="default")
        listed = await client.list(CONFIG_MAPS, namespace="default")
        assert [found.name for found in listed] == ["one"]
        options = ListOptions(resource_version=listed.resource_version)
        async with await client.watch(CONFIG_MAPS, namespace="default", options=options) as watch:
            changed = created.edit()
            changed["data"] = {"a": "2"}
            await client.replace(CONFIG_MAPS, changed, namespace="default")
            await client.delete(CONFIG_MAPS, "one", namespace="default")
            seen = []
            async for event in watch:
                seen.append(event.type)
                if event.type is EventType.DELETED:
                    break
        assert seen == [EventType.MODIFIED, EventType.DELETED]
        with pytest.raises(NotFound):
            await client.get(CONFIG_MAPS, "one", namespace="default")
        with pytest.raises(NotFound):
            await client.replace(CONFIG_MAPS, changed, namespace="default")


async def test_an_old_state_is_not_written_over_a_newer_one() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        created = await client.create(CONFIG_MAPS, config_map("one", a="1"), namespace="default")
        first, second = created.edit(), created.edit()
        first["data"], second["data"] = {"a": "2"}, {"a": "3"}
        await client.replace(CONFIG_MAPS, first, namespace="default")
        with pytest.raises(Conflict):
            await client.replace(CONFIG_MAPS, second, namespace="default")


async def test_a_body_over_3_mib_is_refused() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        with pytest.raises(RequestEntityTooLarge, match="limit is 3145728"):
            await client.create(
                CONFIG_MAPS, config_map("big", a="x" * 3_200_000), namespace="default"
            )


async def test_a_kubeconfig_leads_to_it(tmp_path: Path) -> None:
    async with EmbeddedServer(tls=True) as server:
        path = server.kubeconfig(tmp_path / "config", token="a-token", namespace="work")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        config = load_config(kubeconfig=path)
        assert config.server == server.url
        assert config.ca_data == server.ca_data
        assert config.namespace == "work"
        assert config.credentials is not None
        assert await config.credentials.headers() == {"Authorization": "Bearer a-token"}
        async with RESTClient(config) as client:
            assert await client.read("/readyz") == b"ok"
        assert server.kubeconfig(path) == path


async def test_a_hundred_run_in_one_process_each_up_in_a_moment() -> None:
    servers = [EmbeddedServer() for _ in range(100)]
    began = time.perf_counter()
    for server in servers:
        await server.start()
    took = time.perf_counter() - began
    assert took < 100 * 0.05
    assert len({server.port for server in servers}) == 100
    for server in servers:
        async with RESTClient(server.client_config()) as client:
            assert await client.read("/healthz") == b"ok"
        await server.stop()


async def test_it_stops_twice_and_starts_again() -> None:
    server = EmbeddedServer()
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url
    async with server:
        port = server.port
    await server.stop()
    async with server, RESTClient(server.client_config()) as client:
        assert server.port == port
        assert await client.read("/livez") == b"ok"


async def test_a_port_that_is_taken_is_an_error_and_leaves_nothing() -> None:
    async with EmbeddedServer() as server:
        with pytest.raises(OSError, match="in use"):
            await EmbeddedServer(port=server.port).start()


async def test_faults_can_be_given_as_lines_and_wrong_ones_are_refused() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        server.faults.add("list configmaps: answer 429 with retry-after 0, once")
        assert list(await client.list(CONFIG_MAPS)) == []
        assert [applied.request for applied in server.faults.log] == ["list /api/v1/configmaps"]
        with pytest.raises(FaultSyntaxError):
            server.faults.add("nonsense")


async def test_a_restart_cuts_watches_and_history() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        await client.create(CONFIG_MAPS, config_map("one"), namespace="default")
        watch = await client.watch(CONFIG_MAPS, namespace="default")
        async with watch:
            assert (await anext(aiter(watch))).object.name == "one"
            server.restart("lost")
            assert [event async for event in watch] == []
        assert list(await client.list(CONFIG_MAPS, namespace="default")) == []


@pytest.mark.virtual_time
async def test_the_same_core_answers_without_sockets_on_virtual_time() -> None:
    server = EmbeddedServer()
    transport = ServerTransport(server.core)
    async with RESTClient(ClientConfig(server="http://memory"), transport=transport) as client:
        loop = asyncio.get_running_loop()
        watch = await client.watch(CONFIG_MAPS, options=ListOptions(timeout_seconds=30))
        loop.call_later(
            20,
            server.core.load,
            [config_map("late") | {"metadata": {"name": "late", "namespace": "default"}}],
        )
        async with watch:
            seen = [(event.object.name, loop.time()) async for event in watch]
        assert seen == [("late", 20.0)]
        assert loop.time() == 30.0
        assert transport.open_responses == 0


async def test_tokens_are_asked_for_where_there_are_some() -> None:
    loop = asyncio.get_running_loop()
    readers = Rule(verbs=("list",), resources=("pods",))
    core = APIServer(
        clock=loop.time,
        wall=EmbeddedServer().core.state.wall,
        auth=Auth([User(name="reader", token="good", rules=(readers,))]),
    )
    async with (
        EmbeddedServer(core, tls=True) as server,
        RESTClient(server.client_config(token="good")) as client,
    ):
        assert list(await client.list(PODS)) == []
        with pytest.raises(Forbidden):
            await client.list(CONFIG_MAPS)
        server.faults.add("expire token good")
        with pytest.raises(Unauthorized):
            await client.list(PODS)


async def test_a_restart_can_turn_history_back() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        await client.create(CONFIG_MAPS, config_map("kept"), namespace="default")
        server.faults.add("list secrets: restart back, once")
        created = await client.create(CONFIG_MAPS, config_map("lost"), namespace="default")
        with pytest.raises(ConnectionLost):
            await client.list(SECRETS)
        listed = await client.list(CONFIG_MAPS, namespace="default")
        assert [found.name for found in listed] == ["kept"]
        assert int(listed.resource_version) < int(created.resource_version)
        server.restart("back", backup=server.core.backup())
        with pytest.raises(ValueError, match="no backup"):
            server.restart("back")


async def test_pages_of_a_hundred_thousand_objects_come_without_a_stall() -> None:
    async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
        names = (f"c-{number:06}" for number in range(100_000))
        server.core.load(
            config_map(name) | {"metadata": {"name": name, "namespace": "n"}} for name in names
        )
        seen, token, longest = 0, "", 0.0
        while True:
            began = time.perf_counter()
            page = await client.list(
                CONFIG_MAPS, namespace="n", options=ListOptions(limit=5000, continue_=token)
            )
            longest = max(longest, time.perf_counter() - began)
            seen += len(page)
            token = page.continue_
            if not token:
                break
        assert seen == 100_000
        assert longest < 2.0
