"""Types that move to another version or scope under a client of a real server."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from conformance.cluster import Cluster
from conformance.objects import WIDGET_CRD
from conformance.users import VIEWER
from conformance.waiting import until
from listwatch import Client, Forbidden, NotFound, UnknownResource, load_config
from listwatch.cache import Mirror
from listwatch.rest.conditional import read_unless
from listwatch.rest.discovery_answers import AGGREGATED_ACCEPT

pytestmark = pytest.mark.timeout(180)

_LEARNT = 3.0
"""Seconds until a server's discovery shows what has happened to a definition: about one (K43)."""

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


class Gadgets:
    """A custom type of this test, at the versions that it says."""

    def __init__(self, cluster: Cluster, group: str) -> None:
        self._cluster = cluster
        self._group = group
        self.name = f"gadgets.{group}"

    def path(self, version: str, namespace: str = "") -> str:
        within = f"namespaces/{namespace}/" if namespace else ""
        return f"/apis/{self._group}/{version}/{within}gadgets"

    def object(self, name: str, version: str) -> dict[str, Any]:
        return {
            "apiVersion": f"{self._group}/{version}",
            "kind": "Gadget",
            "metadata": {"name": name},
            "spec": {"color": "red"},
        }

    def install(self, version: str, scope: str = "Namespaced") -> None:
        self._cluster.create(CRDS, self._definition(version, scope=scope))
        self._until_served(version)

    def move(self, old: str, new: str) -> None:
        """Serve and store it at another version, and no more at the old one."""
        there = self._cluster.get(f"{CRDS}/{self.name}")
        there["spec"]["versions"] = self._definition(new, old)["spec"]["versions"]
        assert self._cluster.request("PUT", f"{CRDS}/{self.name}", there).status == 200
        self._until_served(new)
        until(lambda: self._status(old) == 404, what=f"{self.name} at {old} to be gone")

    def remove(self) -> None:
        self._cluster.delete(f"{CRDS}/{self.name}")
        until(
            lambda: self._cluster.request("GET", f"{CRDS}/{self.name}").status == 404,
            what=f"the end of {self.name}",
        )

    def _until_served(self, version: str) -> None:
        until(lambda: self._status(version) == 200, what=f"{self.name} at {version}")

    def _status(self, version: str) -> int:
        return self._cluster.request("GET", self.path(version)).status

    def _definition(self, *versions: str, scope: str = "Namespaced") -> dict[str, Any]:
        definition = copy.deepcopy(dict(WIDGET_CRD))
        definition["metadata"] = {"name": self.name}
        spec = definition["spec"]
        spec |= {"group": self._group, "scope": scope}
        spec["names"] = {
            "plural": "gadgets",
            "singular": "gadget",
            "kind": "Gadget",
            "listKind": "GadgetList",
            "categories": ["all", "toys"],
        }
        [version] = spec["versions"]
        spec["versions"] = [
            {**version, "name": name, "served": not number, "storage": not number}
            for number, name in enumerate(versions)
        ]
        return definition


@pytest.fixture
def gadgets(cluster: Cluster, namespace: str) -> Gadgets:
    return Gadgets(cluster, f"{namespace}.example.com")


@asynccontextmanager
async def client_of(cluster: Cluster, user: str = "admin") -> AsyncIterator[Client]:
    async with Client(config=load_config(kubeconfig=cluster.kubeconfig(user))) as client:
        yield client


async def shown(mirror: Mirror[Any], expected: dict[str, str]) -> None:
    """Wait until the mirror has these keys at these versions."""
    async with asyncio.timeout(70):  # the longest that a reflector may wait (H9)
        while {obj.key: obj.api_version for obj in mirror.store.list()} != expected:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_request_goes_to_where_the_type_is_served_now(
    cluster: Cluster, namespace: str, gadgets: Gadgets
) -> None:
    await asyncio.to_thread(gadgets.install, "v1beta1")
    cluster.create(gadgets.path("v1beta1", namespace), gadgets.object("a", "v1beta1"))
    async with client_of(cluster) as client:
        found = await client.get(gadgets.name, "a", namespace=namespace)
        assert found.api_version.endswith("/v1beta1")
        await asyncio.to_thread(gadgets.move, "v1beta1", "v1")
        await asyncio.sleep(_LEARNT)
        found = await client.get(gadgets.name, "a", namespace=namespace)
        assert found.api_version.endswith("/v1")
        assert len(await client.list(gadgets.name)) == 1
        with pytest.raises(NotFound):
            await client.get(gadgets.name, "nothing", namespace=namespace)
        await asyncio.to_thread(gadgets.remove)
        await asyncio.sleep(_LEARNT)
        with pytest.raises(UnknownResource):
            await client.list(gadgets.name)
        await asyncio.to_thread(gadgets.install, "v1", "Cluster")
        await asyncio.sleep(6)  # a name that is unknown is not asked for more often
        assert (await client.create(gadgets.object("b", "v1"), resource=gadgets.name)).key == "b"


