"""Which type and which object a request is for, and what is to be done with it (K3, K4).

Built-in types and custom resources are routed by two different servers inside the real one, and
refuse differently: a built-in path that does not exist is a 404 Status, a custom one is plain text;
a built-in type does not know HEAD, a custom one takes it for GET.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..messages import ServerRequest
from ..plain import not_found_page
from ..statuses import Refused, failure
from ..storage.state import State, Target
from .request_info import RequestInfo, request_info
from .served import ResourceType

__all__ = [
    "REVIEW_GROUPS",
    "NonResource",
    "Route",
    "method_not_allowed",
    "no_such_resource",
    "route",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A request for objects."""

    target: Target
    verb: str
    """`get`, `list`, `watch`, `create`, `update`, `patch`, `delete` or `deletecollection`."""
    request: ServerRequest
    """With the name in the field selector, where the path of a watch has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NonResource:
    """A request for another path: discovery, health, version."""

    path: str
    """Decoded."""


_COLLECTION = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
_OBJECT = {"GET": "get", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SUBRESOURCE = {**_OBJECT, "POST": "create"}
_SERVED = frozenset(
    {"", "status", "approval", "finalize", "token", "scale", "eviction", "binding", "log"}
    | {"ephemeralcontainers", "resize", "exec", "attach", "portforward"}
)
REVIEW_GROUPS = frozenset({"authentication.k8s.io", "authorization.k8s.io"})
"""Whose types are only asked, and never stored."""
_CUSTOM_VERBS = frozenset({"list", "watch", "create", "deletecollection", *_OBJECT.values()})


def route(
    state: State, request: ServerRequest, info: RequestInfo | None = None
) -> Route | NonResource:
    """Raises `Refused`: 404 for what is not served, 405 for a method that it does not take.

    `info` is the request's, where it is known already.
    """
    if info is None:
        info = request_info(request)
    if not info.is_resource:
        return NonResource(path=info.path)
    if not info.path.startswith(("/api/", "/apis/")):
        raise Refused(not_found_page())
    if state.types.is_builtin_group(info.group):
        return _builtin(state, request, info)
    return _custom(state, request, info)


def no_such_resource() -> Refused:
    """404 within the group versions of the built-in types (K3)."""
    message = "the server could not find the requested resource"
    return Refused(failure(404, "NotFound", message, details={}))


def method_not_allowed() -> Refused:
    """405 of the built-in types (K4)."""
    message = "the server does not allow this method on the requested resource"
    return Refused(failure(405, "MethodNotAllowed", message, details={}))


def _builtin(state: State, request: ServerRequest, info: RequestInfo) -> Route:
    find, group, version = state.types.find, info.group, info.version
    segments = info.segments
    watch = segments[0] == "watch"
    if watch:
        segments = segments[1:]
    if segments and not segments[-1]:
        segments = segments[:-1]  # one slash at the end does no harm
    namespace = ""
    found = None
    if len(segments) > 2 and segments[0] == "namespaces":
        found = find(group, version, segments[2])
        if found is not None and found.namespaced:
            namespace, segments = segments[1], segments[2:]
        else:
            found = None
    if found is None:
        found = find(group, version, segments[0])
        if found is None or (found.namespaced and len(segments) > 1):
            raise no_such_resource()
    everywhere = found.namespaced and not namespace
    verbs = found.resource.verbs
    subresource = ""
    if len(segments) == 1:
        methods = _COLLECTION
        if everywhere:
            methods = {"GET": "list"}
    elif len(segments) == 2:
        methods = _OBJECT
    else:
        entry = found.subresource(segments[2])
        if entry is None or len(segments) > 3 or watch:
            raise no_such_resource()
        subresource, verbs, methods = entry.name, entry.verbs, _SUBRESOURCE
    if watch:
        methods = {"GET": "watch"}
    served = {method: verb for method, verb in methods.items() if verb in verbs}
    if not served:
        raise no_such_resource()
    verb = served.get(request.method)
    if verb is None:
        raise method_not_allowed()
    if verb == "list" and info.verb == "watch":
        verb = "watch"
    if subresource not in _SERVED or not _is_answered(found):
        raise no_such_resource()  # its place is kept: discovery names it
    name = segments[1] if len(segments) > 1 else ""
    return _route(request, found, verb, namespace, name, subresource)


def _is_answered(found: ResourceType) -> bool:
    return found.is_stored or found.group in REVIEW_GROUPS or found.kind == "Binding"


def _custom(state: State, request: ServerRequest, info: RequestInfo) -> Route:
    found = state.types.find(info.group, info.version, info.resource)
    if found is None:
        raise Refused(not_found_page())
    if found.namespaced != bool(info.namespace) and not (
        found.namespaced and info.verb in ("list", "watch")
    ):
        raise Refused(not_found_page())
    details = {"group": info.group, "kind": info.resource}
    if info.subresource and found.subresource(info.subresource) is None:
        message = f'{info.qualified_name} "{info.name}" not found'
        raise Refused(failure(404, "NotFound", message, details={"name": info.name, **details}))
    verbs = ("get", "update", "patch") if info.subresource else _CUSTOM_VERBS
    if info.verb not in verbs:
        message = f'{info.verb} is not supported on resources of kind "{info.qualified_name}"'
        raise Refused(failure(405, "MethodNotAllowed", message, details=details))
    name = ""
    if info.verb not in ("list", "deletecollection", "create") and not (
        info.verb == "watch" and info.segments[0] != "watch"
    ):
        name = info.name  # not the one of a field selector
    if not name and info.verb in ("update", "patch"):
        raise Refused(failure(400, "BadRequest", "name must be provided"))
    return _route(request, found, info.verb, info.namespace, name, info.subresource)


def _route(
    request: ServerRequest,
    found: ResourceType,
    verb: str,
    namespace: str,
    name: str,
    subresource: str,
) -> Route:
    if verb == "watch" and name:
        # `/api/v1/watch/.../NAME` is a watch of the collection that selects one name.
        query = (*request.query, ("fieldSelector", f"metadata.name={name}"))
        request, name = replace(request, query=query), ""
    target = Target(type=found, namespace=namespace, name=name, subresource=subresource)
    return Route(target=target, verb=verb, request=request)
