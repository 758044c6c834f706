"""The OpenAPI v2 document: all types in one (K49)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .descriptions import described
from .fields import expanded, schemas
from .openapi_operations import (
    PARAMETERS,
    Operation,
    Paths,
    group_paths,
    groups_paths,
    type_paths,
    version_paths,
)
from .served import ResourceType

__all__ = ["document"]

_V3, _V2 = "#/components/schemas/", "#/definitions/"
_JSON, _YAML, _PROTOBUF = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)
_STREAMS = (f"{_JSON};stream=watch", f"{_PROTOBUF};stream=watch")
_PATCHES = ("application/json-patch+json", "application/merge-patch+json")
_STRATEGIC, _APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
_CODES = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
_COMBINED = frozenset({"oneOf", "anyOf", "allOf", "not"})
_INSIDE = frozenset({"type", "items", "properties", "additionalProperties"})


def document(
    types: Iterable[ResourceType], own: Mapping[str, Mapping[str, Any]], release: str
) -> dict[str, Any]:
    """The whole document. `own` are the schemas of custom resources, by name, as v3 has them."""
    paths: dict[str, Any] = {}
    found = Paths()
    versions: dict[tuple[str, str], bool] = {}
    for of in types:
        type_paths(of, found)
        versions[of.group, of.version] = of.custom
    for (group, version), custom in versions.items():
        if not custom:
            paths.update(_paths(group_paths(group, version)))
            paths.update(_paths(group_paths(group)))
    paths.update(_paths(groups_paths()))
    paths.update(_paths(version_paths()))
    paths.update(_paths(found))
    definitions = {
        name: _plain(described(name, expanded(node))) for name, node in schemas().items()
    }
    definitions |= {name: _structural(node) for name, node in own.items()}
    return {
        "swagger": "2.0",
        "info": {"title": "Kubernetes", "version": ".".join(release.lstrip("v").split(".")[:2])},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "securityDefinitions": {
            "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
        },
        "security": [{"BearerToken": []}],
    }


def _paths(paths: Paths) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for path, operations in paths.operations.items():
        made[path] = {method: _operation(method, found) for method, found in operations.items()}
        if shared := paths.shared.get(path):
            made[path]["parameters"] = [_parameter(name, path) for name in shared]
    return made


def _operation(method: str, operation: Operation) -> dict[str, Any]:
    custom = operation.custom
    consumes = [_JSON, _YAML] if custom else ["*/*"]
    if method == "patch" and operation.action == "patch":
        consumes = [*_PATCHES, _APPLY] if custom else [*_PATCHES, _STRATEGIC, _APPLY]
    produces = [_JSON, _YAML] if custom else [_JSON, _YAML, _PROTOBUF]
    if operation.text:
        produces = [operation.text] if operation.text == "*/*" else [operation.text, *produces]
    if operation.only_json:
        produces = [_JSON]
    if not operation.action:
        consumes = produces
    if operation.streams:
        produces += _STREAMS
    parameters = [_parameter(name) for name in operation.parameters]
    if operation.body:
        body: dict[str, Any] = {"name": "body", "in": "body"}
        if operation.body_required:
            body["required"] = True
        parameters.append({**body, "schema": {"$ref": _V2 + operation.body}})
    schema = {"$ref": _V2 + operation.answer} if operation.answer else {"type": "string"}
    made: dict[str, Any] = {
        "consumes": consumes,
        "produces": produces,
        "schemes": ["https"],
        "tags": [operation.tag],
        "operationId": operation.id,
    }
    if parameters:
        made["parameters"] = sorted(parameters, key=lambda parameter: str(parameter["name"]))
    made["responses"] = {
        **{str(code): {"description": _CODES[code], "schema": schema} for code in operation.codes},
        "401": {"description": _CODES[401]},
    }
    if operation.action:
        made["x-kubernetes-action"] = operation.action
    if operation.kind:
        made["x-kubernetes-group-version-kind"] = {
            "group": operation.group,
            "kind": operation.kind,
            "version": operation.version,
        }
    return made


def _parameter(name: str, path: str = "") -> dict[str, Any]:
    plain = name.strip("{}")
    node = {"uniqueItems": True, "type": PARAMETERS[plain], "name": plain}
    if name != plain or (plain in ("name", "namespace") and f"{{{plain}}}" in path):
        return {**node, "in": "path", "required": True}
    return {**node, "in": "query"}


def _plain(node: Mapping[str, Any]) -> dict[str, Any]:
    """A schema of a built-in type: without defaults, and references as v2 writes them."""
    made: dict[str, Any] = {}
    for name, value in node.items():
        match name:
            case "default":
                continue
            case "$ref":
                made[name] = value.replace(_V3, _V2)
            case "allOf":
                made["$ref"] = value[0]["$ref"].replace(_V3, _V2)
            case "oneOf":
                made["type"] = "string"  # of an int or string, and of a quantity
            case "properties":
                made[name] = {key: _plain(below) for key, below in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                made[name] = _plain(value)
            case _:
                made[name] = value
    return made


def _structural(node: Mapping[str, Any], *, root: bool = True) -> dict[str, Any]:
    """A schema of a custom resource, without what v2 cannot say."""
    if "allOf" in node and "$ref" in node["allOf"][0]:
        return _plain(node)
    if "$ref" in node:
        return _plain(node)
    loose = node.get("x-kubernetes-preserve-unknown-fields")
    if root and loose:
        listed = "x-kubernetes-group-version-kind"
        return {"type": "object", listed: node[listed]}
    left_out = {"default", "nullable", "example", "externalDocs", *_COMBINED}
    if loose or node.get("nullable"):
        left_out |= _INSIDE
    made: dict[str, Any] = {}
    for name, value in node.items():
        if name in left_out:
            continue
        if name == "properties":
            made[name] = {key: _structural(below, root=False) for key, below in value.items()}
        elif name in ("items", "additionalProperties") and isinstance(value, dict):
            made[name] = _structural(value, root=False)
        else:
            made[name] = value
    return made
