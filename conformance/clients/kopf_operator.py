"""An operator that is made with ``kopf``, and what one sees of it."""

from __future__ import annotations

import asyncio
import gc
import logging
import threading
import warnings
from queue import Queue
from typing import Any

import pytest

from conformance.clients.place import Place
from conformance.objects import WIDGET
from conformance.requests import Json
from conformance.waiting import until

kopf: Any = pytest.importorskip("kopf", reason="the extra peers brings kopf")

PATIENCE = 30.0


class Told(logging.Handler):
    """What kopf logs, to see what it does of which nothing shows on the server."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())

    def wait_for(self, *texts: str) -> None:
        """One after the other, what else there is between them."""

        def there() -> bool:
            lines = iter(tuple(self.lines))
            return all(any(text in line for line in lines) for text in texts)

        until(there, what=f"{' and then '.join(texts)} in kopf's log")


class Operator:
    """An operator in a thread of its own, that paints the Widgets of a place.

    What it does is in `handled`. It lets no Widget go before `may_go` is set. It finds the server
    by `KUBECONFIG`. With `streaming` it lists nothing, and watches from the start.
    """

    def __init__(
        self, place: Place, *, clusterwide: bool = False, streaming: bool = False, **options: Any
    ) -> None:
        self.handled: Queue[tuple[str, str]] = Queue()
        self.may_go = threading.Event()
        self._up = threading.Event()
        self._down = threading.Event()
        where = {"clusterwide": True} if clusterwide else {"namespaces": [place.namespace]}
        self._options = {"standalone": True, **where, **options}
        self._streaming = streaming
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="operator", daemon=True)

    def __enter__(self) -> Operator:
        self._thread.start()
        assert self._up.wait(PATIENCE), self._failure
        assert self._failure is None
        return self

    def __exit__(self, *exc: object) -> None:
        self.may_go.set()
        # It ends its loop while its connections are still saying goodbye by TLS, and leaves them
        # to the garbage collector: collected here, they are not the fault of a later test.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            self._down.set()
            self._thread.join(PATIENCE)
            gc.collect()
        assert not self._thread.is_alive()
        assert self._failure is None

    def next(self) -> tuple[str, str]:
        """The next thing that it has to do with a Widget: what, and its name."""
        return self.handled.get(timeout=PATIENCE)

    def find(self, what: str, name: str) -> list[tuple[str, str]]:
        """Wait until it has to do this, and give what it had to do before.

        Kopf calls a handler at least once, and resumes what its first list has, even where that
        was made a moment ago.
        """
        before = []
        while (found := self.next()) != (what, name):
            before.append(found)
        return before

    def _run(self) -> None:
        try:
            asyncio.run(self._operate())
        except BaseException as failure:
            self._failure = failure
        finally:
            self._up.set()

    async def _operate(self) -> None:
        await kopf.operator(
            registry=self._registry(),
            settings=self._settings(),
            ready_flag=self._up,
            stop_flag=self._down,
            **self._options,
        )

    def _settings(self) -> Any:
        settings = kopf.OperatorSettings()
        settings.networking.error_backoffs = [0.1] * 200
        settings.watching.initial_streaming = self._streaming
        return settings

    def _registry(self) -> Any:
        registry = kopf.OperatorRegistry()
        kopf.on.login(registry=registry)(kopf.login_with_kubeconfig)
        self._handle(registry)
        return registry

    def _handle(self, registry: Any) -> None:
        """Say what is done with Widgets."""
        where = WIDGET.group, WIDGET.version, WIDGET.plural

        @kopf.on.create(*where, registry=registry, id="create")
        async def create(name: str, body: Any, spec: Any, patch: Any, **_: Any) -> Json:
            self.handled.put(("create", name))
            patch.status["painted"] = spec["color"]
            patch.metadata.annotations["example.com/painted"] = "yes"
            kopf.info(body, reason="Painted", message=f"{name} is {spec['color']}")
            return {"coats": 1}

        @kopf.on.resume(*where, registry=registry, id="resume")
        async def resume(name: str, **_: Any) -> None:
            self.handled.put(("resume", name))

        @kopf.on.update(*where, registry=registry, id="update", field="spec.color")
        async def update(name: str, old: str, new: str, patch: Any, **_: Any) -> None:
            self.handled.put((f"update {old} to {new}", name))
            patch.status["painted"] = new

        @kopf.on.delete(*where, registry=registry, id="delete")
        def delete(name: str, **_: Any) -> None:
            self.handled.put(("delete", name))
            assert self.may_go.wait(PATIENCE)
