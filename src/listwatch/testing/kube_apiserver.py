"""The API server that a test run has: the embedded one, or that of a real cluster."""

from __future__ import annotations

import json
import os
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from listwatch.rest.config import ClientConfig, load_config

from .apiserver import EmbeddedServer, Settings
from .apiserver.deleting.namespaces import finish
from .apiserver.messages import Answer, ServerRequest
from .server_thread import ServerThread

if TYPE_CHECKING:
    from .apiserver.faults.current import ActiveFault

__all__ = ["ClusterKubeAPIServer", "EmbeddedKubeAPIServer", "KubeAPIServer"]

T = TypeVar("T")


class KubeAPIServer(ABC):
    """What the fixture `kube_apiserver` gives."""

    @property
    @abstractmethod
    def config(self) -> ClientConfig:
        """How to reach it, for `Client(config=...)` of `listwatch` and `listwatch.sync`."""

    @abstractmethod
    def kubeconfig(self, folder: Path, namespace: str) -> Path:
        """Write a kubeconfig into `folder`, whose context has that namespace, for other clients."""

    @abstractmethod
    def namespace(self) -> Any:
        """A context manager: a namespace of a new name, that is deleted at the end."""

    @property
    def url(self) -> str:
        """Such as `http://127.0.0.1:41234`."""
        return self.config.server


class EmbeddedKubeAPIServer(KubeAPIServer):
    """The server inside the test's own process."""

    def __init__(self, running: ServerThread) -> None:
        self._running = running

    @property
    def config(self) -> ClientConfig:
        return self._running.server.client_config()

    def call(self, function: Callable[[EmbeddedServer], T]) -> T:
        """What `function` gives, called in the server's own thread: see `ServerThread.call`."""
        return self._running.call(function)

    def run_controllers(self, *names: str) -> None:
        """Have these controllers, and no others, act from now on: `deployment`, `kubelet`, `all`.
        Raises `UnknownController`.
        """
        self.call(lambda server: server.run_controllers(names))

    def fault(self, line: str) -> ActiveFault:
        """From now on this goes wrong (docs/faults.md). Raises `FaultSyntaxError`."""
        return self.call(lambda server: server.faults.add(line))

    def forget(self, fault: ActiveFault) -> None:
        """It goes wrong no more."""
        self.call(lambda server: server.faults.remove(fault))

    def kubeconfig(self, folder: Path, namespace: str) -> Path:
        return self._running.server.kubeconfig(folder / "kubeconfig", namespace=namespace)

    @contextmanager
    def namespace(self) -> Iterator[str]:
        name = _new_name()
        made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        body = json.dumps(made).encode()
        # Past the HTTP face, and so past its faults.
        request = ServerRequest(method="POST", path="/api/v1/namespaces", body=body)
        answer = self.call(lambda server: server.core.handle(request))
        if not isinstance(answer, Answer) or answer.status != 201:
            raise RuntimeError(f"the namespace {name} cannot be made: {answer}")
        try:
            yield name
        finally:
            self.call(lambda server: finish(server.core.state, name))


def server_with(controllers: Sequence[str], *, bootstrap: bool = False) -> ServerThread:
    """An embedded server in which these controllers act, not yet started; with `bootstrap` it has
    what a real one makes for itself.
    """
    settings = Settings(bootstrap=bootstrap)
    return ServerThread(lambda: EmbeddedServer(controllers=controllers, settings=settings))


class ClusterKubeAPIServer(KubeAPIServer):
    """That of a context of a kubeconfig: kind, k3s, any cluster that tests may write to."""

    def __init__(self, context: str, kubeconfig: str | os.PathLike[str] | None) -> None:
        self._config = load_config(context=context, kubeconfig=kubeconfig)
        self._context = context
        given = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
        self._files = os.fspath(kubeconfig) if kubeconfig is not None else given

    @property
    def config(self) -> ClientConfig:
        return self._config

    def kubeconfig(self, folder: Path, namespace: str) -> Path:
        import yaml  # not for those who have the embedded server: it takes time to load

        path = folder / "kubeconfig"
        document = _merged(self._files, self._context, namespace)
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(document), "utf-8")
        return path

    @contextmanager
    def namespace(self) -> Iterator[str]:
        from listwatch.sync import Client

        name = _new_name()
        with Client(config=self._config) as client:
            client.create({"metadata": {"name": name}}, resource="namespaces")
            try:
                yield name
            finally:
                client.delete("namespaces", name)


def _new_name() -> str:
    """Unique among workers, machines and runs."""
    return f"test-{secrets.token_hex(5)}"


def _merged(files: str, context: str, namespace: str) -> dict[str, Any]:
    """One kubeconfig of what several say of one context, their relative paths made absolute."""
    import yaml

    found: dict[str, dict[str, Any]] = {"clusters": {}, "users": {}, "contexts": {}}
    for name in files.split(os.pathsep):
        path = Path(name).expanduser()
        if not path.is_file():
            continue
        document = yaml.safe_load(path.read_text("utf-8")) or {}
        for kind, entries in found.items():
            for entry in document.get(kind) or []:
                entries.setdefault(entry["name"], _absolute(entry, path.parent))
    chosen = found["contexts"][context]["context"]
    cluster, user = chosen["cluster"], chosen.get("user", "")
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [found["clusters"][cluster]],
        "users": [found["users"][user]] if user in found["users"] else [],
        "contexts": [{"name": context, "context": {**chosen, "namespace": namespace}}],
        "current-context": context,
    }


_PATHS = ("certificate-authority", "client-certificate", "client-key", "tokenFile")


def _absolute(entry: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A cluster, user or context, for a file in another folder."""
    moved: dict[str, Any] = {}
    for kind, fields in entry.items():
        moved[kind] = dict(fields) if isinstance(fields, dict) else fields
        if kind not in ("cluster", "user"):
            continue
        for name in _PATHS:
            if path := moved[kind].get(name):
                moved[kind][name] = str(folder.resolve() / path)
        plugin = moved[kind].get("exec")
        if plugin and os.path.dirname(plugin.get("command", "")):
            command = str(folder.resolve() / plugin["command"])
            moved[kind]["exec"] = {**plugin, "command": command}
    return moved


def in_namespace(config: ClientConfig, namespace: str) -> ClientConfig:
    """The same, for a test that works in one namespace."""
    return replace(config, namespace=namespace)
