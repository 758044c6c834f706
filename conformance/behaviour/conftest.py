"""``server``: the embedded one and the real one, one after the other; ``space``: room on it.

Tests that take ``server`` leave it running. Those that restart it or compact its history share a
scenario in ``test_history.py``.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.behaviour.hooked import Hooked
from conformance.behaviour.space import Space
from conformance.binaries import Binaries
from conformance.objects import CustomResource, install_crd
from conformance.two_servers import KINDS, EmbeddedCluster, RealServer, TestedServer
from conformance.webhook_server import WebhookServer


@pytest.fixture(scope="package")
def embedded_server() -> Iterator[TestedServer]:
    """The embedded server, with the users of a `Cluster`."""
    server = EmbeddedCluster()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def real_server(binaries: Binaries) -> Iterator[TestedServer]:
    """A kube-apiserver that only the tests of this folder use."""
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
def space(server: TestedServer) -> Space:
    """An empty namespace on ``server``."""
    return Space.make(server)


@pytest.fixture(scope="package")
def widgets(server: TestedServer) -> CustomResource:
    """The custom resource Widget on ``server``."""
    return install_crd(server)


@pytest.fixture(scope="package")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebhookServer]:
    """A webhook on this machine, for both servers."""
    with WebhookServer(tmp_path_factory.mktemp("webhook")) as server:
        yield server


@pytest.fixture
def hooked(space: Space, hooks: WebhookServer) -> Hooked:
    """An empty namespace whose objects `hooks` can be asked about."""
    return Hooked(space, hooks)
