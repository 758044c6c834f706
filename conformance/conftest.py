"""Fixtures that give tests a real server.

``cluster`` is one for the whole session (for each worker of pytest-xdist one), which tests share
and keep apart by ``namespace``. A test that kills servers, or wants other flags, takes
``fresh_cluster``. Where the servers cannot be had the tests are skipped, and fail in CI.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

import pytest

from conformance.binaries import Binaries, BinariesUnavailable, find_binaries
from conformance.cluster import Cluster, ClusterFactory
from conformance.namespaces import create_namespace, delete_namespace
from conformance.objects import CustomResource, install_crd

# As in tests/conftest.py: a shell may have told us to ignore Ctrl-C, and programs inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A client in Go takes more than binaries that were built elsewhere: without Go it is no test here.
collect_ignore = [] if shutil.which("go") else ["clients/test_client_go.py"]

pytest.register_assert_rewrite("conformance.controllers.manifests")

_results: dict[bool, Binaries | BinariesUnavailable] = {}  # by: with the controller manager


@pytest.fixture(scope="session")
def binaries() -> Binaries:
    """The servers' programs; skips the test, saying why, where there are none."""
    return _available(controller_manager=False)


@pytest.fixture(scope="session")
def controller_binaries() -> Binaries:
    """The same with kube-controller-manager."""
    return _available(controller_manager=True)


@pytest.fixture(scope="session")
def cluster(binaries: Binaries) -> Iterator[Cluster]:
    """A cluster that all tests share: leave it running, and stay in your ``namespace``."""
    with Cluster(binaries=binaries) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def controller_cluster(controller_binaries: Binaries) -> Iterator[Cluster]:
    """Another shared cluster, whose controllers act: a Deployment gets its pods there."""
    with Cluster(binaries=controller_binaries, controller_manager=True) as cluster:
        yield cluster


@pytest.fixture
def fresh_cluster(request: pytest.FixtureRequest, binaries: Binaries) -> Iterator[ClusterFactory]:
    """Start clusters that are this test's alone, to kill or to start with other flags."""
    started: list[Cluster] = []

    def start(
        *,
        apiserver_args: Sequence[str] = (),
        feature_gates: Mapping[str, bool] | None = None,
        controller_manager: bool = False,
    ) -> Cluster:
        found = binaries
        if controller_manager:
            found = request.getfixturevalue("controller_binaries")
        cluster = Cluster(
            binaries=found,
            apiserver_args=apiserver_args,
            feature_gates=feature_gates,
            controller_manager=controller_manager,
        )
        started.append(cluster)
        return cluster.start()

    yield start
    for cluster in started:
        cluster.stop()


@pytest.fixture
def namespace(cluster: Cluster) -> Iterator[str]:
    """The name of an empty namespace of ``cluster``, gone with all its objects afterwards."""
    name = create_namespace(cluster)
    yield name
    with cluster.session() as session:
        delete_namespace(session, name)


@pytest.fixture(scope="session")
def crd(cluster: Cluster) -> CustomResource:
    """The custom resource Widget (``objects.WIDGET_CRD``), served by ``cluster``."""
    return install_crd(cluster)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build what is missing now: within a test it would run into the test's time limit."""
    if session.config.option.collectonly:
        return
    wanted = {name for item in session.items for name in getattr(item, "fixturenames", ())}
    if wanted & {"binaries", "controller_binaries", "server", "history"}:  # behaviour/conftest.py
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        say = reporter.write_line if reporter is not None else print
        _found("controller_binaries" in wanted, say)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for path in collect_ignore:
        terminalreporter.write_line(f"conformance/{path} was not collected: there is no Go here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test of this folder that is skipped has failed."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """So has a file that skips itself as a whole."""
    report = yield
    _refuse_skip(report)
    return report


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    expected = hasattr(report, "wasxfail")  # an expected failure counts as a skip, but is none
    if report.skipped and not expected and os.environ.get("CI") == "true":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"nothing here may be skipped in CI: {reason}"


def _available(*, controller_manager: bool) -> Binaries:
    found = _found(controller_manager)
    if isinstance(found, BinariesUnavailable):
        pytest.skip(str(found))
    return found


def _found(
    controller_manager: bool, say: Callable[[str], None] = print
) -> Binaries | BinariesUnavailable:
    """Find or build them, or remember why not: a build that failed is not tried again."""
    if controller_manager not in _results:
        try:
            _results[controller_manager] = find_binaries(
                controller_manager=controller_manager, say=say
            )
        except BinariesUnavailable as unavailable:
            _results[controller_manager] = unavailable
    return _results[controller_manager]
