"""The members of the built-in types as Go's structs have them: their order, Go types, and which are
left out when they are empty. OpenAPI documents tell none of this.

    python -m conformance.go_fields MODULES

reads the struct definitions in a Go module cache (`$(go env GOMODCACHE)/k8s.io`) and writes
`types/go_fields.json` of the embedded server anew. Names and types are taken, nothing else.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.schemas import FILE as FIELDS

FILE = FIELDS.with_name("go_fields.json")
_PLACES = {
    "api": ("", "io.k8s.api"),
    "apimachinery": ("pkg/apis/meta", "io.k8s.apimachinery.pkg.apis.meta"),
    "apiextensions-apiserver": (
        "pkg/apis/apiextensions",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    ),
    "kube-aggregator": (
        "pkg/apis/apiregistration",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    ),
}
"""Where in which module the structs are, and how their schemas' names begin."""
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.M | re.S)
_FIELD = re.compile(r'^\s*(\w+\s+)?([^\s`]+)\s+`[^`]*?json:"([^"]*)"')
_ALIAS = re.compile(r"\b[a-z]+(v\d+(?:(?:alpha|beta)\d+)?)\.")
_BASIC = frozenset(
    {"string", "bool", "int", "int32", "int64", "uint8", "float64", "byte", "interface{}", "any"}
)


def structs(source: str, package: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each struct with its members: `{"replicas": "*int32?"}`; `?` for what is left out when it is
    empty (which structs never are), `??` for structs that are left out too, and `+Name` without a
    type for a struct whose members are its own. `read_structs` puts those members there, with the
    name that paths have for where they are: `{"grpc": "*v1.GRPCAction?@ProbeHandler"}`.
    """
    for name, body in _STRUCT.findall(source):
        members = {}
        for line in body.splitlines():
            found = _FIELD.match(line)
            if not found:
                continue
            _, go_type, tag = found.groups()
            member, *options = tag.split(",")
            if "inline" in options or not member:
                members[f"+{_shown(go_type, package).lstrip('*')}"] = ""
            elif member != "-":
                empty = "??" if "omitzero" in options else "?" if "omitempty" in options else ""
                members[member] = _shown(go_type, package) + empty
        yield name, members


def _shown(go_type: str, package: str) -> str:
    """A type as Go's messages print it."""
    if go_type.startswith("map["):
        key, _, item = go_type.removeprefix("map[").partition("]")
        return f"map[{_shown(key, package)}]{_shown(item, package)}"
    prefix = re.match(r"(?:\*|\[\])*", go_type)
    assert prefix is not None
    name = go_type[prefix.end() :]
    if name.startswith("map["):
        return prefix.group() + _shown(name, package)
    if name not in _BASIC and "." not in name:
        name = f"{package}.{name}"
    name = _ALIAS.sub(r"\1.", name).replace("interface{}", "interface {}")
    name = "uint8" if name == "byte" else name
    return prefix.group() + name


def read_structs(modules: Path, version: str) -> dict[str, dict[str, str]]:
    """All structs, by the names of their schemas, with those in them that are inlined."""
    found: dict[str, dict[str, str]] = {}
    for module, (folder, prefix) in _PLACES.items():
        root = modules / f"{module}@{version}" / folder
        for path in sorted(root.glob("**/types*.go")):
            group = ".".join(path.relative_to(root).parent.parts)
            for name, members in structs(path.read_text(encoding="utf-8"), path.parent.name):
                found[f"{prefix}.{group}.{name}"] = members
    return {name: _inlined(name, found) for name in sorted(found)}


def _inlined(name: str, found: dict[str, dict[str, str]]) -> dict[str, str]:
    made: dict[str, str] = {}
    for member, go_type in found[name].items():
        if not member.startswith("+"):
            made[member] = go_type
            continue
        inner = member.rpartition(".")[2]
        near = f"{name.rpartition('.')[0]}.{inner}"
        meta = f"io.k8s.apimachinery.pkg.apis.meta.v1.{inner}"
        core = f"io.k8s.api.core.v1.{inner}"
        for place in (near, meta, core):
            if place in found:
                for below, text in _inlined(place, found).items():
                    go_type, _, path = text.partition("@")
                    made[below] = f"{go_type}@{inner}.{path}" if path else f"{go_type}@{inner}"
                break
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the data file anew."""
    parser = argparse.ArgumentParser(prog="python -m conformance.go_fields", description=__doc__)
    parser.add_argument("modules", type=Path, help="the folder k8s.io of a Go module cache")
    parser.add_argument("--version", default="v1.36.3", help="of Kubernetes")
    options = parser.parse_args(arguments)
    version = options.version.replace("v1.", "v0.", 1)
    wanted = json.loads(FIELDS.read_text(encoding="utf-8"))["schemas"]
    members = {
        name: found
        for name, found in read_structs(options.modules, version).items()
        if name in wanted
    }
    lines = [
        f"{json.dumps(name)}:{json.dumps(found, separators=(',', ':'))}"
        for name, found in members.items()
    ]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{FILE}: {len(members)} structs, {FILE.stat().st_size} bytes")
    for name, node in wanted.items():
        missing = node.get("properties", {}).keys() - members.get(name, {}).keys()
        if missing:
            print(f"not found: {name}: {', '.join(sorted(missing))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
