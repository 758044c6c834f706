"""Applies, patches and updates at random, made of a real server and of the embedded one.

    python -m conformance.random_writes [--seed N] [--rounds N]

Each round writes to a few objects, as several programs do, and compares every answer. What differs
is printed; the exit code says whether anything did.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from conformance.binaries import BinariesUnavailable, find_binaries
from conformance.cluster import Cluster, StartFailed
from listwatch.testing.apiserver.core import APIServer
from listwatch.testing.apiserver.messages import Answer, ServerRequest

JSON = "application/json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Ask = Callable[[str, str, Any, str], tuple[int, list[str], str]]
Value = dict[str, Any]


def _text(**more: Any) -> Value:
    return {"type": "string", **more}


def _list(items: Value, **more: Any) -> Value:
    return {"type": "array", "items": items, **{f"x-kubernetes-{k}": v for k, v in more.items()}}


def _object(**properties: Value) -> Value:
    return {"type": "object", "properties": properties}


PART = {**_object(name=_text(), v=_text(), w=_text()), "required": ["name"]}
KEYED = {
    **_object(port={"type": "integer"}, protocol=_text(default="TCP"), v=_text()),
    "required": ["port"],
}
DEFINITION: Value = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.random.example.com"},
    "spec": {
        "group": "random.example.com",
        "scope": "Namespaced",
        "names": {"plural": "gadgets", "kind": "Gadget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": _object(
                        spec=_object(
                            size={"type": "integer"},
                            tags=_list(_text(), **{"list-type": "set"}),
                            plain=_list(_text()),
                            parts=_list(PART, **{"list-type": "map", "list-map-keys": ["name"]}),
                            keyed=_list(
                                KEYED, **{"list-type": "map", "list-map-keys": ["port", "protocol"]}
                            ),
                            free={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            words={"type": "object", "additionalProperties": _text()},
                            whole={
                                "type": "object",
                                "x-kubernetes-map-type": "atomic",
                                "additionalProperties": _text(),
                            },
                            inner=_object(a=_text(), b=_object(c=_text(), d=_text())),
                        ),
                        status=_object(phase=_text(), notes=_list(_text())),
                    )
                },
            }
        ],
    },
}


@dataclass(frozen=True)
class Kind:
    path: str
    api_version: str
    kind: str
    make: Callable[[random.Random], Value]
    custom: bool = False


def _some(rng: random.Random, **makers: Callable[[], Any]) -> Value:
    return {name: make() for name, make in makers.items() if rng.random() < 0.5}


def _words(rng: random.Random, keys: str = "abc") -> Value:
    return {key: rng.choice("xyz") for key in keys if rng.random() < 0.5}


def _keyed(rng: random.Random, names: str, make: Callable[[str], Value]) -> list[Value]:
    chosen = [name for name in names if rng.random() < 0.5]
    rng.shuffle(chosen)
    return [make(name) for name in chosen]


def _metadata(rng: random.Random) -> Value:
    return _some(
        rng,
        labels=lambda: _words(rng, "lmn"),
        annotations=lambda: _words(rng, "no"),
        finalizers=lambda: [f"example.com/{name}" for name in "fg" if rng.random() < 0.5],
    )


def _config_map(rng: random.Random) -> Value:
    return {"metadata": _metadata(rng), **_some(rng, data=lambda: _words(rng))}


def _container(rng: random.Random, name: str) -> Value:
    return {
        "name": name,
        "image": rng.choice(["i:1", "i:2"]),
        **_some(
            rng,
            command=lambda: [rng.choice("pq")],
            env=lambda: _keyed(rng, "ABC", lambda e: {"name": e, "value": rng.choice("12")}),
            ports=lambda: _keyed(
                rng,
                "48",
                lambda p: {
                    "containerPort": int(p) * 100 + ord(name),
                    **({"protocol": "TCP"} if rng.random() < 0.5 else {}),
                },
            ),
            resources=lambda: _some(rng, limits=lambda: {"cpu": rng.choice(["1", "500m"])}),
        ),
    }


def _deployment(rng: random.Random) -> Value:
    containers = _keyed(rng, "ab", lambda name: _container(rng, name)) or [_container(rng, "a")]
    pod = {
        "containers": containers,
        **_some(
            rng,
            nodeSelector=lambda: _words(rng),
            volumes=lambda: _keyed(rng, "vw", lambda name: {"name": name, "emptyDir": {}}),
            tolerations=lambda: [{"key": rng.choice("kl"), "operator": "Exists"}],
        ),
    }
    spec = {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a", **_words(rng, "tu")}}, "spec": pod},
        **_some(rng, replicas=lambda: rng.choice([1, 2]), minReadySeconds=lambda: 5),
    }
    return {"metadata": _metadata(rng), "spec": spec}


def _service(rng: random.Random) -> Value:
    def port(name: str) -> Value:
        protocol = {"protocol": "TCP"} if rng.random() < 0.5 else {}
        return {"name": name, "port": 80 + ord(name), **protocol}

    ports = _keyed(rng, "pq", port) or [port("p")]
    spec = {"ports": ports, **_some(rng, selector=lambda: _words(rng))}
    return {"metadata": _metadata(rng), "spec": spec}


def _gadget(rng: random.Random) -> Value:
    spec = _some(
        rng,
        size=lambda: rng.choice([1, 2]),
        tags=lambda: rng.sample("rst", rng.randrange(3)),
        plain=lambda: rng.sample("rst", rng.randrange(3)),
        parts=lambda: _keyed(rng, "abc", lambda n: {"name": n, **_words(rng, "vw")}),
        keyed=lambda: _keyed(rng, "123", lambda n: {"port": int(n) * 7, **_words(rng, "v")}),
        free=lambda: {"a": {"b": rng.choice([1, 2])}, **_words(rng)},
        words=lambda: _words(rng),
        whole=lambda: _words(rng),
        inner=lambda: _some(rng, a=lambda: "x", b=lambda: _words(rng, "cd")),
    )
    return {
        "metadata": _metadata(rng),
        **({"spec": spec} if rng.random() < 0.9 else {}),
        **_some(rng, status=lambda: _some(rng, phase=lambda: rng.choice("pq"))),
    }


KINDS = (
    Kind("/api/v1/namespaces/default/configmaps", "v1", "ConfigMap", _config_map),
    Kind("/apis/apps/v1/namespaces/default/deployments", "apps/v1", "Deployment", _deployment),
    Kind("/api/v1/namespaces/default/services", "v1", "Service", _service),
    Kind(
        "/apis/random.example.com/v1/namespaces/default/gadgets",
        "random.example.com/v1",
        "Gadget",
        _gadget,
        custom=True,
    ),
)


class Embedded:
    """The embedded server, asked without sockets."""

    def __init__(self) -> None:
        self.server = APIServer(clock=monotonic, wall=lambda: datetime.now(UTC))

    def __call__(
        self, method: str, target: str, body: Any = None, kind: str = JSON
    ) -> tuple[int, list[str], str]:
        url = urlsplit(target)
        answer = self.server.handle(
            ServerRequest(
                method=method,
                path=url.path,
                query=tuple(parse_qsl(url.query, keep_blank_values=True)),
                headers={"accept": JSON, "user-agent": "random/1", "content-type": kind},
                body=b"" if body is None else json.dumps(body).encode(),
            )
        )
        assert isinstance(answer, Answer)
        warnings = [value for name, value in answer.headers if name == "Warning"]
        return answer.status, warnings, answer.body.decode()


def real(cluster: Cluster) -> Ask:
    session = cluster.session()

    def ask(
        method: str, target: str, body: Any = None, kind: str = JSON
    ) -> tuple[int, list[str], str]:
        headers = {"User-Agent": "random/1", "Content-Type": kind}
        answer = session.request(method, target, body, headers=headers)
        return answer.status, answer.headers.get_all("Warning") or [], answer.body.decode()

    return ask


def plain(answer: tuple[int, list[str], str]) -> tuple[int, list[str], Any]:
    """An answer without what differs from run to run. The order of managedFields hangs on the
    second in which they were written, so it does not count, nor do the times.
    """
    status, warnings, body = answer
    body = _UID.sub("<uid>", _TIME.sub("<time>", body))
    value = json.loads(body)
    metadata = value.get("metadata") or {}
    metadata.pop("resourceVersion", None)
    for entry in metadata.get("managedFields") or ():
        entry["fieldsV1"] = json.dumps(entry["fieldsV1"])  # the order of members counts
    if "managedFields" in metadata:
        metadata["managedFields"].sort(key=json.dumps)
    causes = (value.get("details") or {}).get("causes") if status == 409 else None
    if causes:
        causes.sort(key=json.dumps)  # they come in any order
    spec = value.get("spec")
    if isinstance(spec, dict):
        for name in ("clusterIP", "clusterIPs"):
            spec.pop(name, None)
    return status, warnings, value


def steps(rng: random.Random, kind: Kind, name: str) -> Iterator[tuple[str, str, Any, str]]:
    """The writes of one round, some of which need what is there: those are functions of it."""
    path = f"{kind.path}/{name}"
    applied = False
    for _ in range(rng.randrange(3, 9)):
        value = kind.make(rng)
        dry = "&dryRun=All" if rng.random() < 0.1 else ""
        manager = rng.choice(["alice", "bob", "kubectl", "random"])
        match rng.randrange(10):
            case 0 | 1 | 2 | 3 | 4:
                value = {"apiVersion": kind.api_version, "kind": kind.kind, **value}
                value["metadata"] = {"name": name, **value["metadata"]}
                force = rng.choice(["", "&force=true", "&force=true"])
                sub = "/status" if applied and rng.random() < 0.1 else ""
                applied = applied or not dry
                yield ("PATCH", f"{path}{sub}?fieldManager={manager}{force}{dry}", value, APPLY)
            case 5:
                yield ("PATCH", f"{path}?fieldManager={manager}{dry}", value, MERGE)
            case 6:
                patch = MERGE if kind.custom else STRATEGIC
                yield ("PATCH", f"{path}?fieldManager={manager}{dry}", _nulled(rng, value), patch)
            case 7:
                patches = [{"op": "add", "path": "/metadata/labels", "value": _words(rng)}]
                yield ("PATCH", f"{path}?fieldManager={manager}", patches, JSON_PATCH)
            case 8:
                yield ("PUT", f"{path}?fieldManager={manager}{dry}", value, JSON)
            case 9:
                entries: Any = rng.choice([[], [{}], None])
                owned = {"metadata": {"managedFields": entries}}
                yield ("PATCH", path, owned, MERGE)


def _nulled(rng: random.Random, value: Value) -> Value:
    """A patch that takes some away."""
    made: Value = {}
    for name, member in value.items():
        if rng.random() < 0.15 and name != "name":
            made[name] = None
        else:
            made[name] = _nulled(rng, member) if isinstance(member, dict) else member
    return made


def run(ask: Sequence[Ask], seed: int, rounds: int) -> int:
    """How many answers differ."""
    differing = total = 0
    for one in ask:
        one("POST", CRDS, DEFINITION, JSON)
    for at in range(rounds):
        rng = random.Random(f"{seed}/{at}")
        kind = rng.choice(KINDS)
        name = f"r{seed}-{at}"
        done: list[str] = []
        for method, target, body, media in steps(rng, kind, name):
            bodies = [copy.deepcopy(body) for _ in ask]
            if method == "PUT":
                bodies = [_as_put(one, target, body, kind, name) for one in ask]
            answers = [
                one(method, target, sent, media) for one, sent in zip(ask, bodies, strict=True)
            ]
            total += 1
            done.append(f"{method} {target} {media} {json.dumps(body)}")
            found = [plain(answer) for answer in answers]
            if found[0][0] == 422 and "FieldManagerConflict" not in answers[0][2]:
                break  # what makes sense for a type is compared elsewhere
            if found[0] != found[1]:
                differing += 1
                print(f"--- round {at} (seed {seed})", *done, sep="\n")
                for place, values in _differences("", *found):
                    print(f"  {place}\n    real     {values[0]}\n    embedded {values[1]}")
                break
        for one in ask:
            one("PATCH", f"{kind.path}/{name}", {"metadata": {"finalizers": None}}, MERGE)
            one("DELETE", f"{kind.path}/{name}", None, JSON)
    print(f"{total} writes, {differing} rounds with a difference")
    return differing


def _as_put(ask: Ask, target: str, body: Value, kind: Kind, name: str) -> Value:
    """What a client makes of an object that it has read."""
    status, _, text = ask("GET", urlsplit(target).path, None, JSON)
    old = json.loads(text) if status == 200 else {}
    metadata = {**(old.get("metadata") or {}), "name": name, **body["metadata"]}
    made = {"apiVersion": kind.api_version, "kind": kind.kind, **old, **copy.deepcopy(body)}
    if kind.kind == "Service" and "spec" in old and "spec" in made:
        made["spec"] = {**old["spec"], **made["spec"]}
    return {**made, "metadata": metadata}


def _differences(path: str, one: Any, other: Any) -> Iterator[tuple[str, tuple[Any, Any]]]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            yield from _differences(f"{path}.{name}", one.get(name), other.get(name))
    elif (
        isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other)
    ):
        for at, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(f"{path}[{at}]", *pair)
    elif one != other:
        yield path, (one, other)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, and print what differs."""
    parser = argparse.ArgumentParser(
        prog="python -m conformance.random_writes", description=__doc__
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args(arguments)
    try:
        with Cluster(binaries=find_binaries(say=print)) as cluster:
            return 1 if run((real(cluster), Embedded()), options.seed, options.rounds) else 0
    except (BinariesUnavailable, StartFailed) as failed:
        print(failed, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
