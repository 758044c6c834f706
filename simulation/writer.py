"""Who writes to the server, and who writes down what it had."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, ServerRequest
from listwatch.testing.apiserver.storage.log import Write, WriteKind

from .recorder import Recorder
from .scenario import Setup, WriteStep
from .states import BAD, SERIAL, State, state_of_value
from .truth import Era, Truth

__all__ = ["NAMESPACES", "SELECTORS", "Chronicle", "Selection", "Writer"]

NAMESPACES = ("a", "b")
"""A mirror that has one only has the first."""
SELECTORS = ("in=yes", "zone=north")
"""A mirror with a selector has the first. They overlap."""
_STORAGE = "configmaps"
_ZONES = ("north", "east", "south")
_JSON = {"content-type": "application/json"}


class Writer:
    """Does what a scenario says to configmaps of two namespaces, through the server's own front."""

    def __init__(self, core: APIServer, setup: Setup, recorder: Recorder) -> None:
        self._core = core
        self._setup = setup
        self._recorder = recorder
        self._serial = 0

    def found(self) -> None:
        """Make the namespaces, where they are not there."""
        for name in NAMESPACES:
            body = json.dumps({"metadata": {"name": name}}).encode()
            self._ask("POST", "/api/v1/namespaces", body)

    def write(self, step: WriteStep) -> None:
        """One write."""
        namespace, name = NAMESPACES[step.number % 2], f"cm-{step.number}"
        self._recorder.say("write", f"{step.what} {namespace}/{name}")
        held = self._core.state.log.get(_STORAGE, (namespace, name))
        if step.what in ("delete", "recreate"):
            if held is not None:
                self._ask("DELETE", _path(namespace, name))
            if step.what == "delete":
                return
            held = None
        selected, bad = True, False
        if held is not None:
            selected = held.metadata.get("labels", {}).get("in") == "yes"
            bad = BAD in held.value.get("data", {})
        if step.what == "move":
            selected = not selected
        if step.what == "spoil":
            bad = not bad
        self._serial += 1
        data = {SERIAL: str(self._serial), "zone": _ZONES[self._serial % len(_ZONES)]}
        if bad and self._setup.undecodable:
            data[BAD] = "1"
        value = {
            "kind": "ConfigMap",
            "apiVersion": "v1",
            "metadata": {
                "name": name,
                "labels": {"in": "yes" if selected else "no", "zone": data["zone"]},
            },
            "data": data,
        }
        body = json.dumps(value).encode()
        if held is None:
            status = self._ask("POST", _path(namespace), body)
            if status == 404:  # a server that has lost everything has lost the namespaces, too
                self.found()
                self._ask("POST", _path(namespace), body)
        else:
            self._ask("PUT", _path(namespace, name), body)

    def _ask(self, method: str, path: str, body: bytes = b"") -> int:
        reaction = self._core.handle(
            ServerRequest(method=method, path=path, body=body, headers=_JSON if body else {})
        )
        assert isinstance(reaction, Answer)
        return reaction.status


def _path(namespace: str, name: str = "") -> str:
    collection = f"/api/v1/namespaces/{namespace}/configmaps"
    return f"{collection}/{name}" if name else collection


@dataclass(frozen=True, slots=True)
class Selection:
    """What one source asks for."""

    namespace: str = ""
    selector: str = ""

    def __call__(self, value: Any) -> bool:
        """Whether an object of the server belongs to it."""
        metadata = value["metadata"]
        if self.namespace and metadata["namespace"] != self.namespace:
            return False
        name, _, wanted = self.selector.partition("=")
        return not name or metadata.get("labels", {}).get(name) == wanted


Selects: TypeAlias = Callable[[Any], bool]


class Chronicle:
    """Listens to the server's log and tells the truth of what is selected."""

    def __init__(self, core: APIServer, selects: Selects, recorder: Recorder) -> None:
        self._core = core
        self._selects = selects
        self._recorder = recorder
        self.truth = Truth()
        self._begin(None)
        core.state.log.listeners.append(self._record)

    def restarted(self, restored: bool) -> None:
        """The server has another history now: an older one, or none."""
        self._begin(self._parent() if restored else None)

    def _begin(self, parent: Era | None) -> None:
        log = self._core.state.log
        selected: dict[str, State] = {}
        others: list[State] = []
        for found in log.objects(_STORAGE):
            state = state_of_value(found.value)
            if self._selects(found.value):
                selected[state.key] = state
            else:
                others.append(state)
        recorder = self._recorder
        step = recorder.step()
        era = self.truth.begin(step, recorder.now(), log.revision, selected, parent=parent)
        era.unselected.extend((step, state.key, True) for state in others)
        if parent is not None or len(self.truth.eras) > 1:
            recorder.say("server", f"its history is another one, at {log.revision}")

    def _parent(self) -> Era | None:
        """The era that the restored states are of."""
        revision = self._core.state.log.revision
        now = {
            state.key: state
            for found in self._core.state.log.objects(_STORAGE)
            if self._selects(found.value)
            for state in (state_of_value(found.value),)
        }
        for era in reversed(self.truth.eras):
            if era.at(revision) == now and era.rv >= era.base_rv:
                return era
        return None

    def _record(self, write: Write) -> None:
        if write.storage != _STORAGE:
            return
        recorder, truth = self._recorder, self.truth
        step, now = recorder.step(), recorder.now()
        was = write.old is not None and self._selects(write.old.value)
        is_now = write.kind is not WriteKind.DELETED and self._selects(write.new.value)
        state = state_of_value(write.new.value)
        if not was and not is_now:
            truth.change_outside(step, now, state, there=write.kind is not WriteKind.DELETED)
            told = "not selected"
        elif not was:
            truth.change(step, now, "ADDED", state)
            told = "ADDED"
        elif is_now:
            truth.change(step, now, "MODIFIED", state)
            told = "MODIFIED"
        else:
            left = write.kind is not WriteKind.DELETED
            if left:  # as it was, with the RV of now
                assert write.old is not None
                state = state_of_value(write.old.value)._replace(rv=write.rv)
            truth.change(step, now, "DELETED", state, left=left)
            told = "DELETED"
        recorder.say("server", f"{write.kind} {state}, seen as {told}")
