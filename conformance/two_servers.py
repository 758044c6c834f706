"""The embedded server and a real kube-apiserver behind one face.

A test of what a server does is written once and asked of both: it takes the fixture ``server``
(``conformance/behaviour/conftest.py``), which is a `TestedServer` of either kind.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import ssl
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal, TypeVar

from conformance.binaries import Binaries
from conformance.cluster import Cluster
from conformance.requests import Session, SessionRequests
from conformance.streams import PATIENCE, Stream, address_of, request_bytes
from conformance.users import ADMIN, NOBODY, USERS, VIEWER
from listwatch.testing.apiserver.auth import ADMIN as EVERYTHING
from listwatch.testing.apiserver.auth import Auth, Rule, User
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.embedded import EmbeddedServer
from listwatch.testing.apiserver.storage.state import Settings

T = TypeVar("T")

Kind = Literal["embedded", "real"]
KINDS: tuple[Kind, ...] = ("embedded", "real")


class TestedServer(SessionRequests, ABC):
    """A server that tests may ask anything, and do to what happens to servers."""

    __test__ = False  # it is no test, whatever its name begins with

    kind: Kind
    tokens: Mapping[str, str]
    """A bearer token for each of `conformance.users.USERS`."""
    ca_file: Path

    @property
    @abstractmethod
    def server(self) -> str:
        """Its URL."""

    @abstractmethod
    def stop(self) -> None:
        """End it and remove its files."""

    @abstractmethod
    def kill_apiserver(self) -> None:
        """End it as a crash would; what it has stored, it will have again."""

    @abstractmethod
    def start_apiserver(self) -> None:
        """Start it at its old address after `kill_apiserver`."""

    @abstractmethod
    def compact_etcd(self, resource_version: str | int) -> None:
        """Forget the history before a resource version."""

    @abstractmethod
    def save_history(self) -> None:
        """Keep a copy of all that is stored, for `turn_back`."""

    @abstractmethod
    def turn_back(self) -> None:
        """Restore what was stored at `save_history`, and restart."""

    def restart_apiserver(self) -> None:
        """Crash and come back, with all that is stored."""
        self.kill_apiserver()
        self.start_apiserver()

    def session(self, user: str = ADMIN) -> Session:
        """A kept-alive connection, for many requests in a row."""
        return Session(self.server, self._tls, self.tokens[user])

    def stream(
        self,
        path: str,
        *,
        method: str = "GET",
        body: object = None,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Stream:
        """Send a request whose answer is read as it comes. Close it, or use it with ``with``."""
        sent = {"Accept": "application/json", **(headers or {})}
        token = self.tokens[ADMIN] if token is None else token
        if token:
            sent["Authorization"] = f"Bearer {token}"
        data: bytes | None = None
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        host, port = address_of(self.server)
        raw = request_bytes(f"{host}:{port}", method, path, sent, data)
        return self.send(raw, is_head=method == "HEAD")

    def send(self, raw: bytes, *, is_head: bool = False) -> Stream:
        """Send these very bytes."""
        return Stream(address_of(self.server), self._tls, raw, is_head=is_head)

    @contextmanager
    def unread(self, raw: bytes) -> Iterator[None]:
        """Send these very bytes, and never read what comes back."""
        with (
            socket.create_connection(address_of(self.server), timeout=PATIENCE) as plain,
            self._tls.wrap_socket(plain, server_hostname="127.0.0.1") as connection,
        ):
            connection.sendall(raw)
            yield

    def send_plainly(self, raw: bytes) -> bytes:
        """Send bytes without TLS, and give all that comes back."""
        with socket.create_connection(address_of(self.server), timeout=PATIENCE) as plain:
            plain.sendall(raw)
            received = b""
            while data := plain.recv(65536):
                received += data
            return received

    @property
    def _tls(self) -> ssl.SSLContext:
        context = self.__dict__.get("_context")
        if context is None:
            context = self.__dict__["_context"] = ssl.create_default_context(
                cafile=str(self.ca_file)
            )
        assert isinstance(context, ssl.SSLContext)
        return context


class RealServer(TestedServer):
    """A `Cluster`."""

    kind: Kind = "real"

    def __init__(self, binaries: Binaries | None = None, *, flags: Sequence[str] = ()) -> None:
        self.cluster = Cluster(binaries=binaries, apiserver_args=flags).start()
        self.tokens = self.cluster.tokens
        self.ca_file = self.cluster.ca_file

    @property
    def server(self) -> str:
        return self.cluster.server

    def stop(self) -> None:
        self.cluster.stop()

    def kill_apiserver(self) -> None:
        self.cluster.kill_apiserver()

    def start_apiserver(self) -> None:
        self.cluster.start_apiserver()

    def compact_etcd(self, resource_version: str | int) -> None:
        self.cluster.compact_etcd(resource_version)

    def save_history(self) -> None:
        self.cluster.kill_etcd()  # its files are whole only while it does not run
        shutil.copytree(self._data, self._saved)
        self.cluster.start_etcd()

    def turn_back(self) -> None:
        self.cluster.kill_apiserver()
        self.cluster.kill_etcd()
        shutil.rmtree(self._data)
        shutil.copytree(self._saved, self._data)
        self.cluster.start_etcd()
        self.cluster.start_apiserver()

    @property
    def _data(self) -> Path:
        return self.cluster.folder / "etcd"

    @property
    def _saved(self) -> Path:
        return self.cluster.folder / "etcd-saved"


class EmbeddedCluster(TestedServer):
    """The embedded server on an event loop of its own, in a thread of its own. `controllers` are
    those of its controllers that it has on.
    """

    kind: Kind = "embedded"

    def __init__(self, *, controllers: Sequence[str] = ()) -> None:
        self._controllers = controllers
        self._temporary = tempfile.TemporaryDirectory(prefix="conformance-embedded-")
        self.folder = Path(self._temporary.name)
        self.tokens = {user: f"token-of-{user}" for user in (ADMIN, VIEWER, NOBODY)}
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._down = asyncio.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="embedded-server", daemon=True)
        self._thread.start()
        self._up.wait(PATIENCE)
        self._check()
        self.ca_file = self.folder / "ca.pem"
        self.ca_file.write_bytes(self.embedded.ca_data or b"")
        self._backup = self._call(self.embedded.core.backup)

    def _check(self) -> None:
        """Raise what it has died of, if it has."""
        if self._failure is not None:
            self.stop()
            raise self._failure

    @property
    def server(self) -> str:
        return self.embedded.url

    def stop(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._down.set)
            self._thread.join(PATIENCE)
        self._temporary.cleanup()

    def kill_apiserver(self) -> None:
        # It is back at once; nothing here asks a server that is down.
        self._call(self.embedded.restart)

    def start_apiserver(self) -> None:
        self.request("GET", "/readyz")

    def compact_etcd(self, resource_version: str | int) -> None:
        self._call(lambda: self.embedded.core.compact(int(resource_version)))

    def save_history(self) -> None:
        self._backup = self._call(self.embedded.core.backup)

    def turn_back(self) -> None:
        self._call(lambda: self.embedded.restart("back", backup=self._backup))

    @contextmanager
    def fault(self, line: str) -> Iterator[None]:
        """While this lasts something goes wrong, in the words of ``docs/faults.md``."""
        added = self._call(lambda: self.embedded.faults.add(line))
        try:
            yield
        finally:
            self._call(lambda: self.embedded.faults.remove(added))

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as failure:
            self._failure = failure
        finally:
            self._up.set()
            self._loop.close()

    async def _serve(self) -> None:
        core = APIServer(
            clock=self._loop.time,
            wall=lambda: datetime.now(UTC),
            rng=Random(),
            # The real one has no controllers and no kubelet either.
            settings=Settings(
                bootstrap=True,
                namespace_deletion=False,
                pod_termination=False,
                service_range="10.0.0.0/24",  # as conformance/flags.py has it
            ),
            auth=self._auth(),
            controllers=self._controllers,
        )
        async with EmbeddedServer(core, tls=True) as self.embedded:
            self._up.set()
            await self._down.wait()

    def _auth(self) -> Auth:
        pods = Rule(
            verbs=("get", "list", "watch"),
            groups=("",),
            resources=("pods",),
            namespaces=("default",),
        )
        rules = {ADMIN: EVERYTHING, VIEWER: (pods,), NOBODY: ()}
        return Auth(
            # As the real one reads its file of tokens: no group is one without a name.
            User(name=name, token=token, rules=rules[name], uid=name, groups=USERS[name] or ("",))
            for name, token in self.tokens.items()
        )

    def _call(self, function: Callable[[], T]) -> T:
        """Call on the server's own loop, and give what came of it."""

        async def call() -> T:
            return function()

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(PATIENCE)


def start(kind: Kind, binaries: Binaries | None = None) -> TestedServer:
    """Start one."""
    return EmbeddedCluster() if kind == "embedded" else RealServer(binaries)
