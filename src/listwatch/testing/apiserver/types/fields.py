"""The fields of the built-in types: names, JSON types, defaults, merge keys, kinds of lists.

`fields.json` has them as a real kube-apiserver's `/openapi/v3` has (`python -m conformance.schemas`
writes it), shortened: see `Node`. It is read when somebody first asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

__all__ = ["Node", "expanded", "kinds", "schema_of", "schemas"]

Node = Mapping[str, Any]
"""A schema as OpenAPI has it, but for three things. Names of extensions lack `x-kubernetes-`
(`list-type`, `list-map-keys`, `map-type`, `patch-merge-key`, `patch-strategy`, `unions`,
`group-version-kind`). `$ref` is the bare name of a schema. `ref` is that too, and stands for an
`allOf` of this one reference, which is how OpenAPI puts other members beside it.
"""

_REFERENCE = "#/components/schemas/"
_EXTENSIONS = frozenset(
    {
        "group-version-kind",
        "int-or-string",
        "list-map-keys",
        "list-type",
        "map-type",
        "patch-merge-key",
        "patch-strategy",
        "preserve-unknown-fields",
        "unions",
    }
)


class _File(msgspec.Struct):
    kinds: dict[str, str]
    schemas: dict[str, dict[str, Any]]


@cache
def _file() -> _File:
    return msgspec.json.decode(Path(__file__).with_name("fields.json").read_bytes(), type=_File)


def schemas() -> Mapping[str, Node]:
    """All of them, by name, such as `io.k8s.api.core.v1.PodSpec`."""
    return _file().schemas


def kinds() -> Mapping[str, str]:
    """The names of schemas by kind: `apps/v1/Deployment`, `v1/Pod`."""
    return _file().kinds


def schema_of(api_version: str, kind: str) -> Node | None:
    """The schema of a kind; None where it is none of the built-in ones."""
    name = _file().kinds.get(f"{api_version}/{kind}")
    return None if name is None else _file().schemas[name]


def expanded(node: Node) -> dict[str, Any]:
    """A schema as an OpenAPI v3 document has it (without descriptions).

    >>> expanded({"ref": "io.k8s.api.core.v1.PodSpec", "default": {}})
    {'allOf': [{'$ref': '#/components/schemas/io.k8s.api.core.v1.PodSpec'}], 'default': {}}
    """
    made: dict[str, Any] = {}
    for name, value in node.items():
        if name == "properties":
            made[name] = {key: expanded(below) for key, below in value.items()}
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            made[name] = expanded(value)
        elif name == "$ref":
            made[name] = _REFERENCE + value
        elif name == "ref":
            made["allOf"] = [{"$ref": _REFERENCE + value}]
        else:
            made[f"x-kubernetes-{name}" if name in _EXTENSIONS else name] = value
    return made
