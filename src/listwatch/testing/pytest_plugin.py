"""The pytest plugin: a Kubernetes API server, and a clean namespace in it, for each test.

It is there wherever `listwatch[test]` is installed. Nothing is imported before a fixture is used.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from listwatch.rest.config import ClientConfig
    from listwatch.sync import Client

    from .apiserver.faults.current import ActiveFault
    from .kube_apiserver import EmbeddedKubeAPIServer, KubeAPIServer

__all__: list[str] = []


class _AsTheyAre(MetaPathFinder):
    """Has the modules of this library imported without pytest's own reading of them: as the package
    of a plugin, every one would be searched for assertions and compiled again, which takes seconds.
    """

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not name.startswith("listwatch."):
            return None
        return PathFinder.find_spec(name, path, target)


_FINDER = _AsTheyAre()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("listwatch", "a Kubernetes API server for tests")
    group.addoption(
        "--kube-context",
        metavar="NAME",
        help="the cluster of this context of the kubeconfig, in place of the embedded API server:"
        " tests create namespaces in it, and delete them",
    )
    group.addoption(
        "--kube-config",
        metavar="FILE",
        help="the kubeconfig of --kube-context, in place of KUBECONFIG or ~/.kube/config",
    )
    group.addoption(
        "--kube-controllers",
        metavar="NAMES",
        help="the controllers that act in the embedded API server, such as deployment,kubelet;"
        " or all; in place of the ini option kube_controllers",
    )
    parser.addini("kube_controllers", "as --kube-controllers", type="args", default=[])
    parser.addini(
        "kube_bootstrap",
        "whether the embedded API server begins with the roles, bindings and flow schemas that a"
        " real one makes for itself",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    if config.getoption("--kube-config") and not config.getoption("--kube-context"):
        # A cluster that tests write to is named, and never just the current one.
        raise pytest.UsageError("--kube-config needs --kube-context: which cluster is it to be?")
    if not hasattr(config, "workerinput"):  # of pytest-xdist: what is wrong is told once
        _check_options(config)


def _check_options(config: pytest.Config) -> None:
    """What no test could work with ends the run before the first one."""
    context, names = config.getoption("--kube-context"), _controllers(config)
    if context is None and not names:
        return  # nothing is imported for those who use nothing
    from listwatch.api import ListWatchError

    try:
        if context is not None:
            from listwatch.rest.config import load_config

            load_config(context=context, kubeconfig=config.getoption("--kube-config"))
        if names:
            from .apiserver.controllers.names import controller_names

            controller_names(names)
    except ListWatchError as error:
        raise pytest.UsageError(str(error)) from None


def _controllers(config: pytest.Config) -> tuple[str, ...]:
    asked: str | None = config.getoption("--kube-controllers")
    found = config.getini("kube_controllers") if asked is None else [asked]
    return tuple(name for names in found for name in names.split(",") if name)


def _bootstrap(config: pytest.Config) -> bool:
    return bool(config.getini("kube_bootstrap"))


def pytest_unconfigure() -> None:
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)


@contextmanager
def _no_garbage() -> Iterator[None]:
    """While modules are imported by the hundred, when nothing is garbage: looking for some would
    take as long as a fifth of that.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@pytest.fixture(scope="session")
def kube_controllers(request: pytest.FixtureRequest) -> Sequence[str]:
    """The controllers that act in the embedded server: those of `--kube-controllers`, or of the ini
    option; a project may say it with a fixture of this name in its conftest.py, too. A cluster of
    `--kube-context` has its own.
    """
    return _controllers(request.config)


@pytest.fixture(scope="session")
def kube_apiserver(
    request: pytest.FixtureRequest, kube_controllers: Sequence[str]
) -> Iterator[KubeAPIServer]:
    """An API server for the whole run (for each worker of pytest-xdist one): the embedded one, or
    that of `--kube-context`. What a test puts into its own `kube_namespace` no other test sees.
    """
    with _no_garbage():
        from .kube_apiserver import ClusterKubeAPIServer, EmbeddedKubeAPIServer, server_with

    context = request.config.getoption("--kube-context")
    if context is not None:
        yield ClusterKubeAPIServer(context, request.config.getoption("--kube-config"))
        return
    with server_with(kube_controllers, bootstrap=_bootstrap(request.config)) as running:
        yield EmbeddedKubeAPIServer(running)


@pytest.fixture
def fresh_kube_apiserver(
    request: pytest.FixtureRequest, kube_controllers: Sequence[str]
) -> Iterator[EmbeddedKubeAPIServer]:
    """An embedded API server for this test alone: to restart, to fill, to give a type away, to have
    other controllers (`run_controllers`).
    """
    from .kube_apiserver import EmbeddedKubeAPIServer, server_with

    with server_with(kube_controllers, bootstrap=_bootstrap(request.config)) as running:
        yield EmbeddedKubeAPIServer(running)


@pytest.fixture
def kube_namespace(kube_apiserver: KubeAPIServer) -> Iterator[str]:
    """The name of a new namespace, which is deleted after the test."""
    with kube_apiserver.namespace() as name:
        yield name


@pytest.fixture
def kube_config(kube_apiserver: KubeAPIServer, kube_namespace: str) -> ClientConfig:
    """For `listwatch.Client(config=kube_config)`, in the test's own namespace."""
    from .kube_apiserver import in_namespace

    return in_namespace(kube_apiserver.config, kube_namespace)


@pytest.fixture
def kubeconfig(kube_apiserver: KubeAPIServer, kube_namespace: str, tmp_path: Path) -> Path:
    """A kubeconfig file for any other client, whose context has the test's own namespace."""
    return kube_apiserver.kubeconfig(tmp_path, kube_namespace)


@pytest.fixture
def kube_client(kube_config: ClientConfig) -> Iterator[Client]:
    """A `listwatch.sync.Client`, in the test's own namespace."""
    with _no_garbage():
        import aiohttp  # noqa: F401 -- now, not with the first request, when garbage is looked for

        from listwatch.sync import Client

    with Client(config=kube_config) as client:
        yield client


@pytest.fixture
def kube_fault(kube_apiserver: KubeAPIServer) -> Iterator[Callable[[str], ActiveFault]]:
    """`kube_fault("watch pods: cut after 3 events")`: let that go wrong until the test ends.

    A test that takes it is skipped with `--kube-context`: a real server has no such thing.
    """
    from .kube_apiserver import EmbeddedKubeAPIServer

    if not isinstance(kube_apiserver, EmbeddedKubeAPIServer):
        pytest.skip("faults are the embedded server's")
    added: list[ActiveFault] = []

    def add(line: str) -> ActiveFault:
        added.append(kube_apiserver.fault(line))
        return added[-1]

    yield add
    for fault in added:
        kube_apiserver.forget(fault)
