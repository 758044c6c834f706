"""Random schemas of custom resources, and random objects, on both servers.

    python -m conformance.custom_objects --seed 7 --schemas 20 --objects 25

makes the same definitions on an embedded server and on a real one, writes the same objects to both
(created, updated, patched; with and without Strict), and shows each answer that is not the same.
What a real server tells in no fixed order (the causes of a 422) is compared without its order. Ends
with 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from conformance.binaries import BinariesUnavailable, find_binaries
from conformance.random_schemas import Json, Objects, Schemas
from conformance.requests import Requests, Response
from conformance.two_servers import EmbeddedCluster, RealServer
from conformance.waiting import until

_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_MERGE = {"Content-Type": "application/merge-patch+json"}
_UNSTEADY_IN_TEXT = re.compile(
    r'\\?"(time|uid|resourceVersion|creationTimestamp)\\?":\s*\\?"[^"]*"'
)
_OWNED_IN_TEXT = re.compile(r'\\?"managedFields\\?":\[.*?\],(\\?"name)')
_UNSTEADY = ("uid", "resourceVersion", "creationTimestamp", "managedFields")


def definition(number: int, schema: Json, *, status: bool, group: str) -> Json:
    """A definition of the schema."""
    plural = f"kind{number}s"
    version: Json = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    if status:
        version["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"plural": plural, "kind": f"Kind{number}"},
            "versions": [version],
        },
    }


def compared(response: Response) -> Json:
    """What of an answer must be the same."""
    try:
        value = response.json()
    except ValueError:
        return {"code": response.status, "text": response.body.decode()}
    found: Json = {
        "code": response.status,
        "warnings": sorted(response.headers.get_all("Warning") or ()),
    }
    if value.get("kind") == "Status":
        details = value.get("details") or {}
        causes = details.get("causes")
        found["message"] = value["message"]
        if causes is not None:
            found["message"] = value["message"].partition(" is invalid: ")[0]
            found["causes"] = sorted(
                {f"{one.get('field')}: {_steady(one['message'])}" for one in causes}
            )
        return found
    if value.get("kind") == "CustomResourceDefinition":
        found["schema"] = json.dumps(value["spec"]["versions"])
        return found
    metadata = {name: x for name, x in value["metadata"].items() if name not in _UNSTEADY}
    owned = [entry.get("fieldsV1") for entry in value["metadata"].get("managedFields", ())]
    # As text: 1 and 1.0 differ, and so do orders.
    found["object"] = json.dumps({**value, "metadata": metadata})
    found["owned"] = owned
    return found


def _steady(text: str) -> str:
    """Without what differs from run to run, in the objects that some messages show, and without
    their owners.
    """
    return _OWNED_IN_TEXT.sub(r"\1", _UNSTEADY_IN_TEXT.sub(r"<\1>", text))


class Pair:
    """Two servers that are asked the same."""

    def __init__(self, embedded: Requests, real: Requests) -> None:
        self.embedded, self.real = embedded, real
        self.asked = 0
        self.different = 0

    def ask(self, method: str, path: str, body: object, why: Json, **headers: str) -> bool:
        """Whether both have done it."""
        if body is not None:
            headers = {"Content-Type": "application/json", **headers}
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        answers = [
            server.request(method, path, data, headers=headers or None)
            for server in (self.embedded, self.real)
        ]
        ours, theirs = map(compared, answers)
        if theirs.get("owned") == []:
            # It has found a value of a type that nobody may own, and given up on owners.
            ours.pop("owned", None)
            del theirs["owned"]
        self.asked += 1
        if ours != theirs:
            self.different += 1
            print(f"--- {method} {path}\nbody     {json.dumps(body)}")
            print(f"schema   {json.dumps(why)}")
            for name in ours.keys() | theirs.keys():
                if ours.get(name) != theirs.get(name):
                    print(f"  {name}\n    embedded {json.dumps(ours.get(name))}")
                    print(f"    real     {json.dumps(theirs.get(name))}")
        return all(answer.status < 300 for answer in answers)


def compare(pair: Pair, *, seed: int, schemas: int, objects: int, wrong: float) -> None:
    """Define `schemas` random schemas, and write `objects` objects to each."""
    group = f"seed{seed}.example.com"
    made = list(_defined(pair, Random(seed), schemas, group, wrong))
    for plural, _, _ in made:
        path = f"/apis/{group}/v1/{plural}"
        for server in (pair.embedded, pair.real):
            until(
                lambda server=server, path=path: server.request("GET", path).status == 200,  # type: ignore[misc]
                what=f"{path} to be served",
            )
    for plural, schema, status in made:
        _write(pair, group, plural, schema, Random(f"{seed}/{plural}"), objects, status=status)


def _defined(
    pair: Pair, rng: Random, schemas: int, group: str, wrong: float
) -> Iterator[tuple[str, Json, bool]]:
    for number in range(schemas):
        schema = Schemas(rng, wrong=wrong).root()
        status = rng.randrange(2) == 0
        obj = definition(number, schema, status=status, group=group)
        if pair.ask("POST", _CRDS, obj, schema):
            yield obj["spec"]["names"]["plural"], schema, status


def _write(
    pair: Pair, group: str, plural: str, schema: Json, rng: Random, objects: int, *, status: bool
) -> None:
    path = f"/apis/{group}/v1/{plural}"
    values = Objects(rng)
    names = {"apiVersion": f"{group}/v1", "kind": plural.capitalize()[:-1]}
    there: list[str] = []
    for number in range(objects):
        members = values.members(schema)
        body: Any = {**names, "metadata": {"name": f"o{number}"}, **members}
        query = rng.choice(("", "", "", "?fieldValidation=Strict", "?fieldValidation=Ignore"))
        if pair.ask("POST", path + query, body, schema):
            there.append(f"o{number}")
            pair.ask("GET", f"{path}/o{number}", None, schema)
        if not there:
            continue
        name = rng.choice(there)
        patch = values.members(schema)
        below = rng.choice(("", "/status")) if status else ""
        if below:
            patch.pop("extra", None)  # who owns that is anybody's guess
        query = rng.choice(("", "", "?fieldValidation=Strict"))
        pair.ask("PATCH", f"{path}/{name}{below}{query}", patch, schema, **_MERGE)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m conformance.custom_objects")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemas", type=int, default=20, help="how many (default %(default)s)")
    parser.add_argument("--objects", type=int, default=20, help="of each (default %(default)s)")
    parser.add_argument(
        "--wrong", type=float, default=0.03, help="how often a schema is spoiled, 0 to 1"
    )
    options = parser.parse_args(arguments)
    try:
        real = RealServer(find_binaries())
    except BinariesUnavailable as problem:
        print(problem, file=sys.stderr)
        return 2
    embedded = EmbeddedCluster()
    try:
        with embedded.session() as ours, real.session() as theirs:
            pair = Pair(ours, theirs)
            compare(
                pair,
                seed=options.seed,
                schemas=options.schemas,
                objects=options.objects,
                wrong=options.wrong,
            )
    finally:
        embedded.stop()
        real.stop()
    print(f"seed {options.seed}: {pair.asked} asked, {pair.different} different")
    return 1 if pair.different else 0


if __name__ == "__main__":
    sys.exit(main())
