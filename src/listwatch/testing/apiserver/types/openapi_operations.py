"""The operations of the types, as OpenAPI documents of either version tell them.

An operation is here without what differs between the versions: how parameters, bodies and answers
are written is with `openapi_v3` and `openapi_v2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from .fields import kinds
from .served import ResourceType, Subresource

__all__ = [
    "PARAMETERS",
    "Operation",
    "Paths",
    "group_paths",
    "groups_paths",
    "schema_name",
    "type_paths",
    "version_paths",
]

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_LISTING = (
    *("allowWatchBookmarks", "continue", "fieldSelector", "labelSelector", "limit"),
    *("resourceVersion", "resourceVersionMatch", "sendInitialEvents", "shardSelector"),
    *("timeoutSeconds", "watch"),
)
_DELETING = (
    *("dryRun", "gracePeriodSeconds", "ignoreStoreReadErrorWithClusterBreakingPotential"),
    *("orphanDependents", "propagationPolicy"),
)
_WRITING = ("dryRun", "fieldManager", "fieldValidation")
_COLLECTION_DELETING = tuple(sorted({*_LISTING, *_DELETING} - {"allowWatchBookmarks", "watch"}))
_CONNECTING = {
    "attach": ("container", "stderr", "stdin", "stdout", "tty"),
    "exec": ("command", "container", "stderr", "stdin", "stdout", "tty"),
    "portforward": ("ports",),
    "proxy": ("path",),
}
_LOG = (
    *("container", "follow", "insecureSkipTLSVerifyBackend", "limitBytes", "previous"),
    *("sinceSeconds", "stream", "tailLines", "timestamps"),
)
_SAY_STATUS = frozenset(
    {
        *("namespaces", "replicationcontrollers", "batch/jobs"),
        "apiextensions.k8s.io/customresourcedefinitions",
    }
)
"""Types of which the documents say that DELETE answers a Status, though it may not."""
_ANY_METHOD = ("get", "put", "post", "delete", "options", "head", "patch")

PARAMETERS: Mapping[str, str] = {
    **dict.fromkeys((*_WRITING, *_LISTING, *_DELETING, *_LOG, "path", "command"), "string"),
    **dict.fromkeys(("pretty", "name", "namespace"), "string"),
    **dict.fromkeys(
        (
            *("allowWatchBookmarks", "sendInitialEvents", "watch", "orphanDependents", "force"),
            *("ignoreStoreReadErrorWithClusterBreakingPotential", "follow", "previous", "stderr"),
            *("insecureSkipTLSVerifyBackend", "timestamps", "stdin", "stdout", "tty"),
        ),
        "boolean",
    ),
    **dict.fromkeys(
        (
            *("limit", "timeoutSeconds", "gracePeriodSeconds", "limitBytes", "sinceSeconds"),
            *("tailLines", "ports"),
        ),
        "integer",
    ),
}
"""The JSON type of each parameter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What one method of a path does."""

    id: str
    tag: str
    action: str = ""
    """`x-kubernetes-action`; empty: that of no type."""
    parameters: tuple[str, ...] = ()
    """Of the query, sorted, but for those that all operations of the path share."""
    body: str = ""
    """The name of the schema of the body; empty: there is none."""
    body_required: bool = True
    answer: str = ""
    """The name of the schema of the answer; empty: a text."""
    codes: tuple[int, ...] = (200,)
    group: str = ""
    version: str = ""
    kind: str = ""
    """Of the objects that it is about; no kind: of none."""
    custom: bool = False
    streams: bool = False
    """Whether the answer can be a watch."""
    text: str = ""
    """The media type of an answer that is a text."""
    only_json: bool = False
    """Whether it is answered in JSON alone."""


@dataclass(slots=True)
class Paths:
    """The operations of paths, by method, and their common parameters."""

    operations: dict[str, dict[str, Operation]] = field(default_factory=dict)
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def add(self, path: str, operations: dict[str, Operation], *, pretty: bool = True) -> None:
        if not operations:
            return
        every = [set(operation.parameters) for operation in operations.values()]
        common = set.intersection(*every)
        for method, operation in operations.items():
            rest = tuple(name for name in operation.parameters if name not in common)
            operations[method] = replace(operation, parameters=rest)
        inside = {"name", "namespace"} & set(_braces(path))
        names = sorted({*common, *inside, *(("pretty",) if pretty else ())})
        if path.endswith("/{path}"):
            names.insert(names.index("path"), "{path}")
        self.operations[path] = operations
        self.shared[path] = tuple(names)


def schema_name(of: ResourceType, kind: str = "") -> str:
    """The name of the schema of a type's objects, or of another kind beside it."""
    kind = kind or of.kind
    if of.custom:
        return f"{'.'.join(reversed(of.group.split('.')))}.{of.version}.{kind}"
    return kinds()[f"{of.api_version}/{kind}"]


