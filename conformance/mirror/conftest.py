"""A cluster for the tests of this folder alone: each may kill it, and leaves it running."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.binaries import Binaries
from conformance.cluster import Cluster
from conformance.mirror.scene import collection
from conformance.namespaces import create_namespace
from conformance.objects import config_map


@pytest.fixture(scope="package")
def own_cluster(binaries: Binaries) -> Iterator[Cluster]:
    with Cluster(binaries=binaries) as cluster:
        yield cluster


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    return own_cluster


@pytest.fixture
def namespace(cluster: Cluster) -> str:
    """Some objects are in it already."""
    name = create_namespace(cluster)
    with cluster.session() as session:
        for number in range(20):
            session.create(collection(name), config_map(f"there-{number:02}", n="0"))
        session.create(collection(name), config_map("counter", n="0"))
    return name
