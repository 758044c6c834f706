"""``server``: the embedded one, then a real one, of this folder alone: tests restart them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.binaries import Binaries
from conformance.namespaces import create_namespace
from conformance.two_servers import KINDS, EmbeddedCluster, RealServer, TestedServer


@pytest.fixture(scope="package")
def embedded_server() -> Iterator[TestedServer]:
    server = EmbeddedCluster()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def real_server(binaries: Binaries) -> Iterator[TestedServer]:
    server = RealServer(binaries)
    yield server
    server.stop()


@pytest.fixture(scope="package", params=KINDS)
def server(request: pytest.FixtureRequest) -> TestedServer:
    """Either; a test that takes it is run on both."""
    found = request.getfixturevalue(f"{request.param}_server")
    assert isinstance(found, TestedServer)
    return found


@pytest.fixture
def namespace(server: TestedServer) -> str:
    """The name of an empty one."""
    return create_namespace(server, "informer")
