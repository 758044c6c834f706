"""Client: objects, watches and mirrors of one server, for threads."""

from __future__ import annotations

import os
import warnings
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from listwatch.client import Client as AsyncClient
from listwatch.rest import ClientConfig, Transport
from listwatch.wire import Encoding

from .blocking import Blocking, blocking
from .changes import watched
from .informer import informed
from .mirror import mirrored
from .share import Share

__all__ = ["Client"]

R = TypeVar("R")


class Client(Blocking[AsyncClient]):
    """`listwatch.Client` for programs without an event loop: the same arguments, results and
    errors.

        with Client() as client:  # kubeconfig, or the pod's own service account
            print(client.get("nodes", "node-1")["status"]["conditions"])
            for change in client.watch("pods", label_selector="app=web"):
                print(change.type, change.key)

    All of it may be used from any thread. Behind it is one event loop in a thread of its own, for
    all clients of the process: it starts with the first that is used, and ends with the last that
    is closed.

    - Ctrl-C comes out of every call that waits, at once. A request is cancelled by that; whether
      the server has carried it out already, nobody knows.
    - A call inside a running event loop raises `RuntimeError`, since it would stop everything
      there; so does one in the background loop's own thread, where callbacks such as `on_note`,
      inline handlers, index functions and decoders are called.
    - It does not survive a fork: a child must make its own. One that was not used before may be
      used in it.
    - Whoever forgets `close` gets a `ResourceWarning`, and out of the interpreter all the same.
    """

    def __init__(
        self,
        *,
        server: str | None = None,
        kubeconfig: str | os.PathLike[str] | None = None,
        context: str | None = None,
        token: str | None = None,
        config: ClientConfig | None = None,
        transport: Transport | None = None,
        program: str = "",
        trust_lines: bool = False,
        encodings: Sequence[Encoding] = (Encoding.JSON,),
    ) -> None:
        inner = AsyncClient(
            server=server,
            kubeconfig=kubeconfig,
            context=context,
            token=token,
            config=config,
            transport=transport,
            program=program,
            trust_lines=trust_lines,
            encodings=encodings,
        )
        super().__init__(Share(inner.close), inner)

    @property
    def config(self) -> ClientConfig:
        """Where to, and as whom."""
        return self._inner.config

    get = blocking(AsyncClient.get)
    list = blocking(AsyncClient.list)
    create = blocking(AsyncClient.create)
    replace = blocking(AsyncClient.replace)
    patch = blocking(AsyncClient.patch)
    delete = blocking(AsyncClient.delete)
    resources = blocking(AsyncClient.resources)
    table = blocking(AsyncClient.table)
    watch = watched(AsyncClient.watch)
    mirror = mirrored(AsyncClient.mirror)
    informer = informed(AsyncClient.informer)

    def run(self, function: Callable[[AsyncClient], Awaitable[R]]) -> R:
        """Wait for anything else that the async client can do.

        version = client.run(lambda client: client.rest.read("/version"))
        """
        return self._run(lambda: function(self._inner))

    def close(self) -> None:
        """End every watch, mirror and informer, and close every connection. Idempotent.

        A watch that is being iterated ends as if the server had no more to say; a mirror keeps what
        it has, and its health says that it is stopped. Who waits for one gets `MirrorStopped`.
        """
        self._share.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        share = getattr(self, "_share", None)  # None where `__init__` has raised
        if share is not None and share.open:
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        return f"listwatch.sync.{self._inner!r}"