def _tag(group: str, version: str = "") -> str:
    """`apps_v1`, `rbacAuthorization_v1`, `core_v1`."""
    name = _camel(group)
    name = name[:1].lower() + name[1:]
    return f"{name}_{version}" if version else name


def group_paths(group: str, version: str = "") -> Paths:
    """Those of a group version itself (its discovery); without a version, of the group; of the
    group `""` without a version, of `/api`.
    """
    base = f"/apis/{group}" if group else "/api"
    name, answer = f"get{_camel(group)}API{'Group' if group else 'Versions'}", "APIGroup"
    if version:
        base, answer = f"{base}/{version}", "APIResourceList"
        name = f"get{_camel(group)}{version.capitalize()}APIResources"
    elif not group:
        answer = "APIVersions"
    return _one(f"{base}/", Operation(id=name, tag=_tag(group, version), answer=_META + answer))


def groups_paths() -> Paths:
    """`/apis`"""
    answer = f"{_META}APIGroupList"
    return _one("/apis/", Operation(id="getAPIVersions", tag="apis", answer=answer))


def version_paths() -> Paths:
    """`/version`"""
    answer = "io.k8s.apimachinery.pkg.version.Info"
    operation = Operation(id="getCodeVersion", tag="version", answer=answer, only_json=True)
    return _one("/version/", operation)


def _one(path: str, operation: Operation) -> Paths:
    return Paths({path: {"get": operation}})


def type_paths(of: ResourceType, paths: Paths) -> None:
    """Add those of one type."""
    for path, operations, pretty in _of_type(of):
        paths.add(path, operations, pretty=pretty)


def _of_type(of: ResourceType) -> Iterator[tuple[str, dict[str, Operation], bool]]:
    group_version = f"/apis/{of.group}/{of.version}" if of.group else f"/api/{of.version}"
    where = "/namespaces/{namespace}" if of.namespaced else ""
    collection = f"{group_version}{where}/{of.plural}"
    verbs, make = of.resource.verbs, _Maker(of)
    found = {
        "get": make.list() if "list" in verbs else None,
        "post": make.create() if "create" in verbs else None,
        "delete": make.delete_collection() if "deletecollection" in verbs else None,
    }
    yield collection, _there(found), True
    item = f"{collection}/{{name}}"
    found = {
        "get": make.get() if "get" in verbs else None,
        "put": make.put() if "update" in verbs else None,
        "delete": make.delete() if "delete" in verbs else None,
        "patch": make.patch() if "patch" in verbs else None,
    }
    yield item, _there(found), True
    for entry in of.subresources:
        yield from _of_subresource(of, item, entry)
    if of.namespaced and "list" in verbs:
        everywhere = {"get": make.list(everywhere=True)}
        yield f"{group_version}/{of.plural}", everywhere, True
    if "watch" in verbs and not of.custom:
        base = f"{group_version}/watch"
        yield f"{base}{where}/{of.plural}", {"get": make.watch("List")}, True
        yield f"{base}{where}/{of.plural}/{{name}}", {"get": make.watch("")}, True
        if of.namespaced:
            found_everywhere = {"get": make.watch("ListForAllNamespaces")}
            yield f"{base}/{of.plural}", found_everywhere, True


def _of_subresource(
    of: ResourceType, item: str, entry: Subresource
) -> Iterator[tuple[str, dict[str, Operation], bool]]:
    path = f"{item}/{entry.name}"
    make = _Maker(of, entry)
    if entry.name in _CONNECTING:
        methods = _ANY_METHOD if entry.name == "proxy" else ("get", "post")
        yield path, {method: make.connect(method) for method in methods}, False
        if entry.name == "proxy":
            found = {method: make.connect(method, with_path=True) for method in methods}
            yield f"{path}/{{path}}", found, False
        return
    if entry.name == "log":
        yield path, {"get": make.log()}, True
        return
    verbs = entry.verbs
    found_here = {
        "get": make.get() if "get" in verbs else None,
        "put": make.put() if "update" in verbs else None,
        "post": make.create() if "create" in verbs else None,
        "patch": make.patch() if "patch" in verbs else None,
    }
    yield path, _there(found_here), True