async def test_a_type_of_another_scope_is_asked_for_there(
    cluster: Cluster, namespace: str, gadgets: Gadgets
) -> None:
    await asyncio.to_thread(gadgets.install, "v1")
    async with client_of(cluster) as client:
        await client.create({**gadgets.object("a", "v1")}, namespace=namespace)
        await asyncio.to_thread(gadgets.remove)
        await asyncio.to_thread(gadgets.install, "v1", "Cluster")
        await asyncio.sleep(_LEARNT)
        assert (await client.create(gadgets.object("a", "v1"))).key == "a"
        assert (await client.get(gadgets.name, "a")).key == "a"


@pytest.mark.clause("H7", "H9")
async def test_a_mirror_goes_on_at_another_version_and_shows_all_of_it(
    cluster: Cluster, namespace: str, gadgets: Gadgets
) -> None:
    await asyncio.to_thread(gadgets.install, "v1beta1")
    for name in ("a", "b"):
        cluster.create(gadgets.path("v1beta1", namespace), gadgets.object(name, "v1beta1"))
    old, new = (f"{namespace}.example.com/{version}" for version in ("v1beta1", "v1"))
    a, b, c = (f"{namespace}/{name}" for name in "abc")
    async with client_of(cluster) as client, client.mirror(gadgets.name) as mirror:
        await mirror.synced(timeout=30)
        await shown(mirror, {a: old, b: old})
        await asyncio.to_thread(gadgets.move, "v1beta1", "v1")
        await shown(mirror, {a: new, b: new})
        assert mirror.health.relists == {"served elsewhere": 1}
        cluster.create(gadgets.path("v1", namespace), gadgets.object("c", "v1"))
        await shown(mirror, {a: new, b: new, c: new})


@pytest.mark.clause("H7", "H9")
async def test_a_mirror_follows_a_type_that_is_deleted_and_made_again_at_another_version(
    cluster: Cluster, namespace: str, gadgets: Gadgets
) -> None:
    await asyncio.to_thread(gadgets.install, "v1")
    cluster.create(gadgets.path("v1", namespace), gadgets.object("a", "v1"))
    async with client_of(cluster) as client, client.mirror(gadgets.name) as mirror:
        await mirror.synced(timeout=30)
        await asyncio.to_thread(gadgets.remove)
        await shown(mirror, {})
        async with asyncio.timeout(70):
            while not mirror.health.last_error:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "is the type (CRD) gone?" in mirror.health.last_error
        await asyncio.to_thread(gadgets.install, "v2")
        cluster.create(gadgets.path("v2", namespace), gadgets.object("b", "v2"))
        await shown(mirror, {f"{namespace}/b": f"{namespace}.example.com/v2"})


async def test_categories_are_what_the_server_says(cluster: Cluster, gadgets: Gadgets) -> None:
    await asyncio.to_thread(gadgets.install, "v1")
    async with client_of(cluster) as client:
        toys = [str(each) for each in await client.resources(category="toys")]
        assert gadgets.path("v1").removeprefix("/apis/") in toys
        ours = {
            f"{each.name}.{each.group}" if each.group else each.name
            for each in await client.resources(category="all")
        }
        told = await asyncio.to_thread(
            cluster.kubectl(), "api-resources", "--categories=all", "-o", "name"
        )
        assert ours == set(told.stdout.split())


async def test_what_has_not_changed_does_not_come_again(cluster: Cluster) -> None:
    async with client_of(cluster) as client:
        request = client.rest.request("GET").path("/api").header("Accept", AGGREGATED_ACCEPT)
        body, etag = await read_unless(request, "")
        assert body
        assert etag
        assert await read_unless(request, etag) == (None, etag)
        before = await client.discovery.resources()
        await client.discovery.refresh()
        after = await client.discovery.resources()
        assert [each for each in after if not each.group] == [
            each for each in before if not each.group
        ]


async def test_who_may_see_one_namespace_hears_what_asks_for_one(cluster: Cluster) -> None:
    async with client_of(cluster, VIEWER) as client:
        with pytest.raises(Forbidden) as caught:
            await client.list("pods")
        [note] = caught.value.__notes__
        assert 'namespace="NAME" asks for one alone' in note
        await client.list("pods", namespace="default")
        with pytest.raises(Forbidden) as caught:
            await client.list("nodes")
        assert not hasattr(caught.value, "__notes__")
        async with client.mirror("pods") as mirror:
            async with asyncio.timeout(30):
                while not mirror.health.last_error:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            assert 'namespace="NAME" asks for one alone' in mirror.health.last_error
