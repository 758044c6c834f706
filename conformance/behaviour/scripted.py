"""Requests that are made of both servers from the same state, so that whole answers are compared.

A script is groups of steps. Each group has a namespace of its own; the steps of a group are made
one after the other, and what earlier ones answered can stand in later ones:

- ``$core``, ``$apps``, ``$batch``, ... the namespaced base of an API group (see `_BASES`);
  ``$name`` the namespace's name
- ``$a_rv``, ``$a_uid``, ``$a_continue``: of the answer to the step that has ``save="a"``
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Template
from typing import Any, Literal

from conformance.requests import Json
from conformance.streams import PATIENCE, Stream, StreamFailed
from conformance.two_servers import TestedServer

Framing = Literal["length", "one chunk", "chunks of 2048", "chunks", "until closed"]

_BASES = {
    "core": "/api/v1",
    "apps": "/apis/apps/v1",
    "autoscaling": "/apis/autoscaling/v2",
    "batch": "/apis/batch/v1",
    "coordination": "/apis/coordination.k8s.io/v1",
    "discovery": "/apis/discovery.k8s.io/v1",
    "events": "/apis/events.k8s.io/v1",
    "networking": "/apis/networking.k8s.io/v1",
    "policy": "/apis/policy/v1",
    "rbac": "/apis/rbac.authorization.k8s.io/v1",
    "example": "/apis/example.com/v1",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One request. See `get`, `post` and the others, which make them."""

    name: str
    method: str
    path: str
    body: Any = None
    """JSON, or bytes that are sent as they are."""
    headers: Mapping[str, str] = field(default_factory=dict)
    user: str = "admin"
    """Whose token goes along; ``""``: none, ``"?"``: one that nobody has."""
    save: str = ""
    """The name under which later steps know its answer."""
    waits: bool = False
    """It takes a while: it is asked now, and its answer is collected when all steps are done."""
    is_watch: bool = False
    """So it does, but its headers come at once, and what later steps do may be in it."""
    events: int | None = None
    """Only so many events of the watch count."""
    until_code: int | None = None
    """It is asked again until it is answered with this."""


@dataclass(frozen=True)
class Group:
    name: str
    title: str
    steps: Sequence[Step]


@dataclass(frozen=True)
class Answered:
    """What came back for a step."""

    status: int
    headers: list[tuple[str, str]]
    framing: Framing
    body: bytes

    def documents(self) -> list[Any]:
        """The JSON documents in the body: one, or one a line; none where it is not JSON."""
        try:
            return [json.loads(self.body)]
        except ValueError:
            pass
        try:
            return [json.loads(line) for line in self.body.splitlines()]
        except ValueError:
            return []


@dataclass(frozen=True)
class GroupRun:
    """A group's answers from one server, by the names of the steps."""

    base_rv: int
    """The RV of the group's namespace: all that the steps write is newer."""
    answers: Mapping[str, Answered]
    streams: frozenset[str] = frozenset()
    """The steps that are watches, which tell what later steps did."""


def run(server: TestedServer, script: Sequence[Group]) -> dict[str, GroupRun]:
    """Make all requests of a script, and give the answers by group."""
    runs: dict[str, tuple[int, dict[str, Stream]]] = {}
    with contextlib.ExitStack() as streams:
        for group in script:
            runs[group.name] = _run_group(server, group, streams)
        return {group.name: _collected(group, *runs[group.name]) for group in script}


def _collected(group: Group, base_rv: int, streams: Mapping[str, Stream]) -> GroupRun:
    answers = {step.name: _answered(step, streams[step.name]) for step in group.steps}
    late = frozenset(step.name for step in group.steps if step.is_watch)
    return GroupRun(base_rv, answers, late)


