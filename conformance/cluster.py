"""A Kubernetes cluster without nodes: etcd, kube-apiserver and, if asked for, the controllers.

    with Cluster() as cluster:
        cluster.create("/api/v1/namespaces/default/configmaps", config_map("one", a="1"))

All of it listens on loopback and lives in one temporary folder; neither outlives the program.
``python -m conformance.cluster`` runs one in the foreground.
"""

from __future__ import annotations

import argparse
import base64
import http.client
import json
import secrets
import signal
import ssl
import sys
import tempfile
import threading
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self

from conformance import flags
from conformance.binaries import Binaries, BinariesUnavailable, find_binaries
from conformance.certs import Authority, KeyPair, signing_key
from conformance.kubeconfig import Form, cluster_entry, user_entry, write_kubeconfig
from conformance.kubectl import Kubectl, find_kubectl
from conformance.processes import Server, Watchdog, free_port
from conformance.requests import Session, SessionRequests
from conformance.users import ADMIN, USERS, VIEWER, VIEWER_ROLE, write_tokens
from conformance.waiting import TookTooLong, until

_PORT_ATTEMPTS = 5
_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # whatever the proxies set
_ENDING = 5.0  # seconds that a server asked to end is given, before it is made to


class StartFailed(Exception):
    """A server did not come up; the text ends with the tail of its log."""


class _PortTaken(Exception):
    """Somebody took a port between our choosing it and the server's using it."""


