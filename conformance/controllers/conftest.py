"""``stages``: a namespace on each of two servers whose controllers act."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.cluster import Cluster
from conformance.controllers.stage import Stage
from conformance.two_servers import EmbeddedCluster

_CONTROLLERS = (
    "garbage-collector",
    "namespace",
    "deployment",
    "replicaset",
    "replicationcontroller",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "endpoints",
    "endpointslice",
    "disruption",
    "resourcequota",
    "clusterrole-aggregation",
    "node-lifecycle",
    "taint-eviction",
    "pod-garbage-collector",
    "serviceaccount",
    "root-ca-certificate-publisher",
)
"""All but the kubelet: the tests act it out, on both servers."""


@pytest.fixture(scope="package")
def embedded_controllers() -> Iterator[EmbeddedCluster]:
    server = EmbeddedCluster(controllers=_CONTROLLERS)
    yield server
    server.stop()


@pytest.fixture
def stages(
    embedded_controllers: EmbeddedCluster, controller_cluster: Cluster
) -> tuple[Stage, Stage]:
    """The embedded one, and the real one."""
    return Stage(embedded_controllers), Stage(controller_cluster)
