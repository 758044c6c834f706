"""The server's own Tables: followed as exactly as objects, and read at once. Virtual time, no
sockets, and columns of our own choice: `Tabling` makes the Tables.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator
from typing import Any

import pytest

from listwatch import ClientConfig, GroupVersionResource, ListOptions, NotFound
from listwatch.api import APIResource
from listwatch.cache.reflector_options import ReflectorOptions
from listwatch.client import Client
from listwatch.client.tables import table
from listwatch.rest import HTTPRequest, RESTClient, Transport
from listwatch.testing import MemoryTransport, Reply
from listwatch.wire.table import TableRow
from listwatch.wire.table_rows import TableRows
from tests.support.tabling import ASKED, Tabling, column
from tests.support.vectors import vector

from .conftest import Bench, erase, on_server, write
from .following import Following

pytestmark = [pytest.mark.virtual_time, pytest.mark.clause("B9")]

MAPS = APIResource(group="", version="v1", name="configmaps", kind="ConfigMap", namespaced=True)
PODS = GroupVersionResource.parse("v1/pods")


@pytest.fixture
def tabling(bench: Bench) -> Tabling:
    return Tabling(bench.transport)


@pytest.fixture
async def client(tabling: Tabling) -> AsyncIterator[Client]:
    async with Client(config=ClientConfig(server="http://memory"), transport=tabling) as client:
        yield client


def cells(rows: Any) -> dict[str, tuple[Any, ...]]:
    return {row.key: row.cells for row in rows}


# Following


async def test_a_watch_gives_the_cells_of_each_change(bench: Bench, client: Client) -> None:
    write(bench.core, "x", a="1")
    following = Following(client.watch("configmaps", decoder=TableRows()))
    await following.until(1)
    write(bench.core, "x", a="2")
    write(bench.core, "y")
    erase(bench.core, "x")
    await following.until(4)
    assert [(event.type.value, event.object.cells) for event in following.events] == [
        ("ADDED", ("x", "1")),
        ("MODIFIED", ("x", "2")),
        ("ADDED", ("y", None)),
        ("DELETED", ("x", "2")),
    ]
    assert [event.object.kind for event in following.events] == ["ConfigMap"] * 4
    assert {event.object.columns for event in following.events} == {
        following.events[0].object.columns
    }
    await following.end()


@pytest.mark.clause("H8", "J2")
async def test_a_mirror_of_rows_is_exact_through_loss_of_history_and_restarts(
    bench: Bench, client: Client
) -> None:
    for number in range(700):  # more than a page
        write(bench.core, f"n{number}", a="0")
    async with client.mirror("configmaps", decoder=TableRows()) as mirror:
        await mirror.synced()
        for round_ in range(1, 4):
            bench.core.end_watches()
            for number in range(round_, 700, 90):
                write(bench.core, f"n{number}", a=str(round_))
            erase(bench.core, f"n{round_ * 100}")
            bench.restart()
            await asyncio.sleep(60)
            shown = {key: mirror.store[key].resource_version for key in list(mirror.store.keys())}
            assert shown == on_server(bench.core)
        assert mirror.store["default/n3"].cells == ("n3", "3")
        assert "default/n100" not in mirror.store
        assert all(len(mirror.store[key].cells) == 2 for key in list(mirror.store.keys()))


@pytest.mark.clause("D4")
async def test_bookmarks_inside_of_tables_are_heard(bench: Bench, client: Client) -> None:
    write(bench.core, "x", a="1")
    async with client.mirror("configmaps", namespace="default", decoder=TableRows()) as mirror:
        await mirror.synced()
        for name in ("y", "z"):  # nothing that it is told of
            write(bench.core, name, "kube-system")
        await mirror.store.at_least(on_server(bench.core)["kube-system/z"], timeout=200)
        assert list(mirror.store.keys()) == ["default/x"]


async def test_columns_may_change_while_it_goes_on(
    bench: Bench, client: Client, tabling: Tabling
) -> None:
    write(bench.core, "x", a="1", b="2")
    following = Following(client.watch("configmaps", decoder=TableRows()))
    await following.until(1)
    tabling.columns.append(column("b", priority=1))
    bench.core.end_watches()
    await asyncio.sleep(5)
    write(bench.core, "x", a="3", b="4")
    await following.until(2)
    first, second = (event.object for event in following.events)
    assert ([each.name for each in first.columns], first.cells) == (["Name", "a"], ("x", "1"))
    assert ([each.name for each in second.columns], second.cells) == (
        ["Name", "a", "b"],
        ("x", "3", "4"),
    )
    await following.end()


async def test_a_server_without_tables_is_followed_too(
    bench: Bench, client: Client, tabling: Tabling
) -> None:
    tabling.tables = False
    write(bench.core, "x", a="1")
    async with client.mirror("configmaps", decoder=TableRows()) as mirror:
        await mirror.synced()
        write(bench.core, "x", a="2")
        await mirror.store.at_least(on_server(bench.core)["default/x"], timeout=5)
        row = mirror.store["default/x"]
        assert isinstance(row, TableRow)
        assert (row.cells, row.columns, row["data"]["a"]) == ((), (), "2")


class Forcing(Tabling):
    """Makes Tables whether they were asked for or not: only of lists, or only of watches."""

    def __init__(self, inner: Transport, *, watches: bool) -> None:
        super().__init__(inner)
        self._watches = watches

    async def send(self, request: HTTPRequest) -> Any:
        if self._watches == any(name == "watch" for name, _ in request.query):
            headers = {**request.headers, "Accept": f"{ASKED}, application/json"}
            request = dataclasses.replace(request, headers=headers)
        return await super().send(request)


@pytest.mark.parametrize("watches", [True, False])
async def test_whoever_does_not_read_tables_is_told_what_it_got(
    bench: Bench, watches: bool
) -> None:
    write(bench.core, "x", a="1")
    errors: list[Exception] = []
    forcing = Forcing(bench.transport, watches=watches)
    async with Client(config=ClientConfig(server="http://memory"), transport=forcing) as client:
        options = ReflectorOptions(watch_list=watches)
        mirror = client.mirror(
            "configmaps", options=options, on_error=lambda _, error: errors.append(error)
        )
        async with mirror:
            await asyncio.sleep(30)
    assert "do not ask for as=Table here" in str(errors[0])


# At once


async def test_a_table_joins_its_pages(bench: Bench, client: Client) -> None:
    for number in range(7):
        write(bench.core, f"n{number}", a=str(number))
    found = await table(client.rest, MAPS, namespace="default", page_size=3)
    assert [each.name for each in found.columns] == ["Name", "a"]
    assert [row.cells for row in found.rows] == [(f"n{number}", str(number)) for number in range(7)]
    assert found.rows[0].kind == "ConfigMap"
    assert found.metadata.continue_ == ""
    assert bench.transport.paths.count("GET /api/v1/namespaces/default/configmaps") == 3
    listed = await client.rest.list(MAPS, options=ListOptions())
    assert found.resource_version == listed.resource_version


async def test_a_table_may_be_of_one_object_or_of_none(bench: Bench, client: Client) -> None:
    write(bench.core, "x", a="1")
    one = await table(client.rest, MAPS, "x", namespace="default")
    assert [row.cells for row in one.rows] == [("x", "1")]
    assert [each.name for each in one.columns] == ["Name", "a"]
    none = await table(client.rest, MAPS, namespace="other")
    assert (none.rows, [each.name for each in none.columns]) == ((), ["Name", "a"])
    with pytest.raises(NotFound):
        await table(client.rest, MAPS, "y", namespace="default")


async def test_a_table_of_a_server_that_makes_none_has_no_columns(
    bench: Bench, client: Client, tabling: Tabling
) -> None:
    tabling.tables = False
    write(bench.core, "x", a="1")
    found = await table(client.rest, MAPS, label_selector="!gone", field_selector="metadata.name=x")
    assert (found.columns, [row.cells for row in found.rows]) == ((), [()])
    assert found.rows[0]["data"] == {"a": "1"}


@pytest.mark.parametrize(
    ("name", "path"), [("", "/api/v1/pods"), ("web-00", "/api/v1/namespaces/rec/pods/web-00")]
)
async def test_whole_objects_come_where_they_are_wanted(name: str, path: str) -> None:
    asked: list[Any] = []
    body = vector("k-list-pods-table-includeObject").body
    if name:  # one row of it
        body = body.replace(b'},{"cells"', b'}],"more":[{"cells"', 1)

    def answer(request: Any) -> Reply:
        asked.append(request)
        return Reply(body=body.replace(b'"continue"', b'"ended"'))

    async with RESTClient(
        ClientConfig(server="http://memory"), transport=MemoryTransport(answer)
    ) as rest:
        found = await table(rest, PODS, name, namespace="rec" if name else "", whole=True)
    assert found.rows[0]["spec"]["nodeName"] == "node-0"
    [request] = asked
    assert request.path == path
    assert ("includeObject", "Object") in request.query
    assert request.headers["Accept"] == (
        "application/json;as=Table;g=meta.k8s.io;v=v1, application/json"
    )
