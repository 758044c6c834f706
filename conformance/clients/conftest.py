"""``place``: a namespace on the embedded server, then one on a real one.

``mortal_place`` is one on a server that the tests may restart.

The clients come with the extra ``peers``; the tests of one that is not installed are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from conformance.binaries import BinariesUnavailable
from conformance.clients import client_go as go
from conformance.clients.place import AnyServer, Forgotten, Place, widget_server
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
def mortal(request: pytest.FixtureRequest) -> Iterator[AnyServer]:
    """Either server, with Widgets on it, for tests that restart it. Leave it running."""
    with widget_server(request) as server:
        yield server


@pytest.fixture
def mortal_place(mortal: AnyServer, tmp_path: Path) -> Iterator[Place]:
    """An empty namespace there, gone with all its objects afterwards."""
    name = create_namespace(mortal, "mortal")
    yield Place(mortal, name, tmp_path)
    with mortal.session() as session:
        delete_namespace(session, name)


@pytest.fixture(scope="session")
def forgotten(mortal: AnyServer, tmp_path_factory: pytest.TempPathFactory) -> Forgotten:
    """Either server, restarted after its history was compacted."""
    place = Place(mortal, "default", tmp_path_factory.mktemp("forgotten"))
    old = place.resource_version()
    for number in range(3):
        mortal.create(place.path(), config_map(f"c-{number}"))
    mortal.compact_etcd(place.resource_version())
    mortal.restart_apiserver()
    return Forgotten(place, old)


@pytest.fixture(scope="session")
def client_go() -> Path:
    """The program made with client-go; skips the test, saying why, where it cannot be built."""
    try:
        return go.build()
    except BinariesUnavailable as unavailable:
        pytest.skip(str(unavailable))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what is missing now: within a test it would run into the test's time limit."""
    wanted = any("client_go" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and not session.config.option.collectonly:
        with suppress(BinariesUnavailable):  # of which the fixture tells
            go.build(print)
