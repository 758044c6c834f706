"""The schemas of custom resources, as OpenAPI v3 documents have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .openapi_operations import schema_name
from .served import ResourceType

__all__ = ["own_schemas"]

_META = "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1."
_NAMES = {
    "apiVersion": {
        "description": "The group and version in which the object is written.",
        "type": "string",
    },
    "kind": {"description": "The type of the object.", "type": "string"},
}
_SELECTABLE = "x-kubernetes-selectable-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"


def own_schemas(
    types: Iterable[ResourceType], definitions: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """The schemas of these types and of their lists. `definitions` are the
    CustomResourceDefinitions, by their names.
    """
    found: dict[str, dict[str, Any]] = {}
    for of in types:
        version = _version(definitions.get(of.qualified_name), of.version)
        given = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        one = found[schema_name(of)] = _of_object(of, given)
        several = found[schema_name(of, of.list_kind)] = _of_list(of)
        if selectable := version.get("selectableFields"):
            fields = [{"fieldPath": field["jsonPath"].removeprefix(".")} for field in selectable]
            one[_SELECTABLE] = several[_SELECTABLE] = fields
    return found


def _version(definition: Mapping[str, Any] | None, name: str) -> Mapping[str, Any]:
    versions: list[Mapping[str, Any]] = definition["spec"]["versions"] if definition else []
    return next((version for version in versions if version["name"] == name), {})


def _of_object(of: ResourceType, given: Mapping[str, Any]) -> dict[str, Any]:
    made = _completed(given) if given else {}
    made.setdefault("type", "object")
    made["properties"] = dict(
        sorted({**made.get("properties", {}), **_NAMES, "metadata": _metadata()}.items())
    )
    made["x-kubernetes-group-version-kind"] = _kind(of, of.kind)
    return made


def _of_list(of: ResourceType) -> dict[str, Any]:
    items = {"$ref": f"#/components/schemas/{schema_name(of)}"}
    return {
        "description": f"Objects of kind {of.kind}.",
        "type": "object",
        "required": ["items"],
        "properties": {
            "apiVersion": _NAMES["apiVersion"],
            "items": {"description": "The objects.", "type": "array", "items": items},
            "kind": _NAMES["kind"],
            "metadata": {
                "description": "At which state the list is, and how it goes on.",
                "allOf": [{"$ref": f"{_META}ListMeta"}],
            },
        },
        "x-kubernetes-group-version-kind": _kind(of, of.list_kind),
    }


def _completed(node: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in node.items():
        if name == "properties":
            made[name] = {key: _completed(below) for key, below in sorted(value.items())}
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            made[name] = _completed(value)
        else:
            made[name] = value
    if node.get("x-kubernetes-int-or-string") and "anyOf" not in node and "allOf" not in node:
        made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
    if node.get(_EMBEDDED):
        inside = {**made.get("properties", {}), **_NAMES, "metadata": _metadata()}
        made["properties"] = dict(sorted(inside.items()))
        made["required"] = sorted({*made.get("required", ()), "apiVersion", "kind"})
    return made


def _metadata() -> dict[str, Any]:
    return {
        "description": "Name, namespace, labels and the like.",
        "allOf": [{"$ref": f"{_META}ObjectMeta"}],
    }


def _kind(of: ResourceType, kind: str) -> list[dict[str, str]]:
    return [{"group": of.group, "kind": kind, "version": of.version}]
