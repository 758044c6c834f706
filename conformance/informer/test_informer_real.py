"""An informer, as programs use it, on the embedded and on a real server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from conformance.mirror.cable import Cable
from conformance.mirror.scene import collection
from conformance.namespaces import create_namespace
from conformance.objects import config_map
from conformance.two_servers import TestedServer
from conformance.users import ADMIN, VIEWER
from listwatch import Client, Tombstone, load_config
from listwatch.cache.health import State

pytestmark = pytest.mark.timeout(180)

_PATIENCE = 70.0
"""Seconds: the longest that a reflector may wait for its next round (H9), and some more."""
_RBAC = "rbac.authorization.k8s.io"


class Log:
    """A handler that writes down what it is told: what, whose end nobody saw included, the
    object's name, and the colours that it had and has.
    """

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []

    def on_add(self, obj: Any, in_initial_list: bool) -> None:
        self.told.append(("initial" if in_initial_list else "add", obj.name, _colour(obj)))

    def on_update(self, old: Any, new: Any) -> None:
        what = "update" if old.uid == new.uid else "made again"
        self.told.append((what, new.name, _colour(old), _colour(new)))

    def on_delete(self, obj: Any) -> None:
        if isinstance(obj, Tombstone):
            self.told.append(("vanished", obj.object.name, _colour(obj.object)))
        else:
            self.told.append(("delete", obj.name, _colour(obj)))


def _colour(obj: Any) -> str:
    return str(obj["data"]["colour"])


@asynccontextmanager
async def client_of(
    server: TestedServer, user: str = ADMIN, url: str = ""
) -> AsyncIterator[Client]:
    """A client of ``server``; ``url`` is another way to it."""
    address = url or server.server
    config = load_config(server=address, ca_file=str(server.ca_file), token=server.tokens[user])
    async with Client(config=config) as client:
        yield client


def write(
    server: TestedServer,
    namespace: str,
    name: str,
    colour: str,
    labels: Mapping[str, str] | None = None,
) -> str:
    """Make or change a ConfigMap, past the client that is tested; its RV."""
    path = collection(namespace, name)
    if server.request("GET", path).status == 404:
        made = server.create(collection(namespace), config_map(name, labels, colour=colour))
    else:
        changed = {"metadata": {"labels": labels or {}}, "data": {"colour": colour}}
        made = server.patch(path, changed)
    return str(made["metadata"]["resourceVersion"])


# Looks that miss something


@pytest.mark.clause("K6", "J2")
@pytest.mark.parametrize("as_two", [False, True], ids=["as-one", "as-two"])
async def test_deleted_and_made_again_between_two_looks(
    server: TestedServer, namespace: str, as_two: bool
) -> None:
    """The history of it is gone, too: all that can be seen is what there was and what there is."""
    write(server, namespace, "a", "red")
    async with (
        Cable(server.server) as cable,
        client_of(server, url=cable.url) as client,
        client.informer("configmaps", namespaces=[namespace], recreate_as_two=as_two) as informer,
    ):
        informer.add_handler(log := Log(), inline=True)
        await informer.synced(timeout=_PATIENCE)
        await cable.unplug()
        server.delete(collection(namespace, "a"))
        version = write(server, namespace, "a", "blue")
        await asyncio.to_thread(server.compact_etcd, version)
        await asyncio.to_thread(server.restart_apiserver)
        await cable.plug()
        await informer.at_least(version, timeout=_PATIENCE)
    told: dict[bool, list[tuple[str, ...]]] = {
        False: [("made again", "a", "red", "blue")],
        True: [("vanished", "a", "red"), ("add", "a", "blue")],
    }
    assert log.told == [("initial", "a", "red"), *told[as_two]]


@pytest.mark.clause("K1", "E4")
async def test_what_happened_while_the_connection_was_cut_is_told_as_it_was(
    server: TestedServer, namespace: str
) -> None:
    write(server, namespace, "a", "red")
    async with (
        Cable(server.server) as cable,
        client_of(server, url=cable.url) as client,
        client.informer("configmaps", namespaces=[namespace]) as informer,
    ):
        informer.add_handler(log := Log(), inline=True)
        await informer.synced(timeout=_PATIENCE)
        await cable.unplug()
        write(server, namespace, "a", "green")
        server.delete(collection(namespace, "a"))
        version = write(server, namespace, "a", "blue")
        await cable.plug()
        await informer.at_least(version, timeout=_PATIENCE)
        assert informer.health.relists == {}
    assert log.told == [
        ("initial", "a", "red"),
        ("update", "a", "red", "green"),
        ("delete", "a", "green"),
        ("add", "a", "blue"),
    ]


@pytest.mark.clause("I3", "J1")
async def test_an_older_state_that_comes_late_changes_nothing_and_is_told_to_nobody(
    server: TestedServer, namespace: str
) -> None:
    """The program has put its own write into the store: what the watch brings then is old, and in
    the end what is there already.
    """
    write(server, namespace, "a", "red")
    async with (
        Cable(server.server) as cable,
        client_of(server, url=cable.url) as client,
        client_of(server) as direct,
        client.informer("configmaps", namespaces=[namespace]) as informer,
    ):
        informer.add_handler(log := Log(), inline=True)
        await informer.synced(timeout=_PATIENCE)
        await cable.unplug()
        for colour in ("green", "yellow"):
            write(server, namespace, "a", colour)
        newest = await direct.patch(
            "configmaps", "a", {"data": {"colour": "blue"}}, namespace=namespace
        )
        informer.store.update(newest)
        version = write(server, namespace, "b", "red")
        await cable.plug()
        await informer.at_least(version, timeout=_PATIENCE)
        assert informer.health.late_writes == 3
        assert _colour(informer.store[f"{namespace}/a"]) == "blue"
    assert log.told == [("initial", "a", "red"), ("add", "b", "red")]


# Selections


@pytest.mark.clause("K1", "K7")
async def test_labels_bring_objects_into_a_selection_and_take_them_out(
    server: TestedServer, namespace: str
) -> None:
    write(server, namespace, "a", "red", {"app": "web"})
    write(server, namespace, "b", "red", {"app": "db"})
    async with (
        client_of(server) as client,
        client.informer("configmaps", namespaces=[namespace], label_selector="app=web") as informer,
    ):
        informer.add_handler(log := Log(), inline=True)
        await informer.synced(timeout=_PATIENCE)
        for name, colour, app in (
            ("a", "green", "web"),
            ("a", "blue", "db"),  # it leaves
            ("a", "grey", "db"),
            ("b", "green", "web"),  # it comes
            ("a", "black", "web"),  # and this one is back
        ):
            version = write(server, namespace, name, colour, {"app": app})
        await informer.at_least(version, timeout=_PATIENCE)
        assert sorted(informer.store.keys()) == [f"{namespace}/a", f"{namespace}/b"]
    kinds = [told[:2] for told in log.told]
    assert kinds == [
        ("initial", "a"),
        ("update", "a"),
        ("delete", "a"),
        ("add", "b"),
        ("add", "a"),
    ]


@pytest.mark.clause("K9")
async def test_an_object_that_goes_from_one_selector_to_another_is_there_in_the_end(
    server: TestedServer, namespace: str
) -> None:
    write(server, namespace, "a", "red", {"app": "web"})
    async with (
        client_of(server) as client,
        client.informer(
            "configmaps", namespaces=[namespace], label_selectors=["app=web", "app=db"]
        ) as informer,
    ):
        informer.add_handler(log := Log(), inline=True)
        await informer.synced(timeout=_PATIENCE)
        for app in ("db", "web", "db"):
            write(server, namespace, "a", app, {"app": app})
        for app in ("db", "web"):  # whoever shows these has seen all before
            write(server, namespace, f"last-{app}", "red", {"app": app})
        await _until(lambda: len(informer.store) == 3)
        assert _colour(informer.store[f"{namespace}/a"]) == "db"
    [*_, last] = [told for told in log.told if told[1] == "a"]
    assert last[0] in ("add", "update")
    assert last[-1] == "db"


# One's own writes


@pytest.mark.clause("I3", "K11")
async def test_one_reads_what_one_has_written(server: TestedServer, namespace: str) -> None:
    async with (
        client_of(server) as client,
        client.informer("configmaps", namespaces=[namespace]) as informer,
    ):
        await informer.synced(timeout=_PATIENCE)
        for number in range(10):
            made = await client.create(config_map(f"c-{number}"), namespace=namespace)
            await informer.at_least(made.resource_version, timeout=10)
            assert informer.store[made.key].uid == made.uid
            again = await client.patch(
                "configmaps", made.name, {"data": {"n": str(number)}}, namespace=namespace
            )
            await informer.at_least(again.resource_version, timeout=10)
            assert informer.store[made.key].resource_version == again.resource_version
        await client.delete("configmaps", "c-0", namespace=namespace)
        await informer.fresh(within=0, timeout=20)
        assert f"{namespace}/c-0" not in informer.store
        assert len(informer.store) == 9


# Many namespaces


@pytest.mark.clause("K9", "K10")
async def test_twenty_namespaces_one_of_them_forbidden_until_it_is_allowed(
    real_server: TestedServer,
) -> None:
    """With roles: this is the real server alone."""
    server = real_server
    names = [create_namespace(server, "team") for _ in range(20)]
    *allowed, forbidden = names
    for name in names:
        write(server, name, "a", "red")
    for name in allowed:
        _allow(server, name, VIEWER)
    async with client_of(server, VIEWER) as client:
        informer = client.informer("configmaps", namespaces=names, optional=[forbidden])
        informer.add_handler(log := Log(), inline=True)
        async with informer:
            await informer.synced(timeout=_PATIENCE)
            assert sorted(informer.store.keys()) == sorted(f"{name}/a" for name in allowed)
            for name in allowed:
                write(server, name, "b", "blue")
            await _until(lambda: len(informer.store) == 38)
            health = informer.health
            assert {health.sources[name].state for name in allowed} == {State.WATCHING}
            assert not health.sources[forbidden].synced
            assert "forbidden" in health.sources[forbidden].last_error
            _allow(server, forbidden, VIEWER)
            await _until(lambda: informer.health.sources[forbidden].synced)
            assert f"{forbidden}/a" in informer.store
    assert Counter(log.told) == {("initial", "a", "red"): 20, ("add", "b", "blue"): 19}


async def _until(condition: Callable[[], bool]) -> None:
    """Of several sources each has RVs of its own to wait for, and nothing awaits them all."""
    async with asyncio.timeout(_PATIENCE):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.05)


def _allow(server: TestedServer, namespace: str, user: str) -> None:
    roles = f"/apis/{_RBAC}/v1/namespaces/{namespace}"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    server.create(f"{roles}/roles", {"metadata": {"name": "reader"}, "rules": rules})
    server.create(
        f"{roles}/rolebindings",
        {
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": "reader"},
            "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
        },
    )