def _run_group(
    server: TestedServer, group: Group, streams: contextlib.ExitStack
) -> tuple[int, dict[str, Stream]]:
    namespace = f"script-{group.name}"
    made = server.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    known = {name: f"{base}/namespaces/{namespace}" for name, base in _BASES.items()}
    known["name"] = namespace
    found: dict[str, Stream] = {}
    for step in group.steps:
        stream = _ask(server, step, known)
        until_by = time.monotonic() + PATIENCE
        while step.until_code and stream.finished().status != step.until_code:
            stream.close()
            assert time.monotonic() < until_by, f"{step.name} was never {step.until_code}"
            stream = _ask(server, step, known)
        found[step.name] = stream
        if step.waits or step.is_watch:
            streams.enter_context(stream)
            if step.is_watch:
                stream.head()
        else:
            with stream:
                stream.finished()
        if step.save:
            known |= _saved(step.save, stream.body)
    return int(made["metadata"]["resourceVersion"]), found


def _ask(server: TestedServer, step: Step, known: Mapping[str, str]) -> Stream:
    token = {"": "", "?": "made-up"}.get(step.user)
    return server.stream(
        _filled(step.path, known),
        method=step.method,
        body=_filled(step.body, known),
        token=server.tokens[step.user] if token is None else token,
        headers={"User-Agent": "script/1.0", **step.headers},
    )


def _filled(value: Any, known: Mapping[str, str]) -> Any:
    """A value in whose texts the ``$`` names are replaced."""
    if isinstance(value, str):
        return Template(value).substitute(known) if "$" in value else value
    if isinstance(value, dict):
        return {key: _filled(member, known) for key, member in value.items()}
    if isinstance(value, list):
        return [_filled(member, known) for member in value]
    return value


def _saved(name: str, body: bytes) -> dict[str, str]:
    metadata = json.loads(body)["metadata"]
    members = {"rv": "resourceVersion", "uid": "uid", "continue": "continue", "name": "name"}
    return {
        f"{name}_{short}": metadata[member]
        for short, member in members.items()
        if member in metadata
    }


def _answered(step: Step, stream: Stream) -> Answered:
    if step.events is None:
        stream.finished()
        body = stream.body
    else:
        with contextlib.suppress(StreamFailed):  # what is missing is a difference
            stream.events(step.events)
        lines = stream.body.split(b"\n")
        body = b"\n".join([*lines[: step.events], b""])
    return Answered(stream.status, list(stream.headers), _framing(stream), body)


def _framing(stream: Stream) -> Framing:
    if not stream.is_chunked:
        return "until closed" if stream.header("Content-Length") is None else "length"
    if stream.header("Content-Type") == "application/json" and b'{"type":"' in stream.body[:9]:
        return "chunks"  # of a watch: how they are cut is a matter of time
    sizes = [len(chunk) for chunk in stream.chunks]
    if len(sizes) == 1 and sizes[0] > 2048:
        return "one chunk"
    return "chunks of 2048" if all(size % 2048 == 0 for size in sizes[:-1]) else "chunks"


# How steps are written


def get(name: str, path: str, **options: Any) -> Step:
    """Read."""
    return Step(name=name, method="GET", path=path, **options)


def post(name: str, path: str, body: Any, **options: Any) -> Step:
    """Create."""
    return Step(name=name, method="POST", path=path, body=body, **options)


def put(name: str, path: str, body: Any, **options: Any) -> Step:
    """Replace."""
    return Step(name=name, method="PUT", path=path, body=body, **options)


def patch(name: str, path: str, body: Any, kind: str = "merge-patch", **options: Any) -> Step:
    """Patch, by default with a merge patch."""
    headers = {"Content-Type": f"application/{kind}+json", **options.pop("headers", {})}
    return Step(name=name, method="PATCH", path=path, body=body, headers=headers, **options)


def delete(name: str, path: str, body: Any = None, **options: Any) -> Step:
    """Delete an object or a collection."""
    return Step(name=name, method="DELETE", path=path, body=body, **options)


def watch(name: str, path: str, events: int | None = None, **options: Any) -> Step:
    """Open a watch here, and count what it has seen when all is done: so many events, or all."""
    mark = "&" if "?" in path else "?"
    return get(name, f"{path}{mark}watch=1", events=events, is_watch=True, **options)


def variants(name: str, base: str, queries: Mapping[str, str], **options: Any) -> Iterator[Step]:
    """A GET for each query."""
    for suffix, query in queries.items():
        yield get(f"{name}-{suffix}", f"{base}?{query}", **options)


def named(name: str, **members: Any) -> Json:
    """An object of this name."""
    return {"metadata": {"name": name}, **members}
