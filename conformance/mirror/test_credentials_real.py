"""Credentials that are renewed, and those that run out, under a mirror of a real server."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from conformance.cluster import Cluster
from conformance.kubeconfig import write_kubeconfig
from conformance.mirror import issuing
from conformance.mirror.cable import Cable
from conformance.mirror.scene import collection, open_scene
from conformance.mirror.writer import Writer
from conformance.objects import config_map
from conformance.users import VIEWER
from conformance.waiting import until
from listwatch import APIError, ClientConfig, RESTClient, Unauthorized, load_config
from listwatch.rest.impersonation import Impersonation

pytestmark = [pytest.mark.timeout(180), pytest.mark.clause("N2", "H15")]

_RBAC = "rbac.authorization.k8s.io"
_ROTATES = 2
"""Seconds for which a certificate of the plugin is good."""


def config_of(cluster: Cluster, folder: Path, server: str, user: dict[str, Any]) -> ClientConfig:
    """A configuration for ``user``, a kubeconfig's own part, over another way to the server."""
    entry = {"server": server, "certificate-authority": str(cluster.ca_file)}
    return load_config(kubeconfig=write_kubeconfig(folder, entry, {"somebody": user}))


async def test_a_plugin_that_rotates_its_certificate_every_two_seconds_loses_nothing(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    runs = tmp_path / "runs"
    told = {
        "CA_FILE": str(cluster.ca_file),
        "CA_KEY": str(cluster.authority.write_key(tmp_path / "ca.key")),
        "SECONDS": str(_ROTATES),
        "RUNS": str(runs),
    }
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [issuing.__file__],
        "env": [{"name": name, "value": value} for name, value in told.items()],
        "interactiveMode": "Never",
    }
    async with Cable(cluster.server) as cable:
        config = config_of(cluster, tmp_path, cable.url, {"exec": plugin})
        async with open_scene(
            cluster, collection(namespace), namespace=namespace, config=config, rng=Random(1)
        ) as scene:
            with Writer(cluster, namespace) as writer:
                for _ in range(5):
                    await asyncio.sleep(_ROTATES)
                    await cable.unplug()
                    await cable.plug()
                    await _watches_again(scene.mirror.health.requests, scene)
                writer.pause()
                await scene.converged()
            assert writer.writes > 50
            assert len(runs.read_text().splitlines()) >= 5
            assert scene.relists == {}


async def test_a_token_that_is_taken_back_in_the_middle_of_a_watch_loses_nothing(
    cluster: Cluster, namespace: str, tmp_path: Path
) -> None:
    """The stream goes on; the next request is refused, the file read again, and the watch opened
    where it was.
    """
    file = tmp_path / "token"
    file.write_text(_service_account(cluster, namespace, "first"))
    async with Cable(cluster.server) as cable:
        config = config_of(cluster, tmp_path, cable.url, {"tokenFile": str(file)})
        async with open_scene(
            cluster, collection(namespace), namespace=namespace, config=config, rng=Random(1)
        ) as scene:
            file.write_text(_service_account(cluster, namespace, "second"))
            cluster.delete(f"/api/v1/namespaces/{namespace}/serviceaccounts/first")
            requests = scene.mirror.health.requests
            cluster.create(collection(namespace), config_map("late", n="0"))
            await scene.converged()
            assert scene.mirror.health.requests == requests, "the stream has gone on"
            await cable.unplug()
            cluster.create(collection(namespace), config_map("later", n="0"))
            await cable.plug()
            await scene.converged()
            assert scene.relists == {}


async def test_a_401_names_the_credential_and_shows_nothing_of_it(
    cluster: Cluster, tmp_path: Path
) -> None:
    config = config_of(cluster, tmp_path, cluster.server, {"token": "made-up-s3cret"})
    async with RESTClient(config) as client:
        with pytest.raises(Unauthorized) as caught:
            await client.read("/api/v1/namespaces")
    noted = "".join(caught.value.__notes__)
    assert "the token of" in noted
    assert "somebody" in noted
    assert "s3cret" not in f"{caught.value} {noted}"


async def test_whom_we_ask_to_be_taken_for_is_whom_the_server_sees(
    cluster: Cluster, tmp_path: Path
) -> None:
    config = load_config(
        kubeconfig=cluster.kubeconfig(),
        impersonate=Impersonation(
            user=VIEWER, uid="7", groups=("a,b", "c"), extra={"Example.com/x": ("1", "2")}
        ),
    )
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    async with RESTClient(config) as client:
        request = client.request("POST").path("/apis/authentication.k8s.io/v1/selfsubjectreviews")
        found = (await request.body(review).object())["status"]["userInfo"]
        with pytest.raises(APIError, match="viewer"):
            await client.read("/api/v1/namespaces")
    assert (found["username"], found["uid"]) == (VIEWER, "7")
    assert {"a,b", "c"} <= set(found["groups"])
    assert found["extra"] == {"example.com/x": ("1", "2")}


async def _watches_again(requests: int, scene: Any) -> None:
    """Wait until a watch was opened since."""
    await asyncio.to_thread(
        until, lambda: scene.mirror.health.requests > requests, what="another watch"
    )


def _service_account(cluster: Cluster, namespace: str, name: str) -> str:
    """The token of a new one that may read ConfigMaps."""
    accounts = f"/api/v1/namespaces/{namespace}/serviceaccounts"
    roles = f"/apis/{_RBAC}/v1/namespaces/{namespace}"
    cluster.create(accounts, {"metadata": {"name": name}})
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]
    cluster.create(f"{roles}/roles", {"metadata": {"name": name}, "rules": rules})
    cluster.create(
        f"{roles}/rolebindings",
        {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": _RBAC, "kind": "Role", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
        },
    )
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
    answer = cluster.create(f"{accounts}/{name}/token", review)
    return str(answer["status"]["token"])
