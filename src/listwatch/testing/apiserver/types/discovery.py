"""What the server says of itself: its types, in both forms of discovery (K42), and its version."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..health import Health
from ..messages import Answer, ServerRequest
from ..plain import not_found_page
from ..reading.encoding import go_json, pretty_json
from ..reading.negotiation import JSON, YAML, Clause, accepts_plain, clauses
from ..reading.object_negotiation import check_representation
from ..statuses import Refused, failure
from ..storage.state import State
from .routes import method_not_allowed, no_such_resource
from .served import ResourceType, Subresource

if TYPE_CHECKING:
    from .openapi import OpenAPI

__all__ = ["Discovery"]

_AGGREGATED = "g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_JSON_TYPES = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
_PROTOBUF = Clause("application/vnd.kubernetes.protobuf", ())
_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


class Discovery:
    """Answers the paths that are no resources."""

    def __init__(self, state: State) -> None:
        self._state = state
        self.health = Health(state)
        self._made: dict[str, Answer] = {}
        self._made_of = -1

    @cached_property
    def _openapi(self) -> OpenAPI:
        # Many clients never ask for it, and it takes time to load.
        from .openapi import OpenAPI

        return OpenAPI(self._state)

    def answer(self, request: ServerRequest, path: str) -> Answer:
        """Raises `Refused` for what is not there."""
        health = self.health.answer(request, path)
        if health is not None:
            return health
        # One slash at the end does no harm, but two at the beginning do.
        if path.startswith("/openapi/"):
            return self._openapi.answer(request, path)
        first, *rest = path.removesuffix("/").removeprefix("/").split("/")
        match first, rest:
            case "", [] if path == "/":
                return self._json("/", self._root, pretty=True)
            case "version", []:
                return self._version(request)
            case "api", []:
                return self._legacy_root(request)
            case "apis", []:
                return self._groups(request)
            case "apis", [group] if group:
                return self._group(request, group)
            case "api", [version]:
                return self._version_of_group(request, "", version)
            case "apis", [group, version]:
                return self._version_of_group(request, group, version)
        raise Refused(not_found_page())

    # Paths

    def _legacy_root(self, request: ServerRequest) -> Answer:
        if request.method != "GET":
            raise method_not_allowed()
        _check_representation(request)
        if aggregated := _asks_aggregated(request):
            return self._aggregated(request, aggregated, "/api", [""])
        host = request.headers.get("host", "localhost")
        return _compact(
            {
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": host}],
            }
        )

    def _groups(self, request: ServerRequest) -> Answer:
        if aggregated := _asks_aggregated(request):
            return self._aggregated(request, aggregated, "/apis", self._group_names())
        return self._json(
            "/apis",
            lambda: {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [self._group_summary(name) for name in self._group_names()],
            },
        )

    def _group(self, request: ServerRequest, group: str) -> Answer:
        if not any(found.group == group for found in self._state.types):
            raise Refused(not_found_page())
        _check_acceptable(request)
        return self._json(
            f"/apis/{group}",
            lambda: {"kind": "APIGroup", "apiVersion": "v1", **self._group_summary(group)},
        )

    def _version_of_group(self, request: ServerRequest, group: str, version: str) -> Answer:
        types = self._state.types
        if not types.group_exists(group, version):
            raise no_such_resource() if types.is_builtin_group(group) else Refused(not_found_page())
        if request.method != "GET" and types.is_builtin_group(group):
            raise method_not_allowed()
        if types.is_builtin_group(group):
            _check_representation(request)
        _check_acceptable(request)
        return self._json(f"{group}/{version}", lambda: self._resource_list(group, version))

    def _version(self, request: ServerRequest) -> Answer:
        if request.method != "GET":
            raise method_not_allowed()
        _check_representation(request, JSON)
        release = self._state.settings.git_version
        major, minor, *_ = release.lstrip("v").split(".")
        facts = {
            "major": major,
            "minor": minor,
            "emulationMajor": major,
            "emulationMinor": minor,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": str(int(minor) - 1),
            "gitVersion": release,
            "gitCommit": "",
            "gitTreeState": "",
            "buildDate": "1970-01-01T00:00:00Z",
            "goVersion": "",
            "compiler": "",
            "platform": "",
        }
        return Answer(status=200, body=pretty_json(facts))

    # Bodies

    def _aggregated(
        self, request: ServerRequest, encoding: str, key: str, groups: Iterable[str]
    ) -> Answer:
        answer = self._cached(
            f"aggregated {encoding} {key}", lambda: self._aggregated_answer(encoding, groups)
        )
        etag = dict(answer.headers)["Etag"]
        if request.headers.get("if-none-match") == etag:
            return Answer(status=304, content_type=None, headers=answer.headers)
        return answer

    def _aggregated_answer(self, encoding: str, groups: Iterable[str]) -> Answer:
        body = {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": [self._aggregated_group(group) for group in groups],
        }
        data = _in_yaml(body) if encoding == YAML else go_json(body) + b"\n"
        etag = hashlib.sha512(data).hexdigest().upper()
        return Answer(
            status=200,
            body=data,
            content_type=f"{encoding};{_AGGREGATED}",
            headers=(("Cache-Control", "public"), ("Etag", f'"{etag}"'), ("Vary", "Accept")),
        )

    def _aggregated_group(self, group: str) -> dict[str, Any]:
        return {
            "metadata": {"name": group} if group else {},
            "versions": [
                {
                    "version": version,
                    "resources": [
                        _aggregated_resource(found)
                        for found in sorted(self._served(group, version), key=lambda t: t.plural)
                    ],
                    "freshness": "Current",
                }
                for version in self._versions(group)
            ],
        }

    def _group_summary(self, group: str) -> dict[str, Any]:
        versions = [
            {"groupVersion": f"{group}/{version}", "version": version}
            for version in self._versions(group)
        ]
        return {"name": group, "versions": versions, "preferredVersion": versions[0]}

    def _resource_list(self, group: str, version: str) -> dict[str, Any]:
        resources = []
        for found in self._served(group, version):
            resources.append(_legacy_resource(found))
            resources += [_legacy_subresource(found, entry) for entry in found.subresources]
        api_version = {"apiVersion": "v1"} if group else {}  # the core group's list has none
        return {
            "kind": "APIResourceList",
            **api_version,
            "groupVersion": f"{group}/{version}" if group else version,
            "resources": resources,
        }

    def _root(self) -> dict[str, Any]:
        paths = {"/api", "/apis", "/apis/", "/openapi/v2", "/version", *self.health.paths}
        paths |= {"/openapi/v3", "/openapi/v3/"}
        for found in self._state.types:
            paths.add(f"/apis/{found.api_version}" if found.group else f"/api/{found.version}")
            if found.group:
                paths.add(f"/apis/{found.group}")
        return {"paths": sorted(paths)}

    # The types

    def _group_names(self) -> list[str]:
        """Named groups, built-in ones first."""
        return list(dict.fromkeys(found.group for found in self._state.types if found.group))

    def _versions(self, group: str) -> list[str]:
        """The preferred version first. Those of built-in groups are in order already."""
        versions = list(
            dict.fromkeys(found.version for found in self._state.types if found.group == group)
        )
        if not self._state.types.is_builtin_group(group):
            versions.sort(key=_version_rank)
        return versions

    def _served(self, group: str, version: str) -> list[ResourceType]:
        return [f for f in self._state.types if f.group == group and f.version == version]

    def _json(
        self, key: str, make: Callable[[], dict[str, Any]], *, pretty: bool = False
    ) -> Answer:
        def answer() -> Answer:
            return Answer(status=200, body=pretty_json(make())) if pretty else _compact(make())

        return self._cached(key, answer)

    def _cached(self, key: str, make: Callable[[], Answer]) -> Answer:
        if self._made_of != self._state.types.generation:
            self._made.clear()
            self._made_of = self._state.types.generation
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


def _compact(value: dict[str, Any]) -> Answer:
    return Answer(status=200, body=go_json(value) + b"\n")


def _asks_aggregated(request: ServerRequest) -> str:
    """The encoding in which it is asked for; empty: the older form is. Raises `Refused` where
    neither is acceptable.
    """
    for clause in clauses(request.headers.get("accept", "")):
        if clause.is_plain or clause == _PROTOBUF:
            return ""
        if _is_aggregated(clause):
            return clause.type
    raise _not_acceptable()


def _is_aggregated(clause: Clause) -> bool:
    return (
        (clause.type == JSON or clause.is_yaml)
        and clause.parameter("as") == "APIGroupDiscoveryList"
        and clause.parameter("g") == "apidiscovery.k8s.io"
        and clause.parameter("v") == "v2"
    )


def _check_representation(request: ServerRequest, *available: str) -> None:
    if accept := request.headers.get("accept", ""):
        check_representation(accept, available) if available else check_representation(accept)


def _check_acceptable(request: ServerRequest) -> None:
    accept = request.headers.get("accept", "")
    if not accepts_plain(accept) and _PROTOBUF not in clauses(accept):
        raise _not_acceptable()


def _not_acceptable() -> Refused:
    message = f"only the following media types are accepted: {_JSON_TYPES}"
    return Refused(failure(406, "NotAcceptable", message))


def _aggregated_resource(found: ResourceType) -> dict[str, Any]:
    resource = found.resource
    described: dict[str, Any] = {
        "resource": resource.name,
        "responseKind": _response_kind(found, found.group, found.version, found.kind),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": resource.verbs,
    }
    if resource.short_names:
        described["shortNames"] = resource.short_names
    if resource.categories:
        described["categories"] = resource.categories
    if found.subresources:
        described["subresources"] = [
            {
                "subresource": entry.name,
                "responseKind": _response_kind(found, entry.group, entry.version, entry.kind),
                "verbs": entry.verbs,
            }
            for entry in found.subresources
        ]
    return described


def _response_kind(found: ResourceType, group: str, version: str, kind: str) -> dict[str, str]:
    # The built-in types leave out what is the same as their own.
    if not found.custom and (group, version) == (found.group, found.version):
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


def _legacy_resource(found: ResourceType) -> dict[str, Any]:
    resource = found.resource
    described: dict[str, Any] = {
        "name": resource.name,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": resource.verbs,
    }
    if resource.short_names:
        described["shortNames"] = resource.short_names
    if resource.categories:
        described["categories"] = resource.categories
    if "watch" in resource.verbs:
        described["storageVersionHash"] = _storage_version_hash(found)
    return described


def _legacy_subresource(found: ResourceType, entry: Subresource) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": f"{found.plural}/{entry.name}",
        "singularName": "",
        "namespaced": found.namespaced,
    }
    if entry.group and not (found.custom and entry.group == found.group):
        described |= {"group": entry.group, "version": entry.version}
    return {**described, "kind": entry.kind, "verbs": entry.verbs}


def _storage_version_hash(found: ResourceType) -> str:
    version = found.storage_version or found.api_version
    text = f"{version}/{found.kind}" if "/" in version else f"/{version}/{found.kind}"
    return base64.b64encode(hashlib.sha256(text.encode()).digest()[:8]).decode()


def _version_rank(version: str) -> tuple[int, int, int, str]:
    """Kubernetes' order: v2, v1, v2beta1, v1beta1, v1alpha1, then others by name."""
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    major, stage, minor = match.groups()
    return ({None: 0, "beta": 1, "alpha": 2}[stage], -int(major), -int(minor or 0), version)


def _in_yaml(body: Any) -> bytes:
    from ..reading.yaml_text import yaml_text  # takes time to load, and few ask for it

    return yaml_text(body).encode()