class Cluster(SessionRequests):
    """etcd and a kube-apiserver that tests may do anything to."""

    def __init__(
        self,
        *,
        binaries: Binaries | None = None,
        apiserver_args: Sequence[str] = (),
        feature_gates: Mapping[str, bool] | None = None,
        controller_manager: bool = False,
        start_timeout: float = 90,
    ) -> None:
        self.binaries = binaries or find_binaries(controller_manager=controller_manager)
        self.apiserver_args = list(apiserver_args)
        """Further flags of the kube-apiserver; a change counts from its next start."""
        self.feature_gates = dict(feature_gates or {})
        """Its feature gates; likewise."""
        self.tokens = {user: secrets.token_urlsafe(24) for user in USERS}
        """A bearer token for each of `USERS`."""
        self._with_controllers = controller_manager
        self._start_timeout = start_timeout
        self._stopped = False

        self.folder = Path(tempfile.mkdtemp(prefix="conformance-")).resolve()
        self._watchdog = Watchdog(self.folder)
        self.etcd = Server("etcd", self.folder, self._watchdog)
        self.apiserver = Server("kube-apiserver", self.folder, self._watchdog)
        self.controller_manager = Server("kube-controller-manager", self.folder, self._watchdog)

        self.authority = Authority(self.folder)
        self.ca_file = self.authority.file
        self.ca_data = base64.b64encode(self.authority.pem).decode()
        """The authority's certificate in base64, as a kubeconfig has it."""
        self._clients = {
            user: self.authority.client(user, groups) for user, groups in USERS.items()
        }
        self._files = flags.Files(
            serving=self.authority.serving("serving"),
            authority=self.ca_file,
            service_accounts=signing_key(self.folder),
            tokens=write_tokens(self.folder, self.tokens),
            etcd_data=self.folder / "etcd",
            scratch=self.folder / "scratch",
        )
        self._tls = ssl.create_default_context(cafile=str(self.ca_file))
        self._etcd_port = self._port = 0

    # Life

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def start(self) -> Self:
        """Start everything and return when it can be used, permissions included."""
        try:
            for _ in range(_PORT_ATTEMPTS):
                self._etcd_port, self._port = free_port(), free_port()
                try:
                    self._launch_etcd()
                    self._launch_apiserver()  # tries until etcd answers, so the two start together
                    self._wait_for_etcd()
                    self._wait_for_apiserver()
                    break
                except _PortTaken:
                    self.apiserver.kill()
                    self.etcd.kill()
            else:
                raise StartFailed(f"found no free ports in {_PORT_ATTEMPTS} attempts")
            if self._with_controllers:
                self._start_controllers()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End everything at once and remove its files."""
        if not self._stopped:
            self._stopped = True
            for server in (self.controller_manager, self.apiserver, self.etcd):
                server.kill()
            self._watchdog.close()

    def start_apiserver(self) -> None:
        """Start it at its old address and return when it is ready, permissions included."""
        for _ in range(_PORT_ATTEMPTS):
            self._launch_apiserver()
            try:
                return self._wait_for_apiserver()
            except _PortTaken:
                continue
        raise StartFailed(f"port {self._port} was taken while the kube-apiserver was down")

    def kill_apiserver(self) -> None:
        """End it as a crash would (SIGKILL); its clients' connections break."""
        self.apiserver.kill()

    def restart_apiserver(self) -> None:
        """Ask it to end, make it if that takes long (an open watch holds it), and start it."""
        self.apiserver.terminate()
        if not self.apiserver.wait(_ENDING):
            self.apiserver.kill()
        self.start_apiserver()

    def start_etcd(self) -> None:
        """Start it at its old address, with its old data, and return when it is healthy."""
        for _ in range(_PORT_ATTEMPTS):
            self._launch_etcd()
            try:
                return self._wait_for_etcd()
            except _PortTaken:
                continue
        raise StartFailed(f"port {self._etcd_port} was taken while etcd was down")

    def kill_etcd(self) -> None:
        """End etcd as a crash would (SIGKILL). What it had acknowledged, it will have again."""
        self.etcd.kill()

    def compact_etcd(self, resource_version: str | int) -> None:
        """Make etcd forget the history before a resource version.

        The kube-apiserver still answers from its cache until it is restarted.
        """
        request = urllib.request.Request(
            f"{self._etcd_url}/v3/kv/compaction",
            json.dumps({"revision": str(resource_version), "physical": True}).encode(),
        )
        with _DIRECT.open(request, timeout=30):
            pass

    # Use

    @property
    def server(self) -> str:
        """Its URL; the same after a restart."""
        return f"https://127.0.0.1:{self._port}"

    @property
    def client_cert_file(self) -> Path:
        """A certificate of the admin."""
        return self.client_certificate(ADMIN).certificate

    @property
    def client_key_file(self) -> Path:
        """The key to `client_cert_file`."""
        return self.client_certificate(ADMIN).key

    def client_certificate(self, user: str) -> KeyPair:
        """A certificate and key of one of `USERS`."""
        return self._clients[user]

    def kubeconfig(
        self, user: str = ADMIN, form: Form = "token", namespace: str | None = None
    ) -> Path:
        """Write a kubeconfig for a user and return its path; a new file each time."""
        return write_kubeconfig(
            self.folder,
            cluster_entry(self.server, self.ca_file, form),
            {user: user_entry(self.tokens[user], self._clients[user], form)},
            namespace,
        )

    def kubeconfig_of_all(self) -> Path:
        """Write a kubeconfig that needs no other file, with a context and a token for each user."""
        return write_kubeconfig(
            self.folder,
            cluster_entry(self.server, self.ca_file, "inline-data"),
            {user: {"token": token} for user, token in self.tokens.items()},
        )

    def kubectl(self, user: str = ADMIN, namespace: str | None = None) -> Kubectl:
        """kubectl as a user: ``cluster.kubectl()("get", "pods", "-o", "name").stdout``."""
        home = self.folder / "kubectl"
        home.mkdir(exist_ok=True)
        return Kubectl(find_kubectl(), self.kubeconfig(user, namespace=namespace), home)

    def session(self, user: str = ADMIN) -> Session:
        """A kept-alive connection, for many requests in a row."""
        return Session(self.server, self._tls, self.tokens[user])

    # Starting

    @property
    def _etcd_url(self) -> str:
        return f"http://127.0.0.1:{self._etcd_port}"

    def _launch_etcd(self) -> None:
        self.etcd.start([self.binaries.etcd, *flags.etcd(self._files, self._etcd_url)])

    def _launch_apiserver(self) -> None:
        given = flags.apiserver(self._files, self._etcd_url, self._port, self.feature_gates)
        self.apiserver.start([self.binaries.kube_apiserver, *given, *self.apiserver_args])

    def _wait_for_etcd(self) -> None:
        def healthy() -> bool:
            try:
                with _DIRECT.open(f"{self._etcd_url}/health", timeout=5) as answer:
                    return b'"true"' in answer.read()
            except (OSError, http.client.HTTPException):
                return False

        self._wait(self.etcd, healthy)

    def _wait_for_apiserver(self) -> None:
        self._wait(self.apiserver, lambda: self._status("/readyz") == 200)
        # Ready it says it is, and still it refuses for a tenth of a second those whose roles it
        # has not read yet. Only the admin needs none.
        for path, obj in VIEWER_ROLE.items():
            self._wait(self.apiserver, partial(self._exists, path, obj))
        pods = "/api/v1/namespaces/default/pods"
        self._wait(self.apiserver, lambda: self._status(pods, self.tokens[VIEWER]) == 200)
        # That was by a role in one namespace; this is by one for the whole cluster. (401: a test's
        # own flags forbid anonymous requests.)
        self._wait(self.apiserver, lambda: self._status("/version", "") in (200, 401))

    def _start_controllers(self) -> None:
        program = self.binaries.kube_controller_manager
        if program is None:
            raise BinariesUnavailable("these binaries came without kube-controller-manager")
        given = flags.controller_manager(self._files, self.kubeconfig())
        self.controller_manager.start([program, *given])
        # The account that a controller gives to every namespace: they run, and may write.
        account = "/api/v1/namespaces/default/serviceaccounts/default"
        self._wait(self.controller_manager, lambda: self._status(account) == 200)

    def _exists(self, path: str, obj: Mapping[str, Any]) -> bool:
        """Create an object unless it is there; False where that does not work yet."""
        return self._status(path, body=obj) in (201, 409)

    def _status(self, path: str, token: str | None = None, body: object = None) -> int:
        """The status of a GET, or of a POST of ``body``; 0 where there was no answer at all."""
        try:
            return self.request("GET" if body is None else "POST", path, body, token=token).status
        except (OSError, http.client.HTTPException):
            return 0

    def _wait(self, server: Server, ready: Callable[[], bool]) -> None:
        """Wait for a server to be ready, or raise with the tail of its log."""

        def ready_or_dead() -> bool:
            if not server.running:
                if server.lost_its_port:
                    raise _PortTaken
                raise StartFailed(f"{server.name} ended:\n{server.log_tail()}")
            return ready()

        try:
            until(ready_or_dead, what=server.name, timeout=self._start_timeout)
        except TookTooLong as slow:
            raise StartFailed(f"{slow}; its log ends:\n{server.log_tail()}") from None


