"""Types and rights that come and go under a mirror of a real server."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from conformance.cluster import Cluster
from conformance.mirror.scene import open_scene, scene_of
from conformance.objects import WIDGET, WIDGET_CRD, install_crd, pod
from conformance.users import NOBODY, VIEWER
from conformance.waiting import until
from listwatch import EventType, GroupVersionResource
from tests.mirror.seen import identities

pytestmark = pytest.mark.timeout(180)


@pytest.mark.clause("H7")
async def test_a_type_that_is_deleted_and_made_again_is_mirrored_again(
    cluster: Cluster, namespace: str
) -> None:
    widgets = GroupVersionResource.parse(f"{WIDGET.group}/{WIDGET.version}/{WIDGET.plural}")
    await asyncio.to_thread(install_crd, cluster)
    for name in ("one", "two"):
        cluster.create(WIDGET.path(namespace), WIDGET.object(name, color="red"))
    async with open_scene(
        cluster,
        WIDGET.path(namespace),
        resource=widgets,
        kind=WIDGET.kind,
        namespace=namespace,
        rng=Random(1),
    ) as scene:
        await scene.converged()
        before = identities(scene.mirror.store)
        crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        name = WIDGET_CRD["metadata"]["name"]
        cluster.delete(f"{crd}/{name}")
        await asyncio.to_thread(
            until, lambda: cluster.request("GET", f"{crd}/{name}").status == 404, what="its end"
        )
        await asyncio.sleep(3)
        assert identities(scene.mirror.store) == {}
        await asyncio.to_thread(install_crd, cluster)
        cluster.create(WIDGET.path(namespace), WIDGET.object("one", color="blue"))
        await scene.converged()
        after = identities(scene.mirror.store)
        assert after.keys() == {f"{namespace}/one"}
        assert after[f"{namespace}/one"][0] != before[f"{namespace}/one"][0]
        assert scene.seen.told[EventType.DELETED] == 2


@pytest.mark.clause("H7", "H9")
@pytest.mark.parametrize("watch_list", [True, False], ids=["watch-list", "list"])
async def test_rights_that_come_later_are_used_when_they_come(
    cluster: Cluster, namespace: str, watch_list: bool
) -> None:
    async with scene_of(
        cluster, namespace, user=NOBODY, synced=False, watch_list=watch_list
    ) as scene:
        await asyncio.sleep(3)
        assert not scene.mirror.health.synced
        assert "forbidden" in scene.mirror.health.last_error
        _allow(cluster, namespace, NOBODY)
        await scene.mirror.synced(timeout=70)
        await scene.converged()


@pytest.mark.clause("H7", "H9")
async def test_a_mirror_that_is_there_before_its_server_survives_the_start_up(
    cluster: Cluster,
) -> None:
    """A server that is just up says 403 to whoever needs a role, for a moment: this is one."""
    path = "/api/v1/namespaces/default/pods"
    cluster.request("POST", path, pod("web"))
    cluster.kill_apiserver()
    async with open_scene(
        cluster,
        path,
        resource=GroupVersionResource.parse("v1/pods"),
        kind="Pod",
        namespace="default",
        user=VIEWER,
        synced=False,
        rng=Random(1),
    ) as scene:
        starting = asyncio.create_task(asyncio.to_thread(cluster.start_apiserver))
        await scene.mirror.synced(timeout=70)
        await starting
        await scene.converged()


def _allow(cluster: Cluster, namespace: str, user: str) -> None:
    rbac = "rbac.authorization.k8s.io"
    roles = f"/apis/{rbac}/v1/namespaces/{namespace}"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    cluster.create(f"{roles}/roles", {"metadata": {"name": "late"}, "rules": rules})
    cluster.create(
        f"{roles}/rolebindings",
        {
            "metadata": {"name": "late"},
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "late"},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}],
        },
    )
