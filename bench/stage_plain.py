"""What the stage says besides objects and events: enough discovery for other people's clients."""

from __future__ import annotations

from typing import Any

from bench.cluster.workloads import NAMESPACES
from bench.data import RESOURCES

__all__ = ["PLAIN", "collection", "not_found"]


def collection(path: str) -> tuple[str, str] | None:
    for plural, kind in RESOURCES.items():
        if path == kind.path:
            return plural, ""
        base = kind.path.removesuffix(plural) + "namespaces/"
        if path.startswith(base) and path.endswith(f"/{plural}"):
            return plural, path[len(base) : -len(plural) - 1]
    return None


def not_found(path: str) -> dict[str, Any]:
    return {
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 404,
        "message": f"the server could not find the requested resource: {path}",
        "reason": "NotFound", "details": {},
    }  # fmt: skip


def _resource(plural: str, kind: str, short: str, *, namespaced: bool = True) -> dict[str, Any]:
    return {
        "name": plural,
        "singularName": plural.removesuffix("s"),
        "namespaced": namespaced,
        "kind": kind,
        "verbs": ["create", "delete", "get", "list", "patch", "update", "watch"],
        "shortNames": [short],
        "storageVersionHash": "xPOwRZ+Yhw8=",
    }


def _resources(group_version: str, *resources: dict[str, Any]) -> dict[str, Any]:
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": list(resources),
    }


_GROUP_VERSION = RESOURCES["widgets"].api_version
_GROUP = {
    "name": _GROUP_VERSION.partition("/")[0],
    "versions": [{"groupVersion": _GROUP_VERSION, "version": "v1"}],
    "preferredVersion": {"groupVersion": _GROUP_VERSION, "version": "v1"},
}
PLAIN: dict[str, Any] = {
    "/version": {
        "major": "1", "minor": "36", "gitVersion": "v1.36.0", "gitCommit": "", "gitTreeState": "",
        "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.26", "compiler": "gc",
        "platform": "linux/amd64",
    },
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_GROUP]},
    f"/apis/{_GROUP['name']}": {"kind": "APIGroup", "apiVersion": "v1", **_GROUP},
    "/api/v1": _resources(
        "v1",
        _resource("namespaces", "Namespace", "ns", namespaced=False),
        _resource("pods", "Pod", "po"),
    ),
    f"/apis/{_GROUP_VERSION}": _resources(_GROUP_VERSION, _resource("widgets", "Widget", "wd")),
    "/api/v1/namespaces": {
        "kind": "NamespaceList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"},
        "items": [{"metadata": {"name": name, "uid": name}} for name in sorted(NAMESPACES)],
    },
    "/healthz": "ok",
    "/readyz": "ok",
}  # fmt: skip