class ClusterFactory(Protocol):
    """Starts a cluster for one test alone: the fixture ``fresh_cluster``."""

    def __call__(
        self,
        *,
        apiserver_args: Sequence[str] = (),
        feature_gates: Mapping[str, bool] | None = None,
        controller_manager: bool = False,
    ) -> Cluster:
        """Start it; it is stopped when the test ends."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a cluster until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m conformance.cluster", description=main.__doc__)
    parser.add_argument("--controller-manager", action="store_true", help="run the controllers too")
    parser.add_argument(
        "--kubeconfig-out", type=Path, metavar="FILE", help="write the kubeconfig here as well"
    )
    options = parser.parse_args(arguments)

    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        binaries = find_binaries(controller_manager=options.controller_manager, say=print)
        with Cluster(binaries=binaries, controller_manager=options.controller_manager) as cluster:
            kubeconfig = cluster.kubeconfig_of_all()
            if options.kubeconfig_out is not None:
                options.kubeconfig_out.touch(mode=0o600)
                options.kubeconfig_out.write_text(kubeconfig.read_text())
                kubeconfig = options.kubeconfig_out
            print(f"server      {cluster.server}")
            print(f"kubeconfig  {kubeconfig}")
            print(f"contexts    {' '.join(USERS)} (a token each; admin is the current one)")
            print("Ctrl-C ends it.", flush=True)
            ended.wait()
    except (BinariesUnavailable, StartFailed) as failed:
        print(failed, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
