"""A mirror of the ConfigMaps of one namespace of a real server, and what is asked of it."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

from conformance.cluster import Cluster
from conformance.requests import Json, Requests
from conformance.users import ADMIN
from listwatch import ClientConfig, GroupVersionResource, ListWatch, RESTClient, load_config
from listwatch.cache import AsyncListerWatcher, Mirror, Note, ReflectorOptions
from tests.mirror.seen import Identities, Seen, assert_same, identities

CONFIG_MAPS = GroupVersionResource.parse("v1/configmaps")
_LOOK_AGAIN = 0.02  # seconds

Around = Callable[[AsyncListerWatcher[Any]], AsyncListerWatcher[Any]]


def collection(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


def listed(server: Requests, path: str) -> tuple[str, Identities]:
    """RV and set of a consistent list, read with the standard library alone."""
    return _told(server.get(path))


def listed_at(server: Requests, path: str, version: str) -> Identities:
    """The set as it was at just this RV."""
    return _told(
        server.get(f"{path}?resourceVersion={version}&resourceVersionMatch=Exact"),
    )[1]


def _told(answer: Json) -> tuple[str, Identities]:
    found: Identities = {}
    for item in answer["items"]:
        meta = item["metadata"]
        key = "/".join(filter(None, (meta.get("namespace"), meta["name"])))
        found[key] = (meta["uid"], meta["resourceVersion"])
    return answer["metadata"]["resourceVersion"], found


class Scene:
    """One mirror, what it said, and what its consumer was told."""

    def __init__(
        self, cluster: Cluster, path: str, mirror: Mirror[Any], seen: Seen, notes: list[Note]
    ) -> None:
        self.cluster = cluster
        self.path = path
        self.mirror = mirror
        self.seen = seen
        self.notes = notes

    async def converged(self, within: float = 70) -> float:
        """Seconds until the store was the server's set. Nobody may write meanwhile.

        The default is the longest that a reflector may wait for its next round (H9). Raises
        AssertionError where that did not come about, or where what was told breaks a rule.
        """
        loop = asyncio.get_running_loop()
        _, there = await asyncio.to_thread(listed, self.cluster, self.path)
        began = loop.time()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within):
                # A store says when it is at an RV, and not when it is a set.
                while identities(self.mirror.store) != there:  # noqa: ASYNC110
                    await asyncio.sleep(_LOOK_AGAIN)
        took = loop.time() - began
        assert_same(identities(self.mirror.store), there)
        self.seen.check(there)
        return took

    @property
    def relists(self) -> dict[str, int]:
        return {str(cause): count for cause, count in self.mirror.health.relists.items()}


@asynccontextmanager
async def open_scene(
    cluster: Cluster,
    path: str,
    *,
    resource: GroupVersionResource = CONFIG_MAPS,
    kind: str = "ConfigMap",
    namespace: str = "",
    user: str = ADMIN,
    server: str = "",
    config: ClientConfig | None = None,
    synced: bool = True,
    around: Around = lambda source: source,
    on_note: Callable[[Note], None] = lambda note: None,
    rng: Random | None = None,
    **options: Any,
) -> AsyncIterator[Scene]:
    """A mirror of ``resource`` in ``namespace``, which is what ``path`` lists. ``server`` is
    another way to it (a `Cable`), ``config`` one with credentials of its own, and ``around`` wraps
    its source.
    """
    if config is not None:
        pass
    elif server:
        token = cluster.tokens[user]
        config = load_config(server=server, ca_file=str(cluster.ca_file), token=token)
    else:
        config = load_config(kubeconfig=cluster.kubeconfig(user))
    seen = Seen()
    notes: list[Note] = []

    def note(said: Note) -> None:
        notes.append(said)
        on_note(said)

    async with RESTClient(config) as client:
        mirror: Mirror[Any] = Mirror(
            around(ListWatch.from_client(client, resource, namespace)),
            kind=kind,
            options=ReflectorOptions(**options),
            on_deltas=seen,
            on_note=note,
            rng=rng,
        )
        seen.epoch = lambda: mirror.store.epoch
        async with mirror:
            if synced:
                await mirror.synced(timeout=30)
            yield Scene(cluster, path, mirror, seen, notes)


@asynccontextmanager
async def scene_of(cluster: Cluster, namespace: str, **options: Any) -> AsyncIterator[Scene]:
    """The ConfigMaps of one namespace."""
    async with open_scene(
        cluster, collection(namespace), namespace=namespace, rng=Random(1), **options
    ) as scene:
        yield scene


# What happens to servers, beyond what a Cluster can be asked for


def kill_apiserver(cluster: Cluster) -> None:
    """SIGKILL, and back when it is ready."""
    cluster.kill_apiserver()
    cluster.start_apiserver()


def kill_etcd(cluster: Cluster) -> None:
    cluster.kill_etcd()
    cluster.start_etcd()


def kill_both(cluster: Cluster) -> None:
    cluster.kill_apiserver()
    cluster.kill_etcd()
    cluster.start_etcd()
    cluster.start_apiserver()


def back_up(cluster: Cluster) -> None:
    """Keep a copy of etcd's data folder. etcd is down for a moment: its files are whole only while
    it does not run.
    """
    cluster.kill_etcd()
    shutil.rmtree(_saved(cluster), ignore_errors=True)
    shutil.copytree(_data(cluster), _saved(cluster))
    cluster.start_etcd()


def turn_back(cluster: Cluster) -> None:
    """Kill both servers, put the copy in place of etcd's data, and start them again."""
    cluster.kill_apiserver()
    turn_back_etcd(cluster)
    cluster.start_apiserver()


def turn_back_etcd(cluster: Cluster) -> None:
    """The same under a kube-apiserver that runs on, and for a time notices nothing."""
    cluster.kill_etcd()
    shutil.rmtree(_data(cluster))
    shutil.copytree(_saved(cluster), _data(cluster))
    cluster.start_etcd()


def _data(cluster: Cluster) -> Path:
    return cluster.folder / "etcd"


def _saved(cluster: Cluster) -> Path:
    return cluster.folder / "etcd-saved"


def many_changes(server: Cluster, namespace: str, count: int, name: str = "counter") -> None:
    """Move the RV on by so many, over one connection."""
    with server.session() as session:
        for number in range(count):
            patch: Mapping[str, Any] = {"data": {"n": str(number)}}
            session.patch(collection(namespace, name), patch)
