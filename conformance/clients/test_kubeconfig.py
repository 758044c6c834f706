"""The kubeconfig that the embedded server writes is one that every client can use."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.binaries import BinariesUnavailable
from conformance.kubectl import Kubectl, find_kubectl
from conformance.objects import config_map
from listwatch.testing.apiserver import EmbeddedServer


def load(name: str) -> Any:
    return pytest.importorskip(name, reason=f"the extra peers brings {name}")


async def official(kubeconfig: Path) -> list[str]:
    kubernetes: Any = load("kubernetes")

    def names() -> list[str]:
        with kubernetes.config.new_client_from_config(str(kubeconfig)) as api:
            found = kubernetes.client.CoreV1Api(api).list_namespaced_config_map("here")
            api.rest_client.pool_manager.clear()
        return [item.metadata.name for item in found.items]

    return await asyncio.to_thread(names)


async def kubernetes_asyncio(kubeconfig: Path) -> list[str]:
    kubernetes: Any = load("kubernetes_asyncio")
    async with await kubernetes.config.new_client_from_config(str(kubeconfig)) as api:
        found = await kubernetes.client.CoreV1Api(api).list_namespaced_config_map("here")
    return [item.metadata.name for item in found.items]


async def lightkube(kubeconfig: Path) -> list[str]:
    found: Any = load("lightkube")
    config_maps = load("lightkube.resources.core_v1").ConfigMap
    client = found.AsyncClient(found.KubeConfig.from_file(str(kubeconfig)).get(), trust_env=False)
    names = [item.metadata.name async for item in client.list(config_maps)]
    await client.close()
    return names


async def kr8s(kubeconfig: Path) -> list[str]:
    found: Any = load("kr8s")
    api = await found.asyncio.api(kubeconfig=str(kubeconfig))
    names = [item.name async for item in api.get("configmaps")]
    await api._session.aclose()
    return names


async def kubectl(kubeconfig: Path) -> list[str]:
    try:
        program = Kubectl(find_kubectl(), kubeconfig, kubeconfig.parent)
    except BinariesUnavailable as unavailable:
        pytest.skip(str(unavailable))
    done = await asyncio.to_thread(program, "get", "configmaps", "-o", "name")
    return [line.removeprefix("configmap/") for line in done.stdout.splitlines()]


CLIENTS: tuple[Callable[[Path], Awaitable[list[str]]], ...] = (
    official,
    kubernetes_asyncio,
    lightkube,
    kr8s,
    kubectl,
)


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
# kr8s tells of every Kubernetes newer than those that it was released for.
@pytest.mark.filterwarnings("ignore:Kubernetes version .* is not supported:UserWarning")
async def test_a_client_takes_it(
    client: Callable[[Path], Awaitable[list[str]]], tls: bool, tmp_path: Path
) -> None:
    async with EmbeddedServer(tls=tls) as server:
        one = config_map("one")
        one["metadata"]["namespace"] = "here"
        server.core.load([one])
        kubeconfig = server.kubeconfig(tmp_path / "config", namespace="here", token="any")
        assert await client(kubeconfig) == ["one"]
