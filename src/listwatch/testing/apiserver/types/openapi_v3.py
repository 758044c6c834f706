"""OpenAPI v3 documents: one for each group version (K42, K49, K51)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from listwatch.api import BUILTIN_RESOURCES

from .descriptions import described
from .fields import expanded, schemas
from .openapi_operations import PARAMETERS, Operation, Paths, group_paths, type_paths
from .served import ResourceType

__all__ = ["document", "small_document"]

_REFERENCE = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_JSON, _YAML, _PROTOBUF = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)
_PATCHES = ("application/apply-patch+yaml", "application/json-patch+json")
_MERGE, _STRATEGIC = "application/merge-patch+json", "application/strategic-merge-patch+json"
_CODES = {200: "OK", 201: "Created", 202: "Accepted", 401: "Unauthorized"}
_SECURITY = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}


def document(
    group: str,
    version: str,
    types: Iterable[ResourceType],
    own: Mapping[str, Mapping[str, Any]],
    release: str,
) -> dict[str, Any]:
    """The document of a group version. `own` are the schemas of custom resources, by name."""
    custom = bool(own)
    paths = Paths() if custom else group_paths(group, version)
    for of in types:
        type_paths(of, paths)
    title = {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"} if custom else _info(release)
    return {
        "openapi": "3.0.0",
        "info": title,
        "paths": dict(sorted(_paths(paths).items())),
        "components": _components(paths, own, group, version),
    }


def small_document(paths: Paths, release: str) -> dict[str, Any]:
    """One of the documents that no group version has, such as `apis/apps`."""
    return {
        "openapi": "3.0.0",
        "info": _info(release),
        "paths": _paths(paths),
        "components": _components(paths, {}, "", "v1"),
    }


def _info(release: str) -> dict[str, str]:
    return {"title": "Kubernetes", "version": ".".join(release.lstrip("v").split(".")[:2])}


def _paths(paths: Paths) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for path, operations in paths.operations.items():
        made[path] = {method: _operation(method, found) for method, found in operations.items()}
        if shared := paths.shared.get(path):
            made[path]["parameters"] = [_parameter(name, path) for name in shared]
    return made


def _operation(method: str, operation: Operation) -> dict[str, Any]:
    made: dict[str, Any] = {"tags": [operation.tag], "operationId": operation.id}
    if operation.parameters:
        made["parameters"] = [_parameter(name) for name in operation.parameters]
    if operation.body:
        media = _accepted(method, operation)
        made["requestBody"] = {"content": _content(media, operation.body)}
        if operation.body_required:
            made["requestBody"]["required"] = True
    media = _produced(operation)
    made["responses"] = {
        **{
            str(code): {"description": _CODES[code], "content": _content(media, operation.answer)}
            for code in operation.codes
        },
        "401": {"description": _CODES[401]},
    }
    if operation.action:
        made["x-kubernetes-action"] = operation.action
    if operation.kind:
        made["x-kubernetes-group-version-kind"] = {
            "group": operation.group,
            "version": operation.version,
            "kind": operation.kind,
        }
    return made


def _accepted(method: str, operation: Operation) -> tuple[str, ...]:
    if method == "patch":
        return (*_PATCHES, _MERGE) if operation.custom else (*_PATCHES, _MERGE, _STRATEGIC)
    return (_JSON, _YAML) if operation.custom else ("*/*",)


def _produced(operation: Operation) -> tuple[str, ...]:
    if operation.text == "*/*":
        return ("*/*",)
    if operation.only_json:
        return (_JSON,)
    media = [_JSON, _YAML] if operation.custom else [_JSON, _YAML, _PROTOBUF]
    if operation.text:
        media.append(operation.text)
    if operation.streams:
        media += [f"{_JSON};stream=watch", f"{_PROTOBUF};stream=watch"]
    return tuple(sorted(media))


def _content(media: Iterable[str], schema: str) -> dict[str, Any]:
    node = {"$ref": _REFERENCE + schema} if schema else {"type": "string"}
    return {name: {"schema": node} for name in media}


def _parameter(name: str, path: str = "") -> dict[str, Any]:
    plain = name.strip("{}")
    node = {"type": PARAMETERS[plain], "uniqueItems": True}
    if name != plain or (plain in ("name", "namespace") and f"{{{plain}}}" in path):
        return {"name": plain, "in": "path", "required": True, "schema": node}
    return {"name": plain, "in": "query", "schema": node}


def _components(
    paths: Paths, own: Mapping[str, Mapping[str, Any]], group: str, version: str
) -> dict[str, Any]:
    used: dict[str, dict[str, Any]] = {}
    waiting = list(_roots(paths))
    known = schemas()
    while waiting:
        name = waiting.pop()
        if name in used:
            continue
        node = own.get(name)
        made = dict(node) if node is not None else described(name, expanded(known[name]))
        used[name] = made
        waiting += references(made)
    for name in (f"{_META}DeleteOptions", f"{_META}WatchEvent"):
        if name in used:
            used[name] = _of_groups(used[name], _all_groups() if own else [(group, version)])
    made = {"schemas": dict(sorted(used.items()))}
    return made if own else {**made, "securitySchemes": _SECURITY}


def _all_groups() -> list[tuple[str, str]]:
    found = {(of.group, of.version) for of in BUILTIN_RESOURCES}
    return sorted(found - {("apiextensions.k8s.io", "v1")})


def _of_groups(node: dict[str, Any], groups: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Options of deletions and events of watches, which are of every group."""
    listed = "x-kubernetes-group-version-kind"
    kind = node[listed][0]["kind"]
    found = sorted({("", "v1"), *groups})
    gvks = [{"group": group, "kind": kind, "version": version} for group, version in found]
    return {**node, listed: gvks}


def _roots(paths: Paths) -> Iterator[str]:
    for operations in paths.operations.values():
        for operation in operations.values():
            yield from filter(None, (operation.body, operation.answer))


def references(node: Any) -> Iterator[str]:
    """The names of the schemas that one refers to."""
    if isinstance(node, dict):
        for name, value in node.items():
            if name == "$ref" and isinstance(value, str):
                yield value.removeprefix(_REFERENCE)
            else:
                yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)