class _Maker:
    """Makes the operations of one type, or of one of its subresources."""

    def __init__(self, of: ResourceType, entry: Subresource | None = None) -> None:
        self._of = of
        self._entry = entry
        self._schema = schema_name(of)
        self._gvk = (of.group, of.version, of.kind)
        elsewhere = entry is not None and (entry.group, entry.version) != (of.group, of.version)
        if entry is not None and entry.group and elsewhere:
            self._schema = kinds()[f"{entry.group}/{entry.version}/{entry.kind}"]
            if not of.custom:
                self._gvk = (entry.group, entry.version, entry.kind)
        elif entry is not None and entry.kind != of.kind and entry.name not in _CONNECTING:
            self._schema = kinds()[f"{of.api_version}/{entry.kind}"]
            self._gvk = (of.group, of.version, entry.kind)

    def list(self, *, everywhere: bool = False) -> Operation:
        name = self._id("list", everywhere=everywhere)
        answer = schema_name(self._of, self._of.list_kind)
        return self._made(
            name + ("ForAllNamespaces" if everywhere else ""),
            "list",
            _LISTING,
            answer=answer,
            streams=not self._of.custom,
        )

    def watch(self, suffix: str) -> Operation:
        everywhere = suffix.endswith("Namespaces")
        return self._made(
            self._id("watch", everywhere=everywhere) + suffix,
            "watchlist" if suffix else "watch",
            _LISTING,
            answer=f"{_META}WatchEvent",
            streams=True,
        )

    def get(self) -> Operation:
        parameters = ("resourceVersion",) if self._of.custom else ()
        return self._made(self._id("read"), "get", parameters)

    def create(self) -> Operation:
        codes = (200, 201, 202)
        name = self._id("create")
        return self._made(name, "post", _WRITING, body=self._schema, codes=codes)

    def put(self) -> Operation:
        name = self._id("replace")
        return self._made(name, "put", _WRITING, body=self._schema, codes=(200, 201))

    def patch(self) -> Operation:
        codes = (200,) if self._of.custom else (200, 201)
        parameters = (*_WRITING, "force")
        name = self._id("patch")
        return self._made(name, "patch", parameters, body=f"{_META}Patch", codes=codes)

    def delete(self) -> Operation:
        says_object = self._of.delete_returns_object and self._of.storage not in _SAY_STATUS
        answer = self._schema if says_object else f"{_META}Status"
        return self._made(
            self._id("delete"),
            "delete",
            _DELETING,
            body=f"{_META}DeleteOptions",
            body_required=False,
            answer=answer,
            codes=(200, 202),
        )

    def delete_collection(self) -> Operation:
        custom = self._of.custom
        return self._made(
            self._id("delete", "Collection"),
            "deletecollection",
            _LISTING if custom else _COLLECTION_DELETING,
            body="" if custom else f"{_META}DeleteOptions",
            body_required=False,
            answer=f"{_META}Status",
        )

    def connect(self, method: str, *, with_path: bool = False) -> Operation:
        assert self._entry is not None
        name = self._id("connect", method.capitalize()) + ("WithPath" if with_path else "")
        group, version = self._of.group, self._of.version
        return Operation(
            id=name,
            tag=_tag(group, version),
            action="connect",
            parameters=_CONNECTING[self._entry.name],
            group=group,
            version=version,
            kind=self._entry.kind,
            text="*/*",
        )

    def log(self) -> Operation:
        made = self._made(self._id("read"), "get", _LOG)
        return replace(made, answer="", text="text/plain")

    def _made(
        self,
        name: str,
        action: str,
        parameters: tuple[str, ...],
        *,
        body: str = "",
        body_required: bool = True,
        answer: str = "",
        codes: tuple[int, ...] = (200,),
        streams: bool = False,
    ) -> Operation:
        group, version, kind = self._gvk
        return Operation(
            id=name,
            tag=_tag(self._of.group, self._of.version),
            action=action,
            parameters=tuple(sorted(parameters)),
            body=body,
            body_required=body_required,
            answer=answer or self._schema,
            codes=codes,
            group=group,
            version=version,
            kind=kind,
            custom=self._of.custom,
            streams=streams,
        )

    def _id(self, verb: str, between: str = "", *, everywhere: bool = False) -> str:
        of = self._of
        base = f"{verb}{_camel(of.group)}{of.version[:1].upper()}{of.version[1:]}{between}"
        scope = "Namespaced" if of.namespaced and not everywhere else ""
        sub = self._entry.name if self._entry else ""
        return f"{base}{scope}{of.kind}{sub[:1].upper()}{sub[1:]}"


def _there(found: Mapping[str, Operation | None]) -> dict[str, Operation]:
    return {method: operation for method, operation in found.items() if operation is not None}


def _braces(path: str) -> list[str]:
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]


def _camel(group: str) -> str:
    if not group:
        return "Core"
    parts = group.removesuffix(".k8s.io").replace("-", ".").split(".")
    return "".join(part[:1].upper() + part[1:] for part in parts)
