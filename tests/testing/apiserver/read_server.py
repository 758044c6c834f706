"""The reads and watches on a store of the test's own, with its own clock; and the states in which a
real server was recorded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qsl

from listwatch.api import APIResource
from listwatch.testing import Recording
from listwatch.testing.apiserver.messages import (
    Answer,
    Later,
    Reaction,
    ServerRequest,
    WatchStream,
)
from listwatch.testing.apiserver.reading.reads import Reads
from listwatch.testing.apiserver.statuses import Refused
from listwatch.testing.apiserver.storage.log import StoredObject, WriteLog
from listwatch.testing.apiserver.storage.state import Settings, State, Target
from listwatch.testing.apiserver.types.request_info import is_true
from listwatch.testing.apiserver.types.served import DEFAULT_FIELDS, ResourceType, TypeRegistry
from listwatch.testing.apiserver.types.type_table import builtin_types
from listwatch.testing.apiserver.watching.watches import WatchHub
from tests.support.vectors import VECTORS

RECORDINGS = Path(__file__).parent / "recordings"
START = datetime(2026, 1, 1, tzinfo=UTC)

WIDGETS = ResourceType(
    resource=APIResource(
        group="example.com",
        version="v1",
        name="widgets",
        kind="Widget",
        namespaced=True,
        singular="widget",
        short_names=(),
        categories=(),
        verbs=("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"),
    ),
    storage="example.com/widgets",
    custom=True,
    selectable=DEFAULT_FIELDS | {"spec.color"},
)

_BUILTIN = tuple(builtin_types())


def recorded(name: str) -> Recording:
    folder = VECTORS if (VECTORS / f"{name}.http").exists() else RECORDINGS
    return Recording.load(folder / name)


class ReadServer:
    """Asks the reads and watches, and owns their time."""

    def __init__(self, *, rv: int = 1, settings: Settings | None = None, seed: int = 0) -> None:
        self.now = 0.0
        log = WriteLog(lambda: self.now)
        log.revision = rv
        self.state = State(
            log=log,
            types=TypeRegistry([*_BUILTIN, WIDGETS]),
            clock=lambda: self.now,
            wall=lambda: START + timedelta(seconds=self.now),
            rng=Random(seed),
            settings=settings or Settings(),
        )
        self.log = log
        self.reads = Reads(self.state)
        self.hub = WatchHub(self.state)

    def type(self, plural: str, group: str = "") -> ResourceType:
        return next(
            found for found in self.state.types if found.plural == plural and found.group == group
        )

    def type_at(self, path: str) -> ResourceType:
        """The type whose collection is at `path`."""
        parts = path.split("/")
        return self.type(parts[-1], parts[2] if parts[1] == "apis" else "")

    # Writes

    def put(
        self,
        plural: str,
        name: str,
        namespace: str = "default",
        *,
        labels: Mapping[str, str] | None = None,
        **members: Any,
    ) -> StoredObject:
        of = WIDGETS if plural == "widgets" else self.type(plural)
        if not of.namespaced:
            namespace = ""
        metadata: dict[str, Any] = {"name": name}
        if namespace:
            metadata["namespace"] = namespace
        metadata["resourceVersion"] = ""
        if labels:
            metadata["labels"] = dict(labels)
        value = of.ordered({"metadata": metadata, **members})
        value["metadata"]["resourceVersion"] = ""
        if not of.custom:
            order = ("name", "namespace", "resourceVersion", "labels")
            value["metadata"] = {k: value["metadata"][k] for k in order if k in value["metadata"]}
        return self.log.put(of.storage, (namespace, name), value)

    def delete(self, plural: str, name: str, namespace: str = "default") -> StoredObject:
        of = WIDGETS if plural == "widgets" else self.type(plural)
        return self.log.delete(of.storage, (namespace if of.namespaced else "", name))

    def restore(self, of: ResourceType, values: Iterable[Mapping[str, Any]], rv: int) -> None:
        """Write recorded objects at the RVs that they had, and leave the store at `rv`."""
        for value in sorted(values, key=_rv):
            self.replay_write(of, "MODIFIED", value)
        self.log.revision = rv

    def replay_write(self, of: ResourceType, event: str, value: Mapping[str, Any]) -> None:
        metadata = value["metadata"]
        key = (metadata.get("namespace", ""), metadata["name"])
        self.log.revision = _rv(value) - 1
        if event == "DELETED":
            self.log.delete(of.storage, key)
        else:
            names = {"kind": of.kind, "apiVersion": of.api_version}
            copied = {**names, **value} if not of.custom else dict(value)
            self.log.put(of.storage, key, {**copied, "metadata": dict(metadata)})

    # Requests

    def request(self, target: str, *, accept: str | None = "application/json") -> Reaction:
        path, _, query = target.partition("?")
        request = ServerRequest(
            method="GET",
            path=path,
            query=tuple(parse_qsl(query, keep_blank_values=True)),
            headers={} if accept is None else {"accept": accept},
        )
        return self.ask(request)

    def replay(self, name: str) -> Reaction:
        """The reaction to the request of a recording."""
        recording = recorded(name)
        headers = {header.lower(): value for header, value in recording.request_headers}
        return self.ask(
            ServerRequest(method="GET", path=recording.path, query=recording.query, headers=headers)
        )

    def ask(self, request: ServerRequest) -> Reaction:
        try:
            target, watch = self._target(request)
            if target.name and not watch:
                return self.reads.get(target, request)
            if watch:
                return self.hub.open(target, request)
            return self.reads.list(target, request)
        except Refused as refused:
            return refused.answer

    def answer(self, target: str, **options: Any) -> Answer:
        return self.settled(self.request(target, **options))

    def items(self, target: str, **options: Any) -> list[str]:
        """The names in a list."""
        answer = self.answer(target, **options)
        assert answer.status == 200, answer
        return [item["metadata"]["name"] for item in json.loads(answer.body)["items"]]

    def settled(self, reaction: Any) -> Answer:
        """The answer, at the end of what it waits for."""
        if isinstance(reaction, Answer):
            return reaction
        assert is_later(reaction), f"no answer, but {reaction}"
        self.now = reaction.due
        return self.settled(reaction.tick())

    def watch(self, target: str, **options: Any) -> WatchStream:
        return stream_of(self.request(target, **options))

    def later(self, target: str, **options: Any) -> Later:
        reaction: Any = self.request(target, **options)
        assert is_later(reaction), reaction
        later: Later = reaction
        return later

    def run(self, stream: WatchStream, seconds: float) -> list[tuple[float, bytes]]:
        """Let time pass, with `stream` ticked when it is due; what it gave, and when."""
        end = self.now + seconds
        given = [(self.now, data) for data in stream.take()]
        while stream.due is not None and stream.due <= end:
            self.now = stream.due
            stream.tick()
            given += [(self.now, data) for data in stream.take()]
        self.now = end
        return given

    def _target(self, request: ServerRequest) -> tuple[Target, bool]:
        parts = request.path.strip("/").split("/")
        group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1], parts[3:])
        watch = is_true(request.parameter("watch"))
        if rest[0] == "watch":
            watch, rest = True, rest[1:]
            named = True
        else:
            named = False
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        name = rest[1] if len(rest) > 1 else ""
        target = Target(type=self.type(rest[0], group), namespace=namespace, name=name)
        return target, watch and (named or not name)


def is_later(reaction: Any) -> bool:
    return (
        reaction is not None and not isinstance(reaction, Answer) and not hasattr(reaction, "take")
    )


def stream_of(reaction: Any) -> WatchStream:
    assert hasattr(reaction, "take"), f"no watch, but {reaction}"
    stream: WatchStream = reaction
    return stream


def events(frames: Iterable[bytes]) -> list[tuple[str, str, str]]:
    """Type, name and RV of each event."""
    found = []
    for data in frames:
        assert data.endswith(b"\n")
        event = json.loads(data)
        metadata = event["object"]["metadata"]
        found.append((event["type"], metadata.get("name", ""), metadata.get("resourceVersion", "")))
    return found


def message(answer: Answer) -> str:
    text: str = json.loads(answer.body)["message"]
    return text


def items_of(name: str) -> list[dict[str, Any]]:
    """The objects in a recorded list."""
    found: list[dict[str, Any]] = json.loads(recorded(name).body)["items"]
    return found


def events_of(name: str) -> list[tuple[str, dict[str, Any]]]:
    """The events of a recorded watch."""
    lines = recorded(name).body.splitlines()
    return [(event["type"], event["object"]) for event in map(json.loads, lines)]


def _rv(value: Mapping[str, Any]) -> int:
    return int(value["metadata"]["resourceVersion"])
