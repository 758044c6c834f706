"""What a real kube-apiserver's OpenAPI documents say of the built-in types' fields, as a data file.

    python -m conformance.schemas

starts one, reads its `/openapi/v3`, and writes `types/fields.json` of the embedded server anew:
names, types, defaults, merge keys and kinds of lists, without any description.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.binaries import BinariesUnavailable, find_binaries
from conformance.cluster import Cluster, StartFailed

FILE = Path(__file__).parents[1] / "src/listwatch/testing/apiserver/types/fields.json"
_EXTENSION = "x-kubernetes-"
_REFERENCE = "#/components/schemas/"


def compact(node: Mapping[str, Any]) -> dict[str, Any]:
    """A schema as the file has it; `types.fields.expanded` is the way back."""
    made: dict[str, Any] = {}
    for name, value in node.items():
        short = name.removeprefix(_EXTENSION)
        match name:
            case "description":
                continue
            case "properties":
                made[short] = {key: compact(below) for key, below in value.items()}
            case "items" | "additionalProperties" if isinstance(value, Mapping):
                made[short] = compact(value)
            case "$ref":
                made[short] = value.removeprefix(_REFERENCE)
            case "allOf":
                (only,) = value
                made["ref"] = only["$ref"].removeprefix(_REFERENCE)
            case _:
                made[short] = value
    return made


def kinds_of(schemas: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Which schema is that of a kind: by `v1/Pod` or `apps/v1/Deployment`."""
    found = {}
    for name, node in schemas.items():
        for gvk in node.get("group-version-kind", ()):
            group = f"{gvk['group']}/" if gvk["group"] else ""
            found[f"{group}{gvk['version']}/{gvk['kind']}"] = name
    return dict(sorted(found.items()))


def read_schemas(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """All schemas of all documents. Where two documents have one, the longer is taken: they differ
    in nothing but the kinds that they list.
    """
    index = cluster.get("/openapi/v3")["paths"]
    found: dict[str, dict[str, Any]] = {}
    for document in index.values():
        read = cluster.get(document["serverRelativeURL"])
        for name, node in read.get("components", {}).get("schemas", {}).items():
            made = compact(node)
            if name not in found or len(json.dumps(made)) > len(json.dumps(found[name])):
                found[name] = made
    return dict(sorted(found.items()))


def text_of(schemas: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The lines of the file: one a schema, so that a new Kubernetes is a diff to read."""

    def line(value: object) -> str:
        return json.dumps(value, separators=(",", ":"), sort_keys=True)

    yield '{"kinds":' + line(kinds_of(schemas)) + ","
    yield '"schemas":{'
    last = len(schemas) - 1
    for at, (name, node) in enumerate(schemas.items()):
        yield f"{line(name)}:{line(node)}{',' if at < last else ''}"
    yield "}}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data file anew."""
    parser = argparse.ArgumentParser(prog="python -m conformance.schemas", description=__doc__)
    parser.parse_args(arguments)
    try:
        with Cluster(binaries=find_binaries(say=print)) as cluster:
            schemas = read_schemas(cluster)
    except (BinariesUnavailable, StartFailed) as failed:
        print(failed, file=sys.stderr)
        return 1
    FILE.write_text("\n".join(text_of(schemas)) + "\n", encoding="utf-8")
    print(f"{FILE}: {len(schemas)} schemas, {FILE.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
