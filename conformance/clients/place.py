"""What a test of a client gets: a server of either kind, and a namespace on it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.binaries import Binaries
from conformance.cluster import Cluster
from conformance.kubeconfig import cluster_entry, write_kubeconfig
from conformance.objects import WIDGET, config_map, install_crd
from conformance.two_servers import EmbeddedCluster
from conformance.users import ADMIN

AnyServer = Cluster | EmbeddedCluster


@contextmanager
def widget_server(request: pytest.FixtureRequest) -> Iterator[AnyServer]:
    """The server of the kind that a fixture's parameter says, with Widgets on it, to restart."""
    server: AnyServer
    if request.param == "embedded":
        server = EmbeddedCluster()
    else:
        binaries = request.getfixturevalue("binaries")
        assert isinstance(binaries, Binaries)
        server = Cluster(binaries=binaries).start()
    try:
        install_crd(server)
        yield server
    finally:
        server.stop()


LABEL = "app=web"
"""The selector that `Place.churn` is made for."""


class Step(NamedTuple):
    """An event: what happened to which object."""

    type: str
    name: str


@dataclass(frozen=True)
class Churn:
    """Changes that were made, as a watch from `start` shows them."""

    start: str
    """The resource version of the collection before all of them."""
    all: tuple[Step, ...]
    selected: tuple[Step, ...]
    """What a watch with `LABEL` shows: an object comes and goes by its label."""


_ALL = (
    Step("ADDED", "one"),
    Step("ADDED", "two"),
    Step("MODIFIED", "one"),
    Step("MODIFIED", "two"),
    Step("MODIFIED", "one"),
    Step("DELETED", "two"),
    Step("DELETED", "one"),
)
_SELECTED = (
    Step("ADDED", "one"),
    Step("MODIFIED", "one"),
    Step("ADDED", "two"),
    Step("DELETED", "one"),
    Step("DELETED", "two"),
)


@dataclass(frozen=True)
class Place:
    """A namespace of its own for a test, where the custom resource `WIDGET` is served too."""

    server: AnyServer
    namespace: str
    folder: Path

    def kubeconfig(self, user: str = ADMIN, *, token: str | None = None) -> Path:
        """Write a kubeconfig for one of `conformance.users.USERS`, or for another token."""
        return write_kubeconfig(
            Path(tempfile.mkdtemp(dir=self.folder)),
            cluster_entry(self.server.server, self.server.ca_file, "token"),
            {user: {"token": token or self.server.tokens[user]}},
            self.namespace,
        )

    def path(self, plural: str = "configmaps", name: str = "") -> str:
        """The path of ConfigMaps, Pods or Widgets here."""
        base = f"/apis/{WIDGET.group}/{WIDGET.version}" if plural == WIDGET.plural else "/api/v1"
        return f"{base}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def resource_version(self, plural: str = "configmaps") -> str:
        """That of the collection as it is now."""
        return str(self.server.get(self.path(plural))["metadata"]["resourceVersion"])

    def exists(self, name: str, plural: str = "configmaps") -> bool:
        return self.server.request("GET", self.path(plural, name)).status == 200

    def add(self, name: str, plural: str = "configmaps", **labels: str) -> str:
        """Create a ConfigMap or a Widget, and give its resource version."""
        made = WIDGET.object(name) if plural == WIDGET.plural else config_map(name)
        made["metadata"]["labels"] = labels
        created = self.server.create(self.path(plural), made)
        return str(created["metadata"]["resourceVersion"])

    def churn(self, plural: str = "configmaps") -> Churn:
        """Make, change and delete two objects, by nothing of the client that is tested."""
        start = self.resource_version(plural)
        self.add("one", plural, app="web")
        self.add("two", plural, app="db")
        self._label("one", plural, more="x")
        self._label("two", plural, app="web")
        self._label("one", plural, app="db")
        for name in ("two", "one"):
            self.server.delete(self.path(plural, name))
        return Churn(start, _ALL, _SELECTED)

    def _label(self, name: str, plural: str, **labels: str) -> None:
        self.server.patch(self.path(plural, name), {"metadata": {"labels": labels}})


@dataclass(frozen=True)
class Forgotten:
    """A server that has forgotten its history, and a resource version from before."""

    place: Place
    version: str


def increasing(versions: list[str]) -> bool:
    """Whether resource versions are in the order of the writes, each later than the one before."""
    numbers = [int(version) for version in versions]
    return numbers == sorted(set(numbers))
