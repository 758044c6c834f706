"""``place``: a namespace on the embedded server, then one on a real one.

The clients come with the extra ``peers``; the tests of one that is not installed are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.binaries import Binaries
from conformance.clients.place import AnyServer, Forgotten, Place
from conformance.cluster import Cluster
from conformance.namespaces import create_namespace, delete_namespace
from conformance.objects import config_map, install_crd
from conformance.two_servers import KINDS, EmbeddedCluster


@pytest.fixture(scope="session")
def _embedded() -> Iterator[EmbeddedCluster]:
    server = EmbeddedCluster()
    install_crd(server)
    yield server
    server.stop()


@pytest.fixture(scope="session", params=KINDS)
def any_server(request: pytest.FixtureRequest) -> AnyServer:
    """Either server, with the custom resource Widget on it. Leave it running."""
    if request.param == "embedded":
        embedded = request.getfixturevalue("_embedded")
        assert isinstance(embedded, EmbeddedCluster)
        return embedded
    cluster = request.getfixturevalue("cluster")
    request.getfixturevalue("crd")
    assert isinstance(cluster, Cluster)
    return cluster


@pytest.fixture
def place(any_server: AnyServer, tmp_path: Path) -> Iterator[Place]:
    """An empty namespace, gone with all its objects afterwards."""
    name = create_namespace(any_server, "client")
    yield Place(any_server, name, tmp_path)
    with any_server.session() as session:
        delete_namespace(session, name)


@pytest.fixture(scope="session", params=KINDS)
def forgotten(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Forgotten]:
    """Either server, restarted after its history was compacted."""
    server: AnyServer
    if request.param == "embedded":
        server = EmbeddedCluster()
    else:
        binaries = request.getfixturevalue("binaries")
        assert isinstance(binaries, Binaries)
        server = Cluster(binaries=binaries).start()
    try:
        place = Place(server, "default", tmp_path_factory.mktemp("forgotten"))
        old = place.resource_version()
        for number in range(3):
            server.create(place.path(), config_map(f"c-{number}"))
        server.compact_etcd(place.resource_version())
        server.restart_apiserver()
        yield Forgotten(place, old)
    finally:
        server.stop()
