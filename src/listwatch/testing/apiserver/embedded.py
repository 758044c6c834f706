"""A whole server inside the program: the core, its HTTP face, and the way to it."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, cast

from listwatch.rest.config import ClientConfig
from listwatch.rest.credentials import StaticToken

from .faults.current import Faults
from .http.face import HTTPFace
from .http.limits import Limits
from .http.tls import Authority
from .service import Core, Service

if TYPE_CHECKING:
    from .control import Control
    from .core import APIServer
    from .storage.log import WriteLog
    from .storage.state import Settings

__all__ = ["EmbeddedServer"]


class EmbeddedServer:
    """A Kubernetes API server in this process, on loopback.

    >>> from listwatch import RESTClient
    >>> async def answer_of_readyz() -> bytes:
    ...     async with EmbeddedServer() as server, RESTClient(server.client_config()) as client:
    ...         return await client.read("/readyz")
    >>> asyncio.run(answer_of_readyz())
    b'ok'

    Without a `core` it makes one that is empty but for the usual namespaces, from `rng` and
    `settings`; settings beside a core, which has its own, are a ValueError. With `tls` it speaks
    TLS, by a certificate of an authority made on the spot (`TLSUnavailable` where that cannot be
    done), or by the `ssl.SSLContext` given. `port` 0 takes a free one. `control` opens the control
    endpoint (see `control.py`). `controllers` make manifests come to life: `all`, or
    some by name (`APIServer.run_controllers`).

    It is up when the `async with` begins. Leaving that ends every connection, timer and task.
    """

    def __init__(
        self,
        core: Core | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: bool | ssl.SSLContext = False,
        control: bool = False,
        faults: Faults | None = None,
        rng: Random | None = None,
        limits: Limits | None = None,
        controllers: Iterable[str] = (),
        settings: Settings | None = None,
    ) -> None:
        if core is not None and settings is not None:
            raise ValueError("settings are the core's: give it them, or leave it out")
        self._core = core if core is not None else _new_core(rng, settings)
        if controllers:
            self.core.run_controllers(controllers)
        self.faults = faults if faults is not None else Faults(rng=rng)
        """What shall go wrong."""
        self._host = host
        self._tls = tls
        self._authority: Authority | None = None
        self._service = Service(self._core, self.faults, rng=rng)
        self._face = HTTPFace(
            self._service,
            host=host,
            port=port,
            control=_control(self._service) if control else None,
            limits=limits,
        )
        self._running = False

    @property
    def core(self) -> APIServer:
        """The core: objects can be put into it, and it can be made to compact or restart."""
        return cast("APIServer", self._core)

    @property
    def port(self) -> int:
        """Raises RuntimeError while it is not running."""
        if not self._running:
            raise RuntimeError("the embedded server is not running")
        return self._face.port

    @property
    def url(self) -> str:
        """Where it listens, such as `http://127.0.0.1:8001`; RuntimeError while it does not."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}"

    @property
    def ca_data(self) -> bytes | None:
        """What clients must trust, in PEM; None without TLS, or with a context of yours."""
        return None if self._authority is None else self._authority.ca_data

    @property
    def connections(self) -> int:
        """How many clients are connected."""
        return self._face.connections

    @property
    def watches(self) -> int:
        """How many watches are open."""
        return self._service.watches

    def client_config(
        self, *, token: str | None = None, namespace: str = "default"
    ) -> ClientConfig:
        """What a client needs to talk to it."""
        return ClientConfig(
            server=self.url,
            ca_data=self.ca_data,
            credentials=None if token is None else StaticToken(token),
            namespace=namespace,
            source="the embedded server",
        )

    def kubeconfig(
        self,
        path: str | os.PathLike[str],
        *,
        token: str | None = None,
        namespace: str = "default",
    ) -> Path:
        """Write a kubeconfig for it, which only this user can read, and give its path."""
        cluster = {"server": self.url}
        if self.ca_data is not None:
            cluster["certificate-authority-data"] = base64.b64encode(self.ca_data).decode()
        target = Path(path)
        target.unlink(missing_ok=True)
        opened = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(_kubeconfig(cluster, token, namespace))
        return target

    def run_controllers(self, names: Iterable[str]) -> None:
        """Have these controllers, and no others, act from now on; see `APIServer`."""
        self.core.run_controllers(names)
        if self._running:
            self._service.look_again()

    def compact(self) -> None:
        """Forget all history but the newest state."""
        self.core.compact()

    def restart(
        self,
        history: Literal["kept", "lost", "back"] = "kept",
        *,
        down: float = 0.0,
        backup: WriteLog | None = None,
    ) -> None:
        """Be killed and come back after `down` seconds: with the whole history, with nothing, or
        with what was there when `backup` was made (`core.backup()`). ValueError without that.
        """
        self._service.restart(history, down=down, backup=backup)

    def rotate_certificate(self, *, authority: bool = False) -> None:
        """Show new connections another certificate; with `authority`, one of another authority."""
        if self._authority is None:
            return
        if authority:
            self._authority = Authority.make()
        self._face.context = self._authority.server_context(self._host)

    async def start(self) -> None:
        """Listen. Raises OSError where the address cannot be had, and `TLSUnavailable`."""
        if isinstance(self._tls, ssl.SSLContext):
            self._face.context = self._tls
        elif self._tls:
            self._authority = self._authority or Authority.shared()
            self._face.context = self._authority.server_context(self._host)
        self._service.on_rotate = self._rotate
        await self._face.start()
        self._service.start()
        self._running = True

    async def stop(self) -> None:
        """End every connection, and return when all of it is gone. Idempotent."""
        self._running = False
        await self._service.close()
        await self._face.stop()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.stop()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.stop()

    def _rotate(self, authority: bool) -> None:
        self.rotate_certificate(authority=authority)


def _new_core(rng: Random | None, settings: Settings | None) -> Core:
    from .core import APIServer

    return APIServer(clock=_clock, wall=_now, rng=rng, settings=settings)


def _clock() -> float:
    """The loop's time; outside of a loop, what that of most loops would be."""
    try:
        return asyncio.get_running_loop().time()
    except RuntimeError:
        return time.monotonic()


def _now() -> datetime:
    return datetime.now(UTC)


def _kubeconfig(cluster: dict[str, str], token: str | None, namespace: str) -> str:
    name = "listwatch"
    lines = ["apiVersion: v1", "kind: Config", "clusters:", f"- name: {name}", "  cluster:"]
    lines += [f"    {key}: {json.dumps(value)}" for key, value in cluster.items()]
    lines += ["users:", f"- name: {name}"]
    lines += ["  user: {}"] if token is None else ["  user:", f"    token: {json.dumps(token)}"]
    lines += ["contexts:", f"- name: {name}", "  context:", f"    cluster: {name}"]
    lines += [f"    user: {name}", f"    namespace: {json.dumps(namespace)}"]
    return "\n".join([*lines, f"current-context: {name}", ""])


def _control(service: Service) -> Control:
    from .control import Control  # few open it, and it takes time to load

    return Control(service)
